"""The careful way to solve a zero-sum game, for the few that the fast ways cannot certify.

First the final basis of the simplex is solved again by LU factorisation with one step of iterative refinement,
which undoes the rounding gathered over the pivots. If the basis itself was wrong, an exact simplex decides: every
float is a rational, so the payoffs become integers, and only the final strategies are rounded to floats.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bestresponse.theory.equilibria.integer import count_units, optimize
from bestresponse.theory.games.normal_form import Array

__all__ = ["ExactSolution", "solve_exactly", "solve_kernel"]

ExactSolution = tuple[Fraction, tuple[Fraction, ...], tuple[Fraction, ...]]


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
    units, width = count_units([payoff for row in numbers for payoff in row]), len(numbers[0])
    positive = [units[first : first + width] for first in range(0, len(units), width)]
    levels, prices = optimize(positive, [1] * len(positive), [1] * width)
    x, y = (tuple(Fraction(p, sum(weights)) for p in weights) for weights in (prices, levels))
    columns = zip(*numbers, strict=True)
    value = min(sum((p * u for p, u in zip(x, column, strict=True)), Fraction(0)) for column in columns)
    return value, x, y
