"""Welfare-maximising correlated equilibria of many bimatrix games at once, each with a certificate.

Program: maximise w'p over p >= 0 with G p <= 0 and 1'p <= 1, where w > 0 is the welfare of the cells and G holds the
incentives to disobey. p = 0 is feasible, so no first phase is needed, and w > 0 makes the sum reach 1. Where the cell
of largest welfare is a pure equilibrium it is the answer. Certificate: the largest incentive, and by weak duality the
distance from max over cells of w - G'k, k >= 0 the multipliers. Games that miss 1e-9 in either, and all of them where
nothing is compiled, are solved in whole numbers up to 16 cells, by HiGHS beyond.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bestresponse.core.errors import InvalidGame
from bestresponse.theory.correlation.equilibria import correlated, exact_correlated, incentives, relative_violation
from bestresponse.theory.engines import Engine, choose_engine, load_kernels, repays_loading
from bestresponse.theory.games.normal_form import Array, NormalForm, as_payoffs

ACCEPTED = 1e-9
_SHIFTS = (1e-6, 1e-8, 1e-5)
_WORTH_COMPILING = 3_000  # payoffs of each player: some seconds of work in whole numbers, and loading takes one
_KERNELS = "bestresponse.theory.correlation.kernels"
_EXACT_CELLS = 16


@dataclass(frozen=True, eq=False, slots=True)
class CorrelatedBatch:
    """`distribution` is (n, rows, columns), `welfare` (n,) the sum of both payoffs.

    `violation` is the largest incentive to disobey as a share of the player's payoff range, `gap` how far the welfare
    may be from the largest possible, as a share of the range of welfare (nan where only HiGHS says it is the largest);
    `resolved` marks games that were solved in whole numbers or by HiGHS.
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
    if choose_engine(engine, pays=repays_loading(_KERNELS, first.size, _WORTH_COMPILING)) == "numba":
        kernels, shifts = load_kernels(_KERNELS), perturbations(m * (m - 1) + n * (n - 1) + 1)
        kernels.solve_all(np.ascontiguousarray(first), np.ascontiguousarray(second), shifts, p, violations, gaps)
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
