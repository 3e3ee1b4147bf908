"""Nim: take objects from piles. A position is who moves and how many objects are left in each."""

from dataclasses import dataclass

from bestresponse.core.capabilities import ToMove
from bestresponse.core.errors import UsageError
from bestresponse.core.game import Role
from bestresponse.core.told import Statement, TextPlace, Worded
from bestresponse.games.positions import PositionGame

Piles = tuple[int, tuple[int, ...]]
"""The seat that moves, and the objects left in each pile."""
_MOST_OBJECTS = 60
_WINS = (
    "There are {count} piles of {piles} objects. Two players take turns. At your turn you take"
    " any number of objects, at least one, from one pile. Whoever takes the last object wins. The"
    " winner gets 1, the loser -1."
)
_LOSES = (
    "There are {count} piles of {piles} objects. Two players take turns. At your turn you take"
    " any number of objects, at least one, from one pile. Whoever takes the last object loses. The"
    " winner gets 1, the loser -1."
)


@dataclass(frozen=True)
class Nim(PositionGame[Piles]):
    """Take objects from piles; whoever takes the last one wins.

    The player to move loses where the binary sum of the piles without carry is 0 (C. Bouton, Annals
    of Mathematics 3, 1901).
    """

    piles: str = "1-3-5-7"
    last_wins: bool = True
    name: str = "nim"
    title = "Nim"

    def __post_init__(self) -> None:
        texts = self.piles.split("-")
        if not all(text.isascii() and text.isdecimal() and int(text) for text in texts):
            raise UsageError(f"piles: expected sizes such as 1-3-5-7, got {self.piles!r:.60}")
        if sum(map(int, texts)) > _MOST_OBJECTS:
            raise UsageError(f"piles: expected at most {_MOST_OBJECTS} objects, got {self.piles}")

    def begin(self) -> Piles:
        """Return the full piles."""
        return 0, tuple(map(int, self.piles.split("-")))

    def find_turn(self, position: Piles) -> ToMove:
        """Offer every number from every pile."""
        seat, piles = position
        moves = [
            f"take {number} from pile {pile}"
            for pile, size in enumerate(piles, 1)
            for number in range(1, size + 1)
        ]
        return ToMove(self.roles[seat], tuple(moves)) if moves else ToMove()

    def advance(self, position: Piles, move: str) -> Piles:
        """Take the objects."""
        seat, piles = position
        _, number, _, _, pile = move.split()
        left = list(piles)
        left[int(pile) - 1] -= int(number)
        return 1 - seat, tuple(left)

    def find_result(self, position: Piles) -> tuple[float, ...]:
        """Return 1 for whoever took the last object, or in the other game for the other."""
        seat, _ = position
        winner = 1 - seat if self.last_wins else seat
        return (1.0, -1.0) if winner == 0 else (-1.0, 1.0)

    def state_rules(self) -> tuple[Statement, ...]:
        """State the piles and who wins."""
        sizes = tuple(self.piles.split("-"))
        places = TextPlace("count", (str(len(sizes)),)), TextPlace("piles", sizes, "and")
        return (Worded(_WINS if self.last_wins else _LOSES, places),)

    def state_position(self, position: Piles, role: Role) -> tuple[Statement, ...]:
        """List the piles."""
        lines = tuple(f"pile {pile}: {size}" for pile, size in enumerate(position[1], 1))
        return (Worded("Objects left: {piles}.", (TextPlace("piles", lines, "semicolons"),)),)
