"""Families given by how payoffs hang together (independent, opposed, shared, potential, symmetric, correlated) or by a
story (cycles, Colonel Blotto, congestion, public goods)."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.generators.family import check_shape, check_square, family

__all__ = [
    "blotto",
    "common_interest",
    "congestion",
    "covariant",
    "cyclic",
    "divisions",
    "integer",
    "normal",
    "potential",
    "public_goods",
    "symmetric",
    "uniform",
    "zero_sum",
]

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


@family
def cyclic(rng: np.random.Generator, shape: Shape = (3, 3), stakes: tuple[float, float] = (0.5, 1.5)) -> Array:
    """Generalised rock-paper-scissors: each action beats the next ones around a circle and loses to the others.

    With m actions, i beats i+1, ..., i+(m-1)//2 (modulo m); what a win is worth depends on the distance and is uniform
    in `stakes`. Zero-sum and symmetric, the value is 0 and uniform play is an equilibrium, for odd m in general the
    only one; for even m, opposite actions tie and there are others.
    """
    check_square(shape, players=2, at_least=3)
    low, high = stakes
    if not 0 < low <= high:
        raise UsageError(f"stakes: expected 0 < low <= high, got {low:g} and {high:g}")
    size = shape[0]
    gains = np.zeros(size)
    reach = (size - 1) // 2
    gains[1 : reach + 1] = rng.uniform(low, high, reach)
    gains -= np.roll(gains[::-1], 1)
    own, other = np.indices(shape)
    row = gains[(other - own) % size]
    return np.stack([row, row.T])


@family
def blotto(rng: np.random.Generator, troops: tuple[int, int] = (5, 5), fields: int = 3, tilt: float = 0.0) -> Array:
    """Colonel Blotto: both split their troops over battlefields; a field goes to whoever sends more.

    An action is a division of a player's troops, in lexicographic order (see `divisions`); the payoff is the value of
    the fields won minus that of the fields lost. Field values are 1 plus uniform noise in [0, tilt]. Borel, "La théorie
    du jeu et les équations intégrales à noyau symétrique", C. R. Acad. Sci. 173, 1921.
    """
    if min(troops) < 0 or fields < 1 or tilt < 0:
        raise UsageError(f"expected troops >= 0, fields >= 1, tilt >= 0; got {troops}, {fields}, {tilt:g}")
    check_shape(tuple(comb(count + fields - 1, fields - 1) for count in troops))
    values = 1.0 + tilt * rng.random(fields)
    ours, theirs = (divisions(count, fields) for count in troops)
    row = np.sign(ours[:, None, :] - theirs[None, :, :]) @ values
    return np.stack([row, -row])


def divisions(troops: int, fields: int) -> np.typing.NDArray[np.int64]:
    """Return all ways to split `troops` over `fields`, one per row.

    >>> divisions(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    places = troops + fields - 1
    bars = np.array(list(combinations(range(places), fields - 1)), dtype=np.int64).reshape(-1, fields - 1)
    edges = np.hstack([np.full((len(bars), 1), -1), bars, np.full((len(bars), 1), places)])
    counts: np.typing.NDArray[np.int64] = np.diff(edges, axis=1) - 1
    return counts


@family
def congestion(rng: np.random.Generator, shape: Shape = (2, 2)) -> Array:
    """Every player picks one resource and pays its delay, which grows with the number of players on it.

    Delays start uniform in [0, 1] and grow by uniform steps in [0, 1]; they may differ between resources. An exact
    potential game: Rosenthal, "A class of games possessing pure-strategy Nash equilibria", Int. J. Game Theory 2, 1973.
    """
    check_square(shape)
    players, resources = len(shape), shape[0]
    delays = np.cumsum(rng.random((resources, players)), axis=1)
    choices = np.indices(shape)
    loads = [(choices == choice).sum(axis=0) for choice in choices]
    return np.stack([-delays[choice, load - 1] for choice, load in zip(choices, loads, strict=True)])


@family
def public_goods(
    rng: np.random.Generator, shape: Shape = (2, 2), endowment: float = 1.0, multiplier: float | None = None
) -> Array:
    """Linear public goods: keep what you do not give; what all give is multiplied and shared equally.

    Action k of m gives the share k / (m - 1) of the endowment. `multiplier` lies strictly between 1 and the number of
    players (drawn uniformly if not given), so that giving nothing is dominant and everybody giving all is best for all.
    """
    check_square(shape, at_least=2)
    players, levels = len(shape), shape[0]
    drawn = rng.uniform(1.0, players) if multiplier is None else multiplier
    if players < 2 or not 1 < drawn < players:
        raise UsageError(f"multiplier: {players} players allow numbers strictly from 1 to {players}, got {drawn:g}")
    given = np.indices(shape) * (endowment / (levels - 1))
    return np.asarray(endowment - given + drawn / players * given.sum(axis=0))
