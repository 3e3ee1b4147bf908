"""The game as a table: every way it can end, what each player moved and earned, as plain exact values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from bestresponse.core.errors import InvalidGame
from bestresponse.logic.programs.paths import Percepts

__all__ = ["SEES", "GameTable", "Knowledge", "Row"]

SEES = ""
"""Stands in a player's knowledge where there is something it perceived, instead of who moved."""

Knowledge = tuple[tuple[str, str], ...]
"""What a player knows, in order: (who moved, which move), or (`SEES`, what it perceived)."""


@dataclass(frozen=True, slots=True)
class Row:
    """One way the game ends: (player, move) in order, payoffs in the order of `GameTable.players`, and how many of the
    moves, from the first on, were made at the same time: `(2,)` for two simultaneous moves, `(1, 1)` for one after the
    other."""

    moves: tuple[tuple[str, str], ...]
    payoffs: tuple[Fraction, ...]
    blocks: tuple[int, ...]
    chances: tuple[Fraction | None, ...] = ()
    """The probability of each move that nature made, `None` for others; empty in a game without chance."""
    percepts: tuple[Percepts, ...] = ()
    """What each player perceived of each move, in a game with `sees/3`."""


@dataclass(frozen=True, slots=True)
class GameTable:
    """A finite game. `moves` lists each player's moves in order of appearance."""

    players: tuple[str, ...]
    moves: tuple[tuple[str, ...], ...]
    rows: tuple[Row, ...]
    every_order: bool = True
    """Whether all orders of simultaneous moves were replayed, or, in a large game, only the reversed one."""
    private: bool = False
    """Whether players know only their own moves and what `sees/3` shows them, instead of all earlier moves."""

    @property
    def chancy(self) -> bool:
        """Whether nature moves."""
        return any(row.chances for row in self.rows)

    @property
    def sequential(self) -> bool:
        """Whether anybody moves after having seen a move."""
        return any(len(row.blocks) > 1 for row in self.rows)

    def payoffs(self, profile: Sequence[str]) -> tuple[Fraction, ...]:
        """What everybody earns when each player, in order, makes the given move once."""
        for row in self.rows:
            made = dict(row.moves)
            if len(made) == len(row.moves) and all(
                made.get(player, move) == move for player, move in zip(self.players, profile, strict=True)
            ):
                return row.payoffs
        raise InvalidGame(f"No end of the game has the moves {', '.join(profile)}.")

    def knowledge(self, row: Row, depth: int, player: str) -> Knowledge:
        """What a player knows before the block of the move at `depth` (the number of moves at the end of the play)."""
        known: list[tuple[str, str]] = []
        start = 0
        for size in row.blocks:
            stop = start + size
            if depth < stop:
                break
            if not self.private:
                known += row.moves[start:stop]
            else:
                known += [move for move in row.moves[start:stop] if move[0] == player]
                percepts = {what for seen in row.percepts[start:stop] for who, what in seen if who == player}
                known += [(SEES, what) for what in sorted(percepts)]
            start = stop
        return tuple(known)
