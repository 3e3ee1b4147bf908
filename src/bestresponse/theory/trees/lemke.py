"""Linear complementarity by the method of Lemke (1965), with the lexicographic rule against cycling.

Problem: find z >= 0 with w = Mz + b >= 0 and z'w = 0. An artificial variable z0, whose column is all ones, makes a
feasible start; complementary pivoting then follows the only path from it, until z0 leaves (a solution) or nothing can
leave (a ray). C. Lemke, "Bimatrix equilibrium points and mathematical programming", Management Science 11, 1965.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestresponse.core.errors import NotCertified
from bestresponse.theory.games.normal_form import Array

__all__ = ["solve_complementarity"]

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
    values = np.linalg.solve(columns[:, basic], right)
    found = np.zeros(2 * size)
    found[basic] = np.maximum(values, 0.0)
    return found[size:]
