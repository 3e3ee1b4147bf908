"""What every kind of deal does, and the parts that kinds share.

A referee says what was agreed; the rules read that, refuse what contradicts itself or cannot be carried out, and
compute every speaker's utility from the private information: arithmetic instead of a model's guess.

    option    one of a few items for everybody, or none: worth each speaker's own value of it
    trade     what each speaker gives to the other: worth what comes in minus what goes out
    price     a price between a seller and a buyer, or none: worth the difference to what the thing is worth to each
    issues    one level of each of several issues, or no deal: worth the sum of each speaker's own values of them
    moves     a move of each, named in a sealed note after the talk: worth what a table says
    verdict   who argued better: 1, 0, or 0.5 each where undecided

The `ending` of each tells speakers what happens once the last message is written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import ClassVar, Protocol, Self

from bestresponse.core.errors import Flaw, InvalidGame, InvalidMove
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.games.dialogue.reader import DomainReader

__all__ = [
    "NOTHING",
    "Deal",
    "DealRules",
    "Private",
    "Said",
    "describe_range",
    "find_common",
    "find_named",
    "make_object",
    "read_agreed",
    "read_item",
    "read_numbers",
    "read_part",
    "require_consistency",
    "shorten",
]

Private = JsonMapping
"""What one speaker alone knows: `values`, `endowment` (numbers by item), `part`, `worth` or `side`."""

Deal = JsonMapping
"""What was agreed, as plain data; people are seats, in the order of the names."""

Said = Sequence[tuple[int, str]]
"""The messages of a talk: the seat of the writer and the words."""

NOTHING = "Without an agreement nobody earns anything."


class DealRules(Protocol):
    """One kind of deal. Everything that depends on the kind is here, so a new kind is one more module."""

    kind: ClassVar[str]
    ending: ClassVar[str]
    impossible: ClassVar[str]
    """Why no deal is possible, where `is_possible` says so."""
    public: ClassVar[frozenset[str]]
    """What the texts of a domain may name besides the names of the people."""
    private: ClassVar[frozenset[str]]
    """What the texts that only one speaker reads may name."""
    sealed: ClassVar[bool]
    """Whether everybody hands in a sealed note after the talk."""

    @classmethod
    def from_reader(cls, reader: DomainReader, players: int) -> Self:
        """Read the section `deal` of a domain."""

    def find_bounds(self, reader: DomainReader) -> tuple[float, float]:
        """Check the section `generate` and return the lowest and the highest utility that it allows."""

    def draw(self, generate: JsonMapping, rng: Random, players: int) -> tuple[Private, ...]:
        """Draw what each of the people knows."""

    def is_possible(self, private: tuple[Private, ...]) -> bool:
        """Tell whether these people can come to a deal."""

    def read_private(self, generate: JsonMapping, name: str, given: JsonMapping) -> Private:
        """Return what somebody wrote about one person, checked; InvalidGame where it breaks the rules."""

    def describe_private(self, generate: JsonMapping) -> list[str]:
        """Say what a writer of scenarios has to keep to."""

    def private_schema(self, generate: JsonMapping) -> JsonObject:
        """Return the JSON schema of what one person knows."""

    def fill_public(self) -> dict[str, str]:
        """Return the places that are the same in all games of the domain."""

    def schema(self, names: tuple[str, ...]) -> JsonObject:
        """Return the JSON schema of the referee's ruling."""

    def read(self, data: JsonMapping, names: tuple[str, ...], private: tuple[Private, ...], said: Said = ()) -> Deal:
        """Return the ruling as a deal; InvalidMove where it contradicts itself, the rules or what was said."""

    def utilities(self, deal: Deal, private: tuple[Private, ...]) -> tuple[float, ...]:
        """Return what the deal is worth to each person."""

    def settled(self, deal: Deal) -> bool:
        """Tell whether all agree, so that a talk may end early."""

    def rule(self, last: Sequence[str]) -> Deal | None:
        """Return what the last message of everybody agrees on by itself; None where only a reader can tell."""


def make_object(properties: JsonMapping, *, required: bool = True) -> JsonObject:
    """Return the JSON schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties) if required else [],
        "additionalProperties": False,
    }


def read_agreed(data: JsonMapping) -> bool:
    """Return whether the referee says that all agreed."""
    agreed = data.get("agreed")
    if not isinstance(agreed, bool):
        raise InvalidMove(f"'agreed' is {agreed!r}, expected true or false", Flaw.UNPARSEABLE)
    return agreed


def require_consistency(agreed: bool, named: bool, field: str) -> None:
    """Raise InvalidMove where a deal is named although nobody agreed, or none although all did."""
    if agreed != named:
        what = f"agreed, but {field!r} is empty" if agreed else f"not agreed, but {field!r} names a deal"
        raise InvalidMove(f"the referee contradicts itself: {what}")


def read_item(given: object, items: Sequence[str]) -> str | None:
    """Return the item that is meant, None where none is."""
    if given is None or given in ("", "none", "None", "null"):
        return None
    same = [item for item in items if str(given).strip().casefold().rstrip(".") == item.casefold()]
    if not same:
        raise InvalidMove(f"{given!r} is not one of {', '.join(items)}")
    return same[0]


def read_part(parts: Sequence[str], name: str, given: JsonMapping) -> str:
    """Return the part of a person; InvalidGame where it is none of `parts`."""
    if given.get("part") not in parts:
        raise InvalidGame(f"the part of {name} is {shorten(given.get('part'))}, expected {' or '.join(parts)}")
    return str(given["part"])


def find_named(items: Sequence[str], text: str) -> list[str]:
    """Return the items that a text names as whole words.

    >>> find_named(("Monday", "Tuesday"), "Let us say tuesday!")
    ['Tuesday']
    """
    return [item for item in items if re.search(rf"\b{re.escape(item)}\b", text, re.IGNORECASE)]


def find_common(named: Sequence[Sequence[str]]) -> str | None:
    """Return the one item that everybody names and nothing else; None where there is none."""
    first = named[0]
    return first[0] if len(first) == 1 and all(list(own) == list(first) for own in named) else None


def read_numbers(name: str, part: str, given: object, items: Sequence[str], span: Sequence[int]) -> dict[str, int]:
    """Return whole numbers by item, in the order of the items."""
    if not isinstance(given, Mapping):
        raise InvalidGame(f"the {part} of {name} are {shorten(given)}, expected numbers by item")
    known = {str(item).strip().casefold(): number for item, number in given.items()}
    strangers = [item for item in known if item not in {one.casefold() for one in items}]
    if strangers:
        raise InvalidGame(f"the {part} of {name} have {strangers[0]!r}, expected only {', '.join(items)}")
    low, high = span
    for item, number in known.items():
        if not isinstance(number, int) or isinstance(number, bool) or not low <= number <= high:
            raise InvalidGame(f"{item} in the {part} of {name} is {shorten(number)}, expected {low} to {high}")
    return {item: known[item.casefold()] for item in items if item.casefold() in known}


def describe_range(span: Sequence[int]) -> str:
    """Say which whole numbers are allowed."""
    return f"whole numbers from {span[0]} to {span[1]}"


def shorten(value: object) -> str:
    """Return a value as a short text for a message."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
