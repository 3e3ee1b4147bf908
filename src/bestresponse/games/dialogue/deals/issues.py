"""Several issues to settle together, such as salary, start and leave of a job.

The levels of an issue stand in an order: the first of the domain's two parts prefers the last, the second the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from bestresponse.core.errors import Flaw, InvalidGame, InvalidMove
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.games.dialogue.deals.rules import (
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
    read_part,
    require_consistency,
)
from bestresponse.games.dialogue.reader import DomainReader

__all__ = ["Issues"]


@dataclass(frozen=True, slots=True)
class Issues:
    """One level of each of `issues`, or no deal."""

    issues: Mapping[str, tuple[str, ...]]
    climbing: str
    kind: ClassVar[str] = "issues"
    ending: ClassVar[str] = "Without an agreement on all issues nobody earns anything."
    impossible: ClassVar[str] = "both have the same part"
    public: ClassVar[frozenset[str]] = frozenset({"issues"})
    private: ClassVar[frozenset[str]] = frozenset({"part", "values"})
    sealed: ClassVar[bool] = False

    @classmethod
    def from_reader(cls, reader: DomainReader, players: int) -> Issues:
        """Read the section `deal` of a domain."""
        parts = reader.words("generate.parts", 2)
        if players != 2 or len(parts) != 2:
            raise reader.wrong("issues are settled by 2 players with 2 generate.parts")
        issues = {name: reader.words(f"deal.issues.{name}", 2) for name in reader.get("deal.issues", dict)}
        levels = [level.casefold() for own in issues.values() for level in own]
        if len(set(levels)) < len(levels):
            raise reader.wrong("deal.issues: two levels have the same name; expected different ones")
        return cls(issues, parts[0])

    @property
    def levels(self) -> tuple[str, ...]:
        """The levels of all issues."""
        return tuple(level for own in self.issues.values() for level in own)

    def find_bounds(self, reader: DomainReader) -> tuple[float, float]:
        """Check the section `generate` and return the lowest and the highest utility that it allows."""
        low, high = reader.range("generate.values")
        return min(0, low * len(self.issues)), high * len(self.issues)

    def draw(self, generate: JsonMapping, rng: Random, players: int) -> tuple[Private, ...]:
        """Draw who has which part, and what each level is worth to them."""
        parts = rng.sample(generate["parts"], players)
        return tuple({"part": part, "values": self._draw_values(generate, part, rng)} for part in parts)

    def _draw_values(self, generate: JsonMapping, part: str, rng: Random) -> dict[str, int]:
        values: dict[str, int] = {}
        for levels in self.issues.values():
            drawn = sorted(rng.randint(*generate["values"]) for _ in levels)
            values |= zip(levels, drawn if part == self.climbing else drawn[::-1], strict=True)
        return values

    def is_possible(self, private: tuple[Private, ...]) -> bool:
        """Tell whether the parts differ."""
        return len({own["part"] for own in private}) == 2

    def read_private(self, generate: JsonMapping, name: str, given: JsonMapping) -> Private:
        """Return what somebody wrote about one person, checked; InvalidGame where it breaks the rules."""
        values = read_numbers(name, "values", given.get("values"), self.levels, generate["values"])
        if len(values) < len(self.levels):
            raise InvalidGame(f"{name} has {len(values)} values, expected one for each of {', '.join(self.levels)}")
        return {"part": read_part(generate["parts"], name, given), "values": values}

    def describe_private(self, generate: JsonMapping) -> list[str]:
        """Say what a writer of scenarios has to keep to."""
        parts = " and ".join(generate["parts"])
        return [
            f"private, for each person: part ({parts}, one each) and values of {', '.join(self.levels)}",
            f"values: {describe_range(generate['values'])}",
        ]

    def private_schema(self, generate: JsonMapping) -> JsonObject:
        """Return the JSON schema of what one person knows."""
        part = {"type": "string", "enum": list(generate["parts"])}
        return make_object({"part": part, "values": make_object({key: {"type": "integer"} for key in self.levels})})

    def fill_public(self) -> dict[str, str]:
        """Return the issues with their levels."""
        return {"issues": "; ".join(f"{name} ({', '.join(levels)})" for name, levels in self.issues.items())}

    def schema(self, names: tuple[str, ...]) -> JsonObject:
        """Return the JSON schema of the referee's ruling."""
        terms = {name: {"type": ["string", "null"], "enum": [*own, None]} for name, own in self.issues.items()}
        return make_object({"agreed": {"type": "boolean"}, "terms": make_object(terms)})

    def read(self, data: JsonMapping, names: tuple[str, ...], private: tuple[Private, ...], said: Said = ()) -> Deal:
        """Return the ruling as a deal, or InvalidMove where an issue of an agreement is left open."""
        agreed, given = read_agreed(data), data.get("terms") or {}
        if not isinstance(given, Mapping):
            raise InvalidMove(f"'terms' is {given!r}, expected a level of each issue", Flaw.UNPARSEABLE)
        if not agreed:
            return {"agreed": False, "terms": {}}
        terms = {name: read_item(given.get(name), levels) for name, levels in self.issues.items()}
        require_consistency(True, any(terms.values()), "terms")
        left = [name for name, level in terms.items() if level is None]
        if left:
            raise InvalidMove(f"the referee says agreed, but {left[0]} is left open; a deal settles all issues")
        return {"agreed": True, "terms": terms}

    def utilities(self, deal: Deal, private: tuple[Private, ...]) -> tuple[float, ...]:
        """Return the sum of what the levels are worth to each person."""
        return tuple(float(sum(own["values"][level] for level in deal["terms"].values())) for own in private)

    def rule(self, last: Sequence[str]) -> Deal:
        """Return the levels that the last message of both names, one of each issue."""
        terms = {name: find_common([find_named(levels, text) for text in last]) for name, levels in self.issues.items()}
        agreed = all(terms.values())
        return {"agreed": agreed, "terms": terms if agreed else {}}

    def settled(self, deal: Deal) -> bool:
        """Tell whether all agree."""
        return bool(deal["agreed"])
