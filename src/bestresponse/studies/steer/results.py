"""What a steering run measured: rows, and the figures as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bestresponse.studies.steer.session import SteerResults
from bestresponse.studies.steer.summary import list_game_figures, summarise

__all__ = ["SteerMeasured"]


@dataclass(frozen=True)
class SteerMeasured:
    """The findings of a run; rows are its games, or with PSRO the responses that were tried."""

    steered: SteerResults

    @cached_property
    def rows(self) -> tuple[Mapping[str, object], ...]:
        """One row for each game; with PSRO one for each iteration and player."""
        if self.steered.psro is None:
            return tuple(list_game_figures(one) for one in (*self.steered.games, *self.steered.held_out))
        return tuple(
            {
                "iteration": number,
                "player": response.seat + 1,
                "new": None if response.best is None else response.best.manner,
                "value": response.value,
                "tried": len(response.tried),
                "rejected": list(response.rejected),
            }
            for number, iteration in enumerate(self.steered.psro.history)
            for response in iteration.responses
        )

    @property
    def answered(self) -> int:
        """How many games were solved; with PSRO 1 for the search."""
        return len(self.steered.solved) + (self.steered.psro is not None)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The figures as plain data."""
        return summarise(self.steered)
