"""Tic-tac-toe: three marks in a row win. A position is the board as a text of nine cells."""

from dataclasses import dataclass

from bestresponse.core.capabilities import ToMove
from bestresponse.core.game import Role
from bestresponse.core.told import Board, Statement, TextPlace, Worded
from bestresponse.games.positions import PositionGame

_MARKS = "XO"
_EMPTY = "."
LINES = (
    (0, 1, 2),
    (3, 4, 5),
    (6, 7, 8),
    (0, 3, 6),
    (1, 4, 7),
    (2, 5, 8),
    (0, 4, 8),
    (2, 4, 6),
)
"""The rows, columns and diagonals, by the numbers of their cells."""
_RULES = (
    "Two players take turns on a board of three rows and three columns. Player 1 puts an X on an"
    " empty cell, player 2 an O. Columns are named a, b and c from the left, rows 1, 2 and 3 from"
    " the bottom. Whoever first has three of their own marks in one row, column or diagonal wins"
    " and gets 1; the other player gets -1. If the board is full before that, both get 0."
)


@dataclass(frozen=True)
class TicTacToe(PositionGame[str]):
    """Put three marks in a row before the other does.

    With best play nobody wins.
    """

    name: str = "tic-tac-toe"
    title = "Tic-tac-toe"
    cells = ("a3", "b3", "c3", "a2", "b2", "c2", "a1", "b1", "c1")

    def begin(self) -> str:
        """Return the empty board."""
        return _EMPTY * len(self.cells)

    def find_turn(self, position: str) -> ToMove:
        """Say who puts a mark where, unless somebody has won or the board is full."""
        empty = tuple(
            cell for cell, mark in zip(self.cells, position, strict=True) if mark == _EMPTY
        )
        if not empty or _find_winner(position):
            return ToMove()
        return ToMove(self.roles[_count_marks(position) % 2], empty)

    def advance(self, position: str, move: str) -> str:
        """Put the mark of whoever moves into a cell."""
        at = self.cells.index(move)
        mark = _MARKS[_count_marks(position) % 2]
        return position[:at] + mark + position[at + 1 :]

    def find_result(self, position: str) -> tuple[float, ...]:
        """Return 1 for three in a row, -1 for the other, 0 for a full board."""
        winner = _find_winner(position)
        if not winner:
            return (0.0, 0.0)
        return (1.0, -1.0) if winner == _MARKS[0] else (-1.0, 1.0)

    def state_rules(self) -> tuple[Statement, ...]:
        """State how marks are put and who wins."""
        return (Worded(_RULES),)

    def state_position(self, position: str, role: Role) -> tuple[Statement, ...]:
        """Show the board."""
        mark = _MARKS[self.roles.index(role)]
        rows = [(f"{3 - row}", *position[3 * row : 3 * row + 3]) for row in range(3)]
        yours = Worded("Your mark is {mark}. The board:", (TextPlace("mark", (mark,)),))
        return yours, Board((("", "a", "b", "c"), *rows))


def _count_marks(position: str) -> int:
    return len(position) - position.count(_EMPTY)


def _find_winner(position: str) -> str:
    """Return the mark that fills a line, an empty text where none does."""
    for a, b, c in LINES:
        if position[a] == position[b] == position[c] != _EMPTY:
            return position[a]
    return ""
