"""Many runs of the Moran process side by side: how often each type takes over.

The same process as `moran.moran` without mutation; all runs take their steps together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.theory.games.normal_form import Array, as_payoffs

__all__ = ["Takeovers", "takeovers"]


@dataclass(frozen=True, slots=True)
class Takeovers:
    """How many runs each type won, and how many ended before anyone had."""

    wins: tuple[int, ...]
    undecided: int


def takeovers(
    payoffs: ArrayLike,
    counts: ArrayLike,
    *,
    runs: int = 100,
    seed: int = 0,
    intensity: float = 1.0,
    steps: int = 100_000,
) -> Takeovers:
    """`runs` runs from the same `counts`, each until one type has taken over or `steps` are done.

    >>> takeovers([[1, 1], [1, 1]], [10, 0], runs=5)
    Takeovers(wins=(5, 0), undecided=0)
    """
    matrix = as_payoffs(payoffs)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidGame(f"payoffs between types: expected a square matrix, got shape {matrix.shape}")
    start = np.array(counts, dtype=np.int64)
    if start.shape != (len(matrix),) or (start < 0).any() or start.sum() < 2 or runs < 1 or steps < 1:
        raise UsageError(f"counts: expected {len(matrix)} numbers with at least two individuals in all, got {counts!r}")
    rng = np.random.default_rng(seed)
    wins = np.zeros(len(start), dtype=np.int64)
    now = np.tile(start, (runs, 1))
    for _ in range(steps):
        decided = now.max(axis=1) == start.sum()
        if decided.any():
            wins += (now[decided] > 0).sum(axis=0)
            now = now[~decided]
        if not len(now):
            break
        _step(now, matrix, intensity, rng)
    return Takeovers(tuple(map(int, wins)), len(now))


def _step(now: NDArray[np.int64], matrix: Array, intensity: float, rng: np.random.Generator) -> None:
    """One birth and one death in every run, in place."""
    others = max(int(now[0].sum()) - 1, 1)
    mean = (now @ matrix.T - np.diag(matrix)) / others
    mean = np.where(now > 0, mean, -np.inf)
    weights = now * np.exp(intensity * (mean - mean.max(axis=1, keepdims=True)))
    child, gone = _drawn(weights, rng), _drawn(now.astype(np.float64), rng)
    rows = np.arange(len(now))
    now[rows, child] += 1
    now[rows, gone] -= 1


def _drawn(weights: Array, rng: np.random.Generator) -> NDArray[np.int64]:
    """One place in every row, by weight."""
    limits = np.cumsum(weights, axis=1)
    luck = rng.random(len(weights)) * limits[:, -1]
    return np.asarray((luck[:, None] >= limits).sum(axis=1))
