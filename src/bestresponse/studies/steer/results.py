"""What a steering run measured: rows, and the figures as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from bestresponse.core.json import JsonObject
from bestresponse.studies.steer.psro.oracles import Response
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
            _list_response(number, seat, len(prompts), next((r for r in step.responses if r.seat == seat), None))
            for number, step in enumerate(self.steered.psro.history)
            for seat, prompts in enumerate(step.prompts)
        )

    @property
    def answered(self) -> int:
        """How many games were solved; with PSRO 1 for the search."""
        return len(self.steered.solved) + (self.steered.psro is not None)

    @cached_property
    def summary(self) -> JsonObject:
        """The figures as plain data."""
        return summarise(self.steered)


def _list_response(iteration: int, seat: int, prompts: int, response: Response | None) -> dict[str, object]:
    """Return the row of one player in one iteration; `new` is empty where nothing better was found or looked for."""
    row: dict[str, object] = {"iteration": iteration, "player": seat + 1, "prompts": prompts, "new": None}
    if response is None:
        return row | {"value": None, "tried": 0, "rejected": []}
    new = None if response.best is None else response.best.manner
    return row | {
        "new": new,
        "value": response.value,
        "tried": len(response.tried),
        "rejected": list(response.rejected),
    }
