"""Equilibria that hold off the path too: subgame perfect with hidden moves, sequential with beliefs."""

from random import Random

import numpy as np
import pytest
from random_trees import random_tree

from bestresponse.core.errors import InvalidGame
from bestresponse.theory import Chance, Leaf, Turn, build_tree, load_tree, nash_conv, policy_from_table, subgame_perfect
from bestresponse.theory.trees.perfection.sequential import find_sequential, rationality_gaps
from bestresponse.theory.trees.perfection.subgame import cut_subgame
from bestresponse.theory.trees.perfection.subgames import find_subgames, solve_subgames


def battle_with_an_outside_option():
    """The row player may leave with 2; else both play battle of the sexes (3, 1), (1, 3) without seeing each other."""

    def second(payoffs):
        moves = {name: Leaf(u) for name, u in zip(("opera", "boxing"), payoffs, strict=True)}
        return Turn("she", "her choice", moves)

    inside = Turn("he", "his choice", {"opera": second([[3, 1], [0, 0]]), "boxing": second([[0, 0], [1, 3]])})
    return build_tree(["he", "she"], Turn("he", "door", {"out": Leaf([2, 2]), "in": inside}))


def test_three_equilibria_inside_give_three_subgame_perfect_ones_a_mixed_one_among_them():
    tree = battle_with_an_outside_option()
    assert find_subgames(tree).tolist() == [0, 2]
    found = solve_subgames(tree)
    assert found.complete
    assert [(p.at("he", "door")["in"], p.at("she", "her choice")["opera"]) for p in found.policies] == [
        (1.0, 1.0),
        (0.0, 0.0),
        (0.0, pytest.approx(0.25)),
    ]
    assert [u.tolist() for u in found.payoffs] == [[3, 1], [2, 2], [2, 2]]


def test_with_perfect_information_they_are_those_of_exact_backward_induction():
    for seed in range(15):
        tree = random_tree(Random(seed), depth=4, zero_sum=False, perfect_information=True)
        exact = subgame_perfect(tree)
        if exact.count > 100:
            continue
        found = solve_subgames(tree)
        assert found.complete
        assert len(found.policies) == exact.count
        tables = [{p: {i: {m: 1.0} for i, m in at.items()} for p, at in e.moves.items()} for e in exact.equilibria]
        expected = {tuple(policy_from_table(tree, table).probabilities) for table in tables}
        assert {tuple(policy.probabilities) for policy in found.policies} == expected


@pytest.mark.parametrize("seed", range(12))
def test_every_policy_is_an_equilibrium_of_every_subgame(seed):
    tree = random_tree(Random(seed), depth=4, zero_sum=False)
    for policy in solve_subgames(tree, limit=3).policies:
        for root in find_subgames(tree).tolist():
            part = cut_subgame(tree, root)
            table = {who: {} for who in tree.players}
            for one in part.infosets:
                label = tree.infosets[tree.infoset_index[tree.players[one.player], one.key]].label
                table[tree.players[one.player]][one.label] = policy.at(tree.players[one.player], label)
            assert nash_conv(part, policy_from_table(part, table)) < 1e-9


@pytest.mark.parametrize("seed", range(12))
def test_a_sequential_equilibrium_leaves_nothing_to_gain_at_any_information_set(seed):
    tree = random_tree(Random(seed), depth=4, zero_sum=False)
    found = find_sequential(tree)
    assert found.gap <= 1e-3
    assert rationality_gaps(tree, found.policy, found.beliefs).max(initial=0.0) == found.gap
    assert nash_conv(tree, found.policy) < 1e-3
    sets = tree.infoset[tree.infoset >= 0]
    assert np.bincount(sets, found.beliefs[tree.infoset >= 0]) == pytest.approx(1.0)


def test_a_threat_that_is_not_believed_is_no_sequential_equilibrium_although_it_is_subgame_perfect():
    # Selten's point: the second player cannot tell L from M, so there is no proper subgame; "r" is never best there.
    answer = {"L": {"l": [2, 1], "r": [-1, 0]}, "M": {"l": [4, 1], "r": [-1, 0]}}
    moves = {m: Turn("second", "hidden", {a: Leaf(u) for a, u in ends.items()}) for m, ends in answer.items()}
    tree = build_tree(["first", "second"], Turn("first", "top", {"out": Leaf([1, 3]), **moves}))
    assert {tuple(u.tolist()) for u in solve_subgames(tree).payoffs} >= {(1.0, 3.0), (4.0, 1.0)}
    found = find_sequential(tree)
    assert found.policy.at("second", "hidden") == {"l": 1.0, "r": 0.0}
    assert found.payoffs == {"first": pytest.approx(4.0), "second": pytest.approx(1.0)}


def test_the_sequential_equilibrium_of_kuhn_poker_has_its_value():
    assert find_sequential(load_tree("kuhn-poker")).payoffs["player 1"] == pytest.approx(-1 / 18, abs=1e-4)


def test_chance_may_begin_a_subgame_and_three_players_are_refused():
    flip = Chance({"heads": (0.5, Leaf([1, 0, 0])), "tails": (0.5, Leaf([0, 2, 0]))})
    tree = build_tree(["a", "b", "c"], Turn("a", "first", {"flip": flip, "stop": Leaf([0, 0, 0])}))
    assert solve_subgames(tree).payoffs[0].tolist() == [0.5, 1.0, 0.0]
    with pytest.raises(InvalidGame, match="this tree has 3"):
        find_sequential(tree)
    with pytest.raises(InvalidGame, match="kuhn-poker hides moves: no subgame begins at"):
        cut_subgame(load_tree("kuhn-poker"), 2)
