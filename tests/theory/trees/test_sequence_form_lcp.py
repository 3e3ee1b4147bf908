"""One equilibrium of two-player trees with any payoffs: worked cases, random trees, refusals."""

from random import Random

import numpy as np
import pytest
from random_trees import random_tree

from bestresponse.core.errors import InvalidGame, NotCertified, TooLarge
from bestresponse.theory import load_tree, nash_conv, solve_general_tree, solve_tree
from bestresponse.theory.trees.sequence_form_lp import solve_complementarity
from bestresponse.theory.trees.tree import Chance, Leaf, Turn, build_tree


def signalling_tree(types=3, payoffs=None):
    """A sender of a type drawn by chance sends one of two messages; the receiver sees the message
    only."""
    rng = Random(7)
    names = ("sender", "receiver")

    def reply(kind, message):
        pay = payoffs or (lambda *_: [rng.randint(0, 9), rng.randint(0, 9)])
        return Turn(
            "receiver", message, {move: Leaf(pay(kind, message, move)) for move in ("up", "down")}
        )

    def send(kind):
        return Turn(
            "sender",
            f"type {kind}",
            {message: reply(kind, message) for message in ("left", "right")},
        )

    return build_tree(names, Chance({str(k): (1 / types, send(k)) for k in range(types)}))


def test_a_zero_sum_tree_has_the_value_of_the_linear_program():
    tree = load_tree("kuhn-poker")
    solution = solve_general_tree(tree)
    assert solution.value["player 1"] == pytest.approx(-1 / 18, abs=1e-12)
    assert solution.method == "sequence-form LCP"


def test_beer_and_quiche_pools_where_the_strong_like_it():
    # Cho and Kreps (1987): the strong (9 in 10) like beer, the weak quiche; both would rather not
    # be fought.
    def pay(kind, message, move):
        likes = message == ("left" if kind < 9 else "right")
        return [likes + 2 * (move == "down"), float((move == "up") == (kind >= 9))]

    solution = solve_general_tree(signalling_tree(10, pay))
    assert solution.nash_conv <= 1e-12
    assert solution.value["receiver"] == pytest.approx(0.9)


def test_a_tree_whose_normal_form_is_far_too_large_is_solved_to_rounding():
    tree = signalling_tree(types=40)  # the sender alone has 2**40 pure strategies
    solution = solve_general_tree(tree)
    assert solution.nash_conv <= 1e-12
    assert nash_conv(tree, solution.policy) <= 1e-12


@pytest.mark.parametrize("seed", range(40))
def test_random_trees_are_solved_to_rounding(seed):
    tree = random_tree(Random(seed), 2, 5, zero_sum=seed % 4 == 0)
    solution = solve_general_tree(tree)
    assert solution.nash_conv <= 1e-12
    if seed % 4 == 0:
        assert solution.value["player 1"] == pytest.approx(
            solve_tree(tree).value["player 1"], abs=1e-7
        )


def test_what_does_not_fit_is_refused():
    with pytest.raises(InvalidGame, match="has 3 players; expected two"):
        solve_general_tree(load_tree("kuhn-poker-3"))
    wide = build_tree(
        ["one", "two"], Turn("one", "root", {f"m{k}": Leaf([k, 0]) for k in range(1001)})
    )
    with pytest.raises(
        TooLarge, match="1,001 sequences of moves, more than 1,000; cfr approximates"
    ):
        solve_general_tree(wide)


def test_the_linear_program_for_zero_sum_trees_names_what_solves_others():
    with pytest.raises(
        InvalidGame, match=r"centipede is not a two-player zero-sum game .*; use solve_general_tree"
    ):
        solve_tree(load_tree("centipede"))
    with pytest.raises(InvalidGame, match="use cfr and its NashConv instead"):
        solve_tree(load_tree("kuhn-poker-3"))


def test_a_problem_without_a_solution_ends_in_a_ray():
    with pytest.raises(NotCertified, match="ended in a ray"):
        solve_complementarity(np.array([[-1.0]]), np.ones(1), np.array([-1.0]))


def test_where_zero_solves_the_problem_it_is_the_answer():
    z, w = solve_complementarity(np.eye(2), np.ones(2), np.array([1.0, 0.0]))
    assert z.tolist() == [0.0, 0.0]
    assert w.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("seed", range(6))
def test_hundreds_of_sequences_are_solved(seed):
    tree = random_tree(Random(seed), depth=8, zero_sum=False)
    assert solve_general_tree(tree).nash_conv <= 1e-9


def test_two_stages_with_private_types_are_solved_where_cfr_stays_far_away():
    # The structure and payoffs of bayes2a.efg of Gambit's library: a simultaneous game played
    # twice, two types each.
    stage = {"G": {"Hh": (10, 2), "Hl": (0, 10), "Lh": (2, 4), "Ll": (4, 0)}}
    stage["B"] = {"Hh": (4, 2), "Hl": (2, 10), "Lh": (0, 4), "Ll": (10, 0)}

    def expand(position):
        types, moves = position
        if len(types) < 2:
            return Chance(
                {kind: (0.5, (types + kind, moves)) for kind in ("GB" if not types else "gb")}
            )
        if len(moves) == 4:
            paid = [stage[types[0]][pair] for pair in (moves[:2], moves[2:])]
            return Leaf([sum(pay[player] for pay in paid) for player in range(2)])
        seen = moves[: len(moves) // 2 * 2]
        if len(moves) % 2 == 0:
            return Turn("one", f"{types[0]} {seen}", {move: (types, moves + move) for move in "HL"})
        return Turn("two", f"{types[1]} {seen}", {move: (types, moves + move) for move in "hl"})

    tree = build_tree(("one", "two"), ("", ""), expand)
    assert len(tree.infosets) == 20
    assert solve_general_tree(tree).nash_conv <= 1e-12
