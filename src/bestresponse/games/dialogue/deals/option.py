"""One of a few items for everybody, or none: a day, a place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from bestresponse.core.errors import InvalidGame
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.games.dialogue.deals.rules import (
    NOTHING,
    Deal,
    Private,
    Said,
    describe_range,
    find_common,
    find_named,
    make_object,
    read_agreed,
    read_item,
    read_numbers,
    require_consistency,
)
from bestresponse.games.dialogue.reader import DomainReader

__all__ = ["Option"]


@dataclass(frozen=True, slots=True)
class Option:
    """One of `items` for everybody, or none."""

    items: tuple[str, ...]
    kind: ClassVar[str] = "option"
    ending: ClassVar[str] = NOTHING
    impossible: ClassVar[str] = "nothing suits all of them"
    public: ClassVar[frozenset[str]] = frozenset()
    private: ClassVar[frozenset[str]] = frozenset({"values"})
    sealed: ClassVar[bool] = False

    @classmethod
    def from_reader(cls, reader: DomainReader, players: int) -> Option:
        """Read the section `deal` of a domain."""
        return cls(reader.words("deal.items"))

    def find_bounds(self, reader: DomainReader) -> tuple[float, float]:
        """Check the section `generate` and return the lowest and the highest utility that it allows."""
        low, high = reader.range("generate.values")
        fewest, most = reader.range("generate.available")
        if not 1 <= fewest <= most <= len(self.items):
            raise reader.wrong(f"generate.available: no deal is reachable with {fewest} to {most} of {len(self.items)}")
        return min(low, 0), high

    def draw(self, generate: JsonMapping, rng: Random, players: int) -> tuple[Private, ...]:
        """Draw which items suit each of the people, and what they are worth."""
        return tuple(self._draw_values(generate, rng) for _ in range(players))

    def _draw_values(self, generate: JsonMapping, rng: Random) -> Private:
        low, high = generate["values"]
        free = rng.sample(self.items, rng.randint(*generate["available"]))
        return {"values": {item: rng.randint(low, high) for item in self.items if item in free}}

    def is_possible(self, private: tuple[Private, ...]) -> bool:
        """Tell whether some item suits all."""
        return bool(set.intersection(*(set(own["values"]) for own in private)))

    def read_private(self, generate: JsonMapping, name: str, given: JsonMapping) -> Private:
        """Return what somebody wrote about one person, checked; InvalidGame where it breaks the rules."""
        values = read_numbers(name, "values", given.get("values"), self.items, generate["values"])
        fewest, most = generate["available"]
        if not fewest <= len(values) <= most:
            raise InvalidGame(f"{name} has {len(values)} values, expected {fewest} to {most}")
        return {"values": values}

    def describe_private(self, generate: JsonMapping) -> list[str]:
        """Say what a writer of scenarios has to keep to."""
        fewest, most = generate["available"]
        return [
            f"private, for each person: values of {fewest} to {most} of {', '.join(self.items)}, and no others",
            f"values: {describe_range(generate['values'])}; at least one of them is named by every person",
        ]

    def private_schema(self, generate: JsonMapping) -> JsonObject:
        """Return the JSON schema of what one person knows."""
        return make_object({"values": make_object({key: {"type": "integer"} for key in self.items}, required=False)})

    def fill_public(self) -> dict[str, str]:
        """Return nothing: everything depends on the game."""
        return {}

    def schema(self, names: tuple[str, ...]) -> JsonObject:
        """Return the JSON schema of the referee's ruling."""
        choice = {"type": ["string", "null"], "enum": [*self.items, None]}
        return make_object({"agreed": {"type": "boolean"}, "choice": choice})

    def read(self, data: JsonMapping, names: tuple[str, ...], private: tuple[Private, ...], said: Said = ()) -> Deal:
        """Return the ruling as a deal, or InvalidMove where it contradicts itself."""
        agreed, choice = read_agreed(data), read_item(data.get("choice"), self.items)
        require_consistency(agreed, choice is not None, "choice")
        return {"agreed": agreed, "choice": choice}

    def utilities(self, deal: Deal, private: tuple[Private, ...]) -> tuple[float, ...]:
        """Return what the chosen item is worth to each person."""
        return tuple(float(p["values"].get(deal["choice"], 0)) if deal["agreed"] else 0.0 for p in private)

    def rule(self, last: Sequence[str]) -> Deal:
        """Return the item that the last message of everybody names, and no other."""
        choice = find_common([find_named(self.items, text) for text in last])
        return {"agreed": choice is not None, "choice": choice}

    def settled(self, deal: Deal) -> bool:
        """Tell whether all agree."""
        return bool(deal["agreed"])
