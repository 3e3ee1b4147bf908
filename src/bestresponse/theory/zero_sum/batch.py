"""One chunk of zero-sum games through all the steps, with numpy: each game stops at the first step that certifies it.

Saddle point, closed form (2x2 and 3x3), simplex, LU re-solve of its last basis, exact rationals. The certificate of
a pair (x, y) is its duality gap: the best row's payoff against y less the worst column's payoff for x. It bounds what
either player could gain by deviating, and how far the value can be from what is reported; it is measured on the
shifted payoffs, so that a large offset does not drown it in rounding.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestresponse.core.errors import NotCertified
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.zero_sum.closed_forms import Indices, closed_form, saddle_points
from bestresponse.theory.zero_sum.refine import solve_exactly, solve_kernel
from bestresponse.theory.zero_sum.simplex import simplex

__all__ = ["ACCEPTED", "HUGE", "PROMISED", "TINY", "Solved", "ZeroSumStep", "solve_chunk"]

PROMISED = 1e-9  # no answer leaves with a larger duality gap, relative to the range of the payoffs
ACCEPTED = 1e-11  # what a step must reach, else the next one is tried
_EXACT_CELLS = 900  # up to 30x30 payoffs exact arithmetic takes less than a second
HUGE, TINY = 2.0**150, 2.0**-150  # payoffs beyond are rescaled, lest their products overflow or vanish


class ZeroSumStep(IntEnum):
    """Which step produced a solution."""

    SADDLE = 1
    CLOSED_FORM = 2
    SIMPLEX = 3
    LU = 4
    EXACT = 5


class Solved(NamedTuple):
    """Arrays for `count` games, written in place: row (count, rows), col (count, cols), the others (count,)."""

    values: Array
    row: Array
    col: Array
    gaps: Array
    ranges: Array
    steps: NDArray[np.int8]

    @classmethod
    def empty(cls, count: int, rows: int, cols: int) -> Solved:
        """Room for the answers, in one piece: asking the system for many pieces takes longer than solving 2x2 games."""
        numbers = np.empty(count * (rows + cols + 3))
        values, gaps, ranges = numbers[: 3 * count].reshape(3, count)
        row, col = np.split(numbers[3 * count :], [count * rows])
        steps = np.empty(count, dtype=np.int8)
        return cls(values, row.reshape(count, rows), col.reshape(count, cols), gaps, ranges, steps)

    def part(self, games: slice) -> Solved:
        """Views of some of the games."""
        values, row, col, gaps, ranges, steps = self
        return Solved(values[games], row[games], col[games], gaps[games], ranges[games], steps[games])

    def put(self, games: Indices, others: Solved) -> None:
        """Replace the answers to some of the games."""
        self.values[games], self.row[games], self.col[games] = others.values, others.row, others.col
        self.gaps[games], self.ranges[games], self.steps[games] = others.gaps, others.ranges, others.steps


class _Chunk(NamedTuple):
    """Games shifted to a smallest payoff of 0, and what is known of them so far; all batch last."""

    games: Array
    ranges: Array
    x: Array
    y: Array
    steps: NDArray[np.int8]
    middles: Array
    gaps: Array

    def certify(self, which: Indices | slice, credit: ZeroSumStep | NDArray[np.int8]) -> Indices:
        """Measure the pairs (x, y) of these games, note `credit` as their step, return those not accepted."""
        games, x, y = self.games[:, :, which], self.x[:, which], self.y[:, which]
        best = (games * y).sum(axis=1).max(axis=0)
        worst = (games * x[:, None]).sum(axis=0).min(axis=0)
        gaps = best - worst
        accepted = gaps <= ACCEPTED * self.ranges[which]
        self.gaps[which], self.middles[which] = np.maximum(gaps, 0.0), worst + 0.5 * gaps
        self.steps[which] = credit
        failed = np.flatnonzero(~accepted)
        return failed if isinstance(which, slice) else which[failed]


def solve_chunk(batch: Array, out: Solved) -> None:
    """Solve finite payoffs (count, rows, cols) into `out`."""
    count, rows, cols = batch.shape
    flat = np.array(batch.reshape(count, rows * cols).T, order="C")  # always a copy
    lowest, highest = flat.min(axis=0), flat.max(axis=0)
    exponents = _exponents(np.maximum(highest, -lowest))
    if exponents.any():
        flat, lowest, highest = np.ldexp(flat, -exponents), np.ldexp(lowest, -exponents), np.ldexp(highest, -exponents)
    games = flat.reshape(rows, cols, count)
    x, y, left = saddle_points(games)
    games -= lowest
    chunk = _Chunk(games, highest - lowest, x, y, out.steps, np.empty(count), out.gaps)
    _solve_open(chunk, left)
    out.row[:], out.col[:], out.ranges[:], out.values[:] = x.T, y.T, chunk.ranges, lowest + chunk.middles
    if exponents.any():
        with np.errstate(over="ignore"):  # the range of payoffs near the largest float may be infinite
            for array in (out.values, out.gaps, out.ranges):
                array[:] = np.ldexp(array, exponents)
    saddles = np.flatnonzero(out.steps == ZeroSumStep.SADDLE)
    out.values[saddles] = batch[saddles, x[:, saddles].argmax(axis=0), y[:, saddles].argmax(axis=0)]


def _exponents(largest: Array) -> NDArray[np.intc]:
    """Powers of two to divide each game by, given its largest payoff in size: 0 unless products could go astray."""
    wild = (largest > HUGE) | ((largest < TINY) & (largest > 0.0))
    return np.where(wild, np.frexp(largest)[1], 0) if wild.any() else np.zeros(len(largest), dtype=np.intc)


def _solve_open(chunk: _Chunk, left: Indices) -> None:
    """Solve the games numbered `left`, those without a saddle point, and certify all."""
    credit = np.full(len(chunk.steps), ZeroSumStep.SADDLE, dtype=np.int8)
    if chunk.games.shape[:2] in ((2, 2), (3, 3)):
        credit[left] = ZeroSumStep.CLOSED_FORM
        unsolved = closed_form(chunk.games, chunk.x, chunk.y, left)
        chunk.x[:, unsolved] = np.nan
        left = chunk.certify(slice(None), credit)
    else:
        credit[left] = 0
        chunk.certify(np.flatnonzero(credit), ZeroSumStep.SADDLE)
    if left.size:
        optimum = simplex(np.take(chunk.games, left, axis=2))
        chunk.x[:, left], chunk.y[:, left] = optimum.x, optimum.y
        failed = chunk.certify(left, ZeroSumStep.SIMPLEX)
        for game, place in zip(failed, np.searchsorted(left, failed), strict=True):
            _solve_carefully(chunk, game, optimum.kernel_rows[:, place], optimum.kernel_cols[:, place])


def _solve_carefully(chunk: _Chunk, game: int, rows: NDArray[np.bool_], cols: NDArray[np.bool_]) -> None:
    """Improve on the simplex's answer to one game; a large one need not be as close, as exactness takes long there."""
    here, payoffs = np.array([game]), chunk.games[:, :, game]
    enough = chunk.ranges[game] * (ACCEPTED if payoffs.size <= _EXACT_CELLS else PROMISED / 10)
    if chunk.gaps[game] <= enough:
        return
    chunk.x[:, game], chunk.y[:, game] = solve_kernel(payoffs / chunk.ranges[game], rows, cols)
    chunk.certify(here, ZeroSumStep.LU)
    if chunk.gaps[game] <= enough:
        return
    _, x, y = solve_exactly(payoffs)
    chunk.x[:, game], chunk.y[:, game] = [float(p) for p in x], [float(q) for q in y]
    chunk.certify(here, ZeroSumStep.EXACT)
    if not chunk.gaps[game] <= PROMISED * chunk.ranges[game]:
        raise NotCertified(
            f"a {len(rows)}x{len(cols)} zero-sum game was left with a duality gap of {chunk.gaps[game]:.3g}, "
            f"more than {PROMISED:g} of its payoffs' range {chunk.ranges[game]:.3g}: please report its payoffs"
        )
