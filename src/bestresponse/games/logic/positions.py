"""A game written as a logic program and played by its positions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from bestresponse.core.capabilities import ToMove
from bestresponse.core.game import Role
from bestresponse.core.told import Prose, Statement
from bestresponse.games.positions import PositionGame
from bestresponse.logic.programs.positions import PositionTable


@dataclass(frozen=True)
class ProgramPositions(PositionGame[int]):
    """A game whose positions are numbers; 0 is the start. Its program is told as its rules."""

    table: PositionTable
    program: str
    name: str = "logic"

    @property
    def roles(self) -> tuple[Role, ...]:  # type: ignore[override]
        """The seats, in their order."""
        return self.table.players

    @cached_property
    def _results(self) -> tuple[tuple[float, ...], ...]:
        ends = [position.payoffs for position in self.table.positions if position.payoffs]
        return tuple(tuple(map(float, payoffs)) for payoffs in ends)

    @cached_property
    def payoff_bounds(self) -> tuple[float, float]:  # type: ignore[override]
        """The least and the most that a play can pay to a seat."""
        return min(map(min, self._results)), max(map(max, self._results))

    @cached_property
    def total(self) -> float | None:  # type: ignore[override]
        """What all seats get together in every play; None where that differs."""
        totals = {sum(position.payoffs) for position in self.table.positions if position.payoffs}
        return float(totals.pop()) if len(totals) == 1 else None

    @property
    def endless_result(self) -> tuple[float, ...]:  # type: ignore[override]
        """What an endless play would pay; every play of a program ends."""
        return self._results[0]

    def begin(self) -> int:
        """Return the start."""
        return 0

    def find_turn(self, position: int) -> ToMove:
        """Say who moves and how."""
        here = self.table.positions[position]
        if not here.moves:
            return ToMove()
        return ToMove(here.player, here.moves, tuple(map(float, here.chances)))

    def advance(self, position: int, move: str) -> int:
        """Return the number of the position after a move."""
        here = self.table.positions[position]
        return here.following[here.moves.index(move)]

    def find_result(self, position: int) -> tuple[float, ...]:
        """Return what the position pays, at which the game ends."""
        return tuple(map(float, self.table.positions[position].payoffs))

    def state_rules(self) -> tuple[Statement, ...]:
        """State the program: it is the rules."""
        return (Prose(f"The rules are this logic program:\n{self.program.strip()}"),)

    def state_position(self, position: int, role: Role) -> tuple[Statement, ...]:
        """State what holds."""
        return (Prose(f"What holds now: {', '.join(self.table.positions[position].facts)}."),)
