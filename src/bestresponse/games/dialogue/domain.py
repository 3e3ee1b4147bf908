"""A domain of dialogue and the games drawn from it.

A domain is one file of data and texts: who talks about what, how, and for what.

    name, players, [utilities] low and high
    [actions.<set>]      options, the neutral one, and a text for each that tells a speaker how to
                         speak; `new` tells it for a manner found later; `models` names the model
                         that speaks, where an action is also the choice of a model; `definitions`
                         say how a reader recognises each, `labelled` are messages whose manner is
                         known, to test whoever names manners
    [deal]               kind (see `deals`) and what may be agreed on: items, prices, issues, or
                         moves and payoffs
    [generate]           names, ranges of values (and availability, endowments, topics, sides,
                         parts) to draw games from; `situations`, if given, are sentences of which
                         one is told after the task
    [texts]              task, private, message, referee, score, with $places; `note` where notes
                         are sealed; `examples` of how an outcome is worth so much, for a model that
                         scores, each ending in "Value: <number>"; `summary_prefix` and
                         `summary_postfix` around a dialogue that is to be summed up
    [payoffs]            optional, for a model that scores: `parts`, each with question, low and
                         high, and how they become one payoff (`aggregate`: sum, mean, least, most,
                         product) instead of `texts.score`

I. Gemp et al., "Steering Language Models with Game-Theoretic Solvers", 2024, appendix G, has the
idea of such a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources import files
from itertools import count as numbers, islice, product
from math import prod
from pathlib import Path
from random import Random
from statistics import fmean
from string import Template

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.core.files import parse_toml, read_text_file
from bestresponse.core.json import JsonMapping, JsonObject, digest
from bestresponse.core.registry import did_you_mean
from bestresponse.core.seeds import generator
from bestresponse.games.dialogue.deals import (
    DealRules,
    Issues,
    Moves,
    Option,
    Price,
    Private,
    Ranges,
    Trade,
    Verdict,
)
from bestresponse.games.dialogue.domain_reader import DomainReader, are_distinct
from bestresponse.games.dialogue.schemas import describe_form, make_object, read_by_schema, shorten
from bestresponse.games.dialogue.texts import TEXTS

_TEXTS = ("task", "private", "message", "referee", "score")
_KINDS: dict[str, type[DealRules]] = {
    kind.kind: kind for kind in (Option, Trade, Price, Issues, Moves, Verdict)
}
_MOST_PLAYERS = 10
_MOST_PARTS = 8
"""Payoffs of one domain: each is a call for each person."""
_EXAMPLE = re.compile(r"^Value: -?\d", re.M)
_TRIES = (
    1000  # draws in a row without a new or possible game, after which there is taken to be none
)
_NAME = re.compile(r"[^\W\d_][\w.'’-]*( [\w.'’-]+)?")
_FOLDER_NAME = re.compile(r"\w[\w -]{0,59}")
_NAMES = [
    "Ada",
    "Bo",
    "Carla",
    "Dmitri",
    "Esra",
    "Femi",
    "Greta",
    "Hugo",
    "Ines",
    "Jonas",
    "Kira",
    "Luca",
    "Mei",
    "Nils",
    "Olga",
    "Pavel",
    "Quinn",
    "Rosa",
    "Sami",
    "Tara",
]
"""What people are called where a domain names nobody."""
_LONGEST_NAME = 30
_LONGEST_TEXT = 300
_PUBLIC_RULES = {
    "topic": "a motion that people can argue about from two sides, one sentence",
    "situation": "why they talk, one sentence without numbers",
}


@dataclass(frozen=True, slots=True)
class Actions:
    """Ways to speak: labels, the neutral one among them, and the instruction that goes with each.

    `new` is the instruction for a manner that is not listed, with the place $manner; empty where
    there are no others. `models` names the model that speaks in a manner, where it is another than
    the speaker's. `definitions` say how a reader recognises a manner, and `labelled` are pairs of a
    message and its manner.
    """

    name: str
    options: tuple[str, ...]
    neutral: str
    texts: Mapping[str, str]
    new: str = ""
    models: Mapping[str, str] = field(default_factory=dict)
    definitions: Mapping[str, str] = field(default_factory=dict)
    labelled: tuple[tuple[str, str], ...] = ()

    def with_manner(self, manner: str) -> Actions:
        """These and one more."""
        if manner in self.options:
            return self
        text = Template(self.new).substitute(manner=manner)
        return replace(self, options=(*self.options, manner), texts={**self.texts, manner: text})


@dataclass(frozen=True, slots=True)
class PayoffPart:
    """One payoff that a model scores: its question and its range.

    The question has the places of `texts.score`.
    """

    question: str
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Payoffs:
    """The payoffs of a score and how they combine.

    They combine as "sum", "mean", "least", "most" or "product".
    """

    parts: tuple[PayoffPart, ...]
    aggregate: str = "sum"

    def combine(self, values: Sequence[float]) -> float:
        """Return what a person earns who has these payoffs.

        >>> Payoffs((), "product").combine([2, 0.5, 3])
        3.0
        """
        return float(AGGREGATES[self.aggregate](values))


AGGREGATES: dict[str, Callable[[Sequence[float]], float]] = {
    "sum": sum,
    "mean": fmean,
    "least": min,
    "most": max,
    "product": prod,
}
"""How several payoffs become one."""


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
    generate: Ranges
    texts: Mapping[str, str]
    digest: str
    payoffs: Payoffs
    written: tuple[JsonMapping, ...] = ()
    """Scenarios that were written for this domain, as data: if there are any, its games are these
    and no others."""

    def manners(self, name: str = "") -> Actions:
        """The set of actions of that name; the first one without a name."""
        chosen = name or next(iter(self.actions))
        if chosen not in self.actions:
            raise UsageError(
                f"{self.name} has no actions named {chosen!r}; expected {', '.join(self.actions)}"
            )
        return self.actions[chosen]

    def fill(self, text: str, placeholders: Mapping[str, object]) -> str:
        """The text of that name with its places filled."""
        template = Template(self.texts[text])
        return template.substitute(placeholders).strip()


def domain_names() -> tuple[str, ...]:
    """The domains that come with the package."""
    entries = files("bestresponse.games.dialogue.domains").iterdir()
    names = [entry.name for entry in entries if entry.name.endswith(".toml")]
    return tuple(sorted(name.removesuffix(".toml") for name in names))


def load_domain(source: str | Path) -> Domain:
    """A domain by name, or from a TOML file; InvalidGame says what is wrong with the file.

    >>> load_domain("meeting").players
    2
    """
    return parse_domain(read_domain_text(source), str(source))


def read_domain_text(source: str | Path) -> str:
    """Read the TOML text of a domain by name or file; UsageError where there is none."""
    if str(source) in domain_names():
        file = files("bestresponse.games.dialogue.domains") / f"{source}.toml"
        return file.read_text("utf-8")
    path = Path(source)
    if path.suffix != ".toml":
        near = did_you_mean(str(source), list(domain_names()))
        raise UsageError(
            f"there is no domain named {source!s}; expected {', '.join(domain_names())} or a"
            f" .toml file.{near}"
        )
    try:
        return read_text_file(path)
    except FileNotFoundError:
        raise UsageError(f"there is no file {path}") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidGame(f"{path} is not a text file in UTF-8") from None


@lru_cache(maxsize=32)
def parse_domain(text: str, where: str = "domain") -> Domain:
    """The domain written in TOML `text`, checked."""
    try:
        data = parse_toml(text)
    except ValueError as error:
        raise InvalidGame(f"{where} is not TOML: {error}") from None
    generate = data.get("generate")
    if isinstance(generate, dict):
        generate.setdefault("names", _NAMES)
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
    name = reader.get("name", str)
    if not _FOLDER_NAME.fullmatch(name):
        raise reader.wrong(
            f"name is {name!r}, expected at most 60 letters, digits, hyphens, underscores and"
            " spaces, since folders are named after it"
        )
    low = float(reader.get("utilities.low", (int, float)))
    high = float(reader.get("utilities.high", (int, float)))
    texts = _read_texts(reader, deal)
    try:
        mark = digest(data)
    except (TypeError, ValueError):
        raise reader.wrong("expected texts and finite numbers, got nan, inf or a date") from None
    score = PayoffPart(texts["score"], low, high)
    domain = Domain(
        name=name,
        version=reader.get("version", int, 1),
        players=players,
        low=low,
        high=high,
        actions={name: _read_actions(reader, name) for name in manners},
        deal=deal,
        generate=reader.get("generate", dict),
        texts=texts,
        digest=mark,
        payoffs=_read_payoffs(reader, score, deal),
    )
    _check_generator(domain, reader)
    reader.refuse_unknown()
    return domain


def _read_actions(reader: DomainReader, name: str) -> Actions:
    options = reader.words(f"actions.{name}.options")
    neutral = reader.get(f"actions.{name}.neutral", str)
    if neutral not in options:
        raise reader.wrong(
            f"actions.{name}.neutral is {neutral!r}, expected one of {', '.join(options)}"
        )
    texts = _read_action_texts(reader, name, options)
    new = reader.get(f"actions.{name}.new", str, "")
    if new and "$manner" not in new:
        raise reader.wrong(f"actions.{name}.new: expected a text with the place $manner")
    definitions = reader.get(f"actions.{name}.definitions", dict, {})
    for option, text in definitions.items():
        if option not in options or not isinstance(text, str):
            raise reader.wrong(
                f"actions.{name}.definitions: {option!r} is not a text for one of the options"
            )
    labelled = _read_labelled(reader, name, options)
    models = reader.get(f"actions.{name}.models", dict, {})
    for manner, model in models.items():
        if manner not in options or not _is_text(model):
            raise reader.wrong(
                f"actions.{name}.models: expected the name of a model for an option, got {manner!r}"
            )
    return Actions(
        name=name,
        options=options,
        neutral=neutral,
        texts=texts,
        new=new,
        models=models,
        definitions=definitions,
        labelled=labelled,
    )


def _read_action_texts(
    reader: DomainReader,
    name: str,
    options: Sequence[str],
) -> Mapping[str, str]:
    """Read how to speak in each manner; no two are told the same."""
    texts: Mapping[str, str] = reader.get(f"actions.{name}.texts", dict)
    for option in options:
        if not _is_text(texts.get(option)):
            raise reader.wrong(f"actions.{name}.texts has no text for {option!r}")
    different = {texts[option] for option in options}
    if len(different) != len(options):
        raise reader.wrong(
            f"actions.{name}: two actions have the same text, so they would be one action"
        )
    return texts


def _read_labelled(
    reader: DomainReader,
    name: str,
    options: Sequence[str],
) -> tuple[tuple[str, str], ...]:
    """Read the messages whose manner is known, each with its manner."""
    labelled = reader.get(f"actions.{name}.labelled", dict, {})
    pairs: list[tuple[str, str]] = []
    for manner, messages in labelled.items():
        is_list = isinstance(messages, list)
        if manner not in options or not is_list or not all(isinstance(m, str) for m in messages):
            raise reader.wrong(
                f"actions.{name}.labelled: expected a list of messages for each option, got"
                f" {manner!r}"
            )
        pairs += [(text, manner) for text in messages]
    return tuple(pairs)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _read_texts(reader: DomainReader, deal: DealRules) -> dict[str, str]:
    names = (*_TEXTS, "note") if deal.sealed else _TEXTS
    texts = {name: reader.get(f"texts.{name}", str).strip() for name in names}
    # What is written before and after a dialogue that is to be summed up.
    for name in ("prefix", "postfix"):
        usual = TEXTS.text(f"dialogue_observe_{name}")
        texts[f"summary_{name}"] = reader.get(f"texts.summary_{name}", str, usual).strip()
    for name, text in texts.items():
        if not text:
            raise reader.wrong(f"texts.{name} is missing")
        _check_places(reader, f"texts.{name}", text, _list_places(name, deal))
    usual = TEXTS.text(f"dialogue_examples_{deal.kind}")
    examples = reader.get("texts.examples", str, usual).strip()
    if not _EXAMPLE.search(examples):
        raise reader.wrong(
            "texts.examples: expected a text with a line 'Value: <number>' after each example"
        )
    return {**texts, "examples": examples}


def _read_payoffs(reader: DomainReader, usual: PayoffPart, deal: DealRules) -> Payoffs:
    """Return the payoffs that a model scores: those of the file, or the one of `texts.score`."""
    if "payoffs" not in reader.data:
        return Payoffs((usual,))
    aggregate = reader.get("payoffs.aggregate", str, "sum")
    if aggregate not in AGGREGATES:
        raise reader.wrong(
            f"payoffs.aggregate is {aggregate!r}, expected one of {', '.join(AGGREGATES)}"
        )
    parts = []
    for number, part in enumerate(reader.get("payoffs.parts", list), 1):
        match part:
            case {
                "question": str(question),
                "low": int() | float() as low,
                "high": int() | float() as high,
            }:
                _check_places(
                    reader,
                    f"payoffs.parts, part {number}",
                    question,
                    _list_places("score", deal),
                )
                parts.append(PayoffPart(question.strip(), float(low), float(high)))
            case _:
                raise reader.wrong(f"payoffs.parts: part {number} needs a question, low and high")
        if not parts[-1].low < parts[-1].high or len(part) > 3:
            raise reader.wrong(
                f"payoffs.parts: part {number} needs a question and low less than high, nothing"
                " else"
            )
    if not parts:
        raise reader.wrong("payoffs.parts: expected at least one")
    payoffs = Payoffs(tuple(parts), aggregate)
    # Every aggregate takes its extremes at corners of the ranges.
    corners = product(*((part.low, part.high) for part in islice(parts, _MOST_PARTS)))
    reached = [payoffs.combine(corner) for corner in corners]
    if len(parts) > _MOST_PARTS or min(reached) < usual.low or max(reached) > usual.high:
        span = f"{usual.low:g} to {usual.high:g}"
        raise reader.wrong(
            f"payoffs: at most {_MOST_PARTS} parts, which together stay within the utilities,"
            f" {span}"
        )
    return payoffs


def _list_places(name: str, deal: DealRules) -> set[str]:
    """List what a text may name: private information only where its owner reads it."""
    known = {"names", *deal.public, *(() if name in ("task", "referee") else ("me",))}
    of_others = ("task", "referee", "score", "summary_prefix", "summary_postfix")
    return known | (set() if name in of_others else {"other", *deal.private})


def _check_places(reader: DomainReader, where: str, text: str, known: set[str]) -> None:
    """Refuse a text with a place that nobody fills."""
    template = Template(text)
    unknown = ["$"]
    if template.is_valid():
        names = set(template.get_identifiers())
        unknown = sorted(names - known)
    if unknown:
        expected = ", ".join(f"${placeholder}" for placeholder in sorted(known))
        raise reader.wrong(
            f"{where}: the place ${unknown[0].lstrip('$')} is not known; expected {expected}"
        )


def _check_generator(domain: Domain, reader: DomainReader) -> None:
    """Check that ranges make sense, utilities stay in range, and a deal can be reached."""
    if not domain.low < domain.high:
        raise reader.wrong(f"utilities: low {domain.low:g} is not less than high {domain.high:g}")
    if len(reader.words("generate.names")) < domain.players:
        raise reader.wrong(f"generate.names: expected at least {domain.players} names")
    if "situations" in domain.generate:
        reader.words("generate.situations")
    least, most = domain.deal.find_bounds(reader)
    if least < domain.low or most > domain.high:
        span = f"{domain.low:g} to {domain.high:g}"
        raise reader.wrong(
            f"utilities can be {least:g} to {most:g}, outside the stated range {span}"
        )


@dataclass(frozen=True, slots=True)
class Scenario:
    """One game of a domain: who plays, what everybody knows, and what each knows alone."""

    names: tuple[str, ...]
    public: Mapping[str, str]
    private: tuple[Private, ...]

    @property
    def id(self) -> str:
        """The hash of everything in the scenario."""
        return digest(self.to_json(), 12)

    def to_json(self) -> JsonObject:
        """Return the value as plain JSON data."""
        private = [dict(known) for known in self.private]
        return {"names": list(self.names), "public": dict(self.public), "private": private}

    @classmethod
    def from_json(cls, data: JsonMapping) -> Scenario:
        """Return the value that `to_json` wrote."""
        private = [dict(known) for known in data["private"]]
        return cls(tuple(data["names"]), dict(data["public"]), tuple(private))


def scenarios(domain: Domain, seed: int, count: int) -> list[Scenario]:
    """Return the first `count` different games of `seed`; InvalidGame where the domain has fewer.

    The n-th depends only on the seed and on n. In a debate the sides always differ; elsewhere some
    deal is possible.
    """
    cases = list(islice(all_scenarios(domain, seed), count))
    if len(cases) < count:
        raise InvalidGame(f"{domain.name} has only {len(cases)} different games, not {count}")
    return cases


def all_scenarios(domain: Domain, seed: int) -> Iterator[Scenario]:
    """Different games without end, or until `_TRIES` draws in a row bring nothing new.

    Written ones as they stand.
    """
    if domain.written:
        yield from map(Scenario.from_json, domain.written)
        return
    seen: set[str] = set()
    latest = 0
    for number in numbers():
        drawn = _draw(domain, generator(seed, "scenario", domain.name, number))
        if drawn.id not in seen:
            seen.add(drawn.id)
            latest = number
            yield drawn
        elif number - latest == _TRIES:
            return


def variants(
    domain: Domain,
    scenario: Scenario,
    seed: int,
    count: int,
    *,
    fewer: bool = False,
) -> tuple[Scenario, ...]:
    """`scenario` and `count - 1` others that differ in private information only.

    They differ from it and from each other.

    Where the domain has not so many, InvalidGame, or as many as there are with `fewer`.
    """
    cases = [scenario]
    tries = _TRIES if fewer else _TRIES * count
    if not any(scenario.private):
        tries = 0
    for number in range(tries):
        if len(cases) == count:
            break
        private = _draw_private(domain, generator(seed, "variant", scenario.id, number))
        drawn = replace(scenario, private=private)
        if all(drawn.id != other.id for other in cases):
            cases.append(drawn)
    if len(cases) < count and not fewer:
        raise InvalidGame(
            f"{domain.name} has only {len(cases)} different draws of private information, not"
            f" {count}"
        )
    return tuple(cases)


def read_scenario(domain: Domain, data: object) -> Scenario:
    """Return the scenario that `data` describes.

    InvalidGame says why it does not belong to this domain.

    It has the form of `Scenario.to_json`: names, what everybody knows (`public`), and what each
    knows alone (`private`, in the order of the names). It has to keep to what the domain's own
    generator draws: the items, the ranges of numbers, different sides; and some deal must be
    possible. Names, topics and situations are the writer's own.
    """
    if not isinstance(data, Mapping):
        raise InvalidGame(
            f"a scenario is {shorten(data)}, expected an object with names and private"
        )
    names = _read_names(domain, data.get("names"))
    public = _read_public(domain, data.get("public") or {})
    entries = data.get("private")
    if (
        not isinstance(entries, Sequence)
        or isinstance(entries, str)
        or len(entries) != domain.players
    ):
        raise InvalidGame(
            f"private is {shorten(entries)}, expected one entry for each of {domain.players} people"
        )
    schema = domain.deal.private_schema(domain.generate)
    private = tuple(
        read_by_schema(known, schema, f"what {name} knows")
        for name, known in zip(names, entries, strict=True)
    )
    if not domain.deal.is_possible(private):
        raise InvalidGame(f"no deal is possible: {domain.deal.impossible}")
    return Scenario(names, public, private)


def scenario_rules(domain: Domain) -> str:
    """Say what a writer has to keep to, one rule a line."""
    rules = [f"names: {domain.players} different first names"]
    rules += [f"public.{part}: {_PUBLIC_RULES[part]}" for part in _list_public_parts(domain)]
    private = describe_form(domain.deal.private_schema(domain.generate))
    rules.append(f"private, for each person: {private}")
    if domain.deal.impossible:
        rules.append(f"no scenario in which {domain.deal.impossible}")
    return "\n".join(f"- {rule}" for rule in rules)


def scenario_schema(domain: Domain, most: int) -> dict[str, object]:
    """Return the JSON schema of an object that lists up to `most` scenarios."""
    people = {"minItems": domain.players, "maxItems": domain.players}
    text = {"type": "string"}
    public = dict.fromkeys(_list_public_parts(domain), text)
    private = domain.deal.private_schema(domain.generate)
    scenario = make_object(
        {
            "names": {"type": "array", "items": text, **people},
            "public": make_object(public),
            "private": {"type": "array", "items": private, **people},
        }
    )
    return make_object(
        {"scenarios": {"type": "array", "items": scenario, "minItems": 1, "maxItems": most}}
    )


def _list_public_parts(domain: Domain) -> tuple[str, ...]:
    """List what everybody knows besides the names.

    This is the topic, or the situation if a domain has several.
    """
    if "topic" in domain.deal.public:
        return ("topic",)
    return ("situation",) if "situations" in domain.generate else ()


def _draw(domain: Domain, rng: Random) -> Scenario:
    names = tuple(rng.sample(domain.generate["names"], domain.players))
    parts = _list_public_parts(domain)
    public = {}
    if "topic" in parts:
        public["topic"] = rng.choice(domain.generate["topics"])
    private = _draw_private(domain, rng)
    if "situation" in parts:
        public["situation"] = rng.choice(domain.generate["situations"])
    return Scenario(names, public, private)


def _draw_private(domain: Domain, rng: Random) -> tuple[Private, ...]:
    for _ in range(_TRIES):
        drawn = domain.deal.draw(domain.generate, rng, domain.players)
        if domain.deal.is_possible(drawn):
            return drawn
    raise InvalidGame(
        f"{domain.name}: no deal can be reached in {_TRIES} draws of private information"
    )


def _read_names(domain: Domain, entries: object) -> tuple[str, ...]:
    if (
        not isinstance(entries, Sequence)
        or isinstance(entries, str)
        or len(entries) != domain.players
    ):
        raise InvalidGame(f"names is {shorten(entries)}, expected {domain.players} names")
    names = tuple(str(name).strip() for name in entries)
    for name in names:
        if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
            raise InvalidGame(f"{shorten(name)} is not a name; expected one or two words")
    if not are_distinct(names):
        raise InvalidGame(f"the names {', '.join(names)} are not all different")
    return names


def _read_public(domain: Domain, texts: object) -> dict[str, str]:
    if not isinstance(texts, Mapping):
        raise InvalidGame(f"public is {shorten(texts)}, expected an object")
    public = {}
    for part in _list_public_parts(domain):
        text = texts.get(part)
        if not isinstance(text, str) or not text.strip():
            raise InvalidGame(f"public.{part} is missing")
        public[part] = re.sub(r"\s+", " ", text.strip())
        if len(public[part]) > _LONGEST_TEXT:
            raise InvalidGame(
                f"public.{part} has {len(public[part])} characters; the limit is {_LONGEST_TEXT}"
            )
    return public
