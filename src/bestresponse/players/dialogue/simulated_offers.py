"""What the simulated speaker proposes, what it never accepts, and how it reads offers, for each kind of deal.

- option: its best item. trade: its least valued fruit for the one it wants most.
- price: the middle between what the thing is worth to it and the end of the range that suits it; never a loss.
- issues: its best level of the issue in which most is at stake for it, the middle level of all others.
- moves: it announces the move that it was told, or any. On the sealed note it plays what it was told; untold, as often
  as not what it announced, and otherwise the best reply to what the other announced.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from bestresponse.core.json import JsonObject

__all__ = ["Offers", "announce", "find_moves", "hand_in", "list_played", "read_offers"]

_NUMBER = re.compile(r"^([\w ]+): (-?\d+)$", re.M)
_GIVES = re.compile(r"(\w+) gives 1 (\w+)")
_OWNED = re.compile(r"I own (.+?)\.")
_AGAINST = re.compile(r"^([\w ]+) against ([\w ]+): (-?\d+)$", re.M)
_PRICES = re.compile(r"price \(from (\d+) to (\d+)\)")
_PART = re.compile(r"You are the (\w+)\.")
_WORTH = re.compile(r"^What it is worth to you: (\d+)$", re.M)
_ISSUE = re.compile(r"(\w+) \(([\w ]+(?:, [\w ]+)+)\)")
_PIECE = "What one piece is worth to you:"


class Offers:
    """Offers of one of several items; `prompt` is what a speaker or referee is told."""

    def __init__(self, prompt: str) -> None:
        self.prompt = prompt

    def wish(self, me: str, heard: str, how: str) -> str:
        """Return what the speaker proposes: the item that it was told to, or its best one."""
        values = self._values(me)
        told = [name for name in values if name in how]
        return told[0] if told else max(values, key=lambda name: values[name])

    def introduce(self) -> str:
        """Return what the speaker tells of itself before any offer."""
        return ""

    def cannot(self, me: str, offer: str) -> bool:
        """Tell whether the speaker never accepts such an offer."""
        return False

    def find_named(self, text: str, sender: str, standing: str) -> str:
        """Return the offer that a person's message names, empty where it names none."""
        items = [name for name, _ in _NUMBER.findall(self.prompt)] + re.findall(r'"([^"]+)" or ', self.prompt)
        return _find_last(text, items)

    def rule(self, offer: str, people: Sequence[str]) -> JsonObject:
        """Return the ruling on a talk that ended with this offer accepted; it is empty where none was."""
        return {"agreed": bool(offer), "choice": offer or None}

    def value(self, offer: str, me: str) -> int:
        """Return what an agreed offer is worth to `me`."""
        return self._values(me).get(offer, 0)

    def _values(self, me: str) -> dict[str, int]:
        private = self.prompt.partition(f"You are {me}.")[2].partition("\n\n")[0]
        return {name: int(number) for name, number in _NUMBER.findall(private)}


class _Trades(Offers):
    """One piece of a fruit for one of another."""

    def wish(self, me: str, heard: str, how: str) -> str:
        private = self.prompt.partition(f"You are {me}.")[2].partition("\n\n")[0]
        owned, worth = (dict(_NUMBER.findall(part)) for part in private.split(_PIECE))
        names = re.split(r", | and ", self.prompt.partition(" may trade")[0])
        other = next(name for name in names if name != me)
        theirs = _OWNED.search(heard)
        wanted = theirs[1].split(", ") if theirs else list(worth)
        give = min((item for item in owned if int(owned[item]) > 0), key=lambda item: int(worth[item]))
        get = max([item for item in wanted if item != give] or wanted, key=lambda item: int(worth[item]))
        return f"that {me} gives 1 {give} and {other} gives 1 {get}"

    def introduce(self) -> str:
        return f"I own {', '.join(self._owned())}. "

    def _owned(self) -> list[str]:
        basket = self.prompt.partition("The fruit in your basket:")[2].partition("What one piece")[0]
        return [item for item, number in _NUMBER.findall(basket) if int(number) > 0]

    def cannot(self, me: str, offer: str) -> bool:
        return any(name == me and item not in self._owned() for name, item in _GIVES.findall(offer))

    def find_named(self, text: str, sender: str, standing: str) -> str:
        items = "|".join(dict.fromkeys(name for name, _ in _NUMBER.findall(self.prompt)))
        named = re.findall(rf"(your )?(?:\w+ )?\b({items or '$^'})", text, re.IGNORECASE)
        wanted = [item.casefold() for your, item in named if your]
        given = [item.casefold() for your, item in named if not your]
        if len(given) < 1 or len(given) + len(wanted) < 2:
            return ""
        names = re.split(r", | and ", self.prompt.partition(" may trade")[0])
        other = next(name for name in names if name != sender)
        return f"that {sender} gives 1 {given[0]} and {other} gives 1 {(wanted or given)[-1]}"

    def rule(self, offer: str, people: Sequence[str]) -> JsonObject:
        gives = {name: {item: 1} for name, item in _GIVES.findall(offer)}
        return {"agreed": bool(offer), "gives": {name: gives.get(name, {}) for name in people}}

    def value(self, offer: str, me: str) -> int:
        worth = {name: int(number) for name, number in _NUMBER.findall(self.prompt.rpartition("worth to you")[2])}
        return sum(-worth[item] if name == me else worth[item] for name, item in _GIVES.findall(offer))


class _Prices(Offers):
    """A price between a seller and a buyer."""

    def wish(self, me: str, heard: str, how: str) -> str:
        low, high = map(int, _PRICES.findall(self.prompt)[0])
        worth, sells = self._own()
        return f"a price of {(worth + (high if sells else low)) // 2}"

    def cannot(self, me: str, offer: str) -> bool:
        return bool(re.search(r"\d", offer)) and self.value(offer, me) < 0

    def find_named(self, text: str, sender: str, standing: str) -> str:
        numbers = re.findall(r"\d+", text)
        return f"a price of {numbers[-1]}" if numbers else ""

    def rule(self, offer: str, people: Sequence[str]) -> JsonObject:
        numbers = re.findall(r"\d+", offer)
        return {"agreed": bool(numbers), "price": int(numbers[-1]) if numbers else None}

    def value(self, offer: str, me: str) -> int:
        worth, sells = self._own()
        gain = int(re.findall(r"\d+", offer)[-1]) - worth
        return gain if sells else -gain

    def _own(self) -> tuple[int, bool]:
        return int(_WORTH.findall(self.prompt)[0]), _PART.findall(self.prompt)[0] == "seller"


class _Packages(Offers):
    """A level of each of several issues."""

    def wish(self, me: str, heard: str, how: str) -> str:
        values = self._values(me)
        groups = self._groups()
        spread = {name: max(values[x] for x in own) - min(values[x] for x in own) for name, own in groups.items()}
        dearest = max(spread, key=lambda name: spread[name])
        best = max(groups[dearest], key=lambda level: values[level])
        return ", ".join(best if name == dearest else own[len(own) // 2] for name, own in groups.items())

    def find_named(self, text: str, sender: str, standing: str) -> str:
        named = [_find_last(text, own) for own in self._groups().values()]
        before = standing.split(", ") if standing else []
        whole = [new or (before[k] if before else "") for k, new in enumerate(named)]
        return ", ".join(whole) if any(named) and all(whole) else ""

    def rule(self, offer: str, people: Sequence[str]) -> JsonObject:
        levels = offer.split(", ") if offer else [None] * len(self._groups())
        return {"agreed": bool(offer), "terms": dict(zip(self._groups(), levels, strict=True))}

    def value(self, offer: str, me: str) -> int:
        values = self._values(me)
        return sum(values[level] for level in offer.split(", "))

    def _groups(self) -> dict[str, list[str]]:
        return {name: levels.split(", ") for name, levels in _ISSUE.findall(self.prompt.partition("\n")[0])}


def read_offers(prompt: str) -> Offers:
    """Return how offers are made and read in the talk that a prompt is about."""
    if "fruit they receive" in prompt:
        return _Trades(prompt)
    if _PRICES.search(prompt):
        return _Prices(prompt)
    return _Packages(prompt) if "settle these issues: " in prompt else Offers(prompt)


def find_moves(prompt: str) -> dict[str, dict[str, int]]:
    """Return what each move earns against each, empty where the talk is not about moves."""
    table: dict[str, dict[str, int]] = {}
    for own, other, payoff in _AGAINST.findall(prompt):
        table.setdefault(own, {})[other] = int(payoff)
    return table


def announce(table: dict[str, dict[str, int]], how: str, rng: Random) -> str:
    """Return the words in which the speaker announces a move."""
    return f"I will play {_find_last(how, list(table)) or rng.choice(list(table))}."


def hand_in(table: dict[str, dict[str, int]], how: str, own: str, others: str, rng: Random) -> str:
    """Return the words of the sealed note, after what both have announced."""
    moves = list(table)
    said, heard = _find_last(own, moves), _find_last(others, moves)
    honest = rng.random() < 0.5
    reply = max(moves, key=lambda move: table[move][heard]) if heard else rng.choice(moves)
    return f"I play {_find_last(how, moves) or (said if said and honest else reply)}."


def list_played(table: dict[str, dict[str, int]], said: Sequence[tuple[str, str, str]]) -> dict[str, str | None]:
    """Return the move that the last message of each person names, None where it names none."""
    last = {sender: text for sender, _, text in said}
    return {name: _find_last(text, list(table)) or None for name, text in last.items()}


def _find_last(text: str, items: Sequence[str]) -> str:
    """Return the item that a text names last, empty where it names none."""
    low = text.casefold()
    named = [(low.rfind(item.casefold()), item) for item in items if item.casefold() in low]
    return max(named)[1] if named else ""
