"""Logit quantal response equilibria: both ends of the branch, its certificate, and closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestresponse.core.errors import UsageError
from bestresponse.theory import catalogue, generators
from bestresponse.theory.dynamics.learning import logit_dynamics
from bestresponse.theory.fitting import quantal_branch, quantal_response
from bestresponse.theory.games.isomorphs import random_isomorph
from bestresponse.theory.games.normal_form import NormalForm

SEEDS = st.integers(0, 2**32)
SHAPES = st.sampled_from([(2, 2), (3, 3), (2, 4), (2, 2, 2)])


@given(seed=SEEDS, shape=SHAPES)
@settings(max_examples=15, deadline=None)
def test_at_precision_zero_play_is_uniform(seed, shape):
    found = quantal_response(generators.normal(seed, shape), 0.0)
    assert [mix.tolist() for mix in found.strategies] == [pytest.approx([1 / m] * m) for m in shape]


@given(seed=SEEDS, shape=SHAPES)
@settings(max_examples=20, deadline=None)
def test_every_point_is_certified_and_no_gain_exceeds_its_bound(seed, shape):
    branch = quantal_branch(generators.normal(seed, shape), 20.0)
    assert branch.residuals.max() < 1e-9
    assert branch.precisions[-1] == pytest.approx(20)
    positive = branch.precisions > 0
    bounds = np.log(shape) / branch.precisions[positive][:, None]
    assert (branch.gains[positive] <= bounds + 1e-12).all()


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("oneill", [0.2, 0.2, 0.2, 0.4]),
        ("prisoners-dilemma", [0, 1]),
        ("asymmetric-matching-pennies", [0.5, 0.5]),
        ("stag-hunt", [0, 1]),
        ("hi-lo", [1, 0]),
    ],
)
def test_with_growing_precision_the_branch_nears_a_nash_equilibrium(name, row):
    game = catalogue.load(name)
    found = quantal_response(game, 1e4 / np.ptp(game.payoffs))
    assert found.strategies[0] == pytest.approx(row, abs=1e-3)
    assert found.gap < 1e-3 * np.ptp(game.payoffs)


def test_a_dominant_action_is_played_with_the_logistic_probability():
    game = NormalForm.bimatrix([[1, 1], [0, 0]], [[0, 0], [0, 0]])
    found = quantal_response(game, 2.0)
    assert found.strategies[0][0] == pytest.approx(1 / (1 + np.exp(-2)))
    assert found.strategies[1] == pytest.approx([0.5, 0.5])


def test_the_symmetric_branch_of_chicken_solves_its_own_equation():
    # With p the probability to swerve, log(p / (1 - p)) = lambda (u(swerve) - u(straight)).
    found = quantal_response(catalogue.load("chicken"), 0.5)
    swerve = found.strategies[0][0]
    difference = -(1 - swerve) - (swerve - 10 * (1 - swerve))
    assert np.log(swerve / (1 - swerve)) == pytest.approx(0.5 * difference)


def test_the_logit_dynamics_rest_at_the_same_point():
    game = catalogue.load("asymmetric-matching-pennies")
    resting = logit_dynamics(game, 0.01, steps=10_000).final
    for mine, theirs in zip(quantal_response(game, 0.01).strategies, resting, strict=True):
        assert mine == pytest.approx(theirs, abs=1e-8)


@given(seed=SEEDS)
@settings(max_examples=10, deadline=None)
def test_rewriting_the_game_moves_the_answer_along(seed):
    game = generators.uniform(seed, (3, 3))
    other = random_isomorph(seed, game, affine=False)
    back = other.back(quantal_response(other.game, 5.0).strategies)
    for mine, theirs in zip(quantal_response(game, 5.0).strategies, back, strict=True):
        assert mine == pytest.approx(theirs, abs=1e-7)


@given(seed=SEEDS)
@settings(max_examples=10, deadline=None)
def test_precision_and_payoffs_trade_off(seed):
    game = generators.uniform(seed, (3, 3))
    larger = NormalForm(100 * game.payoffs)
    for mine, theirs in zip(
        quantal_response(game, 8.0).strategies,
        quantal_response(larger, 0.08).strategies,
        strict=True,
    ):
        assert mine == pytest.approx(theirs, abs=1e-7)


def test_the_branch_starts_at_zero_and_ends_at_the_precision_asked_for():
    branch = quantal_branch(catalogue.load("chicken"), 3.0)
    assert branch.precisions[0] == 0
    assert branch.final.precision == pytest.approx(3.0)
    assert len(branch) == len(branch.strategies[0]) == len(branch.gains)
    assert branch.gap == branch.final.gap


def test_a_game_without_stakes_stays_uniform():
    found = quantal_response(NormalForm.zero_sum([[2, 2, 2], [2, 2, 2]]), 50.0)
    assert found.strategies[1] == pytest.approx([1 / 3] * 3)


def test_a_negative_precision_is_refused():
    with pytest.raises(UsageError, match="precision: expected a number >= 0"):
        quantal_branch(catalogue.load("chicken"), -1.0)


def test_a_player_with_one_action_plays_it():
    found = quantal_response(NormalForm.bimatrix([[0, 1, 2]], [[0, 1, 2]]), 1.0)
    assert found.strategies[0].tolist() == [1.0]
    assert found.strategies[1] == pytest.approx(np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum())
