"""What a dialogue may lead to, as data, and what that is worth: arithmetic instead of a model's guess.

A referee says what was agreed; the rules here read that, refuse what contradicts itself or cannot be carried out, and
compute every speaker's utility from the private values.

    option    one of a few items for everybody, or none: worth each speaker's own value of it
    trade     what each speaker gives to the next one: worth what comes in minus what goes out
    verdict   who argued better: 1, 0, or 0.5 each where undecided

The `ending` of each tells speakers what happens once the last message is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from bestresponse.core.errors import Flaw, InvalidMove
from bestresponse.core.json import JsonMapping, JsonObject

__all__ = ["Deal", "DealRules", "Option", "Private", "Trade", "Verdict"]

Private = JsonMapping
"""What one speaker alone knows: `values`, `endowment` (numbers by item) or `side`."""

Deal = JsonMapping
"""What was agreed, as plain data; people are seats, in the order of the names."""

TIE = "tie"


@dataclass(frozen=True, slots=True)
class Option:
    """One of `items` for everybody, or none."""

    items: tuple[str, ...]
    ending: ClassVar[str] = "Without an agreement nobody earns anything."

    def schema(self, names: tuple[str, ...]) -> JsonObject:
        """Return the JSON schema of the referee's ruling."""
        choice = {"type": ["string", "null"], "enum": [*self.items, None]}
        return _object({"agreed": {"type": "boolean"}, "choice": choice})

    def read(self, data: JsonMapping, names: tuple[str, ...], private: tuple[Private, ...]) -> Deal:
        """Return the ruling as a deal, or InvalidMove where it contradicts itself."""
        agreed, choice = _agreed(data), _item(data.get("choice"), self.items)
        _consistent(agreed, choice is not None, "choice")
        return {"agreed": agreed, "choice": choice}

    def utilities(self, deal: Deal, private: tuple[Private, ...]) -> tuple[float, ...]:
        """Return what the chosen item is worth to each person."""
        return tuple(float(p["values"].get(deal["choice"], 0)) if deal["agreed"] else 0.0 for p in private)

    def settled(self, deal: Deal) -> bool:
        """Tell whether all agree."""
        return bool(deal["agreed"])


@dataclass(frozen=True, slots=True)
class Trade:
    """What each of two speakers gives to the other: a number of pieces of each of `items`."""

    items: tuple[str, ...]
    ending: ClassVar[str] = Option.ending

    def schema(self, names: tuple[str, ...]) -> JsonObject:
        """Return the JSON schema of the referee's ruling."""
        pieces = {item: {"type": "integer", "minimum": 0} for item in self.items}
        basket = {"type": "object", "properties": pieces, "additionalProperties": False}
        return _object({"agreed": {"type": "boolean"}, "gives": _object(dict.fromkeys(names, basket))})

    def read(self, data: JsonMapping, names: tuple[str, ...], private: tuple[Private, ...]) -> Deal:
        """Return the ruling as a deal, or InvalidMove where it contradicts itself."""
        agreed, gives = _agreed(data), data.get("gives") or {}
        if not isinstance(gives, Mapping):
            raise InvalidMove(f"'gives' is {gives!r}, expected what each person gives", Flaw.UNPARSEABLE)
        strangers = [name for name in gives if name not in names]
        if strangers:
            raise InvalidMove(f"{strangers[0]!r} gives something, but only {' and '.join(names)} trade")
        baskets = {name: self._basket(gives.get(name) or {}, name) for name in names}
        _consistent(agreed, any(baskets.values()), "gives")
        if agreed:
            for name, own in zip(names, private, strict=True):
                _owned(name, baskets[name], own["endowment"])
        return {"agreed": agreed, "gives": list(baskets.values())}

    def utilities(self, deal: Deal, private: tuple[Private, ...]) -> tuple[float, ...]:
        """Return what each person gains by the trade."""
        if not deal["agreed"]:
            return (0.0,) * len(private)
        gives = deal["gives"]
        return tuple(_worth(gives[1 - i], own) - _worth(gives[i], own) for i, own in enumerate(private))

    def settled(self, deal: Deal) -> bool:
        """Tell whether all agree."""
        return bool(deal["agreed"])

    def _basket(self, given: object, name: str) -> dict[str, int]:
        if not isinstance(given, Mapping):
            raise InvalidMove(f"{name} gives {given!r}, expected numbers of pieces by fruit", Flaw.UNPARSEABLE)
        basket: dict[str, int] = {}
        for item, count in given.items():
            if not isinstance(count, int | float) or isinstance(count, bool) or count != int(count) or count < 0:
                raise InvalidMove(f"{name} gives {count!r} of {item}, expected a whole number of pieces")
            known = _item(item, self.items)
            if count and known is not None:
                basket[known] = int(count)
        return basket


@dataclass(frozen=True, slots=True)
class Verdict:
    """Who argued better, with reasons."""

    ending: ClassVar[str] = "The judge decides then."

    def schema(self, names: tuple[str, ...]) -> JsonObject:
        """Return the JSON schema of the referee's ruling."""
        return _object({"reasons": {"type": "string"}, "winner": {"type": "string", "enum": [*names, TIE]}})

    def read(self, data: JsonMapping, names: tuple[str, ...], private: tuple[Private, ...]) -> Deal:
        """Return the ruling as a deal, or InvalidMove where it names no winner."""
        winner = _item(data.get("winner"), (*names, TIE))
        if winner is None:
            raise InvalidMove("the winner is missing", Flaw.UNPARSEABLE)
        reasons = data.get("reasons", "")
        seat = None if winner == TIE else names.index(winner)
        return {"winner": seat, "reasons": reasons if isinstance(reasons, str) else ""}

    def utilities(self, deal: Deal, private: tuple[Private, ...]) -> tuple[float, ...]:
        """Return 1 for the winner and 0 for the others, or equal shares for a tie."""
        if deal["winner"] is None:
            return (1 / len(private),) * len(private)
        return tuple(float(i == deal["winner"]) for i in range(len(private)))

    def settled(self, deal: Deal) -> bool:
        """Tell that a debate is never settled before its end."""
        return False


DealRules = Option | Trade | Verdict


def _object(properties: JsonMapping) -> JsonObject:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _agreed(data: JsonMapping) -> bool:
    agreed = data.get("agreed")
    if not isinstance(agreed, bool):
        raise InvalidMove(f"'agreed' is {agreed!r}, expected true or false", Flaw.UNPARSEABLE)
    return agreed


def _consistent(agreed: bool, named: bool, field: str) -> None:
    if agreed != named:
        what = f"agreed, but {field!r} is empty" if agreed else f"not agreed, but {field!r} names a deal"
        raise InvalidMove(f"the referee contradicts itself: {what}")


def _item(given: object, items: tuple[str, ...]) -> str | None:
    if given is None or given in ("", "none", "None", "null"):
        return None
    same = [item for item in items if str(given).strip().casefold().rstrip(".") == item.casefold()]
    if not same:
        raise InvalidMove(f"{given!r} is not one of {', '.join(items)}")
    return same[0]


def _owned(name: str, basket: Mapping[str, int], endowment: Mapping[str, int]) -> None:
    for item, count in basket.items():
        if count > endowment.get(item, 0):
            raise InvalidMove(f"{name} gives {count} x {item} but owns {endowment.get(item, 0)}")


def _worth(basket: Mapping[str, int], own: Private) -> float:
    return float(sum(count * own["values"].get(item, 0) for item, count in basket.items()))
