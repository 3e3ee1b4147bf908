"""What can be agreed on in a dialogue: one class for each kind of deal.

A referee says what was agreed; the rules read that, refuse what contradicts itself or cannot be
carried out, and compute every speaker's utility from the private information: arithmetic instead of
a model's guess.

    option    one of a few items for everybody, or none: worth each speaker's own value of it
    trade     what each speaker gives to the other: worth what comes in minus what goes out
    price     a price between a seller and a buyer, or none: worth the difference to what the thing
              is worth to each
    issues    one level of each of several issues, or no deal: worth the sum of each speaker's own
              values of them
    moves     a move of each, named in a sealed note after the talk: worth what a table says
    verdict   who argued better: 1, 0, or 0.5 each where undecided
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from random import Random
from typing import ClassVar, Self, TypedDict

from bestresponse.core.ask import Amount, Choice, is_number
from bestresponse.core.errors import Flaw, InvalidMove
from bestresponse.core.json import JsonMapping
from bestresponse.core.told import TextPlace, Worded
from bestresponse.games.dialogue.domain_reader import DomainReader, are_distinct
from bestresponse.games.dialogue.schemas import Schema, make_choice, make_numbers, make_object
from bestresponse.games.dialogue.told import TalkEnds
from bestresponse.telling.language import ENGLISH, load_language

Private = JsonMapping
"""What one speaker alone knows: `values`, `endowment` (numbers by item), `part`, `worth` or
`side`."""

Secrets = tuple[Private, ...]
"""What each speaker alone knows, in the order of the seats."""

Names = tuple[str, ...]

Deal = JsonMapping
"""What was agreed, as plain data; people are seats, in the order of the names."""

Ruling = Mapping[str, object]
"""What the referee says was agreed, before it is read."""

Utilities = tuple[float, ...]
Bounds = tuple[float, float]
"""The lowest and the highest payoff."""

OfferFields = tuple[tuple[str, Choice | Amount], ...]
"""What is filled in to make an offer: a name, and what is legal."""

Talk = Sequence[tuple[int, str]]
"""The messages of a talk: the seat of the writer and the words."""

_TIE = "tie"
_SELLER_AND_BUYER = ("seller", "buyer")


class Ranges(TypedDict, total=False):
    """What a domain draws from: the least and the most of a number, or names."""

    available: tuple[int, int]
    values: tuple[int, int]
    endowment: tuple[int, int]
    worth: tuple[int, int]
    parts: Sequence[str]
    sides: Sequence[str]
    topics: Sequence[str]
    names: Sequence[str]
    situations: Sequence[str]


class DealRules(ABC):
    """One kind of deal; what most kinds have in common is here."""

    kind: ClassVar[str]
    ending: ClassVar[TalkEnds] = TalkEnds("agreement")
    """What speakers are told about the end of the talk."""
    impossible: ClassVar[str] = ""
    """Why no deal is possible, where `is_possible` says so."""
    public: ClassVar[frozenset[str]] = frozenset()
    """What the texts of a domain may name besides the names of the people."""
    private: ClassVar[frozenset[str]] = frozenset()
    """What the texts that only one speaker reads may name."""
    sealed: ClassVar[bool] = False
    """Whether everybody hands in a sealed note after the talk."""

    @classmethod
    @abstractmethod
    def from_reader(cls, reader: DomainReader, players: int) -> Self:
        """Read the section `deal` of a domain."""

    @abstractmethod
    def find_bounds(self, reader: DomainReader) -> Bounds:
        """Check the section `generate` and return the lowest and highest utility it allows."""

    @abstractmethod
    def draw(self, generate: Ranges, rng: Random, players: int) -> Secrets:
        """Draw what each of the people knows."""

    def is_possible(self, private: Secrets) -> bool:
        """Tell whether these people can come to a deal."""
        return True

    @abstractmethod
    def private_schema(self, generate: Ranges) -> Schema:
        """Return the JSON schema of what one person knows.

        It includes the ranges that the domain draws from.
        """

    @abstractmethod
    def schema(self, names: Names) -> Schema:
        """Return the JSON schema of the referee's ruling."""

    @abstractmethod
    def read(
        self,
        data: Ruling,
        names: Names,
        private: Secrets,
        talk: Talk = (),
    ) -> Deal:
        """Return the ruling as a deal.

        Raises InvalidMove where it contradicts itself, the rules or what was said.
        """

    @abstractmethod
    def utilities(self, deal: Deal, private: Secrets) -> Utilities:
        """Return what the deal is worth to each person."""

    @property
    def names(self) -> Names:
        """What people may name in a message that is agreed on, or in a sealed note."""
        return ()

    def list_public(self) -> tuple[TextPlace, ...]:
        """List the places that are the same in all games of the domain."""
        return ()

    def fill_public(self) -> dict[str, str]:
        """Fill the places that are the same in all games of the domain, in English."""
        english = load_language(ENGLISH)
        return {place.name: english.write_place(place) for place in self.list_public()}

    def list_terms(self, names: Names, generate: Ranges) -> OfferFields:
        """List what an offer settles, with what can be filled in; nothing where there are none."""
        return ()

    def make_ruling(self, terms: Mapping[str, object], names: Names) -> Ruling:
        """Return an offer with these terms as the ruling that all agreed on it."""
        raise InvalidMove(f"nobody can make an offer about a {self.kind}")

    def settled(self, deal: Deal) -> bool:
        """Tell whether all agree, so that a talk may end early."""
        return bool(deal.get("agreed"))


@dataclass(frozen=True, slots=True)
class Option(DealRules):
    """One of `items` for everybody, or none: a day, a place."""

    items: Names
    kind = "option"
    impossible = "nothing suits all of them"
    private = frozenset({"values"})

    @property
    def names(self) -> Names:
        """The items."""
        return self.items

    @classmethod
    def from_reader(cls, reader: DomainReader, players: int) -> Option:
        """Read the items."""
        return cls(reader.words("deal.items"))

    def find_bounds(self, reader: DomainReader) -> Bounds:
        """Return 0 or the lowest, and the highest value."""
        low, high = reader.range("generate.values")
        fewest, most = reader.range("generate.available")
        if not 1 <= fewest <= most <= len(self.items):
            raise reader.wrong(
                f"generate.available: no deal is reachable with {fewest} to {most} of"
                f" {len(self.items)}"
            )
        return min(low, 0), high

    def draw(self, generate: Ranges, rng: Random, players: int) -> Secrets:
        """Draw which items suit each of the people, and what they are worth."""
        drawn = []
        for _ in range(players):
            free = rng.sample(self.items, rng.randint(*generate["available"]))
            in_order = [item for item in self.items if item in free]
            values = {item: rng.randint(*generate["values"]) for item in in_order}
            drawn.append({"values": values})
        return tuple(drawn)

    def is_possible(self, private: Secrets) -> bool:
        """Tell whether some item suits all."""
        suited = [set(person["values"]) for person in private]
        return bool(set.intersection(*suited))

    def private_schema(self, generate: Ranges) -> Schema:
        """Return the schema of some values."""
        fewest, most = generate["available"]
        values = make_object(make_numbers(self.items, generate["values"]), required=False)
        return make_object({"values": {**values, "minProperties": fewest, "maxProperties": most}})

    def schema(self, names: Names) -> Schema:
        """Return the schema of an item or null."""
        return make_object({"agreed": {"type": "boolean"}, "choice": make_choice(self.items)})

    def read(
        self,
        data: Ruling,
        names: Names,
        private: Secrets,
        talk: Talk = (),
    ) -> Deal:
        """Return the ruling as a deal, or InvalidMove where it contradicts itself."""
        choice = _read_item(data.get("choice"), self.items)
        return {"agreed": _read_agreed(data, choice is not None, "choice"), "choice": choice}

    def list_terms(self, names: Names, generate: Ranges) -> OfferFields:
        """List the items to choose from."""
        return (("item", Choice(self.items)),)

    def make_ruling(self, terms: Mapping[str, object], names: Names) -> Ruling:
        """Return that all agreed on an item."""
        return {"agreed": True, "choice": terms["item"]}

    def utilities(self, deal: Deal, private: Secrets) -> Utilities:
        """Return what the chosen item is worth to each person."""
        choice = deal["choice"]
        return tuple(float(person["values"].get(choice, 0)) for person in private)


@dataclass(frozen=True, slots=True)
class Trade(DealRules):
    """What each of two speakers gives to the other: a number of pieces of each of `items`."""

    items: Names
    kind = "trade"
    impossible = "somebody owns nothing"
    private = frozenset({"values", "endowment"})

    @property
    def names(self) -> Names:
        """The items."""
        return self.items

    @classmethod
    def from_reader(cls, reader: DomainReader, players: int) -> Trade:
        """Read the items."""
        if players != 2:
            raise reader.wrong("a trade is between 2 players; use deal.kind = 'option' for more")
        return cls(reader.words("deal.items"))

    def find_bounds(self, reader: DomainReader) -> Bounds:
        """Return what it is worth to give or to get everything."""
        _, value = reader.range("generate.values")
        _, most = reader.range("generate.endowment")
        if most < 1:
            raise reader.wrong(
                "generate.endowment: no deal is reachable, because nobody owns anything"
            )
        return -value * most * len(self.items), value * most * len(self.items)

    def draw(self, generate: Ranges, rng: Random, players: int) -> Secrets:
        """Draw what each of the people owns, and what a piece is worth."""
        drawn = []
        for _ in range(players):
            endowment = {item: rng.randint(*generate["endowment"]) for item in self.items}
            values = {item: rng.randint(*generate["values"]) for item in self.items}
            drawn.append({"endowment": endowment, "values": values})
        return tuple(drawn)

    def is_possible(self, private: Secrets) -> bool:
        """Tell whether everybody owns something."""
        endowments = [person["endowment"] for person in private]
        return all(any(owned.values()) for owned in endowments)

    def private_schema(self, generate: Ranges) -> Schema:
        """Return the schema of an endowment, in which 0 need not be written, and values."""
        endowment = make_numbers(self.items, generate["endowment"], default=0)
        values = make_numbers(self.items, generate["values"])
        return make_object({"endowment": make_object(endowment), "values": make_object(values)})

    def schema(self, names: Names) -> Schema:
        """Return the schema of what everybody gives."""
        basket = make_object({key: {"type": "integer", "minimum": 0} for key in self.items})
        return make_object(
            {"agreed": {"type": "boolean"}, "gives": make_object(dict.fromkeys(names, basket))}
        )

    def read(
        self,
        data: Ruling,
        names: Names,
        private: Secrets,
        talk: Talk = (),
    ) -> Deal:
        """Return the ruling as a deal.

        Raises InvalidMove if it contradicts itself or cannot be carried out.
        """
        gives = _read_mapping(data, "gives", "what each person gives")
        strangers = [name for name in gives if name not in names]
        if strangers:
            raise InvalidMove(
                f"{strangers[0]!r} gives something, but only {' and '.join(names)} trade"
            )
        baskets = [self._read_basket(gives.get(name), name) for name in names]
        agreed = _read_agreed(data, any(baskets), "gives")
        for name, basket, person in zip(names, baskets, private, strict=True):
            for item, count in basket.items():
                owned = person["endowment"].get(item, 0)
                if agreed and count > owned:
                    raise InvalidMove(f"{name} gives {count} x {item} but owns {owned}")
        return {"agreed": agreed, "gives": baskets}

    def list_terms(self, names: Names, generate: Ranges) -> OfferFields:
        """List how many pieces of each item everybody could give."""
        _, most = generate["endowment"]
        pieces = Amount(0, most, whole=True)
        return tuple((f"{name}: {item}", pieces) for name in names for item in self.items)

    def make_ruling(self, terms: Mapping[str, object], names: Names) -> Ruling:
        """Return that all agreed on what everybody gives."""
        gives = {}
        for name in names:
            gives[name] = {item: terms[f"{name}: {item}"] for item in self.items}
        return {"agreed": True, "gives": gives}

    def utilities(self, deal: Deal, private: Secrets) -> Utilities:
        """Return what each person gains by the trade."""

        def worth(basket: Mapping[str, int], person: Private) -> float:
            values = person["values"]
            return float(sum(count * values.get(item, 0) for item, count in basket.items()))

        gains = []
        for seat, person in enumerate(private):
            given = worth(deal["gives"][seat], person)
            taken = worth(deal["gives"][1 - seat], person)
            gains.append(taken - given)
        return tuple(gains)

    def _read_basket(self, written: object, name: str) -> dict[str, int]:
        pieces = written or {}
        if not isinstance(pieces, Mapping):
            raise InvalidMove(
                f"{name} gives {pieces!r}, expected numbers of pieces by fruit", Flaw.UNPARSEABLE
            )
        basket: dict[str, int] = {}
        for item, count in pieces.items():
            if not is_number(count) or count != int(count) or count < 0:
                raise InvalidMove(
                    f"{name} gives {count!r} of {item}, expected a whole number of pieces"
                )
            known = _read_item(item, self.items)
            if count and known is not None:
                basket[known] = int(count)
        return basket


@dataclass(frozen=True, slots=True)
class Price(DealRules):
    """A price from `low` to `high` between a seller and a buyer, or none.

    What the thing is worth to each is secret.
    """

    low: int
    high: int
    kind = "price"
    impossible = "it is worth more to the seller than to the buyer, or both have the same part"
    public = frozenset({"prices"})
    private = frozenset({"part", "worth"})

    @classmethod
    def from_reader(cls, reader: DomainReader, players: int) -> Price:
        """Read the range of prices."""
        if players != 2:
            raise reader.wrong("a price is between 2 players, a seller and a buyer")
        return cls(*reader.range("deal.prices"))

    def find_bounds(self, reader: DomainReader) -> Bounds:
        """Return the largest loss and gain between a price and a worth."""
        low, high = reader.range("generate.worth")
        most = max(self.high - low, high - self.low)
        return -most, most

    def draw(self, generate: Ranges, rng: Random, players: int) -> Secrets:
        """Draw who sells, and what the thing is worth to each."""
        parts = rng.sample(_SELLER_AND_BUYER, 2)
        low, high = generate["worth"]
        return tuple({"part": part, "worth": rng.randint(low, high)} for part in parts)

    def is_possible(self, private: Secrets) -> bool:
        """Tell whether some price leaves nobody worse off."""
        parts = {person["part"] for person in private}
        gains = 0
        for person in private:
            gains += person["worth"] if person["part"] == "buyer" else -person["worth"]
        return gains >= 0 and len(parts) == 2

    def private_schema(self, generate: Ranges) -> Schema:
        """Return the schema of a part and a worth."""
        part = {"type": "string", "enum": list(_SELLER_AND_BUYER)}
        return make_object({"part": part, **make_numbers(["worth"], generate["worth"])})

    def list_public(self) -> tuple[TextPlace, ...]:
        """List the range of prices."""
        low = TextPlace("low", (str(self.low),))
        high = TextPlace("high", (str(self.high),))
        return (TextPlace("prices", (Worded("from {low} to {high}", (low, high)),)),)

    def schema(self, names: Names) -> Schema:
        """Return the schema of a price or null."""
        return make_object({"agreed": {"type": "boolean"}, "price": {"type": ["number", "null"]}})

    def read(
        self,
        data: Ruling,
        names: Names,
        private: Secrets,
        talk: Talk = (),
    ) -> Deal:
        """Return the ruling as a deal.

        Raises InvalidMove if the price is out of range or nobody named it.
        """
        price = data.get("price")
        if price is not None and not is_number(price):
            raise InvalidMove(f"the price is {price!r}, expected a number", Flaw.UNPARSEABLE)
        agreed = _read_agreed(data, price is not None, "price")
        if price is None:
            return {"agreed": agreed, "price": None}
        if not self.low <= price <= self.high:
            raise InvalidMove(f"the price {price:g} is not {self.fill_public()['prices']}")
        figures = re.compile(rf"(?<![\d.]){re.escape(f'{price:g}')}(?!\d|[.,]\d)")
        is_named = any(figures.search(text) for _, text in talk)
        if talk and not is_named:
            raise InvalidMove(
                f"the referee says {price:g}, but no message names that price in figures"
            )
        return {"agreed": agreed, "price": float(price)}

    def list_terms(self, names: Names, generate: Ranges) -> OfferFields:
        """List the price to name."""
        return (("price", Amount(self.low, self.high)),)

    def make_ruling(self, terms: Mapping[str, object], names: Names) -> Ruling:
        """Return that both agreed on a price."""
        return {"agreed": True, "price": terms["price"]}

    def utilities(self, deal: Deal, private: Secrets) -> Utilities:
        """Return the seller's gain (price less worth) and the buyer's (worth less price).

        Each gain uses the worth to that person.
        """
        if not deal["agreed"]:
            return (0.0,) * len(private)
        price = float(deal["price"])
        gains = []
        for person in private:
            worth = person["worth"]
            gains.append(price - worth if person["part"] == "seller" else worth - price)
        return tuple(gains)


@dataclass(frozen=True, slots=True)
class Issues(DealRules):
    """One level of each of `issues`, or no deal, such as salary, start and leave of a job.

    The levels of an issue are in an order: the part `climbing` prefers the last, the other one
    the first.
    """

    issues: Mapping[str, Names]
    climbing: str
    kind = "issues"
    ending = TalkEnds("issues")
    impossible = "both have the same part"
    public = frozenset({"issues"})
    private = frozenset({"part", "values"})

    @classmethod
    def from_reader(cls, reader: DomainReader, players: int) -> Issues:
        """Read the issues and the two parts."""
        parts = reader.words("generate.parts", 2)
        if players != 2 or len(parts) != 2:
            raise reader.wrong("issues are settled by 2 players with 2 generate.parts")
        issues = {
            name: reader.words(f"deal.issues.{name}", 2) for name in reader.get("deal.issues", dict)
        }
        if not are_distinct(chain.from_iterable(issues.values())):
            raise reader.wrong(
                "deal.issues: two levels have the same name; expected different ones"
            )
        return cls(issues, parts[0])

    @property
    def names(self) -> Names:
        """The levels of all issues."""
        return tuple(chain.from_iterable(self.issues.values()))

    def find_bounds(self, reader: DomainReader) -> Bounds:
        """Return the lowest (0 without a deal) and the highest sum of values."""
        low, high = reader.range("generate.values")
        return min(0, low * len(self.issues)), high * len(self.issues)

    def draw(self, generate: Ranges, rng: Random, players: int) -> Secrets:
        """Draw who has which part, and what each level is worth to them."""
        drawn = []
        for part in rng.sample(generate["parts"], players):
            values: dict[str, int] = {}
            for levels in self.issues.values():
                worths = [rng.randint(*generate["values"]) for _ in levels]
                worths.sort(reverse=part != self.climbing)
                values |= zip(levels, worths, strict=True)
            drawn.append({"part": part, "values": values})
        return tuple(drawn)

    def is_possible(self, private: Secrets) -> bool:
        """Tell whether the parts differ."""
        parts = {person["part"] for person in private}
        return len(parts) == 2

    def private_schema(self, generate: Ranges) -> Schema:
        """Return the schema of a part and values."""
        part = {"type": "string", "enum": list(generate["parts"])}
        values = make_numbers(self.names, generate["values"])
        return make_object({"part": part, "values": make_object(values)})

    def list_public(self) -> tuple[TextPlace, ...]:
        """List the issues with their levels."""
        issues = tuple(_word_issue(name, levels) for name, levels in self.issues.items())
        return (TextPlace("issues", issues, "semicolons"),)

    def schema(self, names: Names) -> Schema:
        """Return the schema of a level or null for each issue."""
        terms = {name: make_choice(levels) for name, levels in self.issues.items()}
        return make_object({"agreed": {"type": "boolean"}, "terms": make_object(terms)})

    def read(
        self,
        data: Ruling,
        names: Names,
        private: Secrets,
        talk: Talk = (),
    ) -> Deal:
        """Return the ruling as a deal.

        Raises InvalidMove if an issue of an agreement is left open.
        """
        written = _read_mapping(data, "terms", "a level of each issue")
        if data.get("agreed") is False:
            return {"agreed": False, "terms": {}}
        terms = {
            name: _read_item(written.get(name), levels) for name, levels in self.issues.items()
        }
        agreed = _read_agreed(data, any(terms.values()), "terms")
        left = [name for name, level in terms.items() if level is None]
        if left:
            raise InvalidMove(
                f"the referee says agreed, but {left[0]} is left open; a deal settles all issues"
            )
        return {"agreed": agreed, "terms": terms}

    def list_terms(self, names: Names, generate: Ranges) -> OfferFields:
        """List the levels of each issue."""
        return tuple((name, Choice(levels)) for name, levels in self.issues.items())

    def make_ruling(self, terms: Mapping[str, object], names: Names) -> Ruling:
        """Return that both agreed on a level of each issue."""
        return {"agreed": True, "terms": dict(terms)}

    def utilities(self, deal: Deal, private: Secrets) -> Utilities:
        """Return the sum of what the levels are worth to each person."""
        levels = deal["terms"].values()
        sums = []
        for person in private:
            values = person["values"]
            sums.append(float(sum(values[level] for level in levels)))
        return tuple(sums)


@dataclass(frozen=True, slots=True)
class Moves(DealRules):
    """One of `moves` for each of two after a talk.

    `table` has a row for one's own move, a column for the other's.
    """

    moves: Names
    table: tuple[tuple[float, ...], ...]
    kind = "moves"
    ending = TalkEnds("notes")
    public = frozenset({"moves", "payoffs"})
    sealed = True

    @property
    def names(self) -> Names:
        """The moves."""
        return self.moves

    @classmethod
    def from_reader(cls, reader: DomainReader, players: int) -> Moves:
        """Read the moves and the table."""
        moves = reader.words("deal.moves", 2)
        rows = reader.get("deal.payoffs", list)
        numbers: list[float] = []
        for row in rows:
            if isinstance(row, list):
                numbers += [x for x in row if type(x) in (int, float)]
        count = len(moves)
        if players != 2 or len(rows) != count or len(numbers) != count**2:
            raise reader.wrong(
                f"deal.payoffs: expected {count} rows of {count} numbers, for 2 players"
            )
        table = [tuple(map(float, row)) for row in rows]
        return cls(moves, tuple(table))

    def find_bounds(self, reader: DomainReader) -> Bounds:
        """Return the lowest and the highest payoff of the table."""
        return min(map(min, self.table)), max(map(max, self.table))

    def draw(self, generate: Ranges, rng: Random, players: int) -> Secrets:
        """Return nothing: everybody knows the table."""
        return ({},) * players

    def private_schema(self, generate: Ranges) -> Schema:
        """Return the schema of an empty object."""
        return make_object({})

    def list_public(self) -> tuple[TextPlace, ...]:
        """List the moves, and what each earns against each."""
        lines = []
        for own, row in zip(self.moves, self.table, strict=True):
            for other, payoff in zip(self.moves, row, strict=True):
                lines.append(_word_payoff(own, other, payoff))
        return TextPlace("moves", self.moves, "or"), TextPlace("payoffs", tuple(lines))

    def schema(self, names: Names) -> Schema:
        """Return the schema of a move for each person."""
        move = {"type": "string", "enum": list(self.moves)}
        return make_object({"moves": make_object(dict.fromkeys(names, move))})

    def read(
        self,
        data: Ruling,
        names: Names,
        private: Secrets,
        talk: Talk = (),
    ) -> Deal:
        """Return the moves of all persons.

        Raises InvalidMove if one is missing or is not the one that the writer's note names.
        """
        written = data.get("moves")
        if not isinstance(written, Mapping):
            raise InvalidMove(
                f"'moves' is {written!r}, expected the move of each person", Flaw.UNPARSEABLE
            )
        moves = [_read_item(written.get(name), self.moves) for name in names]
        notes = dict(talk)
        for seat, (name, move) in enumerate(zip(names, moves, strict=True)):
            if move is None:
                raise InvalidMove(f"the move of {name} is missing")
            named = _find_named(self.moves, notes[seat]) if seat in notes else [move]
            if named != [move]:
                noted_moves = " and ".join(named) or "no move"
                raise InvalidMove(
                    f"the referee says {name} plays {move}, but the note names {noted_moves}"
                )
        return {"moves": moves}

    def utilities(self, deal: Deal, private: Secrets) -> Utilities:
        """Return what the table says."""
        first, second = (self.moves.index(move) for move in deal["moves"])
        return self.table[first][second], self.table[second][first]


@dataclass(frozen=True, slots=True)
class Verdict(DealRules):
    """Who argued better, with reasons."""

    kind = "verdict"
    ending = TalkEnds("judge")
    impossible = "two of them are on the same side"
    public = frozenset({"topic"})
    private = frozenset({"side"})

    @classmethod
    def from_reader(cls, reader: DomainReader, players: int) -> Verdict:
        """Check the sides and topics of a domain."""
        reader.words("generate.sides", players)
        reader.words("generate.topics")
        return cls()

    def find_bounds(self, reader: DomainReader) -> Bounds:
        """Return the payoffs of a loser and a winner."""
        return 0, 1

    def draw(self, generate: Ranges, rng: Random, players: int) -> Secrets:
        """Draw a side for each of the people."""
        sides = rng.sample(generate["sides"], players)
        return tuple({"side": side} for side in sides)

    def is_possible(self, private: Secrets) -> bool:
        """Tell whether all sides differ."""
        sides = {person["side"] for person in private}
        return len(sides) == len(private)

    def private_schema(self, generate: Ranges) -> Schema:
        """Return the schema of a side."""
        return make_object({"side": {"type": "string", "enum": list(generate["sides"])}})

    def schema(self, names: Names) -> Schema:
        """Return the schema of reasons and a winner."""
        return make_object(
            {"reasons": {"type": "string"}, "winner": {"type": "string", "enum": [*names, _TIE]}}
        )

    def read(
        self,
        data: Ruling,
        names: Names,
        private: Secrets,
        talk: Talk = (),
    ) -> Deal:
        """Return the ruling as a deal, or InvalidMove where it names no winner."""
        winner = _read_item(data.get("winner"), (*names, _TIE))
        if winner is None:
            raise InvalidMove("the winner is missing", Flaw.UNPARSEABLE)
        reasons = data.get("reasons", "")
        seat = None if winner == _TIE else names.index(winner)
        return {"winner": seat, "reasons": reasons if isinstance(reasons, str) else ""}

    def utilities(self, deal: Deal, private: Secrets) -> Utilities:
        """Return 1 for the winner and 0 for the others, or equal shares for a tie."""
        if deal["winner"] is None:
            return (1 / len(private),) * len(private)
        payoffs = [0.0] * len(private)
        payoffs[deal["winner"]] = 1.0
        return tuple(payoffs)


def _read_agreed(data: Ruling, named: bool, field: str) -> bool:
    """Return whether the referee says that all agreed.

    Raises InvalidMove where the deal it names, or none, contradicts it.
    """
    agreed = data.get("agreed")
    if not isinstance(agreed, bool):
        raise InvalidMove(f"'agreed' is {agreed!r}, expected true or false", Flaw.UNPARSEABLE)
    if agreed != named:
        what = f"not agreed, but {field!r} names a deal"
        if agreed:
            what = f"agreed, but {field!r} is empty"
        raise InvalidMove(f"the referee contradicts itself: {what}")
    return agreed


def _read_mapping(data: Ruling, field: str, expected: str) -> Mapping[str, object]:
    mapping = data.get(field) or {}
    if not isinstance(mapping, Mapping):
        raise InvalidMove(f"{field!r} is {mapping!r}, expected {expected}", Flaw.UNPARSEABLE)
    return mapping


def _read_item(answer: object, items: Sequence[str]) -> str | None:
    """Return the item that is meant, None where none is."""
    if answer is None or answer in ("", "none", "None", "null"):
        return None
    written = str(answer).strip().casefold().rstrip(".")
    for item in items:
        if item.casefold() == written:
            return item
    raise InvalidMove(f"{answer!r} is not one of {', '.join(items)}")


def _find_named(items: Sequence[str], text: str) -> list[str]:
    """Return the items that a text names as whole words."""
    return [item for item in items if re.search(rf"\b{re.escape(item)}\b", text, re.IGNORECASE)]


def _word_issue(name: str, levels: Sequence[str]) -> Worded:
    """Name an issue and its levels.

    The name is part of the text, since a word such as "leave" means something else elsewhere.
    """
    places = tuple(TextPlace(f"level{number}", (level,)) for number, level in enumerate(levels, 1))
    listed = ", ".join(f"{{{place.name}}}" for place in places)
    escaped = name.replace("{", "{{").replace("}", "}}")
    return Worded(f"{escaped} ({listed})", places)


def _word_payoff(own: str, other: str, payoff: float) -> Worded:
    """Say what a move earns against another."""
    places = (
        TextPlace("own", (own,)),
        TextPlace("other", (other,)),
        TextPlace("payoff", (f"{payoff:g}",)),
    )
    return Worded("{own} against {other}: {payoff}", places)
