"""Families given by how payoffs hang together: independent, opposed, shared, potential, symmetric, correlated."""

from __future__ import annotations

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.generators.family import check_shape, check_square, family

__all__ = ["common_interest", "covariant", "integer", "normal", "potential", "symmetric", "uniform", "zero_sum"]

Shape = tuple[int, ...]


@family
def uniform(rng: np.random.Generator, shape: Shape = (2, 2), low: float = 0.0, high: float = 1.0) -> Array:
    """Independent payoffs, uniform between `low` and `high`."""
    check_shape(shape)
    _check_range(low, high)
    return low + (high - low) * rng.random((len(shape), *shape))


@family
def integer(rng: np.random.Generator, shape: Shape = (2, 2), low: int = -10, high: int = 10) -> Array:
    """Independent whole payoffs from `low` to `high`, both included; ties, and so degenerate games, do occur."""
    check_shape(shape)
    _check_range(low, high)
    return rng.integers(low, high, (len(shape), *shape), endpoint=True).astype(np.float64)


@family
def normal(rng: np.random.Generator, shape: Shape = (2, 2), mean: float = 0.0, deviation: float = 1.0) -> Array:
    """Independent normally distributed payoffs."""
    check_shape(shape)
    if deviation <= 0:
        raise UsageError(f"deviation: expected a number above 0, got {deviation:g}")
    return mean + deviation * rng.standard_normal((len(shape), *shape))


@family
def zero_sum(
    rng: np.random.Generator, shape: Shape = (2, 2), low: float = -1.0, high: float = 1.0, whole: bool = False
) -> Array:
    """Two players; row payoffs are uniform (whole numbers if `whole`), column payoffs their negatives."""
    check_shape(shape, players=2)
    _check_range(low, high)
    if whole:
        row = rng.integers(round(low), round(high), shape, endpoint=True).astype(np.float64)
    else:
        row = low + (high - low) * rng.random(shape)
    return np.array([row, -row])


@family
def common_interest(rng: np.random.Generator, shape: Shape = (2, 2)) -> Array:
    """All players receive the same payoff, uniform in [0, 1]."""
    check_shape(shape)
    return np.repeat(rng.random((1, *shape)), len(shape), axis=0)


@family
def potential(rng: np.random.Generator, shape: Shape = (2, 2)) -> Array:
    """Exact potential games: u_i(a) = P(a) + d_i(a of the others), with P and every d_i uniform in [0, 1].

    Monderer & Shapley, "Potential games", Games and Economic Behavior 14, 1996.
    """
    check_shape(shape)
    shared = rng.random(shape)
    own = [rng.random(tuple(1 if j == i else m for j, m in enumerate(shape))) for i in range(len(shape))]
    return np.stack([shared + dummy for dummy in own])


@family
def symmetric(rng: np.random.Generator, shape: Shape = (2, 2)) -> Array:
    """A player's payoff depends on its own action and on how often each action is played by the others."""
    check_square(shape)
    table, places = rng.random(shape), np.indices(shape)
    payoffs = []
    for i in range(len(shape)):
        others = np.sort(np.delete(places, i, axis=0), axis=0)
        payoffs.append(table[(places[i], *others)])
    return np.stack(payoffs)


@family
def covariant(rng: np.random.Generator, shape: Shape = (2, 2), rho: float = 0.0) -> Array:
    """Standard normal payoffs; in every profile those of any two players have correlation `rho`.

    rho = 1 is common interest and, for two players, rho = -1 zero-sum; n players allow no less than -1 / (n - 1).
    """
    check_shape(shape)
    players = len(shape)
    lowest = -1.0 / (players - 1) if players > 1 else 0.0
    if not lowest <= rho <= 1:
        raise UsageError(f"rho: {players} players allow correlations from {lowest:g} to 1, got {rho:g}")
    independent = rng.standard_normal((players, *shape))
    # The root of (1 - rho) I + rho 11' scales the mean of the players' draws and their deviations from it.
    average = independent.mean(axis=0, keepdims=True)
    return np.asarray(np.sqrt(1 - rho) * (independent - average) + np.sqrt(max(0.0, 1 + (players - 1) * rho)) * average)


def _check_range(low: float, high: float) -> None:
    if not low < high:
        raise UsageError(f"low and high: expected low < high, got {low:g} and {high:g}")
