"""The EM step of `mixtures` compiled with numba (extra `fast`).

It takes one sample after the other, on all cores.
"""

from math import exp, log

import numpy as np
from numba import njit, prange

from bestresponse.theory.arrays import Floats


@njit(cache=True, parallel=True, nogil=True, error_model="numpy")
def step_compiled(
    counts: Floats,
    levels: Floats,
    spread: float,
    weights: Floats,
    points: Floats,
    out: Floats,
    heights: Floats,
) -> None:
    """Take one step from every row of `points` (the shares, then the error) to `out`.

    `heights` are log likelihoods.

    `weights[b, i]` says how often unit i counts in sample b.
    """
    units, kinds, depth = counts.shape
    for b in prange(points.shape[0]):
        error = points[b, kinds]
        chances = np.empty(depth)
        slips = np.empty(depth)
        for d in range(depth):
            slip = error * (1.0 - levels[d]) / spread
            slips[d] = slip / (levels[d] * (1.0 - error) + slip)
            chances[d] = log(levels[d] * (1.0 - error) + slip)
        prior = np.log(points[b, :kinds])
        joint = np.empty(kinds)
        size = 0.0
        moves = 0.0
        mistakes = 0.0
        height = 0.0
        out[b] = 0.0
        for i in range(units):
            weight = weights[b, i]
            if weight == 0.0:
                continue
            top = -np.inf
            for k in range(kinds):
                joint[k] = prior[k]
                for d in range(depth):
                    joint[k] += counts[i, k, d] * chances[d]
                top = max(top, joint[k])
            total = 0.0
            for k in range(kinds):
                joint[k] = exp(joint[k] - top)
                total += joint[k]
            size += weight
            height += weight * (top + log(total))
            for d in range(depth):
                moves += weight * counts[i, 0, d]
            for k in range(kinds):
                part = weight * joint[k] / total
                out[b, k] += part
                for d in range(depth):
                    mistakes += part * counts[i, k, d] * slips[d]
        heights[b] = height
        out[b, kinds] = mistakes / moves
        out[b, :kinds] /= size
