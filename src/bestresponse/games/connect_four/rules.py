"""Connect Four on a board of any size.

A position is two numbers: the discs of whoever moves, and all discs. Each column has a bit for
every cell from the bottom and an empty one on top, so that lines do not run over the edge.
"""

from dataclasses import dataclass

from bestresponse.core.capabilities import ToMove
from bestresponse.core.errors import UsageError
from bestresponse.core.game import Role
from bestresponse.core.told import Board, Statement, TextPlace, Worded
from bestresponse.games.positions import PositionGame

Discs = tuple[int, int]
_LARGEST = 9
_DISCS = "xo"
_RULES = (
    "A board stands upright and has {columns} columns of {rows} cells. Two players take turns,"
    " player 1 with discs x, player 2 with discs o. At your turn you drop a disc into a column"
    " that is not full; it falls to the lowest empty cell. Columns are numbered from the left."
    " Whoever first has four discs in an unbroken line, upwards, across or diagonally, wins and"
    " gets 1; the other player gets -1. If the board is full before that, both get 0."
)


@dataclass(frozen=True)
class ConnectFour(PositionGame[Discs]):
    """Drop discs into columns; four in a line win.

    On 4 columns of 4 cells best play is a draw. The full board of 7 columns is a win for the first
    player (V. Allis, 1988); it has too many positions to be solved here.
    """

    columns: int = 4
    rows: int = 4
    name: str = "connect-four"
    title = "Connect Four"

    def __post_init__(self) -> None:
        if not (1 <= self.columns <= _LARGEST and 1 <= self.rows <= _LARGEST):
            raise UsageError(
                f"Connect Four needs 1 to {_LARGEST} columns and rows, got {self.columns} and"
                f" {self.rows}"
            )

    def begin(self) -> Discs:
        """Return the empty board."""
        return 0, 0

    def find_turn(self, position: Discs) -> ToMove:
        """Offer the columns that are not full, unless there is a line."""
        mine, all_discs = position
        if self._has_line(mine ^ all_discs):
            return ToMove()
        height = self.rows + 1
        moves = tuple(
            str(column + 1)
            for column in range(self.columns)
            if not all_discs >> column * height + self.rows - 1 & 1
        )
        return ToMove(self.roles[all_discs.bit_count() % 2], moves) if moves else ToMove()

    def advance(self, position: Discs, move: str) -> Discs:
        """Let a disc fall on those of its column: adding 1 at the bottom carries to the top."""
        mine, all_discs = position
        bottom = 1 << (int(move) - 1) * (self.rows + 1)
        return mine ^ all_discs, all_discs | all_discs + bottom

    def find_result(self, position: Discs) -> tuple[float, ...]:
        """Return 1 for a line, -1 for the other, 0 for a full board."""
        mine, all_discs = position
        if not self._has_line(mine ^ all_discs):
            return (0.0, 0.0)
        is_second_next = all_discs.bit_count() % 2 == 1
        return (1.0, -1.0) if is_second_next else (-1.0, 1.0)

    def _has_line(self, discs: int) -> bool:
        """Say whether there are four in a line: up, and across with three slopes."""
        for step in (1, self.rows, self.rows + 1, self.rows + 2):
            pairs = discs & discs >> step
            if pairs & pairs >> 2 * step:
                return True
        return False

    def state_rules(self) -> tuple[Statement, ...]:
        """State how discs fall and who wins."""
        places = TextPlace("columns", (str(self.columns),)), TextPlace("rows", (str(self.rows),))
        return (Worded(_RULES, places),)

    def state_position(self, position: Discs, role: Role) -> tuple[Statement, ...]:
        """Show the board."""
        mine, all_discs = position
        is_second_next = all_discs.bit_count() % 2 == 1
        first = mine ^ all_discs if is_second_next else mine
        rows = []
        for row in reversed(range(self.rows)):
            bits = [column * (self.rows + 1) + row for column in range(self.columns)]
            # 0 is an empty cell, 1 a disc of the second, 2 one of the first
            cells = [".ox"[(all_discs >> bit & 1) + (first >> bit & 1)] for bit in bits]
            rows.append(("", *cells))
        numbers = tuple(str(column + 1) for column in range(self.columns))
        disc = _DISCS[self.roles.index(role)]
        yours = Worded("Your discs are {disc}. The board:", (TextPlace("disc", (disc,)),))
        return yours, Board((("", *numbers), *rows))
