"""Zero-sum games compiled with numba, on all cores.

The steps and the choices are the same as in the numpy modules.

Imported only when a batch is large enough to pay for it (see `zero_sum`); needs the extra `fast`.
Arithmetic is left in the order written (no fused or reassociated operations), so both engines take
the same kernels and the same pivots. A game that is not certified here, or whose payoffs are not
finite or beyond 2**±150, is left with step 0 for numpy. Kernels are compiled on first use and kept
on disk by numba. They run under a lock, because numba's simplest threading layer ends the process
when two threads enter it at once.

The simplex of `simplex` compiled with numba, one game at a time on each core.

The tableau, the pivot rules and the order of arithmetic are those of the numpy module; see there.
Also the ways of compiling that all kernels share: results are cached on disk, division by zero
gives infinity as it does in numpy.
"""

from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from bestresponse.theory.arrays import Ints
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.zero_sum.simplex import (
    BLAND_AFTER,
    COST_EPSILON,
    GIVE_UP_AFTER,
    PIVOT_EPSILON,
    TIE_EPSILON,
)
from bestresponse.theory.zero_sum.solve import ACCEPTED, HUGE, TINY, ZeroSumSolutions, ZeroSumStep

_Steps = NDArray[np.int8]
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
    steps: _Steps,
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
_ONE, _TWO, _THREE, _FOUR, _FIVE, _NINE, _LANES = (np.uint64(k) for k in (1, 2, 3, 4, 5, 9, 64))

_Three = tuple[float, float, float]


def solve_compiled(games: Array, out: ZeroSumSolutions) -> None:
    """Solve payoffs (count, rows, cols) into `out`; `out.steps` is 0 where that did not work."""
    games = np.require(
        games, requirements=["C", "A", "W"]
    )  # a read-only array would be compiled for anew
    with _ENTERING:
        _kernel_for(games)(games, *out.arrays, min(_BLOCKS, len(games)))


def is_compiled_for(games: Array) -> bool:
    """Return whether the kernel for games of this size has been used before.

    If so, it starts at once.
    """
    return bool(_kernel_for(games).signatures)


def _kernel_for(games: Array) -> Any:
    return {(2, 2): _solve_2x2, (3, 3): _solve_3x3}.get(games.shape[1:], solve_any)


@parallel_kernel
def _solve_2x2(
    games: Array,
    values: Array,
    row: Array,
    col: Array,
    gaps: Array,
    ranges: Array,
    steps: _Steps,
    blocks: int,
) -> None:
    """Solve 64 games at once and copy the answers out."""
    count = games.shape[0]
    payoffs = games.reshape(-1)
    x = row.reshape(-1)
    y = col.reshape(-1)
    for block in prange(blocks):
        answers = np.zeros(6 * 64)
        end = (block + 1) * count // blocks
        for start in range(block * count // blocks, end, 64):
            stop = min(start + 64, end)
            filled = np.uint64(stop - start)
            _solve_2x2_lanes(payoffs[4 * start : 4 * stop], answers, filled)
            _copy_pairs(answers[:64], x[2 * start : 2 * stop], filled)
            _copy_pairs(answers[64:128], y[2 * start : 2 * stop], filled)
            _copy(answers[128:192], values[start:stop], filled)
            _copy(answers[192:256], gaps[start:stop], filled)
            _copy(answers[256:320], ranges[start:stop], filled)
            _copy(answers[320:], steps[start:stop], filled)


@kernel
def _solve_2x2_lanes(payoffs: Array, answers: Array, count: np.uint64) -> None:
    """Solve up to 64 games without a branch.

    The compiler can then do several in one instruction.

    The cells of game k begin at payoffs[4 k]; its p, q, value, gap, range and step go to
    answers[k], answers[k + 64] and so on. Numbers that count are unsigned: others may be negative
    indexes, and the test for that costs a third.
    """
    for k in range(count):
        cell = _FOUR * k
        a = payoffs[cell]
        b = payoffs[cell + _ONE]
        c = payoffs[cell + _TWO]
        d = payoffs[cell + _THREE]
        total = a + b + c + d
        upper = min(a, b)
        lower = min(c, d)
        left = max(a, c)
        right = max(b, d)
        low = min(upper, lower)
        high = max(left, right)
        guaranteed = max(upper, lower)
        conceded = min(left, right)
        saddle = guaranteed >= conceded
        a = a - low
        b = b - low
        c = c - low
        d = d - low
        inverse = 1.0 / (a - b + (d - c))
        p = min((d - c) * inverse, 1.0)
        q = min((d - b) * inverse, 1.0)
        p = (1.0 if upper >= lower else 0.0) if saddle else p
        q = (1.0 if left <= right else 0.0) if saddle else q
        best = max(a * q + b * (1.0 - q), c * q + d * (1.0 - q))
        worst = min(a * p + c * (1.0 - p), b * p + d * (1.0 - p))
        gap = best - worst
        spread = high - low
        certified = (gap <= ACCEPTED * spread) & is_tame(total, low, high)

        answers[k] = p
        answers[k + _LANES] = q
        answers[k + _TWO * _LANES] = guaranteed if saddle else low + (worst + 0.5 * gap)
        answers[k + _THREE * _LANES] = max(gap, 0.0)
        answers[k + _FOUR * _LANES] = spread
        answers[k + _FIVE * _LANES] = (_SADDLE if saddle else _CLOSED_FORM) if certified else 0.0


@kernel
def _copy(numbers: Array, out: Array | _Steps, count: np.uint64) -> None:
    for k in range(count):
        out[k] = numbers[k]


@kernel
def _copy_pairs(probabilities: Array, out: Array, count: np.uint64) -> None:
    """Write p and 1 - p beside each other."""
    for k in range(count):
        out[_TWO * k] = probabilities[k]
        out[_TWO * k + _ONE] = 1.0 - probabilities[k]


@parallel_kernel
def _solve_3x3(
    games: Array,
    values: Array,
    row: Array,
    col: Array,
    gaps: Array,
    ranges: Array,
    steps: _Steps,
    blocks: int,
) -> None:
    """Copy games into lanes, solve 64 at once, copy the answers out."""
    count = games.shape[0]
    cells = games.reshape(-1)
    x = row.reshape(-1)
    y = col.reshape(-1)
    for block in prange(blocks):
        payoffs = np.zeros(9 * 64)
        answers = np.zeros(10 * 64)
        end = (block + 1) * count // blocks
        for start in range(block * count // blocks, end, 64):
            stop = min(start + 64, end)
            filled = np.uint64(stop - start)
            _copy_cells(cells[9 * start : 9 * stop], payoffs, filled)
            _solve_3x3_lanes(payoffs, answers)
            _copy_triples(answers[:192], x[3 * start : 3 * stop], filled)
            _copy_triples(answers[192:384], y[3 * start : 3 * stop], filled)
            _copy(answers[384:448], values[start:stop], filled)
            _copy(answers[448:512], gaps[start:stop], filled)
            _copy(answers[512:576], ranges[start:stop], filled)
            _copy(answers[576:], steps[start:stop], filled)


@kernel
def _copy_cells(cells: Array, payoffs: Array, count: np.uint64) -> None:
    """Write the nine cells of each game 64 places apart."""
    for k in range(count):
        for cell in range(_NINE):
            payoffs[k + _LANES * cell] = cells[_NINE * k + cell]


@kernel
def _copy_triples(lanes: Array, out: Array, count: np.uint64) -> None:
    """Write three numbers that are 64 places apart beside each other."""
    for k in range(count):
        out[_THREE * k] = lanes[k]
        out[_THREE * k + _ONE] = lanes[k + _LANES]
        out[_THREE * k + _TWO] = lanes[k + _TWO * _LANES]


@kernel
def _solve_3x3_lanes(payoffs: Array, answers: Array) -> None:
    """Solve 64 games of 3x3 in the same way; cell c of game k is payoffs[k + 64 c].

    x, y, value, gap, range and step go to `answers`.

    Candidates are tried from the last in the order of choice to the first, each replacing those
    before it.
    """
    for k in range(64):
        a = payoffs[k]
        b = payoffs[k + 64]
        c = payoffs[k + 128]
        d = payoffs[k + 192]
        e = payoffs[k + 256]
        f = payoffs[k + 320]
        g = payoffs[k + 384]
        h = payoffs[k + 448]
        i = payoffs[k + 512]
        total = a + b + c + d + e + f + g + h + i
        top = min(min(a, b), c)
        middle = min(min(d, e), f)
        bottom = min(min(g, h), i)
        left = max(max(a, d), g)
        centre = max(max(b, e), h)
        right = max(max(c, f), i)
        low = min(min(top, middle), bottom)
        high = max(max(left, centre), right)
        a = a - low
        b = b - low
        c = c - low
        d = d - low
        e = e - low
        f = f - low
        g = g - low
        h = h - low
        i = i - low

        good, x, y = _full_kernel(a=a, b=b, c=c, d=d, e=e, f=f, g=g, h=h, i=i)
        solved = good
        good, p, q = _mixed(
            e,
            f,
            c=h,
            d=i,
            below_a=b,
            below_b=c,
            beside_a=d,
            beside_c=g,
        )
        solved = solved | good
        x = _choose(good, (0.0, p, 1.0 - p), x)
        y = _choose(good, (0.0, q, 1.0 - q), y)
        good, p, q = _mixed(
            d,
            f,
            c=g,
            d=i,
            below_a=a,
            below_b=c,
            beside_a=e,
            beside_c=h,
        )
        solved = solved | good
        x = _choose(good, (0.0, p, 1.0 - p), x)
        y = _choose(good, (q, 0.0, 1.0 - q), y)
        good, p, q = _mixed(
            d,
            e,
            c=g,
            d=h,
            below_a=a,
            below_b=b,
            beside_a=f,
            beside_c=i,
        )
        solved = solved | good
        x = _choose(good, (0.0, p, 1.0 - p), x)
        y = _choose(good, (q, 1.0 - q, 0.0), y)
        good, p, q = _mixed(
            b,
            c,
            c=h,
            d=i,
            below_a=e,
            below_b=f,
            beside_a=a,
            beside_c=g,
        )
        solved = solved | good
        x = _choose(good, (p, 0.0, 1.0 - p), x)
        y = _choose(good, (0.0, q, 1.0 - q), y)
        good, p, q = _mixed(
            a,
            c,
            c=g,
            d=i,
            below_a=d,
            below_b=f,
            beside_a=b,
            beside_c=h,
        )
        solved = solved | good
        x = _choose(good, (p, 0.0, 1.0 - p), x)
        y = _choose(good, (q, 0.0, 1.0 - q), y)
        good, p, q = _mixed(
            a,
            b,
            c=g,
            d=h,
            below_a=d,
            below_b=e,
            beside_a=c,
            beside_c=i,
        )
        solved = solved | good
        x = _choose(good, (p, 0.0, 1.0 - p), x)
        y = _choose(good, (q, 1.0 - q, 0.0), y)
        good, p, q = _mixed(
            b,
            c,
            c=e,
            d=f,
            below_a=h,
            below_b=i,
            beside_a=a,
            beside_c=d,
        )
        solved = solved | good
        x = _choose(good, (p, 1.0 - p, 0.0), x)
        y = _choose(good, (0.0, q, 1.0 - q), y)
        good, p, q = _mixed(
            a,
            c,
            c=d,
            d=f,
            below_a=g,
            below_b=i,
            beside_a=b,
            beside_c=e,
        )
        solved = solved | good
        x = _choose(good, (p, 1.0 - p, 0.0), x)
        y = _choose(good, (q, 0.0, 1.0 - q), y)
        good, p, q = _mixed(
            a,
            b,
            c=d,
            d=e,
            below_a=g,
            below_b=h,
            beside_a=c,
            beside_c=f,
        )
        solved = solved | good
        x = _choose(good, (p, 1.0 - p, 0.0), x)
        y = _choose(good, (q, 1.0 - q, 0.0), y)

        guaranteed = max(max(top, middle), bottom)
        conceded = min(min(left, centre), right)
        saddle = guaranteed >= conceded
        x = _choose(saddle, _first_equal(top, middle, guaranteed), x)
        y = _choose(saddle, _first_equal(left, centre, conceded), y)
        best = max(max(_dot(a, b, c, y), _dot(d, e, f, y)), _dot(g, h, i, y))
        worst = min(min(_dot(a, d, g, x), _dot(b, e, h, x)), _dot(c, f, i, x))
        gap = best - worst
        spread = high - low
        certified = (solved | saddle) & (gap <= ACCEPTED * spread) & is_tame(total, low, high)

        answers[k], answers[k + 64], answers[k + 128] = x
        answers[k + 192], answers[k + 256], answers[k + 320] = y
        answers[k + 384] = guaranteed if saddle else low + (worst + 0.5 * gap)
        answers[k + 448] = max(gap, 0.0)
        answers[k + 512] = spread
        answers[k + 576] = (_SADDLE if saddle else _CLOSED_FORM) if certified else 0.0


@kernel
def _full_kernel(
    a: float,
    b: float,
    c: float,
    d: float,
    e: float,
    f: float,
    g: float,
    h: float,
    i: float,
) -> tuple[bool, _Three, _Three]:
    """Whether the 3x3 kernel gives an optimal pair, and the pair, by cofactors."""
    c00 = e * i - f * h
    c01 = f * g - d * i
    c02 = d * h - e * g
    c10 = c * h - b * i
    c11 = a * i - c * g
    c12 = b * g - a * h
    c20 = b * f - c * e
    c21 = c * d - a * f
    c22 = a * e - b * d
    x0 = c00 + c01 + c02
    x1 = c10 + c11 + c12
    x2 = c20 + c21 + c22
    y0 = c00 + c10 + c20
    y1 = c01 + c11 + c21
    y2 = c02 + c12 + c22
    x_inverse = 1.0 / (x0 + x1 + x2)
    y_inverse = 1.0 / (y0 + y1 + y2)
    x0 = x0 * x_inverse
    x1 = x1 * x_inverse
    x2 = x2 * x_inverse
    y0 = y0 * y_inverse
    y1 = y1 * y_inverse
    y2 = y2 * y_inverse
    good = (x0 >= 0.0) & (x1 >= 0.0) & (x2 >= 0.0) & (y0 >= 0.0) & (y1 >= 0.0) & (y2 >= 0.0)
    return good, (x0, x1, x2), (y0, y1, y2)


@kernel
def _mixed(
    a: float,
    b: float,
    c: float,
    d: float,
    below_a: float,
    below_b: float,
    beside_a: float,
    beside_c: float,
) -> tuple[bool, float, float]:
    """Whether the kernel [[a, b], [c, d]] is optimal, and its p and q.

    It has to be optimal against the row below and the column beside.
    """
    x_numerator = d - c
    y_numerator = d - b
    inverse = 1.0 / (a - b + x_numerator)
    p = x_numerator * inverse
    q = y_numerator * inverse
    value = d - x_numerator * y_numerator * inverse
    good = ((a - b) * x_numerator >= 0.0) & ((a - c) * y_numerator >= 0.0)
    good &= (below_b + (below_a - below_b) * q <= value) & (
        beside_c + (beside_a - beside_c) * p >= value
    )
    return good, min(p, 1.0), min(q, 1.0)


@kernel
def _choose(new_is_better: bool, new: _Three, old: _Three) -> _Three:
    return (
        new[0] if new_is_better else old[0],
        new[1] if new_is_better else old[1],
        new[2] if new_is_better else old[2],
    )


@kernel
def _first_equal(first: float, second: float, wanted: float) -> _Three:
    """The pure strategy of the first of three numbers that equals `wanted`, given that one does."""
    is_first = first == wanted
    is_second = (second == wanted) & (first != wanted)
    return 1.0 if is_first else 0.0, 1.0 if is_second else 0.0, 0.0 if is_first | is_second else 1.0


@kernel
def _dot(a: float, b: float, c: float, weights: _Three) -> float:
    return a * weights[0] + b * weights[1] + c * weights[2]
