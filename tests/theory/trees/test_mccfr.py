"""Monte Carlo CFR: it approaches equilibrium, keeps only what it met, and needs no tree."""

import pytest

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.theory import Chance, Leaf, Turn, build_tree, load_tree, nash_conv, uniform_policy
from bestresponse.theory.trees.mccfr import mccfr, mccfr_tree


@pytest.mark.parametrize(
    ("sampling", "iterations", "reached"), [("external", 1500, 0.12), ("outcome", 6000, 0.25)]
)
def test_kuhn_poker_comes_close_to_equilibrium(sampling, iterations, reached):
    tree = load_tree("kuhn-poker")
    found = mccfr_tree(tree, iterations=iterations, sampling=sampling)
    assert nash_conv(tree, uniform_policy(tree)) == pytest.approx(11 / 12)
    assert nash_conv(tree, found.on(tree)) < reached


def guess(position):
    """A coin is thrown after the guess; who guesses heads wins where the coin shows heads three
    times in four."""
    if position == "start":
        return Turn("guesser", "guess", {"heads": "h", "tails": "t"})
    if position in ("h", "t"):
        return Chance({"heads": (0.75, position + "h"), "tails": (0.25, position + "t")})
    return Leaf([float(position[0] == position[1])])


@pytest.mark.parametrize("sampling", ["external", "outcome"])
def test_chance_after_a_move_is_weighed_by_how_likely_it_is(sampling):
    found = mccfr(["guesser"], "start", guess, iterations=3000, sampling=sampling)
    tree = build_tree(["guesser"], "start", guess)
    assert sum(map(len, found.table.values())) == 1
    assert found.on(tree).at("guesser", "guess")["heads"] > (0.4 if sampling == "external" else 0.9)


def test_an_endless_game_is_sampled_without_its_tree():
    # Both may stop at any time and take all: who moves first stops sooner or later.
    def expand(turn):
        if turn >= 0:
            return Turn(
                ("first", "second")[turn % 2], str(turn), {"stop": -1 - turn, "go": turn + 1}
            )
        return Leaf([1.0, 0.0] if turn % 2 else [0.0, 1.0])

    found = mccfr(
        ["first", "second"], 0, lambda t: Leaf([0.0, 0.0]) if t > 50 else expand(t), iterations=50
    )
    assert 1 <= sum(map(len, found.table.values())) <= 51
    assert found.table["first"]["0"]["stop"] > 0.4


def test_unknown_sampling_is_refused():
    with pytest.raises(UsageError, match="expected one of external, outcome, got 'guess'"):
        mccfr_tree(load_tree("kuhn-poker"), sampling="guess")
    with pytest.raises(UsageError, match="iterations: expected at least 1"):
        mccfr_tree(load_tree("kuhn-poker"), iterations=0)


def test_a_driver_who_forgets_the_first_exit_is_refused():
    junction = Turn("driver", "exit?", {"exit": Leaf([4]), "on": Leaf([1])})
    tree = build_tree(["driver"], Turn("driver", "exit?", {"exit": Leaf([0]), "on": junction}))
    with pytest.raises(InvalidGame, match="no perfect recall: driver has made different moves"):
        mccfr_tree(tree)
