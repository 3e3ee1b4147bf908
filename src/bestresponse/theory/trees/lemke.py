"""Linear complementarity by the method of Lemke (1965), with the lexicographic rule against cycling.

In floating point, or in whole numbers with a right side that is a polynomial in a small positive number.

Problem: find z >= 0 with w = Mz + b >= 0 and z'w = 0. An artificial variable z0, whose column covers all rows where b
is negative, makes a feasible start; complementary pivoting then follows the only path from it, until z0 leaves (a
solution) or nothing can leave (a ray).

C. Lemke, "Bimatrix equilibrium points and mathematical programming", Management Science 11, 1965.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bestresponse.core.errors import NotCertified
from bestresponse.theory.equilibria.integer import Dictionary
from bestresponse.theory.games.normal_form import Array

__all__ = ["Polynomial", "solve_complementarity", "solve_for_small"]

Polynomial = tuple[Fraction, ...]
"""Coefficients, that of the lowest power first."""

_ZERO = 1e-11
_TIE = 1e-10


def solve_complementarity(matrix: Array, cover: Array, right: Array, most_pivots: int = 20_000) -> tuple[Array, Array]:
    """Find z and w; NotCertified where the path ends in a ray, takes more than `most_pivots`, or floats do not do.

    `cover` is the column of z0: 1, or 0 where the right side is not negative.

    >>> z, w = solve_complementarity(np.array([[2.0, 1.0], [1.0, 2.0]]), np.ones(2), np.array([-5.0, -6.0]))
    >>> z.round(9).tolist(), w.tolist()
    ([1.333333333, 2.333333333], [0.0, 0.0])
    """
    size = len(right)
    # Columns: w, z, z0, right side. Variable k < size is w_k, size + k is z_k, 2 * size is z0.
    table = np.hstack([np.eye(size), -matrix, -cover[:, None], right[:, None]])
    basic = np.arange(size)
    # The row that z0 makes feasible last; of equal ones the last, which is the first in lexicographic order.
    row = min(np.flatnonzero(cover).tolist(), key=lambda k: (right[k], -k), default=-1)
    if row < 0 or right[row] >= 0:
        return np.zeros(size), right.copy()
    entering = 2 * size
    for _ in range(most_pivots):
        left = int(basic[row])
        _pivot(table, row, entering)
        basic[row] = entering
        if left == 2 * size:
            return _solve_basis(matrix, right, basic)
        entering = left + size if left < size else left - size
        row = _leaving_row(table, entering, size, basic)
    raise NotCertified(f"Lemke's path did not end within {most_pivots:,} pivots")


def _leaving_row(table: Array, entering: int, size: int, basic: NDArray[np.int64]) -> int:
    """Choose the row whose variable reaches zero first; ties by the rows of the basis inverse, the first columns."""
    column = table[:, entering]
    rows = np.flatnonzero(column > _ZERO)
    if not len(rows):
        raise NotCertified("Lemke's path ended in a ray")
    ratios = table[rows, -1] / column[rows]
    rows = rows[ratios <= ratios.min() + _TIE]
    out = rows[basic[rows] == 2 * size]
    if len(out):
        return int(out[0])
    for k in range(size):
        if len(rows) == 1:
            break
        ratios = table[rows, k] / column[rows]
        rows = rows[ratios <= ratios.min() + _TIE]
    return int(rows[0])


def _pivot(table: Array, row: int, column: int) -> None:
    table[row] /= table[row, column]
    factors = table[:, column].copy()
    factors[row] = 0.0
    used = np.flatnonzero(factors)
    table[used] -= np.outer(factors[used], table[row])


def _solve_basis(matrix: Array, right: Array, basic: NDArray[np.int64]) -> tuple[Array, Array]:
    """Compute z and w from the original numbers, free of the rounding of all pivots."""
    size = len(right)
    columns = np.hstack([np.eye(size), -matrix])
    values = np.zeros(2 * size)
    try:
        values[basic] = np.maximum(np.linalg.solve(columns[:, basic], right), 0.0)
    except np.linalg.LinAlgError:
        raise NotCertified("Lemke's path ended at numbers that floating point cannot tell apart") from None
    return values[size:], values[:size]


def solve_for_small(
    matrix: Sequence[Sequence[int]], cover: Sequence[int], right: Sequence[Sequence[int]]
) -> tuple[list[Polynomial], list[Polynomial]]:
    """Find z and w for every small enough positive number eps of which the right side is a polynomial.

    `cover` is the column of z0, in place of all ones: each number 0 or 1. Where it is 0, the right side must be
    positive. NotCertified where the path ends in a ray.

    >>> unknowns, slacks = solve_for_small([[2, 1], [1, 2]], [1, 1], [[-5, 0], [-6, 3]])
    >>> [[str(u) for u in z] for z in unknowns]  # 4/3 + eps and 7/3 - 2 eps
    [['4/3', '1'], ['7/3', '-2']]
    """
    size, degree = len(right), len(right[0])
    rows = [
        [*(-value for value in row), -covered, *reversed(side)]
        for row, covered, side in zip(matrix, cover, right, strict=True)
    ]
    table = Dictionary(rows, 1, list(range(size + 1, 2 * size + 1)), list(range(size + 1)))
    # The row that z0 makes feasible last; of equal ones the last, which is the first in lexicographic order.
    row = min((k for k in range(size) if cover[k]), key=lambda k: (right[k], -k), default=-1)
    if row >= 0 and list(right[row]) < [0] * degree:
        entered, left = table.pivot(row, size), table.basic[row]
        table = Dictionary([[-value for value in line] for line in entered.rows], 1, entered.basic, entered.nonbasic)
        while left != size:
            column = table.nonbasic.index(left - size - 1 if left > size else left + size + 1)
            row = table.leaving(column)
            if row < 0:
                raise NotCertified("Lemke's path ended in a ray")
            table, left = table.pivot(row, column), table.basic[row]
    values = [(Fraction(0),) * degree] * (2 * size + 1)
    for variable, line in zip(table.basic, table.rows, strict=True):
        values[variable] = tuple(Fraction(value, table.scale) for value in line[: -degree - 1 : -1])
    return values[:size], values[size + 1 :]
