"""Breakthrough (Dan Troyka, 2000) on a board of any size: pawns race to the other side.

A position is the seat that moves and the board as a text, row by row from the bottom.
"""

from dataclasses import dataclass

from bestresponse.core.capabilities import ToMove
from bestresponse.core.errors import UsageError
from bestresponse.core.game import Role
from bestresponse.core.told import Board, Statement, TextPlace, Worded
from bestresponse.games.positions import PositionGame

Pawns = tuple[int, str]
_LARGEST = 9
_LETTERS = "abcdefghi"
_WHITE = "w"
_BLACK = "b"
_PAWNS = _WHITE + _BLACK
_EMPTY = "."
_ROWS_OF_TWO = 6
"""From this many rows on, each side begins with two rows of pawns."""
_RULES = (
    "A board has {rows} rows and {columns} columns. White's pawns are w, begin at the bottom and"
    " move up; Black's pawns are b, begin at the top and move down. White begins, and the players"
    " take turns. At your turn you move one pawn by one row, straight or diagonally. It moves to"
    " an empty cell, or diagonally onto a pawn of the other player, which is taken. Columns are"
    " named by letters from the left, rows by numbers from the bottom; a1-a2 is a move, and a1xb2"
    " takes a pawn. Whoever reaches the row farthest from their own side, or leaves the other"
    " player without a move, wins and gets 1; the other player gets -1."
)


@dataclass(frozen=True)
class Breakthrough(PositionGame[Pawns]):
    """Bring one pawn to the other side of the board.

    On 5 rows and 3 columns the first player wins.
    """

    rows: int = 5
    columns: int = 3
    name: str = "breakthrough"
    title = "Breakthrough"
    roles = ("White", "Black")

    def __post_init__(self) -> None:
        if not (3 <= self.rows <= _LARGEST and 2 <= self.columns <= _LARGEST):
            raise UsageError(
                f"Breakthrough needs 3 to {_LARGEST} rows and 2 to {_LARGEST} columns, got"
                f" {self.rows} and {self.columns}"
            )

    def begin(self) -> Pawns:
        """Return the pawns on their own sides."""
        deep = 2 if self.rows >= _ROWS_OF_TWO else 1
        pawns = deep * self.columns
        between = (self.rows - 2 * deep) * self.columns
        return 0, _WHITE * pawns + _EMPTY * between + _BLACK * pawns

    def find_turn(self, position: Pawns) -> ToMove:
        """Offer the moves of all pawns, unless one has come to the other side."""
        seat, board = position
        is_through = _BLACK in board[: self.columns] or _WHITE in board[-self.columns :]
        if is_through:
            return ToMove()
        moves: list[str] = []
        for cell, pawn in enumerate(board):
            if pawn == _PAWNS[seat]:
                moves += self._list_moves(seat, board, cell)
        return ToMove(self.roles[seat], tuple(moves)) if moves else ToMove()

    def _list_moves(self, seat: int, board: str, cell: int) -> list[str]:
        """List the moves of the pawn on a cell, the straight one between the diagonal ones."""
        ahead = cell + (self.columns if seat == 0 else -self.columns)
        moves = []
        for side in (-1, 0, 1):
            if not 0 <= cell % self.columns + side < self.columns:
                continue
            there = board[ahead + side]
            if there == _EMPTY:
                moves.append(f"{self._name_cell(cell)}-{self._name_cell(ahead + side)}")
            elif side and there != _PAWNS[seat]:
                moves.append(f"{self._name_cell(cell)}x{self._name_cell(ahead + side)}")
        return moves

    def _name_cell(self, cell: int) -> str:
        row, column = divmod(cell, self.columns)
        return f"{_LETTERS[column]}{row + 1}"

    def _find_cell(self, name: str) -> int:
        return (int(name[1]) - 1) * self.columns + _LETTERS.index(name[0])

    def advance(self, position: Pawns, move: str) -> Pawns:
        """Move a pawn."""
        seat, board = position
        cells = list(board)
        cells[self._find_cell(move[:2])] = _EMPTY
        cells[self._find_cell(move[3:])] = _PAWNS[seat]
        return 1 - seat, "".join(cells)

    def find_result(self, position: Pawns) -> tuple[float, ...]:
        """Return -1 for whoever would be to move: the other has come through, or it is stuck."""
        return (-1.0, 1.0) if position[0] == 0 else (1.0, -1.0)

    def state_rules(self) -> tuple[Statement, ...]:
        """State how pawns move and who wins."""
        places = TextPlace("rows", (str(self.rows),)), TextPlace("columns", (str(self.columns),))
        return (Worded(_RULES, places),)

    def state_position(self, position: Pawns, role: Role) -> tuple[Statement, ...]:
        """Show the board."""
        _, board = position
        rows = []
        for row in reversed(range(self.rows)):
            cells = board[row * self.columns : (row + 1) * self.columns]
            rows.append((str(row + 1), *cells))
        pawn = _PAWNS[self.roles.index(role)]
        yours = Worded("Your pawns are {pawn}. The board:", (TextPlace("pawn", (pawn,)),))
        return yours, Board((("", *_LETTERS[: self.columns]), *rows))
