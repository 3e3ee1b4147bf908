"""Trees without perfect recall have a table of plans; a plan is a move wherever its own moves may
lead."""

from itertools import islice
from random import Random

import numpy as np
import pytest
from tests.support.random_trees import random_tree

from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.theory import Leaf, Turn, build_tree, nash, policy_value, to_normal_form
from bestresponse.theory.trees.normal_form import find_behaviour
from bestresponse.theory.trees.sequence_form import has_perfect_recall


def forget(first: str, guess: str) -> Turn:
    """Al has forgotten its own first move, and has not seen the guess: to double or not."""
    stake = -1 if first == guess else 1
    return Turn(
        "Al", "second", {"double": Leaf([2 * stake, -2 * stake]), "quit": Leaf([stake, -stake])}
    )


def hide(first: str) -> Turn:
    return Turn("Bo", "guess", {guess: forget(first, guess) for guess in ("heads", "tails")})


FORGETFUL = build_tree(
    ["Al", "Bo"], Turn("Al", "first", {side: hide(side) for side in ("heads", "tails")})
)


def test_the_table_of_a_player_who_forgets_has_every_combination_of_moves():
    table = to_normal_form(FORGETFUL)
    assert not has_perfect_recall(FORGETFUL)
    assert table.actions[0] == (
        "first: heads; second: double",
        "first: heads; second: quit",
        "first: tails; second: double",
        "first: tails; second: quit",
    )
    assert table.actions[1] == ("guess: heads", "guess: tails")
    assert table.payoffs[0].tolist() == [[-2, 2], [-1, 1], [2, -2], [1, -1]]


def test_equilibria_of_plans_are_found():
    result = nash(to_normal_form(FORGETFUL))
    assert result.complete
    assert all(e.payoffs.tolist() == [0, 0] for e in result.equilibria)


def test_plans_say_nothing_where_they_never_lead():
    def second(payoff: int) -> Turn:
        return Turn("Al", "second", {"left": Leaf([payoff]), "right": Leaf([-payoff])})

    tree = build_tree(
        ["Al"], Turn("Al", "first", {"a": second(1), "b": second(2), "out": Leaf([0])})
    )
    table = to_normal_form(tree)
    assert table.actions[0][-1] == "first: out"
    assert table.payoffs[0].tolist() == [1, -1, 2, -2, 0]


def test_an_absent_minded_driver_is_refused_with_the_place():
    later = Turn("driver", "crossing", {"exit": Leaf([4]), "on": Leaf([1])})
    tree = build_tree(["driver"], Turn("driver", "crossing", {"exit": Leaf([0]), "on": later}))
    with pytest.raises(
        InvalidGame,
        match=r"driver comes twice to its information set 'crossing' in one play \(on\)",
    ):
        to_normal_form(tree)


def test_too_many_plans_are_refused():
    with pytest.raises(TooLarge, match="Al has more than 3 plans"):
        to_normal_form(FORGETFUL, limit=3)


@pytest.mark.parametrize("seed", range(6))
def test_with_perfect_recall_plans_earn_what_the_policies_that_play_like_them_earn(seed):
    tree = random_tree(Random(seed), depth=4)
    table = to_normal_form(tree)
    for profile in islice(np.ndindex(*table.shape), 40):
        pure = [np.eye(m)[k] for m, k in zip(table.shape, profile, strict=True)]
        earned = list(policy_value(tree, find_behaviour(tree, pure)).values())
        np.testing.assert_allclose(table.payoffs[(slice(None), *profile)], earned, atol=1e-12)
