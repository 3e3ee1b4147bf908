"""A domain of dialogue: who talks about what, in which manners, and what a deal is worth. One file of data and texts.

    name, players, [utilities] low and high
    [actions.<set>]      options, the neutral one, and a text for each that tells a speaker how to speak; `new` tells
                         it for a manner found later
    [deal]               kind (see `deals.rules`) and what may be agreed on: items, prices, issues, or moves and payoffs
    [generate]           names, ranges of values (and availability, endowments, topics, sides, parts) to draw games
                         from; `situations`, if given, are sentences of which one is told after the task
    [texts]              task, private, message, referee, score, with $places; `note` where notes are sealed

I. Gemp et al., "Steering Language Models with Game-Theoretic Solvers", 2024, appendix G, has the idea of such a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.core.files import parse_toml, read_text_file
from bestresponse.core.json import JsonMapping, digest
from bestresponse.core.registry import did_you_mean
from bestresponse.games.dialogue.deals import DealRules, Issues, Moves, Option, Price, Trade, Verdict
from bestresponse.games.dialogue.reader import DomainReader

_TEXTS = ("task", "private", "message", "referee", "score")
_KINDS: dict[str, type[DealRules]] = {kind.kind: kind for kind in (Option, Trade, Price, Issues, Moves, Verdict)}
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
        return read_text_file(path)
    except FileNotFoundError:
        raise UsageError(f"there is no file {path}") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidGame(f"{path} is not a text file in UTF-8") from None


@cache
def _built_in(name: str) -> Domain:
    return parse_domain(read_domain_text(name), name)


def parse_domain(text: str, where: str = "domain") -> Domain:
    """The domain written in TOML `text`, checked."""
    try:
        data = parse_toml(text)
    except ValueError as error:
        raise InvalidGame(f"{where} is not TOML: {error}") from None
    reader = DomainReader(data, where)
    players = int(reader.get("players", int))
    if not 2 <= players <= _MOST_PLAYERS:
        raise reader.wrong(f"players is {players}, expected 2 to {_MOST_PLAYERS}")
    kind = reader.get("deal.kind", str)
    if kind not in _KINDS:
        raise reader.wrong(f"deal.kind is {kind!r}, expected one of {', '.join(_KINDS)}")
    deal = _KINDS[kind].from_reader(reader, players)
    manners = reader.get("actions", dict)
    if not manners:
        raise reader.wrong("actions: expected at least one set, such as [actions.tone]")
    domain = Domain(
        name=reader.get("name", str),
        version=reader.get("version", int, 1),
        players=players,
        low=float(reader.get("utilities.low", (int, float))),
        high=float(reader.get("utilities.high", (int, float))),
        actions={name: _read_actions(reader, name) for name in manners},
        deal=deal,
        generate=reader.get("generate", dict),
        texts=_read_texts(reader, deal),
        digest=digest(data),
    )
    _check_generator(domain, reader)
    reader.refuse_unknown()
    return domain


def _read_actions(reader: DomainReader, name: str) -> Actions:
    options = reader.words(f"actions.{name}.options")
    neutral = reader.get(f"actions.{name}.neutral", str)
    if neutral not in options:
        raise reader.wrong(f"actions.{name}.neutral is {neutral!r}, expected one of {', '.join(options)}")
    texts = reader.get(f"actions.{name}.texts", dict)
    for option in options:
        if not isinstance(texts.get(option), str) or not texts[option].strip():
            raise reader.wrong(f"actions.{name}.texts has no text for {option!r}")
    if len({texts[option] for option in options}) != len(options):
        raise reader.wrong(f"actions.{name}: two actions have the same text, so they would be one action")
    new = reader.get(f"actions.{name}.new", str, "")
    if new and "$manner" not in new:
        raise reader.wrong(f"actions.{name}.new: expected a text with the place $manner")
    return Actions(name, options, neutral, texts, new)


def _read_texts(reader: DomainReader, deal: DealRules) -> dict[str, str]:
    texts = reader.get("texts", dict)
    names = (*_TEXTS, "note") if deal.sealed else _TEXTS
    for name in names:
        if not isinstance(texts.get(name), str) or not texts[name].strip():
            raise reader.wrong(f"texts.{name} is missing")
        # Private information may be named only where its owner reads the text.
        known = {"names", *deal.public, *(() if name in ("task", "referee") else ("me",))}
        known |= set() if name in ("task", "referee", "score") else {"other", *deal.private}
        template = Template(texts[name])
        unknown = sorted(set(template.get_identifiers()) - known) if template.is_valid() else ["$"]
        if unknown:
            expected = ", ".join(f"${place}" for place in sorted(known))
            raise reader.wrong(f"texts.{name}: the place ${unknown[0].lstrip('$')} is not known; expected {expected}")
    return {name: texts[name].strip() for name in names}


def _check_generator(domain: Domain, reader: DomainReader) -> None:
    """Ranges that make sense, utilities that stay in their range, and a deal that can be reached."""
    if not domain.low < domain.high:
        raise reader.wrong(f"utilities: low {domain.low:g} is not less than high {domain.high:g}")
    if len(reader.words("generate.names")) < domain.players:
        raise reader.wrong(f"generate.names: expected at least {domain.players} names")
    if "situations" in domain.generate:
        reader.words("generate.situations")
    least, most = domain.deal.find_bounds(reader)
    if least < domain.low or most > domain.high:
        span = f"{domain.low:g} to {domain.high:g}"
        raise reader.wrong(f"utilities can be {least:g} to {most:g}, outside the stated range {span}")
