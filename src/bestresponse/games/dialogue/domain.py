"""A domain of dialogue: who talks about what, in which manners, and what a deal is worth. One file of data and texts.

    name, players, [utilities] low and high
    [actions.<set>]      options, the neutral one, and a text for each that tells a speaker how to speak; `new` tells
                         it for a manner found later
    [deal]               kind: option, trade or verdict; items
    [generate]           names, ranges of values (and availability, endowments, topics, sides) to draw games from;
                         `situations`, if given, are sentences of which one is told after the task
    [texts]              task, private, message, referee, score, with $places

I. Gemp et al., "Steering Language Models with Game-Theoretic Solvers", 2024, appendix G, has the idea of such a file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.core.json import JsonMapping, digest
from bestresponse.core.registry import did_you_mean
from bestresponse.games.dialogue.deal import DealRules, Option, Trade, Verdict

__all__ = ["Actions", "Domain", "domain_names", "load_domain", "parse_domain", "read_domain_text"]

_TEXTS = ("task", "private", "message", "referee", "score")
_PUBLIC = {"option": {"names"}, "trade": {"names"}, "verdict": {"names", "topic"}}
_PRIVATE = {"option": {"values"}, "trade": {"values", "endowment"}, "verdict": {"side"}}
_MOST_PLAYERS = 10


@dataclass(frozen=True, slots=True)
class Actions:
    """Ways to speak: labels, the neutral one among them, and the instruction that goes with each.

    `new` is the instruction for a manner that is not listed, with the place $manner; empty where there are no others.
    """

    name: str
    options: tuple[str, ...]
    neutral: str
    texts: Mapping[str, str]
    new: str = ""

    def with_manner(self, manner: str) -> Actions:
        """These and one more."""
        if manner in self.options:
            return self
        text = Template(self.new).substitute(manner=manner)
        return replace(self, options=(*self.options, manner), texts={**self.texts, manner: text})


@dataclass(frozen=True, slots=True)
class Domain:
    """Everything a dialogue needs except a draw of names and private information."""

    name: str
    version: int
    players: int
    low: float
    high: float
    actions: Mapping[str, Actions]
    deal: DealRules
    generate: JsonMapping
    texts: Mapping[str, str]
    digest: str
    written: tuple[JsonMapping, ...] = ()
    """Scenarios that were written for this domain, as data: if there are any, its games are these and no others."""

    def manners(self, name: str = "") -> Actions:
        """The set of actions of that name; the first one without a name."""
        chosen = name or next(iter(self.actions))
        if chosen not in self.actions:
            raise UsageError(f"{self.name} has no actions named {chosen!r}; expected {', '.join(self.actions)}")
        return self.actions[chosen]

    def fill(self, text: str, places: Mapping[str, object]) -> str:
        """The text of that name with its places filled."""
        return Template(self.texts[text]).substitute(places).strip()


def domain_names() -> tuple[str, ...]:
    """The domains that come with the package."""
    found = files("bestresponse.games.dialogue.domains").iterdir()
    return tuple(sorted(entry.name.removesuffix(".toml") for entry in found if entry.name.endswith(".toml")))


def load_domain(given: str | Path) -> Domain:
    """A domain by name, or from a TOML file; InvalidGame says what is wrong with the file.

    >>> load_domain("meeting").players
    2
    """
    if str(given) in domain_names():
        return _built_in(str(given))
    return parse_domain(read_domain_text(given), str(given))


def read_domain_text(given: str | Path) -> str:
    """Read the TOML text of a domain by name or file; UsageError where there is none."""
    if str(given) in domain_names():
        return files("bestresponse.games.dialogue.domains").joinpath(f"{given}.toml").read_text("utf-8")
    path = Path(given)
    if path.suffix != ".toml":
        near = did_you_mean(str(given), list(domain_names()))
        raise UsageError(f"there is no domain named {given!s}; expected {', '.join(domain_names())} or a file.{near}")
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        raise UsageError(f"there is no file {path}") from None
    except UnicodeDecodeError:
        raise InvalidGame(f"{path} is not a text file in UTF-8") from None


@cache
def _built_in(name: str) -> Domain:
    return parse_domain(read_domain_text(name), name)


def parse_domain(text: str, where: str = "domain") -> Domain:
    """The domain written in TOML `text`, checked."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidGame(f"{where} is not TOML: {error}") from None
    reader = _Reader(data, where)
    domain = Domain(
        name=reader.get("name", str),
        version=reader.get("version", int, 1),
        players=reader.players(),
        low=float(reader.get("utilities.low", (int, float))),
        high=float(reader.get("utilities.high", (int, float))),
        actions=reader.actions(),
        deal=reader.deal(),
        generate=reader.get("generate", dict),
        texts=reader.texts(),
        digest=digest(data),
    )
    _check_generator(domain, reader)
    return domain


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads a domain's data; every complaint names the file and the place in it."""

    data: JsonMapping
    where: str

    def wrong(self, why: str) -> InvalidGame:
        return InvalidGame(f"{self.where}: {why}")

    def get(self, path: str, kind: Any, default: Any = None) -> Any:
        value: Any = self.data
        for part in path.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if value is None:
            value = default
        if value is None:
            raise self.wrong(f"{path} is missing")
        if not isinstance(value, kind) or isinstance(value, bool):
            raise self.wrong(f"{path} is {value!r}, expected {_kind_name(kind)}")
        return value

    def players(self) -> int:
        count = int(self.get("players", int))
        if not 2 <= count <= _MOST_PLAYERS:
            raise self.wrong(f"players is {count}, expected 2 to {_MOST_PLAYERS}")
        return count

    def words(self, path: str) -> tuple[str, ...]:
        found = self.get(path, list)
        if not found or not all(isinstance(word, str) and word for word in found):
            raise self.wrong(f"{path}: expected a list of texts")
        if len({word.casefold() for word in found}) != len(found):
            raise self.wrong(f"{path}: two entries are the same; expected different ones")
        return tuple(found)

    def actions(self) -> dict[str, Actions]:
        sets = self.get("actions", dict)
        if not sets:
            raise self.wrong("actions: expected at least one set, such as [actions.tone]")
        return {name: self._actions(name) for name in sets}

    def _actions(self, name: str) -> Actions:
        options = self.words(f"actions.{name}.options")
        neutral = self.get(f"actions.{name}.neutral", str)
        if neutral not in options:
            raise self.wrong(f"actions.{name}.neutral is {neutral!r}, expected one of {', '.join(options)}")
        texts = self.get(f"actions.{name}.texts", dict)
        for option in options:
            if not isinstance(texts.get(option), str) or not texts[option].strip():
                raise self.wrong(f"actions.{name}.texts has no text for {option!r}")
        if len({texts[option] for option in options}) != len(options):
            raise self.wrong(f"actions.{name}: two actions have the same text, so they would be one action")
        new = self.get(f"actions.{name}.new", str, "")
        if new and "$manner" not in new:
            raise self.wrong(f"actions.{name}.new: expected a text with the place $manner")
        return Actions(name, options, neutral, texts, new)

    def _places(self, text: str) -> set[str]:
        """What a text may name: private information only where its owner reads it."""
        kind = self.get("deal.kind", str)
        public = _PUBLIC.get(kind, set())
        if text in ("task", "referee"):
            return public
        return public | {"me"} if text == "score" else public | {"me", "other"} | _PRIVATE.get(kind, set())

    def deal(self) -> DealRules:
        match self.get("deal.kind", str):
            case "option":
                return Option(self.words("deal.items"))
            case "trade":
                if self.players() != 2:
                    raise self.wrong("a trade is between 2 players; use deal.kind = 'option' for more")
                return Trade(self.words("deal.items"))
            case "verdict":
                return Verdict()
            case other:
                raise self.wrong(f"deal.kind is {other!r}, expected option, trade or verdict")

    def texts(self) -> dict[str, str]:
        texts = self.get("texts", dict)
        for name in _TEXTS:
            if not isinstance(texts.get(name), str) or not texts[name].strip():
                raise self.wrong(f"texts.{name} is missing")
            template = Template(texts[name])
            unknown = sorted(set(template.get_identifiers()) - self._places(name)) if template.is_valid() else ["$"]
            if unknown:
                known = ", ".join(f"${place}" for place in sorted(self._places(name)))
                raise self.wrong(f"texts.{name}: the place ${unknown[0].lstrip('$')} is not known; expected {known}")
        return {name: texts[name].strip() for name in _TEXTS}


def _kind_name(kind: Any) -> str:
    names = {str: "a text", int: "a whole number", dict: "a table", list: "a list"}
    return names.get(kind, "a number")


def _check_generator(domain: Domain, reader: _Reader) -> None:
    """Ranges that make sense, utilities that stay in their range, and a deal that can be reached."""
    if not domain.low < domain.high:
        raise reader.wrong(f"utilities: low {domain.low:g} is not less than high {domain.high:g}")
    if len(reader.words("generate.names")) < domain.players:
        raise reader.wrong(f"generate.names: expected at least {domain.players} names")
    if "situations" in domain.generate:
        reader.words("generate.situations")
    match domain.deal:
        case Option(items):
            low, high = _range(reader, "generate.values")
            _within(reader, min(low, 0), high)
            fewest, most = _range(reader, "generate.available")
            if not 1 <= fewest <= most <= len(items):
                raise reader.wrong(f"generate.available: no deal is reachable with {fewest} to {most} of {len(items)}")
        case Trade(items):
            _, value = _range(reader, "generate.values")
            _, most = _range(reader, "generate.endowment")
            if most < 1:
                raise reader.wrong("generate.endowment: no deal is reachable, because nobody owns anything")
            _within(reader, -value * most * len(items), value * most * len(items))
        case Verdict():
            if len(reader.words("generate.sides")) < domain.players:
                raise reader.wrong(f"generate.sides: expected at least {domain.players} different sides")
            reader.words("generate.topics")
            _within(reader, 0, 1)


def _range(reader: _Reader, path: str) -> tuple[int, int]:
    found = reader.get(path, list)
    if len(found) != 2 or not all(isinstance(x, int) for x in found) or found[0] > found[1] or found[0] < 0:
        raise reader.wrong(f"{path} is {found!r}, expected two whole numbers, the smaller first")
    return found[0], found[1]


def _within(reader: _Reader, least: float, most: float) -> None:
    low, high = reader.get("utilities.low", (int, float)), reader.get("utilities.high", (int, float))
    if least < low or most > high:
        raise reader.wrong(f"utilities can be {least:g} to {most:g}, outside the stated range {low:g} to {high:g}")
