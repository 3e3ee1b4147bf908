"""Closed forms for zero-sum games: saddle points of any size, 2x2 and 3x3 games by their kernels.

Every zero-sum game has an optimal pair that solves a square submatrix K (a *kernel*) with equality: with C the
matrix of cofactors of K and s the sum of its entries, x = C 1 / s, y = C^T 1 / s, v = det K / s, provided v != 0
(Shapley and Snow, "Basic solutions of discrete games", 1950). Payoffs are shifted so that the smallest is 0, which
makes v positive wherever there is no saddle point.

Everything here works on many games at once, stored batch last: `games` has shape (rows, cols, batch). The order of
the search decides which equilibrium is taken where there are several: the saddle point of lowest row and lowest
column; else the first 2x2 kernel (rows 01, 02, 12; within them columns 01, 02, 12); else the 3x3 kernel.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestresponse.theory.games.normal_form import Array

__all__ = ["Indices", "closed_form", "saddle_points"]

Indices = NDArray[np.intp]

_PAIRS = ((0, 1, 2), (0, 2, 1), (1, 2, 0))  # the two taken, the one left out


def saddle_points(games: Array) -> tuple[Array, Array, Indices]:
    """Find optimal pure strategies x (rows, batch), y (cols, batch) where they exist, and the games where not."""
    rows, cols, count = games.shape
    guaranteed, conceded = games.min(axis=1), games.max(axis=0)
    x, y = np.zeros((rows, count)), np.zeros((cols, count))
    saddle = guaranteed.max(axis=0) >= conceded.min(axis=0)
    found = np.flatnonzero(saddle)
    x[guaranteed[:, found].argmax(axis=0), found] = 1.0
    y[conceded[:, found].argmin(axis=0), found] = 1.0
    return x, y, np.flatnonzero(~saddle)


def closed_form(games: Array, x: Array, y: Array, left: Indices) -> Indices:
    """Fill in x and y for the 2x2 or 3x3 games numbered `left` (none has a saddle point); return those unsolved."""
    if games.shape[:2] == (2, 2):
        return _solve_2x2(games, x, y, left)
    left = _solve_2x2_kernels(games, x, y, left)
    return _solve_3x3_kernel(games, x, y, left)


def _solve_2x2(games: Array, x: Array, y: Array, left: Indices) -> Indices:
    (a, b), (c, d) = np.take(games, left, axis=2)
    with np.errstate(all="ignore"):
        inverse = 1.0 / (a - b + (d - c))
        p, q = np.minimum((d - c) * inverse, 1.0), np.minimum((d - b) * inverse, 1.0)
    x[0, left], x[1, left], y[0, left], y[1, left] = p, 1.0 - p, q, 1.0 - q
    return left[:0]


def _solve_2x2_kernels(games: Array, x: Array, y: Array, left: Indices) -> Indices:
    part = np.take(games.reshape(9, -1), left, axis=1)
    for top, bottom, spare_row in _PAIRS:
        for first, second, spare_col in _PAIRS:
            a, b = part[3 * top + first], part[3 * top + second]
            c, d = part[3 * bottom + first], part[3 * bottom + second]
            below, beside = part[3 * spare_row + second], part[3 * bottom + spare_col]
            x_numerator, y_numerator = d - c, d - b
            with np.errstate(all="ignore"):
                inverse = 1.0 / (a - b + x_numerator)
                p, q = x_numerator * inverse, y_numerator * inverse
                value = d - x_numerator * y_numerator * inverse
                good = ((a - b) * x_numerator >= 0.0) & ((a - c) * y_numerator >= 0.0)
                good &= below + (part[3 * spare_row + first] - below) * q <= value
                good &= beside + (part[3 * top + spare_col] - beside) * p >= value
            hit = np.flatnonzero(good)
            if hit.size:
                solved, p, q = left[hit], np.minimum(p[hit], 1.0), np.minimum(q[hit], 1.0)
                x[top, solved], x[bottom, solved], y[first, solved], y[second, solved] = p, 1.0 - p, q, 1.0 - q
                miss = np.flatnonzero(~good)
                left, part = left[miss], np.take(part, miss, axis=1)
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
        q *= 1.0 / q.sum(axis=0)  # the same sum, but for rounding, which must not spoil the probabilities
    good = (p.min(axis=0) >= 0.0) & (q.min(axis=0) >= 0.0)
    solved = left[good]
    x[:, solved], y[:, solved] = p[:, good], q[:, good]
    return np.asarray(left[~good])
