"""Properties that every solution of a zero-sum game must have, on random and on degenerate
games."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog

from bestresponse.theory import solve_zero_sum, solve_zero_sum_game
from bestresponse.theory.zero_sum.solve import solve_exactly, solve_kernel

SHAPES = st.tuples(st.integers(1, 6), st.integers(1, 6))


def matrices(numbers, shapes=SHAPES):
    return shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=numbers))


SMALL_INTEGERS = st.integers(-3, 3).map(float)
REALS = st.floats(-1e6, 1e6, allow_subnormal=False, width=32)
GAMES = st.one_of(
    matrices(SMALL_INTEGERS), matrices(REALS), matrices(st.sampled_from([0.1, 0.2, 0.3, 0.7]))
)


def duality_gap(game, row, col):
    """Measured independently, in exact arithmetic."""
    payoffs = [[Fraction(a) for a in line] for line in game.tolist()]
    x, y = [Fraction(p) for p in row], [Fraction(q) for q in col]
    x, y = [p / sum(x) for p in x], [q / sum(y) for q in y]
    best = max(sum(a * q for a, q in zip(line, y, strict=True)) for line in payoffs)
    worst = min(
        sum(a * p for a, p in zip(line, x, strict=True)) for line in zip(*payoffs, strict=True)
    )
    return float(best - worst)


def assert_solves(game, solution):
    spread = float(np.ptp(game))
    assert min(solution.row) >= 0
    assert min(solution.col) >= 0
    assert sum(solution.row) == pytest.approx(1, abs=1e-14)
    assert sum(solution.col) == pytest.approx(1, abs=1e-14)
    assert 0 <= duality_gap(game, solution.row, solution.col) <= 1e-9 * spread
    assert 0 <= solution.relative_gap <= 1e-9


@given(GAMES)
@settings(max_examples=300, deadline=None)
def test_every_solution_is_certified_in_exact_arithmetic(game):
    assert_solves(game, solve_zero_sum_game(game))


@given(GAMES)
@settings(max_examples=150, deadline=None)
def test_the_value_is_that_of_the_exact_solution(game):
    value, row, col = solve_exactly(game)
    assert duality_gap(game, row, col) == 0.0
    found = solve_zero_sum_game(game).value
    assert found == pytest.approx(
        float(value), abs=1e-11 * float(np.ptp(game)) + 1e-15 * abs(float(value))
    )


@given(GAMES, st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_the_value_does_not_depend_on_the_order_of_rows_and_columns(game, random):
    rows = random.sample(range(game.shape[0]), game.shape[0])
    cols = random.sample(range(game.shape[1]), game.shape[1])
    permuted = solve_zero_sum_game(game[rows][:, cols])
    original = solve_zero_sum_game(game)
    assert permuted.value == pytest.approx(original.value, abs=2e-11 * float(np.ptp(game)) + 1e-300)


@given(GAMES, st.floats(1e-3, 1e3), st.floats(-1e3, 1e3))
@settings(max_examples=100, deadline=None)
def test_the_value_follows_positive_affine_maps(game, scale, offset):
    mapped = scale * game + offset
    found = solve_zero_sum_game(mapped).value
    wanted = scale * solve_zero_sum_game(game).value + offset
    size = float(np.abs(mapped).max()) + scale * float(np.abs(game).max()) + abs(offset)
    assert found == pytest.approx(wanted, abs=1e-10 * size)


@given(GAMES)
@settings(max_examples=100, deadline=None)
def test_swapping_the_players_negates_the_value(game):
    swapped = solve_zero_sum_game(-game.T)
    assert swapped.value == pytest.approx(
        -solve_zero_sum_game(game).value, abs=2e-11 * float(np.ptp(game)) + 1e-300
    )


@given(matrices(SMALL_INTEGERS, st.integers(2, 6).map(lambda n: (n, n))))
@settings(max_examples=60, deadline=None)
def test_a_symmetric_game_has_value_zero(game):
    skew = game - game.T
    assert solve_zero_sum_game(skew).value == pytest.approx(0, abs=1e-12)


@given(GAMES)
@settings(max_examples=60, deadline=None)
def test_scipy_finds_the_same_value(game):
    low, spread = float(game.min()), float(np.ptp(game))
    unit = (game - low) / (spread or 1.0)
    rows, cols = unit.shape
    answer = linprog(
        [0.0] * rows + [-1.0],
        A_ub=np.hstack([-unit.T, np.ones((cols, 1))]),
        b_ub=np.zeros(cols),
        A_eq=[[1.0] * rows + [0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
    )
    assert solve_zero_sum_game(unit).value == pytest.approx(-answer.fun, abs=1e-6)


@given(matrices(st.floats(-1.7e308, 1.7e308)))
@settings(max_examples=150, deadline=None)
def test_payoffs_of_any_size_are_solved(game):
    unit = np.ldexp(game, -1022)  # so that the checks below do not overflow
    solution = solve_zero_sum_game(game)
    spread = float(np.ptp(unit))
    assert np.isfinite(solution.value)
    assert duality_gap(unit, solution.row, solution.col) <= 1e-9 * spread


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e-60, 1e-9, 1.0, 1e9, 1e60, 1e150, 1e300])
@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (4, 5)])
def test_the_scale_of_payoffs_changes_nothing_but_the_unit(scale, shape):
    batch = np.random.default_rng(7).integers(-4, 5, size=(200, *shape)).astype(float)
    plain, scaled = (
        solve_zero_sum(batch, engine="numpy"),
        solve_zero_sum(batch * scale, engine="numpy"),
    )
    assert scaled.values / scale == pytest.approx(plain.values, abs=1e-11)
    assert scaled.relative_gaps.max() <= 1e-9


@pytest.mark.parametrize("offset", [1e3, 1e9, -1e12])
def test_a_large_offset_does_not_hide_the_game(offset):
    batch = offset + np.random.default_rng(8).integers(-4, 5, size=(300, 3, 3)).astype(float)
    plain = solve_zero_sum(batch - offset, engine="numpy")
    moved = solve_zero_sum(batch, engine="numpy")
    assert (moved.row == plain.row).all()
    assert (moved.col == plain.col).all()
    assert moved.relative_gaps.max() <= 1e-12


def test_a_batch_gives_what_its_games_give_one_by_one():
    batch = np.random.default_rng(9).integers(-3, 4, size=(50, 3, 4)).astype(float)
    together = solve_zero_sum(batch, engine="numpy")
    for index, game in enumerate(batch):
        alone = solve_zero_sum_game(game)
        assert alone.row == pytest.approx(together[index].row, abs=1e-15)
        assert alone.col == pytest.approx(together[index].col, abs=1e-15)


def test_a_batch_longer_than_a_chunk_keeps_its_order():
    counts = np.arange(40_000, dtype=float)
    solutions = solve_zero_sum(counts[:, None, None] * np.eye(2), engine="numpy")
    assert solutions.values == pytest.approx(counts / 2)


def test_the_exact_solver_returns_fractions():
    assert solve_exactly(np.array([[1.0, -1.0], [-1.0, 0.5]])) == (
        Fraction(-1, 7),
        (Fraction(3, 7), Fraction(4, 7)),
        (Fraction(3, 7), Fraction(4, 7)),
    )


def test_the_kernel_solver_gives_nan_for_a_singular_kernel():
    both = np.array([True, True])
    x, y = solve_kernel(np.array([[0.5, 0.5], [0.5, 0.5]]), both, both)
    assert np.isnan(x).all()
    assert np.isnan(y).all()
