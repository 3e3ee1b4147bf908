"""The careful way to solve a zero-sum game, for the few that the fast ways cannot certify.

First the final basis of the simplex is solved again by LU factorisation with one step of iterative refinement,
which undoes the rounding gathered over the pivots. If the basis itself was wrong, an exact simplex decides: every
float is a rational, so the payoffs become integers, pivots keep integers over one common denominator (Edmonds 1967,
Bareiss 1968), the rules are those of the fast simplex, and only the final strategies are rounded to floats.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.zero_sum.simplex import BLAND_AFTER

__all__ = ["ExactSolution", "solve_exactly", "solve_kernel"]

ExactSolution = tuple[Fraction, tuple[Fraction, ...], tuple[Fraction, ...]]
_Integers = NDArray[np.object_]


def solve_kernel(game: Array, rows: NDArray[np.bool_], cols: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Strategies that make the opponent indifferent on the kernel of `game` given by flags; NaN if it is singular.

    `game` (rows, cols) must have payoffs between 0 and 1.
    """
    x, y = np.full(len(rows), np.nan), np.full(len(cols), np.nan)
    kernel = game[np.ix_(rows, cols)] + 1.0
    if kernel.shape[0] != kernel.shape[1] or not kernel.size:
        return x, y
    try:
        x_part, y_part = _solve_refined(kernel.T), _solve_refined(kernel)
    except np.linalg.LinAlgError:
        return x, y
    x[:], y[:] = 0.0, 0.0
    x[rows], y[cols] = np.maximum(x_part, 0.0), np.maximum(y_part, 0.0)
    with np.errstate(all="ignore"):
        return x / x.sum(), y / y.sum()


def _solve_refined(matrix: Array) -> Array:
    ones = np.ones(len(matrix))
    solution = np.linalg.solve(matrix, ones)
    residual = (ones.astype(np.longdouble) - matrix.astype(np.longdouble) @ solution).astype(np.float64)
    return np.asarray(solution + np.linalg.solve(matrix, residual))


def solve_exactly(game: Array) -> ExactSolution:
    """Find the value and an optimal strategy of each player as fractions, for one finite matrix of any size and scale.

    >>> value, row, col = solve_exactly(np.array([[3.0, -1.0], [-2.0, 1.0]]))
    >>> print(value, *row, *col)
    1/7 3/7 4/7 2/7 5/7
    """
    numbers = [[Fraction(payoff) for payoff in row] for row in game.tolist()]
    unit = max(number.denominator for row in numbers for number in row)  # powers of two: the largest is a multiple
    integers = np.array([[int(number * unit) for number in row] for row in numbers], dtype=object)
    shift = 1 - min(integers.flat)
    prices, levels, denominator = _integer_simplex(integers + shift)
    total = sum(levels)
    value = (Fraction(denominator, total) - shift) / unit
    return value, tuple(Fraction(p, total) for p in prices), tuple(Fraction(p, total) for p in levels)


def _integer_simplex(positive: _Integers) -> tuple[list[int], list[int], int]:
    """Dual prices of the rows, levels of the columns, and the denominator of both, at the optimum of a basis."""
    rows, cols = positive.shape
    table = np.zeros((rows + 1, cols + 1), dtype=object)
    table[:-1, :-1], table[:-1, -1], table[-1, :-1] = positive, 1, -1
    nonbasic, basic, denominator = list(range(cols)), list(range(cols, rows + cols)), 1
    stalled = 0
    while candidates := [j for j in range(cols) if table[-1, j] < 0]:
        bland = stalled >= BLAND_AFTER * (rows + cols)
        c = min(candidates, key=nonbasic.__getitem__ if bland else table[-1].__getitem__)
        r = _exact_leaving(table, basic, c)
        stalled = 0 if table[r, -1] else stalled + 1
        table, denominator = _integer_pivot(table, r, c, denominator), table[r, c]
        basic[r], nonbasic[c] = nonbasic[c], basic[r]
    levels = {basic[i]: int(table[i, -1]) for i in range(rows)}
    prices = {nonbasic[j]: int(table[-1, j]) for j in range(cols)}
    return [prices.get(cols + i, 0) for i in range(rows)], [levels.get(j, 0) for j in range(cols)], int(denominator)


def _exact_leaving(table: _Integers, basic: list[int], c: int) -> int:
    ratios = [(Fraction(table[i, -1], table[i, c]), basic[i], i) for i in range(len(basic)) if table[i, c] > 0]
    return min(ratios)[2]


def _integer_pivot(table: _Integers, r: int, c: int, denominator: int) -> _Integers:
    pivot, row, column = table[r, c], table[r].copy(), table[:, c].copy()
    table = (table * pivot - np.outer(column, row)) // denominator
    table[r], table[:, c] = row, -column
    table[r, c] = denominator
    return table
