"""Families of games that trip solvers up, with both engines: all certified, and both engines
agree."""

import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import numpy as np
import pytest

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.theory import ZeroSumStep, solve_zero_sum

needs_numba = pytest.mark.skipif(find_spec("numba") is None, reason="numba is not installed")
ENGINES = ["numpy", pytest.param("numba", marks=needs_numba)]
SHAPES = [(2, 2), (3, 3), (2, 5), (5, 2), (4, 4), (7, 7), (1, 4), (4, 1)]


def uniform(rng, shape):
    return rng.random(shape)


def few_integers(rng, shape):
    return rng.integers(-1, 2, shape).astype(float)


def duplicate_rows(rng, shape):
    return np.repeat(rng.random((shape[0], 1, shape[2])), shape[1], axis=1)


def duplicate_columns(rng, shape):
    batch = rng.integers(-4, 5, shape).astype(float)
    batch[:, :, -1] = batch[:, :, 0]
    return batch


def constant(rng, shape):
    return np.broadcast_to(rng.normal(size=(shape[0], 1, 1)), shape)


def near_ties(rng, shape):
    return np.round(rng.random(shape), 1) + 1e-9 * rng.random(shape)


def last_bits(rng, shape):
    return 1.0 + rng.integers(0, 3, shape) * 2.0**-52


def mixed_scales(rng, shape):
    return rng.normal(size=shape) * 10.0 ** rng.integers(-6, 7, shape)


def games_of_each_scale(rng, shape):
    return rng.normal(size=shape) * 10.0 ** rng.integers(-250, 251, (shape[0], 1, 1))


def specks(rng, shape):
    """Differences that vanish when the payoffs are shifted."""
    return np.where(
        rng.random(shape) < 0.3, rng.integers(-1, 2, shape), 1e-20 * rng.normal(size=shape)
    )


def large_offsets(rng, shape):
    return rng.normal(size=shape) + 1e9


FAMILIES = [
    uniform,
    few_integers,
    duplicate_rows,
    duplicate_columns,
    constant,
    near_ties,
    last_bits,
    mixed_scales,
    games_of_each_scale,
    large_offsets,
    specks,
]


def relative_exploitability(batch, solutions):
    """From the definition, on payoffs shifted and scaled to [0, 1]."""
    halves = batch / 2
    low, spread = halves.min(axis=(1, 2), keepdims=True), np.ptp(halves, axis=(1, 2))[:, None, None]
    unit = (halves - low) / np.where(spread > 0, spread, 1.0)
    best = np.einsum("kij,kj->ki", unit, solutions.col).max(axis=1)
    return best - np.einsum("kij,ki->kj", unit, solutions.row).min(axis=1)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("count", [300, pytest.param(2000, marks=pytest.mark.soak)])
def test_no_family_leaves_an_exploitable_answer(family, engine, count):
    rng = np.random.default_rng(11)
    for shape in SHAPES:
        batch = family(rng, (count, *shape))
        solutions = solve_zero_sum(batch, engine=engine)
        assert relative_exploitability(batch, solutions).max() <= 1e-9
        assert solutions.relative_gaps.max() <= 1e-9
        assert solutions.steps.min() >= ZeroSumStep.SADDLE
        for strategies in (solutions.row, solutions.col):
            assert strategies.min() >= 0
            assert strategies.sum(axis=1) == pytest.approx(np.ones(len(batch)), abs=1e-14)


@needs_numba
@pytest.mark.parametrize("family", FAMILIES)
def test_both_engines_choose_the_same_equilibrium(family):
    rng = np.random.default_rng(12)
    for shape in SHAPES:
        batch = family(rng, (300, *shape))
        plain, compiled = (
            solve_zero_sum(batch, engine="numpy"),
            solve_zero_sum(batch, engine="numba"),
        )
        assert (plain.steps == compiled.steps).all()
        assert plain.row == pytest.approx(compiled.row, abs=1e-14)
        assert plain.col == pytest.approx(compiled.col, abs=1e-14)


@pytest.mark.parametrize("engine", ENGINES)
def test_near_ties_need_the_careful_steps_and_get_them(engine):
    rng = np.random.default_rng(13)
    batch = np.round(rng.random((30_000, 2, 5)), 1) + 1e-9 * rng.random((30_000, 2, 5))
    solutions = solve_zero_sum(batch, engine=engine)
    assert {ZeroSumStep.LU, ZeroSumStep.EXACT} <= set(solutions.steps.tolist())
    assert solutions.relative_gaps.max() <= 1e-9


@pytest.mark.parametrize("engine", ENGINES)
def test_where_several_pairs_are_optimal_the_documented_one_is_taken(engine):
    any_mixture = np.array([[[2.0, 0, 2, 0], [0, 2, 0, 2], [2, 0, 2, 0], [0, 2, 0, 2]]])
    solutions = solve_zero_sum(any_mixture, engine=engine)
    assert solutions.row[0] == pytest.approx([0.5, 0.5, 0, 0])
    assert solutions.col[0] == pytest.approx([0.5, 0.5, 0, 0])
    two_kernels = np.array([[[1.0, -1, 1], [-1, 1, -1], [1, -1, 1]]])
    solutions = solve_zero_sum(two_kernels, engine=engine)
    assert solutions.row.tolist() == solutions.col.tolist() == [[0.5, 0.5, 0]]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (4, 4)])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_one_bad_payoff_in_a_large_batch_is_found(engine, shape, bad):
    for place in np.ndindex(*shape):
        batch = np.random.default_rng(0).random((100, *shape))
        batch[37, *place] = bad
        with pytest.raises(InvalidGame, match=rf"at \[37, {place[0]}, {place[1]}\]"):
            solve_zero_sum(batch, engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_views_and_other_types_are_accepted(engine):
    batch = np.random.default_rng(1).integers(-5, 6, (60, 3, 4))
    wanted = solve_zero_sum(batch.astype(float), engine=engine)
    for other in (
        batch,
        batch.astype(np.float32),
        batch.tolist(),
        np.asfortranarray(batch.astype(float)),
    ):
        assert (solve_zero_sum(other, engine=engine).values == wanted.values).all()
    assert (
        solve_zero_sum(batch.astype(float)[::-2], engine=engine).values == wanted.values[::-2]
    ).all()
    locked = batch.astype(float)
    locked.setflags(write=False)
    assert (solve_zero_sum(locked, engine=engine).values == wanted.values).all()


@needs_numba
def test_threads_may_solve_at_the_same_time():
    batch = np.random.default_rng(2).random((2000, 4, 4))
    wanted = solve_zero_sum(batch, engine="numpy").values
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: solve_zero_sum(batch, engine="numba").values, range(8)))
    assert all((values == pytest.approx(wanted, abs=1e-14)) for values in answers)


def test_numba_is_started_only_for_batches_that_repay_it():
    program = """
import numpy as np, bestresponse.theory.engines as engines, bestresponse.theory.zero_sum.solve as zero_sum
shapes = (1_000_000, 3, 3), (3_000_000, 3, 3), (10, 100, 100), (400, 100, 100)
engines.count_loads = lambda *names: 1.0  # as where the loops are compiled already
for found in (None, "numba"):
    engines.find_spec = lambda name: found
    engines._requested.clear()
    pays = [zero_sum._repays_numba(np.empty(shape)) for shape in shapes]
    print([engines.choose_engine("auto", pays=each) == "numba" for each in pays])
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout == "[False, False, False, False]\n[False, False, False, True]\n"


def test_numba_is_started_after_some_large_games_one_by_one():
    program = """
import numpy as np, bestresponse.theory.engines as engines, bestresponse.theory.zero_sum.solve as zero_sum
engines.count_loads = lambda *names: 1.0  # as where the loops are compiled already
large = [zero_sum._repays_numba(np.empty((1, 300, 300))) for _ in range(5)]
print(large, any(zero_sum._repays_numba(np.empty((1, 3, 3))) for _ in range(1000)))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout == "[False, False, False, True, True] False\n"


def test_memory_beside_the_answers_does_not_grow_with_the_batch():
    batch = np.random.default_rng(3).random((300_000, 2, 2))
    tracemalloc.start()
    solutions = solve_zero_sum(batch, engine="numpy")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    answers = sum(
        array.nbytes for array in (solutions.row, solutions.col, solutions.values, solutions.gaps)
    )
    assert peak - answers < 12_000_000


def test_an_unknown_engine_is_refused():
    with pytest.raises(UsageError, match="expected one of auto, numpy, numba, got 'cuda'"):
        solve_zero_sum([[1, 2]], engine="cuda")


def test_without_numba_asking_for_it_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr("bestresponse.theory.engines.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install '\.\[fast\]'"):
        solve_zero_sum([[1, 2]], engine="numba")


def test_small_batches_import_neither_numba_nor_scipy():
    program = """
import sys, numpy as np, bestresponse.theory as theory
theory.solve_zero_sum(np.random.default_rng(0).random((1000, 3, 3)))
print(sorted({"numba", "scipy"} & {name.partition(".")[0] for name in sys.modules}))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout == "[]\n"
