"""Games of a domain: names, private information, topics and sides, drawn from a seed or written by somebody.

`scenarios(domain, seed, count)` gives `count` different ones; the n-th depends only on the seed and on n. In a debate
the sides always differ; elsewhere some deal is possible.

A written scenario (by a model, a person) has the form of `Scenario.to_json`: names, what everybody knows (`public`),
and what each knows alone (`private`, in the order of the names). It has to keep to what the domain's own generator
draws: the items, the ranges of numbers, different sides; and some deal must be possible. Names, topics and situations
are the writer's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count as numbers, islice
from random import Random

from bestresponse.core.errors import InvalidGame
from bestresponse.core.json import JsonMapping, JsonObject, digest
from bestresponse.core.seeds import generator
from bestresponse.games.dialogue.deals import Private, describe_form, make_object, read_form, shorten
from bestresponse.games.dialogue.domain import Domain

_TRIES = 1000
_NAME = re.compile(r"[^\W\d_][\w.'’-]*( [\w.'’-]+)?")
_LONGEST_NAME = 30
_LONGEST_TEXT = 300
_PUBLIC_RULES = {
    "topic": "a motion that people can argue about from two sides, one sentence",
    "situation": "why they talk, one sentence without numbers",
}


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
        private = [dict(own) for own in self.private]
        return {"names": list(self.names), "public": dict(self.public), "private": private}

    @classmethod
    def from_json(cls, data: JsonMapping) -> Scenario:
        """Return the value that `to_json` wrote."""
        return cls(tuple(data["names"]), dict(data["public"]), tuple(dict(own) for own in data["private"]))


def scenarios(domain: Domain, seed: int, count: int) -> list[Scenario]:
    """The first `count` different games of `seed`; InvalidGame where the domain has fewer."""
    found = list(islice(all_scenarios(domain, seed), count))
    if len(found) < count:
        raise InvalidGame(f"{domain.name} has only {len(found)} different games, not {count}")
    return found


def all_scenarios(domain: Domain, seed: int) -> Iterator[Scenario]:
    """Different games without end, or until `_TRIES` draws in a row bring nothing new; written ones as they stand."""
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


def variants(domain: Domain, scenario: Scenario, seed: int, count: int, *, fewer: bool = False) -> tuple[Scenario, ...]:
    """`scenario` and `count - 1` others that differ from it and from each other in private information only.

    Where the domain has not so many, InvalidGame, or as many as there are with `fewer`.
    """
    found = [scenario]
    for number in range(_TRIES * (1 if fewer else count) if any(scenario.private) else 0):
        if len(found) == count:
            break
        private = _draw_private(domain, generator(seed, "variant", scenario.id, number))
        drawn = replace(scenario, private=private)
        if all(drawn.id != other.id for other in found):
            found.append(drawn)
    if len(found) < count and not fewer:
        raise InvalidGame(f"{domain.name} has only {len(found)} different draws of private information, not {count}")
    return tuple(found)


def read_scenario(domain: Domain, data: object) -> Scenario:
    """Return the scenario that `data` describes; InvalidGame says in what it is none of this domain."""
    if not isinstance(data, Mapping):
        raise InvalidGame(f"a scenario is {shorten(data)}, expected an object with names and private")
    names = _read_names(domain, data.get("names"))
    public = _read_public(domain, data.get("public") or {})
    given = data.get("private")
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != domain.players:
        raise InvalidGame(f"private is {shorten(given)}, expected one entry for each of {domain.players} people")
    schema = domain.deal.private_schema(domain.generate)
    private = tuple(read_form(known, schema, f"what {name} knows") for name, known in zip(names, given, strict=True))
    if not domain.deal.is_possible(private):
        raise InvalidGame(f"no deal is possible: {domain.deal.impossible}")
    return Scenario(names, public, private)


def scenario_rules(domain: Domain) -> str:
    """Say what a writer has to keep to, one rule a line."""
    rules = [f"names: {domain.players} different first names"]
    rules += [f"public.{part}: {_PUBLIC_RULES[part]}" for part in _list_public_parts(domain)]
    rules.append(f"private, for each person: {describe_form(domain.deal.private_schema(domain.generate))}")
    if domain.deal.impossible:
        rules.append(f"no scenario in which {domain.deal.impossible}")
    return "\n".join(f"- {rule}" for rule in rules)


def scenario_schema(domain: Domain, most: int) -> JsonObject:
    """Return the JSON schema of an object that lists up to `most` scenarios."""
    people = {"minItems": domain.players, "maxItems": domain.players}
    text = {"type": "string"}
    scenario = make_object(
        {
            "names": {"type": "array", "items": text, **people},
            "public": make_object(dict.fromkeys(_list_public_parts(domain), text)),
            "private": {"type": "array", "items": domain.deal.private_schema(domain.generate), **people},
        }
    )
    return make_object({"scenarios": {"type": "array", "items": scenario, "minItems": 1, "maxItems": most}})


def _list_public_parts(domain: Domain) -> tuple[str, ...]:
    """List what everybody knows besides the names: the topic, or the situation where a domain has several."""
    if "topic" in domain.deal.public:
        return ("topic",)
    return ("situation",) if "situations" in domain.generate else ()


def _draw(domain: Domain, rng: Random) -> Scenario:
    names = tuple(rng.sample(domain.generate["names"], domain.players))
    parts = _list_public_parts(domain)
    topic = {"topic": rng.choice(domain.generate["topics"])} if "topic" in parts else {}
    private = _draw_private(domain, rng)
    situation = {"situation": rng.choice(domain.generate["situations"])} if "situation" in parts else {}
    return Scenario(names, topic | situation, private)


def _draw_private(domain: Domain, rng: Random) -> tuple[Private, ...]:
    for _ in range(_TRIES):
        drawn = domain.deal.draw(domain.generate, rng, domain.players)
        if domain.deal.is_possible(drawn):
            return drawn
    raise InvalidGame(f"{domain.name}: no deal can be reached in {_TRIES} draws of private information")


def _read_names(domain: Domain, given: object) -> tuple[str, ...]:
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != domain.players:
        raise InvalidGame(f"names is {shorten(given)}, expected {domain.players} names")
    names = tuple(str(name).strip() for name in given)
    for name in names:
        if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
            raise InvalidGame(f"{shorten(name)} is no name: expected one or two words")
    if len({name.casefold() for name in names}) != len(names):
        raise InvalidGame(f"the names {', '.join(names)} are not all different")
    return names


def _read_public(domain: Domain, given: object) -> dict[str, str]:
    if not isinstance(given, Mapping):
        raise InvalidGame(f"public is {shorten(given)}, expected an object")
    public = {}
    for part in _list_public_parts(domain):
        text = given.get(part)
        if not isinstance(text, str) or not text.strip():
            raise InvalidGame(f"public.{part} is missing")
        public[part] = re.sub(r"\s+", " ", text.strip())
        if len(public[part]) > _LONGEST_TEXT:
            raise InvalidGame(f"public.{part} has {len(public[part])} characters; the limit is {_LONGEST_TEXT}")
    return public
