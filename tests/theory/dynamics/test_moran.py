"""The Moran process: extreme payoffs, both kinds of fitness, mutation."""

import numpy as np
import pytest

from bestresponse.core.errors import UsageError
from bestresponse.theory import count_takeovers, fixation_probability, moran


def test_a_strong_type_that_is_absent_changes_nothing():
    result = moran([[0, 0, 0], [0, 0, 0], [5000, 5000, 5000]], [5, 5, 0], seed=2)
    assert result.winner in (0, 1)
    assert result.counts[2] == 0


def test_a_hopeless_mutant_has_no_chance_and_an_irresistible_one_is_sure_of_it():
    assert fixation_probability([[0, 0], [5000, 5000]], 100) == 0.0
    assert fixation_probability([[5000, 5000], [0, 0]], 100) == 1.0


def test_linear_fitness_gives_the_textbook_probability_of_a_constant_advantage():
    # A mutant of relative fitness r in a population of N takes over with (1 - 1/r) / (1 - 1/r**N).
    expected = (1 - 1 / 2) / (1 - 1 / 2**6)
    assert fixation_probability([[2, 2], [1, 1]], 6, fitness="linear") == pytest.approx(expected)
    found = count_takeovers([[2, 2], [1, 1]], [1, 5], runs=4000, seed=1, fitness="linear")
    assert found.wins[0] / 4000 == pytest.approx(expected, abs=0.03)


def test_nobody_meets_itself():
    # Two individuals, one of each type, meet only each other: both earn 3, whatever they would earn among their own.
    assert fixation_probability([[100, 3], [3, -100]], 2) == pytest.approx(0.5)
    # Among three, one mutant meets two others (payoff 1), the others one mutant and one of their own ((2 + 0) / 2).
    # Two mutants earn (7 + 1) / 2 each, the last other one earns 2; the ratios of fitness are 1 and exp(2 - 4).
    expected = 1 / (1 + 1 + np.exp(-2))
    assert fixation_probability([[7, 1], [2, 0]], 3) == pytest.approx(expected)


def test_types_without_any_fitness_are_drawn_alike():
    assert moran([[0, 0], [0, 0]], [3, 3], seed=5, fitness="linear").winner in (0, 1)


def test_mutation_brings_back_a_type_that_was_lost():
    result = moran([[1, 1], [1, 1]], [10, 0], mutation=0.5, steps=50, seed=3)
    assert (np.asarray(result.trajectory)[:, 1] > 0).any()
    assert sum(result.counts) == 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fitness": "cubic"}, "fitness: expected one of exponential, linear, got 'cubic'"),
        ({"fitness": "linear", "intensity": 2}, "an intensity from 0 to 1"),
        ({"intensity": float("inf")}, "expected a finite number"),
    ],
)
def test_what_is_no_fitness_is_refused(options, message):
    with pytest.raises(UsageError, match=message):
        moran([[1, 2], [3, 4]], [1, 1], **options)
