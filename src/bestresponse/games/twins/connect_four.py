"""Connect Four in disguise: tokens that slide to the left, and crates on stacks."""

from collections.abc import Iterator
from dataclasses import dataclass

from bestresponse.games.connect_four.rules import ConnectFour, Discs
from bestresponse.games.twins.twin import Twin

_LETTERS = "ABCDEFGHI"
_LANES = (
    "A grid has {columns} lanes of {rows} cells; lanes are lettered from the top, cells numbered "
    "from the left, so that B3 is the third cell of the second lane. Two players take turns. At "
    "your turn you push a token of your own into a lane that is not full; it slides to the "
    "leftmost empty cell. Whoever first has four of their own tokens in an unbroken line, along a "
    "lane, across lanes or diagonally, wins and gets 1; the other player gets -1. If the grid is "
    "full before that, both get 0."
)
_CRATES = (
    "There are {columns} stacks, lettered from A, side by side, of at most {rows} crates each. "
    "Two players take turns; at your turn you put one crate of your own on a stack that is not "
    "full. B3 is the third crate from the ground on stack B. Whoever first has four of their own "
    "crates that follow each other wins and gets 1; the other player gets -1. Crates follow each "
    "other if they lie directly above one another on one stack, at one height on neighbouring "
    "stacks, or on neighbouring stacks each one higher, or each one lower, than the one before. "
    "If all stacks are full before that, both get 0."
)


@dataclass(frozen=True)
class OtherColumns(Twin[Discs, ConnectFour]):
    """Columns have letters, and their cells numbers from the bottom."""

    def rename(self, move: str) -> str:
        """Letter the column."""
        return self.move.format(_LETTERS[int(move) - 1])

    def list_owned(self, position: Discs) -> Iterator[tuple[str, int]]:
        """Yield all discs."""
        mine, all_discs = position
        first = mine ^ all_discs if all_discs.bit_count() % 2 else mine
        for column in range(self.base.columns):
            for row in range(self.base.rows):
                bit = 1 << column * (self.base.rows + 1) + row
                if all_discs & bit:
                    yield f"{_LETTERS[column]}{row + 1}", 0 if first & bit else 1


def make_lanes() -> OtherColumns:
    """Slide tokens into a line; Connect Four on its side."""
    story = "Your tokens: {mine}. The other player's: {theirs}."
    return OtherColumns(ConnectFour(), "lanes", _LANES, story, "lane {}")


def make_crates() -> OtherColumns:
    """Stack crates that follow each other; Connect Four as a story."""
    story = "Your crates: {mine}. The other player's: {theirs}."
    return OtherColumns(ConnectFour(), "crates", _CRATES, story, "stack {}")
