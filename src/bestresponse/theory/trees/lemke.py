"""Linear complementarity by the method of Lemke (1965), with the lexicographic rule against cycling.

In floating point, or in whole numbers with a right side that is a polynomial in a small positive number.

Problem: find z >= 0 with w = Mz + b >= 0 and z'w = 0. An artificial variable z0, whose column is all ones, makes a
feasible start; complementary pivoting then follows the only path from it, until z0 leaves (a solution) or nothing can
leave (a ray). C. Lemke, "Bimatrix equilibrium points and mathematical programming", Management Science 11, 1965.
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


def solve_complementarity(matrix: Array, right: Array, most_pivots: int = 20_000) -> Array:
    """Find z; NotCertified where the path ends in a ray or takes more than `most_pivots`.

    >>> solve_complementarity(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-5.0, -6.0])).round(9).tolist()
    [1.333333333, 2.333333333]
    """
    size = len(right)
    if (right >= 0).all():
        return np.zeros(size)
    # Columns: w, z, z0, right side. Variable k < size is w_k, size + k is z_k, 2 * size is z0.
    table = np.hstack([np.eye(size), -matrix, -np.ones((size, 1)), right[:, None]])
    basic = np.arange(size)
    row = _first_row(table, size)
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


def _first_row(table: Array, size: int) -> int:
    """Choose the row that z0 makes feasible last: the smallest right side, the first in lexicographic order."""
    rows = np.flatnonzero(table[:, -1] <= table[:, -1].min() + _ZERO)
    return int(rows[-1]) if len(rows) else 0


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


def _solve_basis(matrix: Array, right: Array, basic: NDArray[np.int64]) -> Array:
    """Compute z from the original numbers, free of the rounding of all pivots."""
    size = len(right)
    columns = np.hstack([np.eye(size), -matrix])
    try:
        values = np.linalg.solve(columns[:, basic], right)
    except np.linalg.LinAlgError:
        raise NotCertified("Lemke's path ended at numbers that floating point cannot tell apart") from None
    found = np.zeros(2 * size)
    found[basic] = np.maximum(values, 0.0)
    return found[size:]


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
