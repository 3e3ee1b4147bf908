"""Zero-sum games compiled with numba, on all cores.

The steps and the choices are the same as in the numpy modules. 2x2 and 3x3 games are not solved
here: numpy computes their closed forms for all games at once.

Imported only when a batch is large enough to pay for it (see `zero_sum`); needs the extra `fast`.
Arithmetic is left in the order written (no fused or reassociated operations), so both engines take
the same kernels and the same pivots. A game that is not certified here, or whose payoffs are not
finite or beyond 2**±150, is left with step 0 for numpy. Kernels are compiled on first use and kept
on disk by numba. They run under a lock, because numba's simplest threading layer ends the process
when two threads enter it at once.

The simplex is that of `simplex`, one game at a time on each core: the tableau, the pivot rules and
the order of arithmetic are the same. Results are cached on disk, and division by zero gives
infinity as it does in numpy.
"""

from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numba import njit, prange

from bestresponse.theory.arrays import Bytes, Ints
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.zero_sum.simplex import (
    BLAND_AFTER,
    COST_EPSILON,
    GIVE_UP_AFTER,
    PIVOT_EPSILON,
    TIE_EPSILON,
)
from bestresponse.theory.zero_sum.solve import ACCEPTED, HUGE, TINY, ZeroSumSolutions, ZeroSumStep

_SADDLE, _CLOSED_FORM, _SIMPLEX = map(
    int, (ZeroSumStep.SADDLE, ZeroSumStep.CLOSED_FORM, ZeroSumStep.SIMPLEX)
)

kernel = njit(cache=True, error_model="numpy")
loose_kernel = njit(cache=True, error_model="numpy", fastmath={"reassoc", "nnan", "nsz"})
"""With sums in any order, for finite numbers where the last bit does not matter."""
parallel_kernel = njit(parallel=True, cache=True, nogil=True, error_model="numpy")


@kernel
def is_tame(total: float, low: float, high: float) -> bool:
    """Say whether payoffs with this sum and these extremes are finite and their products safe."""
    largest = max(high, -low)
    return (total - total == 0.0) & (largest < HUGE) & ((largest > TINY) | (largest == 0.0))


class _Work(NamedTuple):
    """Scratch arrays of one core: the tableau and what a pivot needs.

    The right-hand side is apart as `levels`.
    """

    table: Array  # (rows + 1, cols); the last row holds the reduced costs
    levels: Array  # (rows + 1,)
    column: Array  # (rows + 1,), the column of the pivot before it
    ratios: Array  # (rows,)
    # (cols,), the row of the pivot after it; apart from the table, so that the inner loop
    # vectorises
    spare: Array
    basic: Ints  # labels of the rows: columns of the game come first, then its rows
    nonbasic: Ints  # labels of the columns


@parallel_kernel
def solve_any(
    games: Array,
    values: Array,
    row: Array,
    col: Array,
    gaps: Array,
    ranges: Array,
    steps: Bytes,
    blocks: int,
) -> None:
    """Solve games (count, rows, cols) of any size into the other arrays.

    The games are shared out in `blocks`.
    """
    count, rows, cols = games.shape
    for block in prange(blocks):
        columns = np.empty(rows + 1), np.empty(rows + 1), np.empty(rows)
        labels = np.empty(rows, np.int64), np.empty(cols, np.int64)
        work = _Work(np.empty((rows + 1, cols)), *columns, np.empty(cols), *labels)
        for k in range(block * count // blocks, (block + 1) * count // blocks):
            low, ranges[k], tame = _extremes(games[k])
            values[k] = 0.0
            gaps[k] = 0.0
            steps[k] = 0
            if tame:
                values[k], gaps[k], steps[k] = _solve_one(
                    games[k],
                    low,
                    spread=ranges[k],
                    work=work,
                    x=row[k],
                    y=col[k],
                )


@kernel
def _solve_one(
    game: Array,
    low: float,
    spread: float,
    work: _Work,
    x: Array,
    y: Array,
) -> tuple[float, float, int]:
    """Value, gap and step of one game, 0 if it could not be certified.

    The strategies go into x and y.
    """
    saddle = _find_saddle(game, work.spare, x, y)
    if saddle >= 0:
        return game[saddle // game.shape[1], saddle % game.shape[1]], 0.0, _SADDLE
    _fill(game, low, spread, work)
    if not _run_simplex(work):
        return 0.0, 0.0, 0
    _extract(work, x, y)
    best, worst = _certificate(game, low, work.spare, x, y)
    gap = best - worst
    return low + (worst + 0.5 * gap), max(gap, 0.0), _SIMPLEX if gap <= ACCEPTED * spread else 0


@kernel
def _extremes(game: Array) -> tuple[float, float, bool]:
    """The smallest payoff, the range, and whether the payoffs are finite and safe."""
    low = high = game[0, 0]
    total = 0.0
    for payoff in game.flat:
        low = min(low, payoff)
        high = max(high, payoff)
        total = total + payoff
    return low, high - low, is_tame(total, low, high)


@loose_kernel
def _find_saddle(game: Array, spare: Array, x: Array, y: Array) -> int:
    """The cell of the first saddle point, or -1.

    Its row and column are marked in x and y, which are cleared.
    """
    rows, cols = game.shape
    best_row = 0
    guaranteed = -np.inf
    spare[:] = game[0]
    for i in range(rows):
        x[i] = 0.0
        payoffs = game[i]
        worst = payoffs[0]
        for j in range(cols):
            worst = min(worst, payoffs[j])
            spare[j] = max(spare[j], payoffs[j])
        if worst > guaranteed:
            best_row = i
            guaranteed = worst
    best_col = 0
    for j in range(cols):
        y[j] = 0.0
        if spare[j] < spare[best_col]:
            best_col = j
    if guaranteed < spare[best_col]:
        return -1
    x[best_row] = y[best_col] = 1.0
    cell: int = best_row * cols + best_col
    return cell


@kernel
def _fill(game: Array, low: float, spread: float, work: _Work) -> None:
    rows, cols = game.shape
    inverse = 1.0 / spread
    for i in range(rows):
        row = work.table[i]
        payoffs = game[i]
        for j in range(cols):
            row[j] = (payoffs[j] - low) * inverse + 1.0
        work.basic[i] = cols + i
    for j in range(cols):
        work.table[rows, j] = -1.0
        work.nonbasic[j] = j
    work.levels[:rows] = 1.0
    work.levels[rows] = 0.0


@kernel
def _run_simplex(work: _Work) -> bool:
    """Pivot to the optimum; False if rounding keeps it out of reach."""
    table, levels, column, ratios, spare, basic, nonbasic = work
    rows = len(basic)
    cols = len(nonbasic)
    costs = table[rows]
    stalled = 0
    for _ in range(GIVE_UP_AFTER * (rows + cols)):
        bland = stalled >= BLAND_AFTER * (rows + cols)
        cheapest = _smallest(costs)
        if cheapest >= -COST_EPSILON:
            return True
        c = (
            _lowest_label(costs, -COST_EPSILON, nonbasic)
            if bland
            else _first_at_most(costs, cheapest)
        )
        _find_ratios(table, levels, c, column, ratios)
        smallest = _smallest(ratios)
        if smallest == np.inf:
            return False
        r = (
            _lowest_label(ratios, smallest + TIE_EPSILON, basic)
            if bland
            else _first_at_most(ratios, smallest)
        )
        stalled = 0 if smallest > TIE_EPSILON else stalled + 1
        _pivot(table, spare, column, r, c)
        _move_levels(levels, column, r)
        basic[r], nonbasic[c] = nonbasic[c], basic[r]
    return False


@loose_kernel
def _smallest(numbers: Array) -> float:
    smallest: float = numbers[0]
    for k in range(1, len(numbers)):
        smallest = min(smallest, numbers[k])
    return smallest


@kernel
def _first_at_most(numbers: Array, bound: float) -> int:
    k = 0
    while numbers[k] > bound:
        k += 1
    return k


@kernel
def _lowest_label(numbers: Array, bound: float, labels: Ints) -> int:
    chosen = _first_at_most(numbers, bound)
    for k in range(chosen + 1, len(numbers)):
        if numbers[k] <= bound and labels[k] < labels[chosen]:
            chosen = k
    return chosen


@kernel
def _find_ratios(
    table: Array,
    levels: Array,
    c: int,
    column: Array,
    ratios: Array,
) -> None:
    """Copy column c out of the tableau and fill in the ratios of its rows.

    A ratio is infinite if there can be no pivot.
    """
    for i in range(len(column)):
        column[i] = table[i, c]
    for i in range(len(ratios)):
        ratio = levels[i] / column[i]
        ratios[i] = ratio if column[i] > PIVOT_EPSILON else np.inf


@kernel
def _pivot(table: Array, spare: Array, column: Array, r: int, c: int) -> None:
    inverse = 1.0 / column[r]
    pivot_row = table[r]
    for j in range(len(spare)):
        spare[j] = pivot_row[j] * inverse
    spare[c] = inverse
    for i in range(len(column)):
        row = table[i]
        factor = column[i]
        row[c] = 0.0
        for j in range(len(spare)):
            row[j] -= factor * spare[j]
    for j in range(len(spare)):
        pivot_row[j] = spare[j]


@kernel
def _move_levels(levels: Array, column: Array, r: int) -> None:
    level = levels[r] * (1.0 / column[r])
    for i in range(len(levels)):
        levels[i] -= column[i] * level
    levels[r] = level


@kernel
def _extract(work: _Work, x: Array, y: Array) -> None:
    rows = len(x)
    cols = len(y)
    for i in range(rows):
        if work.basic[i] < cols:
            y[work.basic[i]] = max(work.levels[i], 0.0)
    for j in range(cols):
        if work.nonbasic[j] >= cols:
            x[work.nonbasic[j] - cols] = max(work.table[rows, j], 0.0)
    x /= x.sum()
    y /= y.sum()


@loose_kernel
def _certificate(
    game: Array,
    low: float,
    spare: Array,
    x: Array,
    y: Array,
) -> tuple[float, float]:
    """What the best row gets against y and the worst column leaves x.

    Both are above the smallest payoff.
    """
    rows, cols = game.shape
    best = 0.0
    spare[:] = 0.0
    for i in range(rows):
        payoffs = game[i]
        payoff = 0.0
        for j in range(cols):
            payoff += (payoffs[j] - low) * y[j]
        for j in range(cols):
            spare[j] += (payoffs[j] - low) * x[i]
        best = max(best, payoff)
    return best, spare.min()


_BLOCKS = (
    64  # shares of a batch: enough to keep the cores busy until the end, few enough to cost nothing
)
_ENTERING = Lock()


def solve_compiled(games: Array, out: ZeroSumSolutions) -> None:
    """Solve payoffs (count, rows, cols) into `out`; `out.steps` is 0 where that did not work."""
    games = np.require(
        games, requirements=["C", "A", "W"]
    )  # a read-only array would be compiled for anew
    with _ENTERING:
        solve: Any = solve_any
        solve(games, *out.arrays, min(_BLOCKS, len(games)))
