"""Zero-sum games compiled with numba, on all cores: the same steps and the same choices as the numpy modules.

Imported only when a batch is large enough to pay for it (see `zero_sum`); needs the extra `fast`. Arithmetic is left
in the order written (no fused or reassociated operations), so both backends take the same kernels and the same pivots.
A game that is not certified here, or whose payoffs are not finite or beyond 2**±150, is left with step 0 for numpy.
Kernels are compiled on first use and kept on disk by numba. They run under a lock, because numba's simplest threading
layer ends the process when two threads enter it at once.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
from numba import prange

from bestresponse.theory.normal_form import Array
from bestresponse.theory.zero_sum_batch import ACCEPTED, Solved, ZeroSumStep
from bestresponse.theory.zero_sum_kernels_simplex import is_tame, kernel, parallel_kernel, solve_any

__all__ = ["is_loaded", "solve_compiled"]

_SADDLE, _CLOSED_FORM = int(ZeroSumStep.SADDLE), int(ZeroSumStep.CLOSED_FORM)
_BLOCKS = 64  # shares of a batch: enough to keep the cores busy until the end, few enough to cost nothing
_ENTERING = Lock()


def solve_compiled(games: Array, out: Solved) -> None:
    """Solve payoffs (count, rows, cols), C-contiguous, into `out`; `out.steps` is 0 where that did not work."""
    with _ENTERING:
        _kernel_for(games)(
            games, out.values, out.row, out.col, out.gaps, out.ranges, out.steps, min(_BLOCKS, len(games))
        )


def is_loaded(games: Array) -> bool:
    """Whether the kernel for games of this size has been used before, so that it starts at once."""
    return bool(_kernel_for(games).signatures)


def _kernel_for(games: Array) -> Any:
    return {(2, 2): _solve_2x2, (3, 3): _solve_3x3}.get(games.shape[1:], solve_any)


@parallel_kernel
def _solve_2x2(
    games: Array, values: Array, row: Array, col: Array, gaps: Array, ranges: Array, steps: Any, blocks: int
) -> None:
    count = games.shape[0]
    for block in prange(blocks):
        for k in range(block * count // blocks, (block + 1) * count // blocks):
            a, b, c, d = games[k, 0, 0], games[k, 0, 1], games[k, 1, 0], games[k, 1, 1]
            low, high = min(min(a, b), min(c, d)), max(max(a, b), max(c, d))
            upper, lower = min(a, b), min(c, d)
            left, right = max(a, c), max(b, d)
            spread = high - low
            ranges[k] = spread
            if max(upper, lower) >= min(left, right):
                row[k, 0] = 1.0 if upper >= lower else 0.0
                col[k, 0] = 1.0 if left <= right else 0.0
                row[k, 1], col[k, 1] = 1.0 - row[k, 0], 1.0 - col[k, 0]
                values[k], gaps[k] = max(upper, lower), 0.0
                steps[k] = _SADDLE if is_tame(a + b + c + d, low, high) else 0
            else:
                a, b, c, d = a - low, b - low, c - low, d - low
                inverse = 1.0 / (a - b + (d - c))
                p, q = min((d - c) * inverse, 1.0), min((d - b) * inverse, 1.0)
                row[k, 0], row[k, 1], col[k, 0], col[k, 1] = p, 1.0 - p, q, 1.0 - q
                best = max(a * q + b * (1.0 - q), c * q + d * (1.0 - q))
                worst = min(a * p + c * (1.0 - p), b * p + d * (1.0 - p))
                gap = best - worst
                values[k], gaps[k] = low + (worst + 0.5 * gap), max(gap, 0.0)
                accepted = gap <= ACCEPTED * spread and is_tame(low + high, low, high)
                steps[k] = _CLOSED_FORM if accepted else 0


@parallel_kernel
def _solve_3x3(
    games: Array, values: Array, row: Array, col: Array, gaps: Array, ranges: Array, steps: Any, blocks: int
) -> None:
    count = games.shape[0]
    for block in prange(blocks):
        game = np.empty((3, 3))
        for k in range(block * count // blocks, (block + 1) * count // blocks):
            a, b, c = games[k, 0, 0], games[k, 0, 1], games[k, 0, 2]
            d, e, f = games[k, 1, 0], games[k, 1, 1], games[k, 1, 2]
            g, h, i = games[k, 2, 0], games[k, 2, 1], games[k, 2, 2]
            total = a + b + c + d + e + f + g + h + i
            top, middle, bottom = min(min(a, b), c), min(min(d, e), f), min(min(g, h), i)
            left, centre, right = max(max(a, d), g), max(max(b, e), h), max(max(c, f), i)
            low, high = min(min(top, middle), bottom), max(max(left, centre), right)
            spread = high - low
            ranges[k] = spread
            row[k, 0], row[k, 1], row[k, 2] = 0.0, 0.0, 0.0
            col[k, 0], col[k, 1], col[k, 2] = 0.0, 0.0, 0.0
            steps[k] = 0
            if not is_tame(total, low, high):
                continue
            guaranteed = max(max(top, middle), bottom)
            conceded = min(min(left, centre), right)
            if guaranteed >= conceded:
                row[k, 0 if top == guaranteed else (1 if middle == guaranteed else 2)] = 1.0
                col[k, 0 if left == conceded else (1 if centre == conceded else 2)] = 1.0
                values[k], gaps[k], steps[k] = guaranteed, 0.0, _SADDLE
                continue
            a, b, c, d, e, f = a - low, b - low, c - low, d - low, e - low, f - low
            g, h, i = g - low, h - low, i - low
            game[0, 0], game[0, 1], game[0, 2] = a, b, c
            game[1, 0], game[1, 1], game[1, 2] = d, e, f
            game[2, 0], game[2, 1], game[2, 2] = g, h, i
            if not _try_2x2_kernels(game, row[k], col[k]) and not _try_3x3_kernel(game, row[k], col[k]):
                continue
            x0, x1, x2 = row[k, 0], row[k, 1], row[k, 2]
            y0, y1, y2 = col[k, 0], col[k, 1], col[k, 2]
            best = max(max(a * y0 + b * y1 + c * y2, d * y0 + e * y1 + f * y2), g * y0 + h * y1 + i * y2)
            worst = min(min(a * x0 + d * x1 + g * x2, b * x0 + e * x1 + h * x2), c * x0 + f * x1 + i * x2)
            gap = best - worst
            values[k], gaps[k] = low + (worst + 0.5 * gap), max(gap, 0.0)
            steps[k] = _CLOSED_FORM if gap <= ACCEPTED * spread else 0


@kernel
def _try_2x2_kernels(game: Array, x: Array, y: Array) -> bool:
    for spare_row in range(2, -1, -1):
        top, bottom = (1 if spare_row == 0 else 0), (1 if spare_row == 2 else 2)
        for spare_col in range(2, -1, -1):
            first, second = (1 if spare_col == 0 else 0), (1 if spare_col == 2 else 2)
            a, b, c, d = game[top, first], game[top, second], game[bottom, first], game[bottom, second]
            x_numerator, y_numerator = d - c, d - b
            if not ((a - b) * x_numerator >= 0.0 and (a - c) * y_numerator >= 0.0):
                continue
            inverse = 1.0 / (a - b + x_numerator)
            p, q = x_numerator * inverse, y_numerator * inverse
            value = d - x_numerator * y_numerator * inverse
            below, beside = game[spare_row, second], game[bottom, spare_col]
            if (
                below + (game[spare_row, first] - below) * q <= value
                and beside + (game[top, spare_col] - beside) * p >= value
            ):
                p, q = min(p, 1.0), min(q, 1.0)
                x[top], x[bottom], y[first], y[second] = p, 1.0 - p, q, 1.0 - q
                return True
    return False


@kernel
def _try_3x3_kernel(game: Array, x: Array, y: Array) -> bool:
    a, b, c = game[0, 0], game[0, 1], game[0, 2]
    d, e, f = game[1, 0], game[1, 1], game[1, 2]
    g, h, i = game[2, 0], game[2, 1], game[2, 2]
    c00, c01, c02 = e * i - f * h, f * g - d * i, d * h - e * g
    c10, c11, c12 = c * h - b * i, a * i - c * g, b * g - a * h
    c20, c21, c22 = b * f - c * e, c * d - a * f, a * e - b * d
    x0, x1, x2 = c00 + c01 + c02, c10 + c11 + c12, c20 + c21 + c22
    y0, y1, y2 = c00 + c10 + c20, c01 + c11 + c21, c02 + c12 + c22
    x_inverse, y_inverse = 1.0 / (x0 + x1 + x2), 1.0 / (y0 + y1 + y2)
    x[0], x[1], x[2] = x0 * x_inverse, x1 * x_inverse, x2 * x_inverse
    y[0], y[1], y[2] = y0 * y_inverse, y1 * y_inverse, y2 * y_inverse
    good: bool = min(min(x[0], x[1]), x[2]) >= 0.0 and min(min(y[0], y[1]), y[2]) >= 0.0
    return good
