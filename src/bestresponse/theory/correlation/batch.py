"""Welfare-maximising correlated equilibria of many bimatrix games at once, each with a certificate.

Program: maximise w'p over p >= 0 with G p <= 0 and 1'p <= 1, where w > 0 is the welfare of the cells and G holds the
incentives to disobey. p = 0 is feasible, so no first phase is needed, and w > 0 makes the sum reach 1. Where the cell
of largest welfare is a pure equilibrium it is the answer. Certificate: the largest incentive, and by weak duality the
distance from max over cells of w - G'k, k >= 0 the multipliers. Games that miss 1e-9 in either are solved again: in
whole numbers up to 16 cells, by HiGHS beyond.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bestresponse.core.errors import InvalidGame
from bestresponse.theory.correlation.equilibria import correlated, incentives, relative_violation
from bestresponse.theory.correlation.exact import exact_correlated
from bestresponse.theory.correlation.perturbation import (
    ACCEPTED,
    COST_EPSILON,
    GIVE_UP_AFTER,
    PIVOT_EPSILON,
    perturbations,
)
from bestresponse.theory.engines import Engine, choose_engine, load_kernels, repays_loading
from bestresponse.theory.games.normal_form import Array, NormalForm, as_payoffs

__all__ = ["CorrelatedBatch", "correlated_batch"]

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
        _solve_in_chunks(first, second, shifts[0], (p, violations, gaps))
    wrong = ~((violations <= ACCEPTED) & (gaps <= ACCEPTED))
    for g in np.flatnonzero(wrong):
        p[g], violations[g], gaps[g] = _solved_again(NormalForm.bimatrix(first[g], second[g]))
    welfare = (p * (first + second).reshape(games, -1)).sum(axis=1)
    return CorrelatedBatch(p.reshape(games, m, n), welfare, violations, gaps, wrong)


def _solved_again(game: NormalForm) -> tuple[Array, float, float]:
    """(distribution, violation, gap) of one game that was not certified."""
    if game.payoffs[0].size <= _EXACT_CELLS:
        flat, gap = exact_correlated(game, game.payoffs.sum(axis=0), coarse=False), 0.0
    else:
        flat, gap = correlated(game).distribution.ravel(), np.nan
    return flat, relative_violation(incentives(game, False), flat), gap


Answers = tuple[Array, Array, Array]


def _solve_in_chunks(row: Array, col: Array, shifts: Array, out: Answers) -> None:
    games, m, n = row.shape
    step = max(1, _CHUNK_NUMBERS // (len(shifts) * m * n))
    for low in range(0, games, step):
        part = slice(low, min(low + step, games))
        _solve_chunk(row[part], col[part], shifts, (out[0][part], out[1][part], out[2][part]))


def _solve_chunk(row: Array, col: Array, shifts: Array, out: Answers) -> None:
    gains = np.concatenate([_gains(row), _transposed(_gains(np.swapaxes(col, 1, 2)), row.shape)], axis=1)
    total = (row + col).reshape(len(row), -1)
    span = np.ptp(total, axis=1, keepdims=True)
    worth = (total - total.min(axis=1, keepdims=True)) / np.where(span > 0, span, 1.0) + 1.0
    tables, basic, nonbasic = _start(gains, worth, shifts)
    done = _pivot_all(tables, basic, nonbasic)
    _certify(gains, worth, (tables, basic, nonbasic), done, out)


def _gains(own: Array) -> Array:
    """(games, disobediences, cells) for the player that chooses rows, per payoff range."""
    games, m, n = own.shape
    span = np.ptp(own.reshape(games, -1), axis=1)[:, None]
    rows = np.zeros((games, m * (m - 1), m * n))
    k = 0
    for told in range(m):
        for instead in range(m):
            if told != instead:
                difference = own[:, instead] - own[:, told]
                rows[:, k, told * n : (told + 1) * n] = difference / np.where(span > 0, span, 1.0)
                k += 1
    return rows


def _transposed(rows: Array, shape: tuple[int, ...]) -> Array:
    games, m, n = shape
    return np.swapaxes(rows.reshape(games, -1, n, m), 2, 3).reshape(games, -1, m * n)


def _start(gains: Array, worth: Array, shifts: Array) -> tuple[Array, NDArray[np.int64], NDArray[np.int64]]:
    games, count, cells = gains.shape
    tables = np.zeros((games, count + 2, cells + 2))
    tables[:, :count, :cells] = gains
    tables[:, count, : cells + 1] = 1.0
    tables[:, count + 1, :cells] = -worth
    tables[:, : count + 1, cells + 1] = tables[:, : count + 1, cells] + shifts
    basic = np.tile(np.arange(cells, cells + count + 1), (games, 1))
    return tables, basic, np.tile(np.arange(cells), (games, 1))


def _pivot_all(tables: Array, basic: NDArray[np.int64], nonbasic: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Simplex steps on all games that still have any to make; which games reached an optimal basis."""
    games, height, width = tables.shape
    done = np.zeros(games, dtype=np.bool_)
    active = np.arange(games)
    for _ in range(GIVE_UP_AFTER):
        entering = tables[active, -1, : width - 2].argmin(axis=1)
        optimal = tables[active, -1, entering] >= -COST_EPSILON
        done[active[optimal]] = True
        active, entering = active[~optimal], entering[~optimal]
        if not len(active):
            break
        column = tables[active, : height - 1, entering]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(column > PIVOT_EPSILON, tables[active, : height - 1, -1] / column, np.inf)
        leaving = ratio.argmin(axis=1)
        bounded = np.isfinite(ratio[np.arange(len(active)), leaving])
        active, entering, leaving = active[bounded], entering[bounded], leaving[bounded]
        _pivot(tables, active, leaving, entering)
        basic[active, leaving], nonbasic[active, entering] = nonbasic[active, entering], basic[active, leaving]
    return done


def _pivot(tables: Array, games: NDArray[np.int64], rows: NDArray[np.int64], columns: NDArray[np.int64]) -> None:
    old = tables[games]
    at = np.arange(len(games))
    inverse = 1.0 / old[at, rows, columns]
    line = old[at, rows] * inverse[:, None]
    line[at, columns] = inverse
    factor = old[at, :, columns]
    factor[at, rows] = 0.0
    old[at, :, columns] = np.where(np.arange(old.shape[1]) == rows[:, None], old[at, :, columns], 0.0)
    old -= factor[:, :, None] * line[:, None, :]
    old[at, rows] = line
    tables[games] = old


def _certify(
    gains: Array,
    worth: Array,
    solved: tuple[Array, NDArray[np.int64], NDArray[np.int64]],
    done: NDArray[np.bool_],
    out: Answers,
) -> None:
    tables, basic, nonbasic = solved
    games, count, cells = gains.shape
    values = np.zeros((games, cells + count + 1))
    np.put_along_axis(values, basic, np.maximum(tables[:, : count + 1, cells], 0.0), axis=1)
    p = values[:, :cells] / np.maximum(values[:, :cells].sum(axis=1, keepdims=True), 1e-300)
    prices = np.zeros((games, cells + count + 1))
    np.put_along_axis(prices, nonbasic, np.maximum(tables[:, -1, :cells], 0.0), axis=1)
    bound = (worth - np.einsum("gk,gkc->gc", prices[:, cells:-1], gains)).max(axis=1)
    incentive = np.einsum("gkc,gc->gk", gains, p).max(axis=1, initial=0.0)
    out[0][:] = p
    out[1][:] = np.where(done, incentive, np.inf)
    out[2][:] = np.where(done, bound - (p * worth).sum(axis=1), np.inf)
