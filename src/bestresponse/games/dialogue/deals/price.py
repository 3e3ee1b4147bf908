"""A price between a seller and a buyer, each of whom alone knows what the thing is worth to them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from bestresponse.core.errors import Flaw, InvalidGame, InvalidMove
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.games.dialogue.deals.rules import (
    NOTHING,
    Deal,
    Private,
    Said,
    describe_range,
    find_common,
    make_object,
    read_agreed,
    read_part,
    require_consistency,
    shorten,
)
from bestresponse.games.dialogue.reader import DomainReader

__all__ = ["Price"]

_PARTS = ("seller", "buyer")


@dataclass(frozen=True, slots=True)
class Price:
    """A price from `low` to `high`, or none."""

    low: int
    high: int
    kind: ClassVar[str] = "price"
    ending: ClassVar[str] = NOTHING
    impossible: ClassVar[str] = "it is worth more to the seller than to the buyer, or both have the same part"
    public: ClassVar[frozenset[str]] = frozenset({"prices"})
    private: ClassVar[frozenset[str]] = frozenset({"part", "worth"})
    sealed: ClassVar[bool] = False

    @classmethod
    def from_reader(cls, reader: DomainReader, players: int) -> Price:
        """Read the section `deal` of a domain."""
        if players != 2:
            raise reader.wrong("a price is between 2 players, a seller and a buyer")
        return cls(*reader.range("deal.prices"))

    def find_bounds(self, reader: DomainReader) -> tuple[float, float]:
        """Check the section `generate` and return the lowest and the highest utility that it allows."""
        low, high = reader.range("generate.worth")
        most = max(self.high - low, high - self.low)
        return -most, most

    def draw(self, generate: JsonMapping, rng: Random, players: int) -> tuple[Private, ...]:
        """Draw who sells, and what the thing is worth to each."""
        return tuple({"part": part, "worth": rng.randint(*generate["worth"])} for part in rng.sample(_PARTS, 2))

    def is_possible(self, private: tuple[Private, ...]) -> bool:
        """Tell whether some price leaves nobody worse off."""
        gains = sum(own["worth"] if own["part"] == "buyer" else -own["worth"] for own in private)
        return gains >= 0 and len({own["part"] for own in private}) == 2

    def read_private(self, generate: JsonMapping, name: str, given: JsonMapping) -> Private:
        """Return what somebody wrote about one person, checked; InvalidGame where it breaks the rules."""
        worth, (low, high) = given.get("worth"), generate["worth"]
        if not isinstance(worth, int) or isinstance(worth, bool) or not low <= worth <= high:
            raise InvalidGame(f"what it is worth to {name} is {shorten(worth)}, expected {low} to {high}")
        return {"part": read_part(_PARTS, name, given), "worth": worth}

    def describe_private(self, generate: JsonMapping) -> list[str]:
        """Say what a writer of scenarios has to keep to."""
        return [
            "private, for each person: part (seller and buyer, one each) and worth",
            f"worth: {describe_range(generate['worth'])}, to the buyer at least what it is to the seller",
        ]

    def private_schema(self, generate: JsonMapping) -> JsonObject:
        """Return the JSON schema of what one person knows."""
        part = {"type": "string", "enum": list(_PARTS)}
        return make_object({"part": part, "worth": {"type": "integer"}})

    def fill_public(self) -> dict[str, str]:
        """Return the range of prices."""
        return {"prices": f"from {self.low} to {self.high}"}

    def schema(self, names: tuple[str, ...]) -> JsonObject:
        """Return the JSON schema of the referee's ruling."""
        return make_object({"agreed": {"type": "boolean"}, "price": {"type": ["number", "null"]}})

    def read(self, data: JsonMapping, names: tuple[str, ...], private: tuple[Private, ...], said: Said = ()) -> Deal:
        """Return the ruling as a deal, or InvalidMove where the price is out of range or nobody named it."""
        agreed, price = read_agreed(data), data.get("price")
        if price is not None and (not isinstance(price, int | float) or isinstance(price, bool)):
            raise InvalidMove(f"the price is {price!r}, expected a number", Flaw.UNPARSEABLE)
        require_consistency(agreed, price is not None, "price")
        if price is None:
            return {"agreed": False, "price": None}
        if not self.low <= price <= self.high:
            raise InvalidMove(f"the price {price:g} is not {self.fill_public()['prices']}")
        figures = re.compile(rf"(?<![\d.]){re.escape(f'{price:g}')}(?!\d|[.,]\d)")
        if said and not any(figures.search(text) for _, text in said):
            raise InvalidMove(f"the referee says {price:g}, but no message names that price in figures")
        return {"agreed": True, "price": float(price)}

    def utilities(self, deal: Deal, private: tuple[Private, ...]) -> tuple[float, ...]:
        """Return the price less the worth to the seller, and the worth less the price to the buyer."""
        if not deal["agreed"]:
            return (0.0,) * len(private)
        price = float(deal["price"])
        return tuple(price - p["worth"] if p["part"] == "seller" else p["worth"] - price for p in private)

    def rule(self, last: Sequence[str]) -> Deal:
        """Return the price that the last message of both names, and no other number."""
        price = find_common([re.findall(r"\d+(?:\.\d+)?", text) for text in last])
        agreed = price is not None and self.low <= float(price) <= self.high
        return {"agreed": agreed, "price": float(price) if price is not None and agreed else None}

    def settled(self, deal: Deal) -> bool:
        """Tell whether all agree."""
        return bool(deal["agreed"])
