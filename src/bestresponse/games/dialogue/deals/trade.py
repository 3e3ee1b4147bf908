"""What each of two people gives to the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    make_object,
    read_agreed,
    read_item,
    read_numbers,
    require_consistency,
)
from bestresponse.games.dialogue.reader import DomainReader

__all__ = ["Trade"]


@dataclass(frozen=True, slots=True)
class Trade:
    """What each of two speakers gives to the other: a number of pieces of each of `items`."""

    items: tuple[str, ...]
    kind: ClassVar[str] = "trade"
    ending: ClassVar[str] = NOTHING
    impossible: ClassVar[str] = "somebody owns nothing"
    public: ClassVar[frozenset[str]] = frozenset()
    private: ClassVar[frozenset[str]] = frozenset({"values", "endowment"})
    sealed: ClassVar[bool] = False

    @classmethod
    def from_reader(cls, reader: DomainReader, players: int) -> Trade:
        """Read the section `deal` of a domain."""
        if players != 2:
            raise reader.wrong("a trade is between 2 players; use deal.kind = 'option' for more")
        return cls(reader.words("deal.items"))

    def find_bounds(self, reader: DomainReader) -> tuple[float, float]:
        """Check the section `generate` and return the lowest and the highest utility that it allows."""
        _, value = reader.range("generate.values")
        _, most = reader.range("generate.endowment")
        if most < 1:
            raise reader.wrong("generate.endowment: no deal is reachable, because nobody owns anything")
        return -value * most * len(self.items), value * most * len(self.items)

    def draw(self, generate: JsonMapping, rng: Random, players: int) -> tuple[Private, ...]:
        """Draw what each of the people owns, and what a piece is worth."""
        return tuple(self._draw_basket(generate, rng) for _ in range(players))

    def _draw_basket(self, generate: JsonMapping, rng: Random) -> Private:
        low, high = generate["values"]
        least, most = generate["endowment"]
        return {
            "endowment": {item: rng.randint(least, most) for item in self.items},
            "values": {item: rng.randint(low, high) for item in self.items},
        }

    def is_possible(self, private: tuple[Private, ...]) -> bool:
        """Tell whether everybody owns something."""
        return all(any(own["endowment"].values()) for own in private)

    def read_private(self, generate: JsonMapping, name: str, given: JsonMapping) -> Private:
        """Return what somebody wrote about one person, checked; InvalidGame where it breaks the rules."""
        owned, values = (
            read_numbers(name, part, given.get(part), self.items, generate[part]) for part in ("endowment", "values")
        )
        lacking = [item for item in self.items if item not in values]
        if lacking:
            raise InvalidGame(f"{name} has no value for {lacking[0]}")
        return {"endowment": {item: owned.get(item, 0) for item in self.items}, "values": values}

    def describe_private(self, generate: JsonMapping) -> list[str]:
        """Say what a writer of scenarios has to keep to."""
        owned, values = (describe_range(generate[part]) for part in ("endowment", "values"))
        what = f"private, for each person: endowment and values of {', '.join(self.items)}"
        return [what, f"endowment: {owned}; values: {values}"]

    def private_schema(self, generate: JsonMapping) -> JsonObject:
        """Return the JSON schema of what one person knows."""
        numbers = make_object({key: {"type": "integer"} for key in self.items})
        return make_object({"endowment": numbers, "values": numbers})

    def fill_public(self) -> dict[str, str]:
        """Return nothing: everything depends on the game."""
        return {}

    def schema(self, names: tuple[str, ...]) -> JsonObject:
        """Return the JSON schema of the referee's ruling."""
        basket = make_object({key: {"type": "integer", "minimum": 0} for key in self.items})
        return make_object({"agreed": {"type": "boolean"}, "gives": make_object(dict.fromkeys(names, basket))})

    def read(self, data: JsonMapping, names: tuple[str, ...], private: tuple[Private, ...], said: Said = ()) -> Deal:
        """Return the ruling as a deal, or InvalidMove where it contradicts itself or cannot be carried out."""
        agreed, gives = read_agreed(data), data.get("gives") or {}
        if not isinstance(gives, Mapping):
            raise InvalidMove(f"'gives' is {gives!r}, expected what each person gives", Flaw.UNPARSEABLE)
        strangers = [name for name in gives if name not in names]
        if strangers:
            raise InvalidMove(f"{strangers[0]!r} gives something, but only {' and '.join(names)} trade")
        baskets = {name: self._read_basket(gives.get(name) or {}, name) for name in names}
        require_consistency(agreed, any(baskets.values()), "gives")
        if agreed:
            for name, own in zip(names, private, strict=True):
                _require_ownership(name, baskets[name], own["endowment"])
        return {"agreed": agreed, "gives": list(baskets.values())}

    def utilities(self, deal: Deal, private: tuple[Private, ...]) -> tuple[float, ...]:
        """Return what each person gains by the trade."""
        if not deal["agreed"]:
            return (0.0,) * len(private)
        gives = deal["gives"]
        return tuple(_sum_worth(gives[1 - i], own) - _sum_worth(gives[i], own) for i, own in enumerate(private))

    def rule(self, last: Sequence[str]) -> None:
        """Leave the ruling to a referee, because no rule tells it from the words."""

    def settled(self, deal: Deal) -> bool:
        """Tell whether all agree."""
        return bool(deal["agreed"])

    def _read_basket(self, given: object, name: str) -> dict[str, int]:
        if not isinstance(given, Mapping):
            raise InvalidMove(f"{name} gives {given!r}, expected numbers of pieces by fruit", Flaw.UNPARSEABLE)
        basket: dict[str, int] = {}
        for item, count in given.items():
            if not isinstance(count, int | float) or isinstance(count, bool) or count != int(count) or count < 0:
                raise InvalidMove(f"{name} gives {count!r} of {item}, expected a whole number of pieces")
            known = read_item(item, self.items)
            if count and known is not None:
                basket[known] = int(count)
        return basket


def _require_ownership(name: str, basket: Mapping[str, int], endowment: Mapping[str, int]) -> None:
    for item, count in basket.items():
        if count > endowment.get(item, 0):
            raise InvalidMove(f"{name} gives {count} x {item} but owns {endowment.get(item, 0)}")


def _sum_worth(basket: Mapping[str, int], own: Private) -> float:
    return float(sum(count * own["values"].get(item, 0) for item, count in basket.items()))
