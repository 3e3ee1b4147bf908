"""How strategies spread in a finite population: the Moran process.

Each step one individual reproduces, with probability proportional to its fitness, and its child takes the place of one
drawn at random (P. Moran, "Random processes in genetics", 1958; M. Nowak, A. Sasaki, C. Taylor & D. Fudenberg,
"Emergence of cooperation and evolutionary stability in finite populations", Nature 428, 2004). Fitness is
exp(intensity * payoff), where the payoff is the mean against all others; a child may mutate into another type.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.theory.games.normal_form import Array, as_payoffs

__all__ = ["MoranResult", "fixation_probability", "moran"]


@dataclass(frozen=True, eq=False, slots=True)
class MoranResult:
    """Counts of every type after each step (`trajectory`, by `stride`), the last ones, and which type took over."""

    counts: tuple[int, ...]
    trajectory: Array
    stride: int
    winner: int | None
    steps: int


def _square(payoffs: ArrayLike) -> Array:
    matrix = as_payoffs(payoffs)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidGame(f"payoffs between types: expected a square matrix, got shape {matrix.shape}")
    return matrix


def _fitness(matrix: Array, counts: NDArray[np.int64], intensity: float) -> Array:
    """Fitness of one individual of each type; nobody meets itself."""
    others = counts.sum() - 1
    mean = (matrix @ counts - np.diag(matrix)) / max(others, 1)
    return np.asarray(np.exp(intensity * (mean - mean.max())))


def moran(
    payoffs: ArrayLike,
    counts: ArrayLike,
    *,
    seed: int = 0,
    intensity: float = 1.0,
    mutation: float = 0.0,
    steps: int = 100_000,
    stride: int = 1,
) -> MoranResult:
    """Run the process until one type has taken over (without mutation) or `steps` are done."""
    matrix = _square(payoffs)
    now = np.array(counts, dtype=np.int64)
    if now.shape != (len(matrix),) or (now < 0).any() or now.sum() < 2:
        raise UsageError(f"counts: expected {len(matrix)} numbers with at least two individuals in all, got {counts!r}")
    if not 0 <= mutation <= 1 or steps < 1 or stride < 1:
        raise UsageError("mutation is a probability; steps and stride are at least 1")
    rng = np.random.default_rng(seed)
    path, done = [now.copy()], 0
    for done in range(1, steps + 1):
        weights = now * _fitness(matrix, now, intensity)
        child = int(rng.choice(len(now), p=weights / weights.sum()))
        gone = int(rng.choice(len(now), p=now / now.sum()))
        if mutation and rng.random() < mutation:
            child = int(rng.integers(len(now)))
        now[child] += 1
        now[gone] -= 1
        if done % stride == 0:
            path.append(now.copy())
        if not mutation and now.max() == now.sum():
            break
    winner = int(now.argmax()) if now.max() == now.sum() else None
    return MoranResult(tuple(map(int, now)), np.array(path, dtype=np.float64), stride, winner, done)


def fixation_probability(payoffs: ArrayLike, population: int, *, intensity: float = 1.0) -> float:
    """The probability that one mutant of type 0 takes over a population of type 1, exactly (Nowak et al. 2004).

    1 / (1 + sum over k of prod over i <= k of f_1(i) / f_0(i)), where i is the number of mutants.

    >>> fixation_probability([[1, 1], [1, 1]], 10)
    0.1
    """
    matrix = _square(payoffs)
    if matrix.shape != (2, 2) or population < 2:
        raise UsageError(f"a fixation probability needs 2 types and at least 2 individuals, got {matrix.shape}")
    logs = []
    for mutants in range(1, population):
        counts = np.array([mutants, population - mutants])
        mean = (matrix @ counts - np.diag(matrix)) / (population - 1)
        logs.append(intensity * float(mean[1] - mean[0]))
    return float(1.0 / (1.0 + np.exp(np.cumsum(logs)).sum()))
