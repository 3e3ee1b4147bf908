"""The simplex of `zero_sum_simplex` compiled with numba, one game at a time on each core.

The tableau, the pivot rules and the order of arithmetic are those of the numpy module; see there. Also the ways of
compiling that all kernels share: results are cached on disk, division by zero gives infinity as it does in numpy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit, prange

from bestresponse.theory.normal_form import Array
from bestresponse.theory.zero_sum_batch import ACCEPTED, HUGE, TINY, ZeroSumStep
from bestresponse.theory.zero_sum_simplex import BLAND_AFTER, COST_EPSILON, GIVE_UP_AFTER, PIVOT_EPSILON, TIE_EPSILON

__all__ = ["is_tame", "kernel", "parallel_kernel", "solve_any"]

_SADDLE, _SIMPLEX = int(ZeroSumStep.SADDLE), int(ZeroSumStep.SIMPLEX)

_F = TypeVar("_F", bound=Callable[..., Any])


def kernel(function: _F) -> _F:
    """Compile for one core."""
    return cast(_F, njit(cache=True, error_model="numpy")(function))


def parallel_kernel(function: _F) -> _F:
    """Compile for all cores."""
    return cast(_F, njit(parallel=True, cache=True, error_model="numpy")(function))


@kernel
def is_tame(total: float, low: float, high: float) -> bool:
    """Whether payoffs with this sum and these extremes are finite and their products safe."""
    largest = max(high, -low)
    return (total - total == 0.0) & (largest < HUGE) & ((largest > TINY) | (largest == 0.0))


@parallel_kernel
def solve_any(
    games: Array, values: Array, row: Array, col: Array, gaps: Array, ranges: Array, steps: Any, blocks: int
) -> None:
    """Solve games (count, rows, cols) of any size into the other arrays, sharing them out in `blocks`."""
    count, rows, cols = games.shape
    for block in prange(blocks):
        table, spare = np.empty((rows + 1, cols + 1)), np.empty(cols + 1)
        labels = np.empty(rows, np.int64), np.empty(cols, np.int64)
        for k in range(block * count // blocks, (block + 1) * count // blocks):
            game = games[k]
            low, ranges[k], tame = _extremes(game)
            values[k], gaps[k], steps[k] = 0.0, 0.0, 0
            if tame:
                answer = _solve_one(game, low, ranges[k], table, spare, labels, row[k], col[k])
                values[k], gaps[k], steps[k] = answer


@kernel
def _solve_one(
    game: Array, low: float, spread: float, table: Array, spare: Array, labels: Any, x: Array, y: Array
) -> tuple[float, float, int]:
    """Value, gap and step of one game, 0 if it could not be certified; the strategies go into x and y."""
    saddle = _find_saddle(game, x, y)
    if saddle >= 0:
        return game[saddle // game.shape[1], saddle % game.shape[1]], 0.0, _SADDLE
    basic, nonbasic = labels
    _fill(game, low, spread, table, basic, nonbasic)
    if not _run_simplex(table, spare, basic, nonbasic):
        return 0.0, 0.0, 0
    _extract(table, basic, nonbasic, x, y)
    best, worst = _certificate(game, low, x, y)
    gap = best - worst
    return low + (worst + 0.5 * gap), max(gap, 0.0), _SIMPLEX if gap <= ACCEPTED * spread else 0


@kernel
def _extremes(game: Array) -> tuple[float, float, bool]:
    low = high = game[0, 0]
    total = 0.0
    for payoff in game.flat:
        low, high, total = min(low, payoff), max(high, payoff), total + payoff
    return low, high - low, is_tame(total, low, high)


@kernel
def _find_saddle(game: Array, x: Array, y: Array) -> int:
    """The cell of the first saddle point, or -1; its row and column are marked in x and y, which are cleared."""
    rows, cols = game.shape
    best_row, guaranteed = 0, -np.inf
    for i in range(rows):
        x[i] = 0.0
        worst = np.inf
        for j in range(cols):
            worst = min(worst, game[i, j])
        if worst > guaranteed:
            best_row, guaranteed = i, worst
    best_col, conceded = 0, np.inf
    for j in range(cols):
        y[j] = 0.0
        best = -np.inf
        for i in range(rows):
            best = max(best, game[i, j])
        if best < conceded:
            best_col, conceded = j, best
    if guaranteed < conceded:
        return -1
    x[best_row] = y[best_col] = 1.0
    cell: int = best_row * cols + best_col
    return cell


@kernel
def _fill(game: Array, low: float, spread: float, table: Array, basic: Any, nonbasic: Any) -> None:
    rows, cols = game.shape
    inverse = 1.0 / spread
    for i in range(rows):
        for j in range(cols):
            table[i, j] = (game[i, j] - low) * inverse + 1.0
        table[i, cols] = 1.0
        basic[i] = cols + i
    for j in range(cols):
        table[rows, j] = -1.0
        nonbasic[j] = j
    table[rows, cols] = 0.0


@kernel
def _run_simplex(table: Array, spare: Array, basic: Any, nonbasic: Any) -> bool:
    rows, cols = len(basic), len(nonbasic)
    for pivots in range(GIVE_UP_AFTER * (rows + cols)):
        bland = pivots >= BLAND_AFTER * (rows + cols)
        c = _entering(table, nonbasic, bland)
        if c < 0:
            return True
        r = _leaving(table, basic, c, bland)
        if r < 0:
            return False
        _pivot(table, spare, r, c)
        basic[r], nonbasic[c] = nonbasic[c], basic[r]
    return False


@kernel
def _entering(table: Array, nonbasic: Any, bland: bool) -> int:
    """The column to pivot on, or -1 at the optimum."""
    costs = table[-1]
    chosen, label, cheapest = -1, np.iinfo(np.int64).max, -COST_EPSILON
    for j in range(len(nonbasic)):
        if bland and costs[j] < -COST_EPSILON and nonbasic[j] < label:
            chosen, label = j, nonbasic[j]
        elif not bland and costs[j] < cheapest:
            chosen, cheapest = j, costs[j]
    return chosen


@kernel
def _leaving(table: Array, basic: Any, c: int, bland: bool) -> int:
    """The row to pivot on, or -1 if rounding has left none."""
    cols = table.shape[1] - 1
    chosen, smallest = -1, np.inf
    for i in range(len(basic)):
        if table[i, c] > PIVOT_EPSILON and table[i, cols] / table[i, c] < smallest:
            chosen, smallest = i, table[i, cols] / table[i, c]
    if bland:
        for i in range(len(basic)):
            tied = table[i, c] > PIVOT_EPSILON and table[i, cols] / table[i, c] <= smallest + TIE_EPSILON
            if tied and basic[i] < basic[chosen]:
                chosen = i
    return chosen


@kernel
def _pivot(table: Array, spare: Array, r: int, c: int) -> None:
    """Pivot on (r, c); the new row r is built in `spare`, apart from the table, so that the inner loop vectorises."""
    rows, cols = table.shape
    inverse = 1.0 / table[r, c]
    for j in range(cols):
        spare[j] = table[r, j] * inverse
    spare[c] = inverse
    for i in range(rows):
        row = table[i]
        factor = row[c]
        row[c] = 0.0
        for j in range(cols):
            row[j] -= factor * spare[j]
    table[r] = spare


@kernel
def _extract(table: Array, basic: Any, nonbasic: Any, x: Array, y: Array) -> None:
    rows, cols = len(basic), len(nonbasic)
    for i in range(rows):
        if basic[i] < cols:
            y[basic[i]] = max(table[i, cols], 0.0)
    for j in range(cols):
        if nonbasic[j] >= cols:
            x[nonbasic[j] - cols] = max(table[rows, j], 0.0)
    x /= x.sum()
    y /= y.sum()


@kernel
def _certificate(game: Array, low: float, x: Array, y: Array) -> tuple[float, float]:
    """What the best row gets against y and the worst column leaves x, both above the smallest payoff."""
    rows, cols = game.shape
    best = -np.inf
    for i in range(rows):
        payoff = 0.0
        for j in range(cols):
            payoff += (game[i, j] - low) * y[j]
        best = max(best, payoff)
    worst = np.inf
    for j in range(cols):
        payoff = 0.0
        for i in range(rows):
            payoff += (game[i, j] - low) * x[i]
        worst = min(worst, payoff)
    return best, worst
