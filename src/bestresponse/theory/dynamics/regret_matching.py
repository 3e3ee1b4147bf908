"""Regret matching: play each action in proportion to how much one regrets not having played it.

Hart & Mas-Colell, "A simple adaptive procedure leading to correlated equilibrium", Econometrica 68, 2000 (here with
external regrets). Regret matching+ never lets a regret fall below zero and gives step t the weight t in the average:
Tammelin, "Solving large imperfect information games using CFR+", 2014. Average external regrets vanish at rate
1/sqrt(steps) in every game; in two-player zero-sum games the average strategies therefore approach equilibrium.
"""

from __future__ import annotations

import numpy as np

from bestresponse.theory.dynamics.learning import Rule, learn
from bestresponse.theory.dynamics.trajectory import Trajectory
from bestresponse.theory.engines import Engine
from bestresponse.theory.games.normal_form import NormalForm

__all__ = ["regret_matching"]


def regret_matching(
    game: NormalForm,
    *,
    steps: int = 10_000,
    plus: bool = False,
    stride: int | None = None,
    engine: Engine = "auto",
) -> Trajectory:
    """`steps` rounds in which all players update at once; `plus` chooses regret matching+."""
    rule = Rule.REGRET_MATCHING_PLUS if plus else Rule.REGRET_MATCHING
    method = "regret matching+" if plus else "regret matching"
    return learn(game, rule, np.ones(game.num_players), method, steps, stride, engine)
