"""Logit dynamics: play drifts towards the logit (softmax) reply to the present profile.

x_i' = L(precision * u_i(x)) - x_i, with L(v)_a = exp(v_a) / sum_b exp(v_b); Fudenberg & Levine, "The Theory of Learning
in Games", MIT Press, 1998, chapter 4. Its rest points are the logit quantal response equilibria of that precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import UsageError
from bestresponse.theory.dynamics.trajectory import (
    Trajectory,
    allot,
    fitness,
    record,
    schedule,
    start_or_uniform,
    stepwise,
    walk,
)
from bestresponse.theory.games.normal_form import Array, NormalForm

__all__ = ["logit_dynamics", "logit_reply"]


def logit_reply(values: Array, precision: float) -> Array:
    """Probabilities proportional to exp(precision * value).

    >>> logit_reply(np.array([0.0, 0.0]), 3.0).tolist()
    [0.5, 0.5]
    """
    weights = np.exp(precision * (values - values.max()))
    return np.asarray(weights / weights.sum())


def logit_dynamics(
    game: NormalForm,
    precision: float,
    start: Sequence[ArrayLike] | None = None,
    *,
    steps: int = 10_000,
    size: float = 0.01,
    stride: int | None = None,
) -> Trajectory:
    """`steps` Euler steps of length `size` from `start` (uniform play if not given)."""
    if not 0 <= precision < np.inf:
        raise UsageError(f"precision: expected a number >= 0, got {precision:g}")
    if not 0 < size <= 1:
        raise UsageError(f"size: expected a step above 0 and at most 1, got {size:g}")
    values, (state, parts) = fitness(game), allot(*game.shape)
    state[:] = np.concatenate(start_or_uniform(game, start))

    def advance(count: int) -> None:
        for _ in range(count):
            for mix, value in zip(parts, values(parts), strict=True):
                mix += size * (logit_reply(value, precision) - mix)

    times, paths = walk(stepwise(advance, state), chain([0], schedule(steps, stride)), *game.shape)
    method = f"logit dynamics, precision {precision:g}"
    return record(game, method, "numpy", size * times, paths, tuple(path[-1] for path in paths))
