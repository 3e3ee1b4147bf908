"""The parts of a sentence about a game, as values: who, which move, how much, in which case.

A statement is given the meanings of its parts and tells them apart by type (`pick`, `find_first`);
words that only change a claim ("not", "strictly") are strings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple, TypeVar

from bestresponse.formal.claims.claim import Claim
from bestresponse.formal.claims.form import WrittenNumber

OPPONENT = -1
"""In a case: whomever a fact is not about ("against R")."""
ALWAYS = -2
"""In a case: whatever the others do."""
Choices = dict[int, Any]
"""Who chooses what: a move's index among the player's actions, or the probabilities of all of
them."""
Kind = TypeVar("Kind")


class Impossible(Exception):
    """A reading that cannot be meant in this game."""


class Unsaid(Impossible):
    """A reading that may be meant, but does not say enough to claim anything."""


class Either(tuple[Any, ...]):
    """Several meanings of one part."""


class Case(tuple[tuple[int, Any], ...]):
    """Who chooses what, in the order of the words."""


NO_CASE = Case()


class Party(NamedTuple):
    """The players that are spoken of, none where it is not said.

    `we` is a word that may speak of a sum.
    """

    players: tuple[int, ...] = ()
    we: bool = False

    @property
    def single(self) -> int | None:
        """The player, if it is one."""
        return self.players[0] if len(self.players) == 1 else None


UNSAID = Party()


@dataclass(frozen=True)
class Act:
    """A move that is named: for every player who has it, its index among the player's actions."""

    indices: tuple[tuple[int, int], ...]

    @property
    def owners(self) -> list[int]:
        """The players who have the move."""
        return [owner for owner, _ in self.indices]

    def index(self, player: int) -> int:
        """Return the index of the move among a player's actions."""
        if self.owners.count(player) != 1:
            raise Impossible("the player has no such move, or two")
        return dict(self.indices)[player]


class Side(NamedTuple):
    """What gives somebody something: a move, perhaps in a case, or a whole outcome."""

    act: Act | None
    case: Case = NO_CASE


class PaidAmount(NamedTuple):
    """A number that somebody gets: on average, each of several."""

    value: Fraction
    average: bool = False
    each: bool = False


class Share(NamedTuple):
    """Who gets how much."""

    party: Party
    amount: PaidAmount


class MoveChance(NamedTuple):
    """How often a move is chosen."""

    act: Act
    share: Fraction


class Relation(NamedTuple):
    """More (1) or less (-1), and by how much where that is said."""

    sign: int
    by: Fraction | None = None


@dataclass(frozen=True)
class Fact:
    """A statement that waits for its case, about some players.

    `again` states the same with another number; `foretold` is a move that is made when the next
    fact holds.
    """

    state: Callable[[Choices], Iterable[Claim]]
    party: Party = UNSAID
    again: Callable[[Party, Act | None, PaidAmount], Fact] | None = None
    foretold: tuple[int, int] | None = None


class FactItem(NamedTuple):
    """A fact with the case beside it."""

    fact: Fact
    case: Case | None = None


class Group(NamedTuple):
    """Facts under one case."""

    items: tuple[FactItem, ...]
    case: Case = NO_CASE


Part = (
    Party
    | Act
    | Side
    | Case
    | PaidAmount
    | Share
    | MoveChance
    | Relation
    | WrittenNumber
    | str
    | tuple[Fraction, ...]
)
"""What the parts of a statement may mean."""


def require(condition: object, otherwise: str, error: type[Impossible] = Impossible) -> None:
    """Drop a reading that does not meet a condition."""
    if not condition:
        raise error(otherwise)


require_said = partial(require, error=Unsaid)


def pick(parts: Iterable[Part], kind: type[Kind]) -> list[Kind]:
    """Return the parts of one kind, in order."""
    return [part for part in parts if type(part) is kind]


def find_first(parts: Iterable[Part], kind: type[Kind]) -> Kind | None:
    """Return the first part of one kind, if there is any."""
    return next((part for part in parts if type(part) is kind), None)


def find_party(parts: Iterable[Part]) -> Party:
    """Return who is spoken of; nobody where it is not said."""
    return find_first(parts, Party) or UNSAID


def make_side(part: Side | Act | Case, case: Case = NO_CASE) -> Side:
    """Return a move, perhaps in a case, or an outcome as a side."""
    if isinstance(part, Side):
        return part
    return Side(part, case) if isinstance(part, Act) else Side(None, part)


def find_sides(parts: Iterable[Part]) -> list[Side]:
    """Return what gives somebody something, also where it is a move or an outcome by itself."""
    return [make_side(part) for part in parts if isinstance(part, Side | Act | Case)]


def find_side(parts: Iterable[Part]) -> Side:
    """Return the first side, an empty one where there is none."""
    return next(iter(find_sides(parts)), Side(None))
