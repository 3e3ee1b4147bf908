"""Nim in disguise: lamps that are dimmed, boxes that are filled, queues that are served."""

from collections.abc import Iterator
from dataclasses import dataclass

from bestresponse.games.nim.rules import Nim, Piles
from bestresponse.games.twins.twin import Twin

_LAMPS = (
    "There are {count} lamps with brightness {begin}. Two players take turns. At your turn you dim"
    " one lamp by any number of levels, at least one. A lamp with brightness 0 is off. Whoever"
    " turns off the last lamp {outcome}. The winner gets 1, the loser -1."
)
_BOXES = (
    "There are {count} boxes with room for {size} balls each. At the beginning they hold {begin}"
    " balls. Two players take turns. At your turn you put any number of balls, at least one, into"
    " one box that has room for them. Whoever fills the last free place {outcome}. The winner gets"
    " 1, the loser -1."
)
_QUEUES = (
    "In front of {count} counters queue {begin} people. Two clerks take turns. At your turn you"
    " serve any number of people, at least one, who queue at one counter; they leave. Whoever"
    " serves the last person of all {outcome}. The winner gets 1, the loser -1."
)


@dataclass(frozen=True)
class OtherPiles(Twin[Piles, Nim]):
    """Piles as other things; with `upwards`, what is missing in place of what is there."""

    upwards: bool = False

    def rename(self, move: str) -> str:
        """Name how many of which pile."""
        _, number, _, _, pile = move.split()
        return self.move.format(number=number, pile=pile)

    @property
    def rule_places(self) -> dict[str, tuple[str, ...]]:
        """What is there at the beginning, and who wins."""
        sizes = self._show(self.base.begin())
        outcome = "wins" if self.base.last_wins else "loses"
        return {
            "count": (str(len(sizes)),),
            "begin": sizes,
            "size": (str(self._size),),
            "outcome": (outcome,),
        }

    @property
    def _size(self) -> int:
        return max(self.base.begin()[1]) + 1

    def _show(self, position: Piles) -> tuple[str, ...]:
        piles = position[1]
        return tuple(str(self._size - pile if self.upwards else pile) for pile in piles)

    def list_owned(self, position: Piles) -> Iterator[tuple[str, int]]:
        """Yield how much is in every pile; nobody has it."""
        for size in self._show(position):
            yield size, -1


_BASE = Nim(last_wins=False)


def make_lamps() -> OtherPiles:
    """Dim lamps; Nim in disguise."""
    story = "The lamps, from number 1, have brightness {left}."
    return OtherPiles(_BASE, "lamps", _LAMPS, story, "dim lamp {pile} by {number}")


def make_boxes() -> OtherPiles:
    """Fill boxes; Nim turned round."""
    story = "The boxes, from number 1, hold {left} balls."
    return OtherPiles(_BASE, "boxes", _BOXES, story, "put {number} into box {pile}", upwards=True)


def make_queues() -> OtherPiles:
    """Serve queues; Nim in disguise."""
    story = "At the counters, from number 1, queue {left} people."
    return OtherPiles(_BASE, "queues", _QUEUES, story, "serve {number} at counter {pile}")
