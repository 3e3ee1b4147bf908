"""Multiplicative weights (Hedge): each action's weight grows exponentially with what it would have earned.

Freund & Schapire, "Adaptive game playing using multiplicative weights", Games and Economic Behavior 29, 1999. With the
default rate sqrt(8 ln(actions) / steps) / (range of the player's payoffs), nobody's average external regret after the
last step exceeds range * sqrt(ln(actions) / (2 steps)).
"""

from __future__ import annotations

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.theory.dynamics.learning import Rule, learn
from bestresponse.theory.dynamics.trajectory import Trajectory
from bestresponse.theory.engines import Engine
from bestresponse.theory.games.normal_form import NormalForm

__all__ = ["multiplicative_weights"]


def multiplicative_weights(
    game: NormalForm,
    *,
    steps: int = 10_000,
    rate: float | None = None,
    stride: int | None = None,
    engine: Engine = "auto",
) -> Trajectory:
    """`steps` rounds in which all players update at once; `rate` multiplies total payoffs in the exponent."""
    if rate is not None and not 0 < rate < np.inf:
        raise UsageError(f"rate: expected a number above 0, got {rate:g}")
    spans = np.array([float(np.ptp(own)) or 1.0 for own in game.payoffs])
    tuned = np.sqrt(8.0 * np.log(game.shape) / max(steps, 1)) / spans
    rates = tuned if rate is None else np.full(game.num_players, rate)
    return learn(game, Rule.MULTIPLICATIVE_WEIGHTS, rates, "multiplicative weights", steps, stride, engine)
