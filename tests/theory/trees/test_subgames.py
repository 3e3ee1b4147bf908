"""Equilibria that hold off the path too: subgame perfect with hidden moves, sequential with
beliefs."""

from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest
from daily import share_out
from random_trees import random_tree
from tests.oracles.perfection_by_grid import draw_tree, find_on_grid, is_perfect, is_spanned

from bestresponse.core.errors import InvalidGame, NotCertified, TooLarge
from bestresponse.theory import (
    Chance,
    Leaf,
    Turn,
    build_tree,
    load_tree,
    nash_conv,
    policy_from_table,
    subgame_perfect,
)
from bestresponse.theory.trees.perfection.sequential import find_sequential
from bestresponse.theory.trees.perfection.subgame_perfect import (
    cut_subgame,
    find_subgames,
    solve_subgames,
)
from bestresponse.theory.trees.tree import CHANCE


def battle_with_an_outside_option():
    """The row player may leave with 2; else both play battle of the sexes (3, 1), (1, 3) without
    seeing each other."""

    def second(payoffs):
        moves = {name: Leaf(u) for name, u in zip(("opera", "boxing"), payoffs, strict=True)}
        return Turn("she", "her choice", moves)

    inside = Turn(
        "he", "his choice", {"opera": second([[3, 1], [0, 0]]), "boxing": second([[0, 0], [1, 3]])}
    )
    return build_tree(["he", "she"], Turn("he", "door", {"out": Leaf([2, 2]), "in": inside}))


def test_three_equilibria_inside_give_three_subgame_perfect_ones_a_mixed_one_among_them():
    tree = battle_with_an_outside_option()
    assert find_subgames(tree).tolist() == [0, 2]
    found = solve_subgames(tree)
    assert found.complete
    assert [
        (p.at("he", "door")["in"], p.at("she", "her choice")["opera"]) for p in found.policies
    ] == [
        (1.0, 1.0),
        (0.0, 0.0),
        (0.0, pytest.approx(0.25)),
    ]
    assert [u.tolist() for u in found.payoffs] == [[3, 1], [2, 2], [2, 2]]


def he_may_enter_where_she_does_not_care(outside):
    """She is paid alike inside; he gets 0 or 2 there, and something else outside."""
    she = Turn("she", "inside", {"left": Leaf([0, 1]), "right": Leaf([2, 1])})
    return Turn("he", "door", {"out": Leaf([outside, 0]), "in": she})


def test_a_tie_that_decides_the_mover_above_leaves_the_list_incomplete():
    # Where staying out is worth 1/2 he is indifferent if she goes right with 1/4, and may mix.
    tree = build_tree(["he", "she"], he_may_enter_where_she_does_not_care(Fraction(1, 2)))
    found = solve_subgames(tree)
    played = {(p.at("he", "door")["in"], p.at("she", "inside")["right"]) for p in found.policies}
    assert played == {(0.0, 0.0), (1.0, 1.0)}
    assert sorted(u.tolist() for u in found.payoffs) == [[0.5, 0], [2, 1]]
    assert not found.complete
    # At 3 he always stays out.
    always_out = build_tree(["he", "she"], he_may_enter_where_she_does_not_care(3))
    found = solve_subgames(always_out)
    assert [p.at("he", "door")["in"] for p in found.policies] == [0.0, 0.0]
    assert found.complete


def test_every_equilibrium_on_a_grid_is_spanned_by_those_listed():
    complete = 0
    for seed in range(200):
        tree = draw_tree(seed)
        if len(tree.infosets) > 4:
            continue
        found = solve_subgames(tree, limit=500)
        listed = []
        for policy in found.policies:
            exact = [Fraction(p).limit_denominator(1000) for p in policy.probabilities.tolist()]
            listed.append(tuple(exact[1::2]))
        assert all(is_perfect(tree, policy) for policy in listed), seed
        if not found.complete:
            continue
        complete += 1
        missing = [p for p in find_on_grid(tree) if not is_spanned(p, listed)]
        assert missing == [], seed
    assert complete >= 25


def test_with_perfect_information_they_are_those_of_exact_backward_induction():
    for seed in range(15):
        tree = random_tree(Random(seed), depth=4, zero_sum=False, perfect_information=True)
        exact = subgame_perfect(tree)
        if exact.count > 100:
            continue
        found = solve_subgames(tree)
        if exact.count == 1:
            assert found.complete
        pure = [p for p in found.policies if set(p.probabilities.tolist()) <= {0.0, 1.0}]
        assert len(pure) == exact.count
        tables = [
            {p: {i: {m: 1.0} for i, m in at.items()} for p, at in e.moves.items()}
            for e in exact.equilibria
        ]
        expected = {tuple(policy_from_table(tree, table).probabilities) for table in tables}
        assert {tuple(policy.probabilities) for policy in pure} == expected


@pytest.mark.parametrize("seed", share_out(range(12)))
def test_every_policy_is_an_equilibrium_of_every_subgame(seed):
    tree = random_tree(Random(seed), depth=4, zero_sum=False)
    for policy in solve_subgames(tree, limit=3).policies:
        for root in find_subgames(tree).tolist():
            part = cut_subgame(tree, root)
            table = {who: {} for who in tree.players}
            for one in part.infosets:
                label = tree.infosets[tree.infoset_index[tree.players[one.player], one.key]].label
                table[tree.players[one.player]][one.label] = policy.at(
                    tree.players[one.player], label
                )
            assert nash_conv(part, policy_from_table(part, table)) < 1e-9


def with_one_large_payoff(tree, rng):
    payoffs = tree.payoffs.copy()
    payoffs[rng.choice(tree.leaves.tolist()), rng.randrange(2)] = rng.choice(
        [1e2, 1e5, -1e6, 1e9, 3e12]
    )
    return replace(tree, payoffs=payoffs)


def largest_gains(tree, exact):
    """What each player could gain by the best of all its pure strategies, one after the other, in
    fractions."""

    def expected(node, moves):
        below = tree.children[node]
        if not below:
            return tree.read_payoffs(node)
        if tree.owner[node] == CHANCE:
            weights = [tree.read_probability(k) for k in below]
        else:
            first = int(tree.first_move[tree.infoset[node]])
            weights = moves[first : first + len(below)]
        values = [expected(k, moves) for k in below]
        return tuple(
            sum(w * u[player] for w, u in zip(weights, values, strict=True)) for player in (0, 1)
        )

    earned, gains = expected(0, exact), []
    for player in (0, 1):
        sets = [k for k, infoset in enumerate(tree.infosets) if infoset.player == player]
        best = []
        for chosen in product(*(range(len(tree.infosets[k].moves)) for k in sets)):
            moves = list(exact)
            for k, move in zip(sets, chosen, strict=True):
                for m in range(len(tree.infosets[k].moves)):
                    moves[int(tree.first_move[k]) + m] = Fraction(m == move)
            best.append(expected(0, moves)[player])
        gains.append(max(best) - earned[player])
    return gains


@pytest.mark.parametrize("seed", range(40))
def test_a_sequential_equilibrium_is_exactly_a_nash_equilibrium_whatever_the_payoffs(seed):
    rng = Random(seed)
    tree = with_one_large_payoff(random_tree(rng, depth=3, zero_sum=False), rng)
    held = find_sequential(tree)
    assert largest_gains(tree, held.exact) == [0, 0]
    assert held.gap == 0.0
    assert held.policy.probabilities.tolist() == [float(p) for p in held.exact]
    sets = tree.infoset[tree.infoset >= 0]
    assert np.bincount(sets, held.beliefs[tree.infoset >= 0]) == pytest.approx(1.0)


def test_the_sequential_equilibrium_of_a_tree_without_hidden_moves_is_that_of_backward_induction():
    for seed in range(15):
        tree = random_tree(Random(seed), depth=4, zero_sum=False, perfect_information=True)
        induced = subgame_perfect(tree)
        if induced.count == 1:
            table = {
                p: {i: {m: 1.0} for i, m in at.items()}
                for p, at in induced.equilibria[0].moves.items()
            }
            assert find_sequential(tree).exact == tuple(
                policy_from_table(tree, table).probabilities
            )


def test_beliefs_where_play_arrives_are_those_of_the_limit_and_not_of_the_mistakes():
    # However much better L is after a mistake, nobody makes it: R is best after "good".
    def answer(left, right):
        return Turn("second", "hidden", {"L": Leaf(left), "R": Leaf(right)})

    moves = {"bad": answer([0, 100], [0, 0]), "good": answer([1, 1], [1, 1.005])}
    held = find_sequential(build_tree(["first", "second"], Turn("first", "root", moves)))
    assert held.policy.at("first", "root") == {"bad": 0.0, "good": 1.0}
    assert held.policy.at("second", "hidden") == {"L": 0.0, "R": 1.0}
    assert held.beliefs[1:3].tolist() == [0.0, 1.0]


@pytest.mark.parametrize("prize", [1.01, 1.005, 1.001, 1.0001])
def test_a_small_gain_is_worth_a_large_loss_that_only_a_mistake_brings(prize):
    answer = Turn("second", "after A", {"good": Leaf([prize, 1]), "bad": Leaf([-100, 0])})
    tree = build_tree(["first", "second"], Turn("first", "root", {"B": Leaf([1, 1]), "A": answer}))
    held = find_sequential(tree)
    assert held.policy.at("first", "root") == {"B": 0.0, "A": 1.0}
    assert held.policy.at("second", "after A") == {"good": 1.0, "bad": 0.0}


def test_off_the_path_the_belief_follows_the_likelier_mistake():
    # Out is best. After a mistake the second player sees whether it was one (a) or two in a row (b,
    # then c or d).
    deeper = Turn(
        "first",
        "again",
        {"c": Leaf([0, 0]), "d": Turn("second", "hidden", {"l": Leaf([0, 1]), "r": Leaf([0, 0])})},
    )
    once = Turn("second", "hidden", {"l": Leaf([1, 0]), "r": Leaf([1, 1])})
    moves = {"out": Leaf([2, 0]), "a": once, "b": deeper}
    held = find_sequential(build_tree(["first", "second"], Turn("first", "root", moves)))
    assert held.policy.at("first", "root")["out"] == 1.0
    assert held.policy.at("second", "hidden") == {"l": 0.0, "r": 1.0}


def test_an_information_set_that_chance_never_reaches_has_no_beliefs():
    never = Turn("second", "never", {"l": Leaf([0, 1]), "r": Leaf([0, 0])})
    tree = build_tree(["first", "second"], Chance({"yes": (1, Leaf([0, 0])), "no": (0, never)}))
    with pytest.raises(
        NotCertified, match="second's information set 'never' is reached only by draws"
    ):
        find_sequential(tree)


def test_a_tree_with_too_many_sequences_for_exact_arithmetic_is_refused():
    tree = build_tree(
        ["first", "second"], Turn("first", "root", {f"m{k}": Leaf([k, 0]) for k in range(401)})
    )
    with pytest.raises(TooLarge, match="401 sequences of moves"):
        find_sequential(tree)


def test_a_threat_that_is_not_believed_is_no_sequential_equilibrium_although_it_is_subgame_perfect():
    # Selten's point: the second player cannot tell L from M, so there is no proper subgame; "r" is
    # never best there.
    answer = {"L": {"l": [2, 1], "r": [-1, 0]}, "M": {"l": [4, 1], "r": [-1, 0]}}
    moves = {
        m: Turn("second", "hidden", {a: Leaf(u) for a, u in ends.items()})
        for m, ends in answer.items()
    }
    tree = build_tree(["first", "second"], Turn("first", "top", {"out": Leaf([1, 3]), **moves}))
    assert {tuple(u.tolist()) for u in solve_subgames(tree).payoffs} >= {(1.0, 3.0), (4.0, 1.0)}
    held = find_sequential(tree)
    assert held.policy.at("second", "hidden") == {"l": 1.0, "r": 0.0}
    assert held.payoffs == {"first": 4.0, "second": 1.0}


def test_the_sequential_equilibrium_of_kuhn_poker_has_its_value():
    assert find_sequential(load_tree("kuhn-poker")).payoffs["player 1"] == pytest.approx(
        -1 / 18, abs=1e-15
    )


def test_chance_may_begin_a_subgame_of_three_players():
    flip = Chance({"heads": (0.5, Leaf([1, 0, 0])), "tails": (0.5, Leaf([0, 2, 0]))})
    tree = build_tree(["a", "b", "c"], Turn("a", "first", {"flip": flip, "stop": Leaf([0, 0, 0])}))
    assert solve_subgames(tree).payoffs[0].tolist() == [0.5, 1.0, 0.0]
    assert find_sequential(tree).payoffs == {"a": 0.5, "b": 1.0, "c": 0.0}
    with pytest.raises(InvalidGame, match="kuhn-poker hides moves: no subgame begins at"):
        cut_subgame(load_tree("kuhn-poker"), 2)


def test_a_small_loss_is_a_loss_where_all_payoffs_are_small():
    # Seeing the first move, "second" earns 3e-13 by "left" and 1e-13 by "right"; "unseen" is what
    # it does not see.
    unseen = Turn("second", "unseen", {"stay": Leaf([0.0, 1e-13])})
    guess = Turn("first", "guess", {"heads": unseen, "tails": unseen})
    answer = Turn("second", "seen", {"left": Leaf([1e-13, 3e-13]), "right": Leaf([2e-13, 1e-13])})
    solved = solve_subgames(
        build_tree(["first", "second"], Turn("first", "start", {"in": answer, "out": guess}))
    )
    assert {policy.at("second", "seen")["left"] for policy in solved.policies} == {1.0}
