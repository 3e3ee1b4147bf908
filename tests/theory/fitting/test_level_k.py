"""Level-k and the cognitive hierarchy."""

from math import exp

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestresponse.core.errors import UsageError
from bestresponse.theory import catalogue, generators
from bestresponse.theory.fitting import cognitive_hierarchy, level_k
from bestresponse.theory.games.isomorphs import random_isomorph


def choices(levels, game, player=0):
    """The labels a player uses at each level."""
    return [
        [game.actions[player][a] for a in np.flatnonzero(mix > 0)]
        for mix in levels.strategies[player]
    ]


def test_levels_climb_down_the_money_request_ladder():
    game = catalogue.load("money-request")
    asks_20 = [np.eye(10)[9]] * 2
    assert choices(level_k(game, 4, asks_20), game) == [["20"], ["19"], ["18"], ["17"], ["16"]]


def test_against_uniform_claims_96_and_97_are_equally_good_in_the_travelers_dilemma():
    # Raising a claim from c to c + 1 gains 96 - c in total over all claims of the other.
    game = catalogue.load("travelers-dilemma")
    found = level_k(game, 1)
    assert choices(found, game)[1] == ["96", "97"]
    assert found.final[0].max() == 0.5


def test_level_zero_is_the_anchor():
    assert level_k(catalogue.load("chicken"), 0).final[0].tolist() == [0.5, 0.5]
    assert level_k(catalogue.load("chicken"), 0, [[1, 0], [0, 1]]).final[1].tolist() == [0, 1]


def test_in_the_prisoners_dilemma_only_level_zero_cooperates():
    found = cognitive_hierarchy(catalogue.load("prisoners-dilemma"), tau=1.5)
    assert found.final[0][0] == pytest.approx(exp(-1.5) / 2, abs=1e-8)
    assert found.shares[:3] == pytest.approx(
        [exp(-1.5), 1.5 * exp(-1.5), 1.125 * exp(-1.5)], rel=1e-8
    )


def test_levels_chase_each_other_in_matching_pennies():
    game = catalogue.load("matching-pennies")
    found = level_k(game, 3, [[1, 0], [1, 0]])
    assert choices(found, game, 0) == [["heads"], ["heads"], ["tails"], ["tails"]]
    assert choices(found, game, 1) == [["heads"], ["tails"], ["tails"], ["heads"]]


def test_nobody_thinks_when_tau_is_zero():
    found = cognitive_hierarchy(catalogue.load("rock-paper-scissors"), tau=0)
    assert found.shares.tolist() == [1.0]


@given(st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_high_levels_reach_the_solution_of_dominance_solvable_games(seed):
    game = generators.dominance_solvable(seed, (3, 3))
    assert level_k(game, 8).gap == pytest.approx(0, abs=1e-12)


@given(st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_rewriting_the_game_rewrites_the_prediction(seed):
    game = generators.uniform(seed, (3, 4))
    other = random_isomorph(seed, game)
    for model in (level_k, cognitive_hierarchy):
        back = other.back(model(other.game).final)
        for mine, theirs in zip(model(game).final, back, strict=True):
            assert mine == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda game: level_k(game, -1), "level: expected at least 0"),
        (lambda game: cognitive_hierarchy(game, tau=-1), "tau: expected"),
    ],
)
def test_bad_arguments_say_what_was_expected(call, match):
    with pytest.raises(UsageError, match=match):
        call(catalogue.load("chicken"))


@pytest.mark.parametrize(("scale", "shift"), [(1e-10, 0.0), (1.0, 5e9)])
def test_the_unit_and_the_zero_of_payoffs_change_no_best_response(scale, shift):
    # Against uniform play defection earns (5 + 1) / 2 and cooperation (3 + 0) / 2 units.
    row = scale * np.array([[3.0, 0.0], [5.0, 1.0]]) + shift
    assert [mix.tolist() for mix in level_k((row, row.T), 1).final] == [[0.0, 1.0], [0.0, 1.0]]
