"""Welfare-maximising correlated equilibria of many bimatrix games at once, each with a certificate.

Program: maximise w'p over p >= 0 with G p <= 0 and 1'p <= 1, where w > 0 is the welfare of the cells and G holds the
incentives to disobey. p = 0 is feasible, so no first phase is needed, and w > 0 makes the sum reach 1. Where the cell
of largest welfare is a pure equilibrium it is the answer. Certificate: the largest incentive, and by weak duality the
distance from max over cells of w - G'k, k >= 0 the multipliers. Games that miss 1e-9 in either are solved again: in
whole numbers up to 16 cells, by HiGHS beyond.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bestresponse.core.errors import InvalidGame
from bestresponse.theory.correlation.equilibria import correlated, exact_correlated, incentives, relative_violation
from bestresponse.theory.engines import Engine, choose_engine, load_kernels, repays_loading
from bestresponse.theory.games.normal_form import Array, NormalForm, as_payoffs
from bestresponse.theory.zero_sum.simplex import pivot_to_optimum

ACCEPTED = 1e-9
_SHIFTS = (1e-6, 1e-8, 1e-5)
_WORTH_COMPILING = 50_000
_KERNELS = "bestresponse.theory.correlation.kernels"
_CHUNK_NUMBERS = 2_000_000
_EXACT_CELLS = 16


@dataclass(frozen=True, eq=False, slots=True)
class CorrelatedBatch:
    """`distribution` is (n, rows, columns), `welfare` (n,) the sum of both payoffs.

    `violation` is the largest incentive to disobey as a share of the player's payoff range, `gap` how far the welfare
    may be from the largest possible, as a share of the range of welfare (nan where only HiGHS says it is the largest);
    `resolved` marks games that were solved again, in whole numbers or by HiGHS.
    """

    distribution: Array
    welfare: Array
    violation: Array
    gap: Array
    resolved: NDArray[np.bool_]


def correlated_batch(row: ArrayLike, col: ArrayLike, *, engine: Engine = "auto") -> CorrelatedBatch:
    """Find the correlated equilibrium of largest welfare of each game; row[g], col[g] are the payoffs of game g.

    >>> chicken = correlated_batch([[[0, 7], [2, 6]]], [[[0, 2], [7, 6]]])
    >>> chicken.distribution.round(9).tolist(), chicken.welfare.round(9).tolist()
    ([[[0.0, 0.25], [0.25, 0.5]]], [10.5])
    """
    first, second = as_payoffs(row, "row payoffs"), as_payoffs(col, "column payoffs")
    if first.ndim != 3 or first.shape != second.shape:
        raise InvalidGame(f"expected two arrays of one shape (games, rows, columns), got {first.shape}, {second.shape}")
    games, m, n = first.shape
    p, violations, gaps = np.zeros((games, m * n)), np.full(games, np.inf), np.full(games, np.inf)
    shifts = perturbations(m * (m - 1) + n * (n - 1) + 1)
    if choose_engine(engine, pays=repays_loading(_KERNELS, first.size, _WORTH_COMPILING)) == "numba":
        kernels = load_kernels(_KERNELS)
        kernels.solve_all(np.ascontiguousarray(first), np.ascontiguousarray(second), shifts, p, violations, gaps)
    else:
        step = max(1, _CHUNK_NUMBERS // (shifts.shape[1] * m * n))
        for part in (slice(low, low + step) for low in range(0, games, step)):
            solve_with_numpy(first[part], second[part], shifts[0], (p[part], violations[part], gaps[part]))
    wrong = ~((violations <= ACCEPTED) & (gaps <= ACCEPTED))
    for g in np.flatnonzero(wrong):
        game = NormalForm.bimatrix(first[g], second[g])
        if m * n <= _EXACT_CELLS:
            p[g], gaps[g] = exact_correlated(game, game.payoffs.sum(axis=0), coarse=False), 0.0
        else:
            p[g], gaps[g] = correlated(game).distribution.ravel(), np.nan
        violations[g] = relative_violation(incentives(game, False), p[g])
    welfare = (p * (first + second).reshape(games, -1)).sum(axis=1)
    return CorrelatedBatch(p.reshape(games, m, n), welfare, violations, gaps, wrong)


def perturbations(rows: int) -> Array:
    """Three choices of one shift per row, each between a size and twice that, by multiples of irrational numbers.

    All incentive constraints have right side 0, so every basis would be degenerate. Pivots are chosen as if row r had a
    small positive right side of its own, irregular enough that no two rows tie.
    """
    steps = np.arange(1, rows + 1)
    factors = (0.6180339887498949, 0.4142135623730951, 0.7320508075688772)
    return np.stack([size * (1.0 + (steps * f) % 1.0) for size, f in zip(_SHIFTS, factors, strict=True)])


def solve_with_numpy(row: Array, col: Array, shifts: Array, out: tuple[Array, Array, Array]) -> None:
    """Solve games with numpy; `out` takes distributions, largest incentives and gaps.

    Batch last: `gains` is (disobediences, cells, games), the last row of a tableau says that p sums to at most 1.
    """
    games, m, n = row.shape
    second = _gains(np.swapaxes(col, 1, 2)).reshape(-1, n, m, games)
    gains = np.concatenate([_gains(row), np.swapaxes(second, 1, 2).reshape(-1, m * n, games)])
    total = (row + col).reshape(games, -1).T
    span = np.ptp(total, axis=0)
    worth = (total - total.min(axis=0)) / np.where(span > 0, span, 1.0) + 1.0
    count, cells = gains.shape[:2]
    table = np.zeros((count + 2, cells + 1, games))
    table[:count, :cells], table[count, :cells], table[-1, :cells] = gains, 1.0, -worth
    table[:-1, -1] = shifts[:, None]
    table[count, -1] += 1.0
    for done in pivot_to_optimum(table):
        number, each = done.number, np.arange(len(done.number))
        # Without shifts the right side is that of the last row alone: the column of its slack.
        slack = (done.nonbasic == cells + count).argmax(axis=0)
        levels, prices = np.zeros((2, cells + count + 1, len(each)))
        levels[done.basic, each] = np.maximum(done.table[:-1, slack, each], 0.0)
        prices[done.nonbasic, each] = np.maximum(done.table[-1, :-1], 0.0)
        p = levels[:cells] / np.maximum(levels[:cells].sum(axis=0), 1e-300)
        bound = (worth[:, number] - np.einsum("kg,kcg->cg", prices[cells:-1], gains[:, :, number])).max(axis=0)
        out[0][number] = p.T
        out[1][number] = np.einsum("kcg,cg->kg", gains[:, :, number], p).max(axis=0, initial=0.0)
        out[2][number] = bound - (p * worth[:, number]).sum(axis=0)


def _gains(own: Array) -> Array:
    """(disobediences, cells, games) for the player that chooses rows, per payoff range."""
    games, m, n = own.shape
    span = np.ptp(own.reshape(games, -1), axis=1)
    rows = np.zeros((m * (m - 1), m, n, games))
    for k, (told, instead) in enumerate(permutations(range(m), 2)):
        rows[k, told] = ((own[:, instead] - own[:, told]) / np.where(span > 0, span, 1.0)[:, None]).T
    return rows.reshape(-1, m * n, games)
