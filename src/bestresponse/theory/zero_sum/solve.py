"""Two-player zero-sum games, many at once.

Each gets its value, optimal strategies of both players, and a certificate.

The row player gets `payoffs[i, j]` and the column player pays it. A pair (x, y) of mixed strategies
is optimal when x guarantees the value v against every column and y concedes no more than v to any
row (von Neumann 1928). Every answer carries its duality gap, max_i (A y)_i - min_j (x A)_j, which
is 0 exactly at an optimal pair; none is returned with a gap above 1e-9 of the range of its payoffs.
Where several pairs are optimal, the order of the search decides which is taken; the value is always
unique.

Closed forms for zero-sum games: saddle points of any size, 2x2 and 3x3 games by their kernels.

Every zero-sum game has an optimal pair that solves a square submatrix K (a *kernel*) with equality:
with C the matrix of cofactors of K and s the sum of its entries, x = C 1 / s, y = C^T 1 / s, v =
det K / s, provided v != 0 (Shapley and Snow, "Basic solutions of discrete games", 1950). Payoffs
are shifted so that the smallest is 0, which makes v positive wherever there is no saddle point.

Everything here works on many games at once, stored batch last: `games` has shape (rows, cols,
batch). The order of the search decides which equilibrium is taken where there are several: the
saddle point of lowest row and lowest column; else the first 2x2 kernel (rows 01, 02, 12; within
them columns 01, 02, 12); else the 3x3 kernel.

The careful way to solve a zero-sum game, for the few that the fast ways cannot certify.

First the final basis of the simplex is solved again by LU factorisation with one step of iterative
refinement, which undoes the rounding gathered over the pivots. If the basis itself was wrong, an
exact simplex decides: every float is a rational, so the payoffs become integers, and only the final
strategies are rounded to floats.

One chunk of zero-sum games through all the steps, with numpy: each game stops at the first step
that certifies it.

Saddle point, closed form (2x2 and 3x3), simplex, LU re-solve of its last basis, exact rationals.
The certificate of a pair (x, y) is its duality gap: the best row's payoff against y less the worst
column's payoff for x. It bounds what either player could gain by deviating, and how far the value
can be from what is reported; it is measured on the shifted payoffs, so that a large offset does not
drown it in rounding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from operator import mul
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import InvalidGame, NotCertified, TooLarge
from bestresponse.theory.arrays import Bools, Bytes, Indices
from bestresponse.theory.engines import Engine, choose_engine, repays_loading
from bestresponse.theory.equilibria.integer import optimize
from bestresponse.theory.games.normal_form import Array, Numbers, as_payoffs
from bestresponse.theory.games.ties import count_units
from bestresponse.theory.trees.memory import measure_machine
from bestresponse.theory.zero_sum.simplex import simplex

_CLOSED_FORMS = ((2, 2), (3, 3))
_PAIRS = ((0, 1, 2), (0, 2, 1), (1, 2, 0))  # the two taken, the one left out


def saddle_points(games: Array) -> tuple[Array, Array, Indices]:
    """Find optimal pure strategies x (rows, batch), y (cols, batch) if they exist.

    Also returns the games in which they do not.
    """
    rows, cols, count = games.shape
    guaranteed = games.min(axis=1)
    conceded = games.max(axis=0)
    x = np.zeros((rows, count))
    y = np.zeros((cols, count))
    saddle = guaranteed.max(axis=0) >= conceded.min(axis=0)
    solved = np.flatnonzero(saddle)
    x[guaranteed[:, solved].argmax(axis=0), solved] = 1.0
    y[conceded[:, solved].argmin(axis=0), solved] = 1.0
    return x, y, np.flatnonzero(~saddle)


# Closed forms fill in x and y for the games numbered `left`, none with a saddle point; they return
# those unsolved.


def _solve_2x2(games: Array, x: Array, y: Array, left: Indices) -> None:
    (a, b), (c, d) = np.take(games, left, axis=2)
    with np.errstate(all="ignore"):
        inverse = 1.0 / (a - b + (d - c))
        p = np.minimum((d - c) * inverse, 1.0)
        q = np.minimum((d - b) * inverse, 1.0)
    x[0, left] = p
    x[1, left] = 1.0 - p
    y[0, left] = q
    y[1, left] = 1.0 - q


def _solve_2x2_kernels(games: Array, x: Array, y: Array, left: Indices) -> Indices:
    part = np.take(games.reshape(9, -1), left, axis=1)
    for top, bottom, spare_row in _PAIRS:
        for first, second, spare_col in _PAIRS:
            a = part[3 * top + first]
            b = part[3 * top + second]
            c = part[3 * bottom + first]
            d = part[3 * bottom + second]
            below = part[3 * spare_row + second]
            beside = part[3 * bottom + spare_col]
            x_numerator = d - c
            y_numerator = d - b
            with np.errstate(all="ignore"):
                inverse = 1.0 / (a - b + x_numerator)
                p = x_numerator * inverse
                q = y_numerator * inverse
                value = d - x_numerator * y_numerator * inverse
                good = ((a - b) * x_numerator >= 0.0) & ((a - c) * y_numerator >= 0.0)
                row_instead = below + (part[3 * spare_row + first] - below) * q
                column_instead = beside + (part[3 * top + spare_col] - beside) * p
                good &= (row_instead <= value) & (column_instead >= value)
            hit = np.flatnonzero(good)
            if hit.size:
                solved = left[hit]
                p = np.minimum(p[hit], 1.0)
                q = np.minimum(q[hit], 1.0)
                x[top, solved] = p
                x[bottom, solved] = 1.0 - p
                y[first, solved] = q
                y[second, solved] = 1.0 - q
                miss = np.flatnonzero(~good)
                left = left[miss]
                part = np.take(part, miss, axis=1)
    return left


def _solve_3x3_kernel(games: Array, x: Array, y: Array, left: Indices) -> Indices:
    a, b, c, d, e, f, g, h, i = np.take(games.reshape(9, -1), left, axis=1)
    first = np.stack([e * i - f * h, f * g - d * i, d * h - e * g])
    second = np.stack([c * h - b * i, a * i - c * g, b * g - a * h])
    third = np.stack([b * f - c * e, c * d - a * f, a * e - b * d])
    q = first + second + third
    p = np.stack([first.sum(axis=0), second.sum(axis=0), third.sum(axis=0)])
    with np.errstate(all="ignore"):
        p *= 1.0 / p.sum(axis=0)
        q *= 1.0 / q.sum(
            axis=0
        )  # the same sum, but for rounding, which must not spoil the probabilities
    good = (p.min(axis=0) >= 0.0) & (q.min(axis=0) >= 0.0)
    solved = left[good]
    x[:, solved] = p[:, good]
    y[:, solved] = q[:, good]
    return np.asarray(left[~good])


ExactSolution = tuple[Fraction, tuple[Fraction, ...], tuple[Fraction, ...]]


def solve_kernel(
    game: Array,
    rows: Bools,
    cols: Bools,
) -> tuple[Array, Array]:
    """Strategies that make the opponent indifferent on the kernel of `game` given by flags.

    NaN if it is singular.

    `game` (rows, cols) must have payoffs between 0 and 1.
    """
    x = np.full(len(rows), np.nan)
    y = np.full(len(cols), np.nan)
    kernel = game[np.ix_(rows, cols)] + 1.0
    if kernel.shape[0] != kernel.shape[1] or not kernel.size:
        return x, y
    try:
        x_part = _solve_refined(kernel.T)
        y_part = _solve_refined(kernel)
    except np.linalg.LinAlgError:
        return x, y
    x[:] = 0.0
    y[:] = 0.0
    x[rows] = np.maximum(x_part, 0.0)
    y[cols] = np.maximum(y_part, 0.0)
    with np.errstate(all="ignore"):
        return x / x.sum(), y / y.sum()


def _solve_refined(matrix: Array) -> Array:
    ones = np.ones(len(matrix))
    solution = np.linalg.solve(matrix, ones)
    reached = matrix.astype(np.longdouble) @ solution
    residual = (ones.astype(np.longdouble) - reached).astype(np.float64)
    return np.asarray(solution + np.linalg.solve(matrix, residual))


def solve_exactly(game: Array) -> ExactSolution:
    """Find the value and an optimal strategy of each player as fractions.

    The game is one finite matrix of any size and scale.

    >>> value, row, col = solve_exactly(np.array([[3.0, -1.0], [-2.0, 1.0]]))
    >>> print(value, *row, *col)
    1/7 3/7 4/7 2/7 5/7
    """
    numbers = [[Fraction(payoff) for payoff in row] for row in game.tolist()]
    units = count_units([payoff for row in numbers for payoff in row])
    width = len(numbers[0])
    positive = [units[first : first + width] for first in range(0, len(units), width)]
    levels, prices = optimize(positive, [1] * len(positive), [1] * width)
    x = _make_fractions(prices)
    y = _make_fractions(levels)
    earned = []
    for column in zip(*numbers, strict=True):
        earned.append(sum(map(mul, x, column), Fraction(0)))
    return min(earned), x, y


def _make_fractions(weights: Sequence[int]) -> tuple[Fraction, ...]:
    """Give weights as shares of their sum."""
    total = sum(weights)
    return tuple([Fraction(weight, total) for weight in weights])


PROMISED = 1e-9  # no answer leaves with a larger duality gap, relative to the range of the payoffs
ACCEPTED = 1e-11  # what a step must reach, else the next one is tried
_EXACT_CELLS = 900  # up to 30x30 payoffs exact arithmetic takes less than a second
# payoffs beyond are rescaled, lest their products overflow or vanish
HUGE = 2.0**150
TINY = 2.0**-150


class ZeroSumStep(IntEnum):
    """Which step produced a solution."""

    SADDLE = 1
    CLOSED_FORM = 2
    SIMPLEX = 3
    LU = 4
    EXACT = 5


@dataclass(frozen=True, slots=True)
class ZeroSumSolution:
    """An optimal pair of one game.

    `gap` bounds what either player could gain; `relative_gap` is per payoff range.
    """

    value: float
    row: tuple[float, ...]
    col: tuple[float, ...]
    gap: float
    relative_gap: float
    step: ZeroSumStep


@dataclass(frozen=True, slots=True, eq=False)
class ZeroSumSolutions:
    """Optimal pairs of n games: `row` is (n, rows), `col` is (n, cols), everything else (n,).

    `gaps` are absolute duality gaps, `ranges` the largest less the smallest payoff, `steps` codes
    of `ZeroSumStep`.
    """

    values: Array
    row: Array
    col: Array
    gaps: Array
    ranges: Array
    steps: Bytes

    @classmethod
    def empty(cls, count: int, rows: int, cols: int) -> ZeroSumSolutions:
        """Room for the answers, in one piece.

        Asking the system for many pieces takes longer than solving 2x2 games.
        """
        numbers = np.empty(count * (rows + cols + 3))
        values, gaps, ranges = numbers[: 3 * count].reshape(3, count)
        strategies = numbers[3 * count :]
        row = strategies[: count * rows].reshape(count, rows)
        col = strategies[count * rows :].reshape(count, cols)
        steps = np.empty(count, dtype=np.int8)
        return cls(values, row, col, gaps, ranges, steps)

    @property
    def arrays(self) -> tuple[Numbers, ...]:
        """All arrays, in the order in which loops write them."""
        return self.values, self.row, self.col, self.gaps, self.ranges, self.steps

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: int) -> ZeroSumSolution:
        gap = float(self.gaps[index])
        spread = float(self.ranges[index])
        return ZeroSumSolution(
            value=float(self.values[index]),
            row=tuple(self.row[index].tolist()),
            col=tuple(self.col[index].tolist()),
            gap=gap,
            relative_gap=gap / spread if spread > 0.0 else 0.0,
            step=ZeroSumStep(self.steps[index]),
        )

    def __iter__(self) -> Iterator[ZeroSumSolution]:
        return (self[index] for index in range(len(self)))

    @property
    def relative_gaps(self) -> Array:
        """The gaps as shares of the payoff ranges; 0 for a game with only one payoff."""
        return np.divide(
            self.gaps,
            self.ranges,
            out=np.zeros_like(self.gaps),
            where=self.ranges > 0.0,
        )


class _Chunk(NamedTuple):
    """Games shifted to a smallest payoff of 0, and what is known of them so far; all batch last."""

    games: Array
    ranges: Array
    x: Array
    y: Array
    steps: Bytes
    middles: Array
    gaps: Array

    def certify(self, which: Indices | slice, credit: ZeroSumStep | Bytes) -> Indices:
        """Measure the pairs (x, y) of these games, and return those not accepted.

        Notes `credit` as their step.
        """
        games = self.games[:, :, which]
        x = self.x[:, which]
        y = self.y[:, which]
        best = (games * y).sum(axis=1).max(axis=0)
        worst = (games * x[:, None]).sum(axis=0).min(axis=0)
        gaps = best - worst
        accepted = gaps <= ACCEPTED * self.ranges[which]
        self.gaps[which] = np.maximum(gaps, 0.0)
        self.middles[which] = worst + 0.5 * gaps
        self.steps[which] = credit
        failed = np.flatnonzero(~accepted)
        return failed if isinstance(which, slice) else which[failed]


def solve_chunk(batch: Array, out: ZeroSumSolutions) -> None:
    """Solve finite payoffs (count, rows, cols) into `out`."""
    count, rows, cols = batch.shape
    flat = np.array(batch.reshape(count, rows * cols).T, order="C")  # always a copy
    lowest = flat.min(axis=0)
    highest = flat.max(axis=0)
    largest = np.maximum(highest, -lowest)
    wild = (largest > HUGE) | ((largest < TINY) & (largest > 0.0))
    # Powers of two to divide each game by: 0 unless products could go astray.
    exponents = np.where(wild, np.frexp(largest)[1], 0)
    if wild.any():
        flat = np.ldexp(flat, -exponents)
        lowest = np.ldexp(lowest, -exponents)
        highest = np.ldexp(highest, -exponents)
    games = flat.reshape(rows, cols, count)
    x, y, left = saddle_points(games)
    games -= lowest
    chunk = _Chunk(
        games,
        highest - lowest,
        x=x,
        y=y,
        steps=out.steps,
        middles=np.empty(count),
        gaps=out.gaps,
    )
    _solve_open(chunk, left)
    out.row[:] = x.T
    out.col[:] = y.T
    out.ranges[:] = chunk.ranges
    out.values[:] = lowest + chunk.middles
    if wild.any():
        with np.errstate(
            over="ignore"
        ):  # the range of payoffs near the largest float may be infinite
            for array in (out.values, out.gaps, out.ranges):
                array[:] = np.ldexp(array, exponents)
    saddles = np.flatnonzero(out.steps == ZeroSumStep.SADDLE)
    out.values[saddles] = batch[saddles, x[:, saddles].argmax(axis=0), y[:, saddles].argmax(axis=0)]


def _solve_open(chunk: _Chunk, left: Indices) -> None:
    """Solve the games numbered `left`, those without a saddle point, and certify all."""
    credit = np.full(len(chunk.steps), ZeroSumStep.SADDLE, dtype=np.int8)
    if chunk.games.shape[:2] in _CLOSED_FORMS:
        credit[left] = ZeroSumStep.CLOSED_FORM
        if len(chunk.games) == 2:
            _solve_2x2(chunk.games, chunk.x, chunk.y, left)
        else:
            unsolved = _solve_2x2_kernels(chunk.games, chunk.x, chunk.y, left)
            chunk.x[:, _solve_3x3_kernel(chunk.games, chunk.x, chunk.y, unsolved)] = np.nan
        left = chunk.certify(slice(None), credit)
    else:
        credit[left] = 0
        chunk.certify(np.flatnonzero(credit), ZeroSumStep.SADDLE)
    if left.size:
        optimum = simplex(np.take(chunk.games, left, axis=2))
        chunk.x[:, left] = optimum.x
        chunk.y[:, left] = optimum.y
        failed = chunk.certify(left, ZeroSumStep.SIMPLEX)
        for game, position in zip(failed, np.searchsorted(left, failed), strict=True):
            _solve_carefully(
                chunk,
                game,
                optimum.kernel_rows[:, position],
                optimum.kernel_cols[:, position],
            )


def _solve_carefully(
    chunk: _Chunk,
    game: int,
    rows: Bools,
    cols: Bools,
) -> None:
    """Improve on the simplex's answer to one game.

    A large one need not be as close, as exactness takes long there.
    """
    here = np.array([game])
    payoffs = chunk.games[:, :, game]
    enough = chunk.ranges[game] * (ACCEPTED if payoffs.size <= _EXACT_CELLS else PROMISED / 10)
    if chunk.gaps[game] <= enough:
        return
    chunk.x[:, game], chunk.y[:, game] = solve_kernel(payoffs / chunk.ranges[game], rows, cols)
    chunk.certify(here, ZeroSumStep.LU)
    if chunk.gaps[game] <= enough:
        return
    _, x, y = solve_exactly(payoffs)
    chunk.x[:, game] = list(map(float, x))
    chunk.y[:, game] = list(map(float, y))
    chunk.certify(here, ZeroSumStep.EXACT)
    if not chunk.gaps[game] <= PROMISED * chunk.ranges[game]:
        raise NotCertified(
            f"a {len(rows)}x{len(cols)} zero-sum game was left with a duality gap of"
            f" {chunk.gaps[game]:.3g}, more than {PROMISED:g} of its payoffs' range"
            f" {chunk.ranges[game]:.3g}: please report its payoffs"
        )


_KERNELS = "bestresponse.theory.zero_sum.kernels"
# of tableaus at a time: with fewer, calls of numpy prevail; with more, they leave the cache
_CHUNK_BYTES = 1_600_000
# What numpy takes for a pivot, and for every cell of a tableau in it.
_PIVOT_SECONDS = 1.2e-5
_CELL_SECONDS = 1e-9
_NUMBA_START = 0.7  # seconds to import numba and load a kernel that it has on disk


def solve_zero_sum(batch: ArrayLike, *, engine: Engine = "auto") -> ZeroSumSolutions:
    """Solve payoffs (n, rows, cols), or one matrix (rows, cols) as a batch of one.

    "numba" needs the extra `fast` and uses all cores; "auto" takes it where it is installed and the
    batch large enough to repay starting it, or it is running already. Both give the same solutions.
    2x2 and 3x3 games have closed forms, which are always computed by numpy.

    >>> solutions = solve_zero_sum([[[1, -1], [-1, 1]], [[3, -1], [-2, 1]], [[4, 2], [3, 1]]])
    >>> solutions.values.round(4).tolist()
    [0.0, 0.1429, 2.0]
    >>> [ZeroSumStep(step).name for step in solutions.steps]
    ['CLOSED_FORM', 'CLOSED_FORM', 'SADDLE']
    """
    known = (
        isinstance(batch, np.ndarray)
        and batch.dtype == np.float64
        and batch.ndim == 3
        and batch.size > 0
    )
    games = np.ascontiguousarray(batch) if known else as_batch(batch)
    rows, cols = games.shape[1:]
    # for the tableau and its copy
    needed = 16 * (rows + 1) * (cols + 1)
    allowed = measure_machine() // 2
    if needed > allowed:
        raise TooLarge(
            f"a {rows}x{cols} game needs {needed >> 20:,} MB for the simplex method, more than"
            f" {allowed >> 20:,} MB; leave out actions that matter little"
        )
    out = ZeroSumSolutions.empty(*games.shape)
    pays = engine == "auto" and _repays_numba(games)
    if choose_engine(engine, pays=pays) == "numba" and games.shape[1:] not in _CLOSED_FORMS:
        _solve_with_numba(games, out)
    else:
        _solve_with_numpy(games, out)
    return out


def solve_zero_sum_game(matrix: ArrayLike, *, engine: Engine = "auto") -> ZeroSumSolution:
    """Solve one game, given by the row player's payoffs; `engine` as for `solve_zero_sum`.

    >>> solve_zero_sum_game([[0, -1, 1], [1, 0, -1], [-1, 1, 0]]).value
    0.0
    """
    payoffs = as_payoffs(matrix)
    if payoffs.ndim != 2:
        raise InvalidGame(
            f"payoffs: expected one matrix (rows, cols), got an array with {payoffs.ndim} axes"
        )
    return solve_zero_sum(payoffs[None], engine=engine)[0]


def as_batch(numbers: ArrayLike) -> Array:
    """Return payoffs as a finite contiguous array (n, rows, cols), or InvalidGame.

    One matrix is a batch of one.
    """
    games = as_payoffs(numbers)
    if games.ndim == 2:
        games = games[None]
    if games.ndim != 3:
        raise InvalidGame(
            "payoffs: expected a matrix (rows, cols) or a batch (n, rows, cols), got an array with"
            f" {games.ndim} axes"
        )
    return np.ascontiguousarray(games)


def _repays_numba(games: Array) -> bool:
    if games.shape[1:] in _CLOSED_FORMS:
        return False
    count, rows, cols = games.shape
    # As many pivots as actions or fewer up to 100x100, and with more actions more of each.
    pivots = (rows + cols) * max(1.0, min(rows, cols) / 100)
    seconds = count * pivots * (_PIVOT_SECONDS + rows * cols * _CELL_SECONDS)
    return repays_loading(_KERNELS, seconds, _NUMBA_START)


def _solve_with_numpy(games: Array, out: ZeroSumSolutions) -> None:
    """Solve chunk by chunk, so that memory in use does not grow with the batch."""
    count, rows, cols = games.shape
    table_bytes = 8 * (rows + 1) * (cols + 1)
    size = max(1, _CHUNK_BYTES // table_bytes)
    for start in range(0, count, size):
        part = slice(start, start + size)
        _refuse_infinite(games[part], games)
        solve_chunk(games[part], ZeroSumSolutions(*(array[part] for array in out.arrays)))


def _solve_with_numba(games: Array, out: ZeroSumSolutions) -> None:
    """Solve games with compiled kernels, and deal with what these leave.

    Kernels leave what they cannot certify, and payoffs that are not finite.
    """
    from bestresponse.theory.zero_sum.kernels import solve_compiled

    solve_compiled(games, out)
    if np.count_nonzero(out.steps) == len(games):
        return
    unsolved = np.flatnonzero(out.steps == 0)
    rest = games[unsolved]
    _refuse_infinite(rest, games)
    again = ZeroSumSolutions.empty(*rest.shape)
    _solve_with_numpy(rest, again)
    for array, answers in zip(out.arrays, again.arrays, strict=True):
        array[unsolved] = answers


def _refuse_infinite(part: Array, games: Array) -> None:
    if not np.isfinite(part).all():
        as_payoffs(games)  # raises, and names the place in the whole batch
