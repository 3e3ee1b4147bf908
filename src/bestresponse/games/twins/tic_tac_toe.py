"""Tic-tac-toe in disguise: squares to colour, and numbers that add up to 15."""

from collections.abc import Iterator
from dataclasses import dataclass

from bestresponse.core.capabilities import ToMove
from bestresponse.games.tic_tac_toe.rules import TicTacToe
from bestresponse.games.twins.twin import Twin

_MAGIC = tuple("816357492")
"""A magic square in the order of the cells: every row, column and diagonal adds up to 15."""
_GRID = ("C1R1", "C2R1", "C3R1", "C1R2", "C2R2", "C3R2", "C1R3", "C2R3", "C3R3")
_COLOURS = (
    "Two players colour the squares of a grid of three rows and three columns in turn. C2R3 is "
    "the square in the second column from the left and the third row from the top. Whoever first "
    "has three squares of their own colour in one row, column or diagonal wins and gets 1; the "
    "other player gets -1. If all squares are coloured before that, both get 0."
)
_NUMBERS = (
    "Cards with the numbers 1 to 9 lie open on a table. Two players take turns; at your turn you "
    "take one card. Whoever first has three cards that add up to exactly 15 wins and gets 1; the "
    "other player gets -1. You may hold other cards beside these three. If all cards are taken "
    "before that, both get 0."
)
_BARRELS = (
    "Nine barrels of 1 to 9 tonnes lie in a harbour. Two captains take turns; at your turn you "
    "load one barrel onto your own ship. Whoever first has three barrels aboard that weigh "
    "exactly 15 tonnes together may sail and gets 1; the other captain gets -1. Other barrels "
    "aboard do no harm. If no barrel is left before that, both get 0."
)


@dataclass(frozen=True)
class OtherCells(Twin[str, TicTacToe]):
    """Cells under other names."""

    names: tuple[str, ...] = _MAGIC

    def rename(self, move: str) -> str:
        """Return the name of a cell."""
        return self.move.format(self.names[self.base.cells.index(move)])

    def find_turn(self, position: str) -> ToMove:
        """Offer the names in their own order, which says nothing of a square."""
        turn = super().find_turn(position)
        return turn._replace(moves=tuple(sorted(turn.moves)))

    def list_owned(self, position: str) -> Iterator[tuple[str, int]]:
        """Yield all cells, by their names."""
        for name, mark in sorted(zip(self.names, position, strict=True)):
            yield name, "XO".find(mark)


def make_colours() -> OtherCells:
    """Colour three squares in a line; tic-tac-toe with other names."""
    story = "Your squares: {mine}. The other player's: {theirs}. Not coloured: {left}."
    return OtherCells(TicTacToe(), "three-colours", _COLOURS, story, "{}", names=_GRID)


def make_fifteen() -> OtherCells:
    """Take three numbers that add up to 15; tic-tac-toe in disguise."""
    story = "Your cards: {mine}. The other player's cards: {theirs}. On the table: {left}."
    return OtherCells(TicTacToe(), "fifteen", _NUMBERS, story, "{}")


def make_barrels() -> OtherCells:
    """Load three barrels of 15 tonnes together; tic-tac-toe in disguise."""
    story = "Aboard your ship: {mine}. Aboard the other ship: {theirs}. In the harbour: {left}."
    return OtherCells(TicTacToe(), "barrels", _BARRELS, story, "barrel {}")
