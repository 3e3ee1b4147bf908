"""Twins: the graph of a known game told as another story, with other names for every move.

Whoever plays the one well and the other badly remembers a game and does not work it out.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar, cast

from bestresponse.core.capabilities import P, Parameter, ToMove
from bestresponse.core.game import AnyGame, Role
from bestresponse.core.told import Statement, TextPlace, Worded
from bestresponse.games.parameters import list_parameters, set_parameters
from bestresponse.games.positions import PositionGame

B = TypeVar("B", bound=PositionGame)  # type: ignore[type-arg]
"""The kind of game that is told anew."""


@dataclass(frozen=True)
class Twin(PositionGame[P], Generic[P, B]):
    """A game without chance that goes on like `base` at every position.

    It is told by `rules`, a position by `story` and a move by `move`; all are texts with places.
    """

    base: B
    name: str
    rules: str
    story: str
    move: str
    _behind: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    @abstractmethod
    def rename(self, move: str) -> str:
        """Return the name that a move of the base has here, another one for each."""

    @abstractmethod
    def list_owned(self, position: P) -> Iterator[tuple[str, int]]:
        """Yield what is at a position, by its name here, and the seat that has it, -1 for none."""

    def list_places(self, position: P, seat: int) -> dict[str, tuple[str, ...]]:
        """Return what is in the places of the text of a position."""
        owned = list(self.list_owned(position))
        places = {"mine": seat, "theirs": 1 - seat, "left": -1}
        return {
            place: tuple(name for name, owner in owned if owner == whose)
            for place, whose in places.items()
        }

    @property
    def rule_places(self) -> dict[str, tuple[str, ...]]:
        """What is in the places of the rules."""
        return {name: (str(value),) for name, value in list_parameters(self.base).items()}

    def begin(self) -> P:
        """Return the position at which the base begins."""
        begun: P = self.base.begin()
        return begun

    def find_turn(self, position: P) -> ToMove:
        """Offer the moves of the base under their names here."""
        turn: ToMove = self.base.find_turn(position)
        if not turn.role:
            return turn
        role = self.roles[self.base.roles.index(turn.role)]
        named = {self.rename(move): move for move in turn.moves}
        self._behind.update(named)
        return ToMove(role, tuple(named))

    def advance(self, position: P, move: str) -> P:
        """Make the move of the base that has this name here."""
        if move not in self._behind:
            self.find_turn(position)
        after: P = self.base.advance(position, self._behind[move])
        return after

    def find_key(self, position: P) -> Hashable:
        """Return the key of the base."""
        return self.base.find_key(position)

    def find_result(self, position: P) -> tuple[float, ...]:
        """Return what the base pays."""
        paid: tuple[float, ...] = self.base.find_result(position)
        return paid

    def state_rules(self) -> tuple[Statement, ...]:
        """Tell the rules of this story."""
        return (_fill(self.rules, self.rule_places),)

    def state_position(self, position: P, role: Role) -> tuple[Statement, ...]:
        """Tell the position in the words of this story."""
        return (_fill(self.story, self.list_places(position, self.roles.index(role))),)

    def list_parameters(self) -> Mapping[str, Parameter]:
        """List what can be set in the base."""
        return list_parameters(self.base)

    def with_parameters(self, values: Mapping[str, Parameter]) -> AnyGame:
        """Return the twin of the base with these values."""
        base = cast("B", set_parameters(self.base, values))
        return replace(self, base=base)


def _fill(text: str, places: Mapping[str, tuple[str, ...]]) -> Worded:
    told = [TextPlace(name, parts or ("none",), "and") for name, parts in places.items()]
    return Worded(text, tuple(told))


TWINS = {
    "breakthrough": ("couriers", "runners"),
    "connect-four": ("crates", "lanes"),
    "nim": ("boxes", "lamps", "queues"),
    "tic-tac-toe": ("barrels", "fifteen", "three-colours"),
}
"""The names of the twins of each game."""


def find_base(name: str) -> str | None:
    """Return the name of the known game that a game is, or is a twin of; None where there is none.

    >>> find_base("crates(columns=4,rows=4)"), find_base("nim"), find_base("pig")
    ('connect-four', 'nim', None)
    """
    plain = name.partition("(")[0]
    return next((base for base, twins in TWINS.items() if plain in (base, *twins)), None)
