"""The survival auction: one ration a day, one winner, the rest go without.

The water game with equal residents and a supply that is enough for exactly one (the survival auction game of Y. Zhang
et al., "K-level reasoning with large language models", 2024). Equal bids go to the earlier place in the roster.
"""

from __future__ import annotations

from bestresponse.core.errors import UsageError
from bestresponse.games.water.game import Water
from bestresponse.games.water.rules import Resident, WaterRules

__all__ = ["survival"]


def survival(players: int = 5, days: int = 10, salary: float = 100) -> Water:
    """One ration of water a day for a whole town: who bids when?"""
    if players < 1:
        raise UsageError(f"the survival auction needs players, got {players}")
    residents = tuple(Resident(f"player {number}", 1, salary) for number in range(1, players + 1))
    return Water(WaterRules(residents, 1, 1, days), name="survival-auction", usual_rounds=10)
