"""Monte Carlo CFR: it approaches equilibrium on sampled plays."""

import pytest

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.theory import (
    Chance,
    Leaf,
    Turn,
    build_tree,
    load_tree,
    mccfr_tree,
    nash_conv,
    uniform_policy,
)


def test_kuhn_poker_comes_close_to_equilibrium():
    tree = load_tree("kuhn-poker")
    found = mccfr_tree(tree, iterations=1500)
    assert nash_conv(tree, uniform_policy(tree)) == pytest.approx(11 / 12)
    assert nash_conv(tree, found) < 0.12


def test_chance_after_a_move_is_weighed_by_how_likely_it_is():
    # A coin is thrown after the guess and shows heads three times in four; the second sees the
    # guess, and takes a dollar or leaves it.
    def throw(guess):
        ends = {side: Leaf([float(side == guess), 0.0]) for side in ("heads", "tails")}
        take = {"take": Leaf([0.0, 1.0]), "leave": Leaf([0.0, 0.0])}
        return Chance(
            {
                "heads": (0.375, ends["heads"]),
                "tails": (0.125, ends["tails"]),
                "stop": (0.5, Turn("second", guess, take)),
            }
        )

    guesses = {guess: throw(guess) for guess in ("heads", "tails")}
    tree = build_tree(["guesser", "second"], Turn("guesser", "guess", guesses))
    found = mccfr_tree(tree, iterations=3000)
    assert found.at("guesser", "guess")["heads"] > 0.9
    assert found.at("second", "heads")["take"] > 0.99


def test_where_no_play_comes_it_is_uniform():
    never = Turn("Al", "never", {"a": Leaf([1]), "b": Leaf([0])})
    tree = build_tree(["Al"], Chance({"no": (0, never), "yes": (1, Leaf([0]))}))
    assert mccfr_tree(tree, iterations=5).at("Al", "never") == {"a": 0.5, "b": 0.5}


def test_no_iteration_at_all_is_refused():
    with pytest.raises(UsageError, match="iterations: expected at least 1"):
        mccfr_tree(load_tree("kuhn-poker"), iterations=0)


def test_a_driver_who_forgets_the_first_exit_is_refused():
    junction = Turn("driver", "exit?", {"exit": Leaf([4]), "on": Leaf([1])})
    tree = build_tree(["driver"], Turn("driver", "exit?", {"exit": Leaf([0]), "on": junction}))
    with pytest.raises(InvalidGame, match="no perfect recall: driver has made different moves"):
        mccfr_tree(tree)
