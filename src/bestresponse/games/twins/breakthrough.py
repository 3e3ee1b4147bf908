"""Breakthrough in disguise: runners on lanes, and couriers on roads."""

from collections.abc import Iterator
from dataclasses import dataclass

from bestresponse.games.breakthrough.rules import Breakthrough, Pawns
from bestresponse.games.twins.twin import Twin

_RUNNERS = (
    "A field has {columns} lanes of {rows} cells; 2.3 is the third cell of lane 2 from the left. "
    "Player 1's runners begin at the left and run to the right; player 2's begin at the right and "
    "run to the left. Player 1 begins, and the players take turns. At your turn you move one "
    "runner by one cell, straight on in its lane or diagonally into a neighbouring lane. It moves "
    "to an empty cell, or diagonally onto a runner of the other player, which is out. Whoever "
    "reaches the far end of the field, or leaves the other player without a move, wins and gets "
    "1; the other player gets -1."
)
_COURIERS = (
    "{columns} roads run side by side from Westham to Eastham, each with {rows} stations; 2.3 is "
    "the third station of road 2, counted from Westham. Player 1's couriers ride from Westham to "
    "Eastham, player 2's from Eastham to Westham. Player 1 begins, and the players take turns. At "
    "your turn one of your couriers rides on by one station, on its own road or changing to the "
    "next road. It may not come to a station that is taken, but if it changes roads it may arrest "
    "a courier of the other player there. Whoever brings a courier to the last station of a road, "
    "or leaves the other player without a move, wins and gets 1; the other player gets -1."
)


@dataclass(frozen=True)
class OtherRows(Twin[Pawns, Breakthrough]):
    """Columns are lanes with numbers, and their cells are counted from White's side."""

    def rename(self, move: str) -> str:
        """Name both cells, with a word between them if a pawn is taken and another if not."""
        word = "to" if move[2] == "-" else self.move
        return f"{_name_cell(move[:2])} {word} {_name_cell(move[3:])}"

    def list_owned(self, position: Pawns) -> Iterator[tuple[str, int]]:
        """Yield all pawns."""
        for cell, pawn in enumerate(position[1]):
            row, column = divmod(cell, self.base.columns)
            yield f"{column + 1}.{row + 1}", "wb".find(pawn)


def _name_cell(cell: str) -> str:
    return f"{ord(cell[0]) - ord('a') + 1}.{cell[1]}"


def make_runners() -> OtherRows:
    """Run to the far end; Breakthrough on its side."""
    story = "Your runners: {mine}. The other player's: {theirs}."
    return OtherRows(Breakthrough(), "runners", _RUNNERS, story, "overtakes")


def make_couriers() -> OtherRows:
    """Ride to the other town; Breakthrough as a story."""
    story = "Your couriers are at {mine}. The other player's are at {theirs}."
    return OtherRows(Breakthrough(), "couriers", _COURIERS, story, "arrests")
