"""The Moran process: extreme payoffs, both kinds of fitness, mutation."""

import math

import numpy as np
import pytest
from tests.oracles.moran import find_takeover_chances

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.theory import count_takeovers, fixation_probability, moran


def test_a_strong_type_that_is_absent_changes_nothing():
    result = moran([[0, 0, 0], [0, 0, 0], [5000, 5000, 5000]], [5, 5, 0], seed=2)
    assert result.winner in (0, 1)
    assert result.counts[2] == 0


def test_only_the_strong_have_children_where_the_weak_are_hopeless():
    result = moran([[5000, 5000], [0, 0]], [5, 5], seed=2)
    assert (result.winner, (np.diff(result.trajectory[:, 0]) >= 0).all()) == (0, True)


def test_a_hopeless_mutant_has_no_chance_and_an_irresistible_one_is_sure_of_it():
    assert fixation_probability([[0, 0], [5000, 5000]], 100) == 0.0
    assert fixation_probability([[0, 0], [1, 1]], 4, fitness="linear") == 0.0
    assert fixation_probability([[5000, 5000], [0, 0]], 100) == 1.0


def test_linear_fitness_gives_the_textbook_probability_of_a_constant_advantage():
    # A mutant of relative fitness r in a population of N takes over with (1 - 1/r) / (1 - 1/r**N).
    expected = (1 - 1 / 2) / (1 - 1 / 2**6)
    assert fixation_probability([[2, 2], [1, 1]], 6, fitness="linear") == pytest.approx(expected)
    found = count_takeovers([[2, 2], [1, 1]], [1, 5], runs=4000, seed=1, fitness="linear")
    assert found.wins[0] / 4000 == pytest.approx(expected, abs=0.03)


def test_nobody_meets_itself():
    # Two individuals, one of each type, meet only each other: both earn 3, whatever they would earn
    # among their own.
    assert fixation_probability([[100, 3], [3, -100]], 2) == pytest.approx(0.5)
    # Among three, one mutant meets two others (payoff 1), the others one mutant and one of their
    # own ((2 + 0) / 2). Two mutants earn (7 + 1) / 2 each, the last other one earns 2; the ratios
    # of fitness are 1 and exp(2 - 4).
    expected = 1 / (1 + 1 + np.exp(-2))
    assert fixation_probability([[7, 1], [2, 0]], 3) == pytest.approx(expected)


def test_types_without_any_fitness_are_drawn_alike():
    assert moran([[0, 0], [0, 0]], [3, 3], seed=5, fitness="linear").winner in (0, 1)


@pytest.mark.parametrize("seed", range(5))
def test_a_child_that_mutates_is_of_another_type(seed):
    # Both parents are of the first type, every child mutates and one parent dies: one of each is
    # left.
    assert moran([[1, 1], [1, 1]], [2, 0], mutation=1.0, steps=1, seed=seed).counts == (1, 1)


def test_mutation_brings_back_a_type_that_was_lost():
    result = moran([[1, 1], [1, 1]], [10, 0], mutation=0.5, steps=50, seed=3)
    assert (np.asarray(result.trajectory)[:, 1] > 0).any()
    assert sum(result.counts) == 10


def test_one_is_born_and_one_dies_in_every_step_until_one_type_has_taken_over():
    result = moran([[1, 3], [2, 2]], [3, 3], seed=4)
    assert (result.counts, result.winner, result.steps, result.stride) == ((6, 0), 0, 71, 1)
    path = result.trajectory[:, 0]
    assert path[:10].tolist() == [3, 3, 2, 2, 1, 1, 1, 1, 1, 1]
    assert (len(path), path[-2], path[-1]) == (72, 5, 6)
    assert (result.trajectory.sum(axis=1) == 6).all()
    assert np.abs(np.diff(path)).max() == 1


def test_a_stride_keeps_every_third_step_and_a_limit_ends_the_run():
    result = moran([[1, 3], [2, 2]], [3, 3], seed=4, stride=3)
    assert (len(result.trajectory), result.steps, result.winner) == (24, 71, 0)
    assert result.trajectory[:4, 0].tolist() == [3, 2, 1, 1]
    cut = moran([[1, 3], [2, 2]], [3, 3], seed=4, steps=4)
    assert (cut.counts, cut.winner, cut.steps) == ((1, 5), None, 4)


def test_a_type_that_is_alone_has_won_after_the_first_step():
    result = moran([[1, 1], [1, 1]], [10, 0])
    assert (result.counts, result.winner, result.steps) == ((10, 0), 0, 1)


def test_with_mutation_the_process_goes_on_after_a_takeover():
    result = moran([[1, 1], [1, 1]], [2, 0], mutation=0.01, steps=30, seed=1)
    assert (result.steps, len(result.trajectory)) == (30, 31)
    assert moran([[1, 1], [1, 1]], [4, 0], mutation=1, steps=40, seed=1).trajectory[:, 1].max() >= 3


def test_runs_side_by_side_are_counted_by_who_took_over_and_how_many_did_not_end():
    assert count_takeovers([[1, 3], [2, 2]], [3, 3], runs=50, seed=4).wins == (33, 17)
    assert sum(count_takeovers([[1, 3], [2, 2]], [3, 3], seed=4).wins) == 100
    assert count_takeovers([[1, 1], [1, 1]], [3, 3], steps=2, runs=30).undecided == 30


def test_one_run_of_one_step_is_enough():
    found = count_takeovers([[1, 1], [1, 1]], [2, 0], runs=1, steps=1)
    assert (found.wins, found.undecided) == ((1, 0), 0)


def test_a_run_that_ends_in_the_last_step_has_ended():
    # Of two individuals one is born and one dies: half of the runs are decided by the first step.
    found = count_takeovers([[1, 1], [1, 1]], [1, 1], runs=2000, steps=1)
    assert sum(found.wins) + found.undecided == 2000
    assert found.undecided == pytest.approx(1000, abs=100)


def test_fixation_probabilities_worked_out_by_hand():
    # One, two and three mutants among four: the ratios of fitness are 1/3, 1 and 3.
    assert fixation_probability([[0, 1], [1, 0]], 4, fitness="linear") == pytest.approx(
        1 / (1 + 1 / 3 + 1 / 3 + 1)
    )
    assert fixation_probability([[0, 0], [0, 0]], 4, fitness="linear") == pytest.approx(0.25)
    # Half of the fitness is 1 for all: a mutant (0.5 + 0.5 * 1) against the other (0.5 + 0.5 * 2),
    # among two.
    assert fixation_probability(
        [[3, 1], [2, 2]], 2, fitness="linear", intensity=0.5
    ) == pytest.approx(1 / (1 + 1.5))
    assert fixation_probability([[3, 1], [2, 2]], 2, intensity=0.5) == pytest.approx(
        1 / (1 + np.exp(0.5))
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: moran([[1, 2], [3, 4]], [1, 1], mutation=-0.1), "mutation is a probability"),
        (lambda: moran([[1, 2], [3, 4]], [1, 1], mutation=1.1), "mutation is a probability"),
        (lambda: moran([[1, 2], [3, 4]], [1, 1], steps=0), "steps and stride are at least 1"),
        (lambda: moran([[1, 2], [3, 4]], [1, 1], stride=0), "steps and stride are at least 1"),
        (
            lambda: moran([[1, 2], [3, 4]], [1, 0]),
            "counts: expected 2 numbers with at least two individuals in all",
        ),
        (lambda: moran([[1, 2], [3, 4]], [-1, 4]), "counts: expected 2 numbers"),
        (lambda: moran([[1, 2], [3, 4]], [1, 1, 1]), "counts: expected 2 numbers"),
        (
            lambda: moran([[-1, 2], [3, 4]], [1, 1], fitness="linear"),
            "linear fitness needs payoffs of at least 0",
        ),
        (
            lambda: count_takeovers([[1, 2], [3, 4]], [1, 1], runs=0),
            "expected at least 1, got 0 and 100000",
        ),
        (
            lambda: count_takeovers([[1, 2], [3, 4]], [1, 1], steps=0),
            "expected at least 1, got 100 and 0",
        ),
        (
            lambda: fixation_probability([[1, 2], [3, 4]], 1),
            "needs 2 types and at least 2 individuals",
        ),
        (lambda: fixation_probability(np.ones((3, 3)), 5), r"needs 2 types .* got \(3, 3\)"),
    ],
)
def test_what_is_no_population_is_refused(call, message):
    with pytest.raises(UsageError, match=message):
        call()


@pytest.mark.parametrize("payoffs", [[[1, 2, 3], [3, 4, 5]], [1, 2]])
def test_payoffs_between_types_are_a_square(payoffs):
    with pytest.raises(InvalidGame, match="expected a square matrix"):
        moran(payoffs, [1, 1])


@pytest.mark.parametrize(
    "options", [{"intensity": 0}, {"intensity": 1}, {"mutation": 1, "steps": 1}]
)
def test_the_ends_of_every_range_are_in_it(options):
    assert sum(moran([[0, 2], [3, 4]], [1, 1], fitness="linear", **options).counts) == 2


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


def test_a_mutant_that_earns_nothing_alone_has_no_chance_although_two_would_be_irresistible():
    # Of three, one mutant meets two residents and earns 0, so it has no offspring; two mutants earn
    # 1/2 each, and the resident among them nothing.
    assert fixation_probability([[1, 0], [0, 1]], 3, fitness="linear") == 0.0


@pytest.mark.parametrize("fitness", ["linear", "exponential"])
def test_takeovers_are_those_of_the_chain_of_all_populations(fitness):
    """Tit-for-tat, a defector and a cooperator over ten rounds, two individuals each."""
    payoffs = [[3, 0.9, 3], [1.4, 1, 5], [3, 0, 3]]
    grow = math.exp if fitness == "exponential" else float
    exact = find_takeover_chances(payoffs, [2, 2, 2], grow)
    if fitness == "linear":
        assert exact == pytest.approx([0.37828, 0.48488, 0.13684], abs=1e-5)
    runs = 4000
    counted = count_takeovers(payoffs, [2, 2, 2], runs=runs, seed=1, fitness=fitness)
    for wins, chance in zip(counted.wins, exact, strict=True):
        error = math.sqrt(chance * (1 - chance) / runs)
        assert wins / runs == pytest.approx(chance, abs=4 * error)


def test_fixation_is_that_of_the_chain_of_all_populations():
    payoffs = [[3, 0.9], [1.4, 1]]
    exact = find_takeover_chances(payoffs, [1, 5], float)
    assert fixation_probability(payoffs, 6, fitness="linear") == pytest.approx(exact[0], abs=1e-12)
    assert exact[0] == pytest.approx(0.21211, abs=1e-5)
