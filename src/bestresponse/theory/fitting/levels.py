"""Level-k and cognitive hierarchy: players who think a limited number of steps ahead.

Level 0 plays an anchor, by default uniformly. Level k best-responds to level k - 1 (Nagel, "Unraveling in guessing
games", American Economic Review 85, 1995; Stahl & Wilson, "On players' models of other players", Games and Economic
Behavior 10, 1995). In the cognitive hierarchy level k best-responds to all lower levels in the proportions of a Poisson
distribution, f(k) = e^-tau tau^k / k!, truncated below k (Camerer, Ho & Chong, "A cognitive hierarchy model of games",
Quarterly Journal of Economics 119, 2004; tau = 1.5 fits many experiments). Best responses that tie share equally.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import UsageError
from bestresponse.theory.dynamics.trajectory import Profile, fitness, start_or_uniform
from bestresponse.theory.games.normal_form import Array, GameLike, NormalForm, as_normal_form

__all__ = ["Levels", "cognitive_hierarchy", "level_k"]

_TAIL = 1e-9


@dataclass(frozen=True, eq=False, slots=True)
class Levels:
    """`strategies[i][k]`: what player i does at level k; `shares[k]`: how many players are at that level.

    `final` is the play the model predicts and `gains[i]` what player i could gain by deviating from it.
    """

    method: str
    shares: Array
    strategies: tuple[Array, ...]
    final: Profile
    gains: Array

    @property
    def gap(self) -> float:
        """The largest gain any player could make by deviating."""
        return float(self.gains.max())


def level_k(game: GameLike, level: int = 2, anchor: Sequence[ArrayLike] | None = None) -> Levels:
    """Levels 0 to `level`; everybody is at the highest.

    >>> found = level_k(NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]]), level=1)
    >>> found.final[0].tolist()
    [0.0, 1.0]
    """
    game = as_normal_form(game)
    if level < 0:
        raise UsageError(f"level: expected at least 0, got {level}")
    values = fitness(game)
    steps = [start_or_uniform(game, anchor)]
    for _ in range(level):
        steps.append(tuple(_best(value) for value in values(steps[-1])))
    shares = np.zeros(level + 1)
    shares[-1] = 1.0
    return _levels(game, f"level-{level}", shares, steps)


def cognitive_hierarchy(
    game: NormalForm, tau: float = 1.5, level: int | None = None, anchor: Sequence[ArrayLike] | None = None
) -> Levels:
    """Levels 0 to `level` with Poisson shares of mean `tau`; by default so many that fewer than 1e-9 are above."""
    if not 0 <= tau < 700:
        raise UsageError(f"tau: expected a mean number of steps from 0 to 700, got {tau:g}")
    if level is not None and level < 0:
        raise UsageError(f"level: expected at least 0, got {level}")
    weights, values = _poisson(tau, level), fitness(game)
    steps = [start_or_uniform(game, anchor)]
    for k in range(1, len(weights)):
        below = weights[:k] / weights[:k].sum()
        believed = tuple(np.tensordot(below, [step[i] for step in steps], 1) for i in range(game.num_players))
        steps.append(tuple(_best(value) for value in values(believed)))
    return _levels(game, f"cognitive hierarchy, tau {tau:g}", weights / weights.sum(), steps)


def _poisson(tau: float, level: int | None) -> Array:
    weights = [exp(-tau)]
    while (1.0 - sum(weights) > _TAIL) if level is None else (len(weights) <= level):
        weights.append(weights[-1] * tau / len(weights))
    return np.array(weights)


def _best(values: Array) -> Array:
    """Uniform over the best actions; a difference in the last digits is a tie."""
    best = values >= values.max() - 1e-12 * max(1.0, float(np.abs(values).max()))
    return np.asarray(best / best.sum())


def _levels(game: NormalForm, method: str, shares: Array, steps: list[Profile]) -> Levels:
    strategies = tuple(np.array([step[i] for step in steps]) for i in range(game.num_players))
    final = tuple(shares @ path for path in strategies)
    gains = [value.max() - mix @ value for mix, value in zip(final, fitness(game)(final), strict=True)]
    return Levels(method, shares, strategies, final, np.array(gains))
