"""Python functions as strategies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bestresponse.core.ask import Ask, Choice
from bestresponse.core.errors import InvalidMove, UsageError
from bestresponse.core.game import View
from bestresponse.core.player import Decision

__all__ = ["FunctionPlayer", "HistoryFunction", "HistoryPlayer", "ViewFunction"]

ViewFunction = Callable[[View, Ask], Any]
"""A strategy for any game: from what it sees and what it is asked to its answer."""
HistoryFunction = Callable[[Sequence[str], Sequence[str]], str]
"""A strategy for repeated games of two: from its own moves and the other's moves so far to its next move."""


@dataclass(frozen=True, slots=True)
class FunctionPlayer:
    """Ask a function of the view; what it returns must be a legal answer."""

    function: ViewFunction
    name: str = "function"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Call the function and read its answer as the ask reads any answer."""
        return Decision(ask.read(self.function(view, ask)))


@dataclass(frozen=True, slots=True)
class HistoryPlayer:
    """Ask a function of the history in a seat of a repeated two-player game."""

    function: HistoryFunction
    name: str = "function"

    def decide(self, view: View, ask: Ask) -> Decision:
        """Call the function with its own and the other's moves so far."""
        if not isinstance(ask, Choice) or "history" not in view.facts or "seat" not in view.facts:
            raise UsageError(f"the strategy {self.name} plays repeated games of two players only")
        seat: int = view.facts["seat"]
        history = view.facts["history"]
        move = self.function([moves[seat] for moves in history], [moves[1 - seat] for moves in history])
        if move not in ask.options:
            raise InvalidMove(f"the strategy {self.name} returned {move!r}; expected one of {', '.join(ask.options)}")
        return Decision(move)
