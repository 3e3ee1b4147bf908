"""Scenarios that somebody has written (a model, a person): plain data checked against a domain before it is played.

A written scenario has the form of `Scenario.to_json`: names, what everybody knows (`public`), and what each knows alone
(`private`, in the order of the names). It has to keep to what the domain's own generator draws: the items, the ranges
of numbers, different sides; and some deal must be possible. Names, topics and situations are the writer's own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bestresponse.core.errors import InvalidGame
from bestresponse.core.json import JsonObject
from bestresponse.games.dialogue.deals import Private, make_object, shorten
from bestresponse.games.dialogue.domain import Domain
from bestresponse.games.dialogue.scenario import Scenario, public_parts

__all__ = ["read_scenario", "scenario_rules", "scenario_schema"]

_NAME = re.compile(r"[^\W\d_][\w.'’-]*( [\w.'’-]+)?")
_LONGEST_NAME = 30
_LONGEST_TEXT = 300


def read_scenario(domain: Domain, data: object) -> Scenario:
    """The scenario that `data` describes; InvalidGame says in what it is none of this domain."""
    if not isinstance(data, Mapping):
        raise InvalidGame(f"a scenario is {shorten(data)}, expected an object with names and private")
    names = _names(domain, data.get("names"))
    public = _public(domain, data.get("public") or {})
    given = data.get("private")
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != domain.players:
        raise InvalidGame(f"private is {shorten(given)}, expected one entry for each of {domain.players} people")
    private = tuple(_private(domain, name, own) for name, own in zip(names, given, strict=True))
    if not domain.deal.is_possible(private):
        raise InvalidGame(f"no deal is possible: {domain.deal.impossible}")
    return Scenario(names, public, private)


def _names(domain: Domain, given: object) -> tuple[str, ...]:
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != domain.players:
        raise InvalidGame(f"names is {shorten(given)}, expected {domain.players} names")
    names = tuple(str(name).strip() for name in given)
    for name in names:
        if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
            raise InvalidGame(f"{shorten(name)} is no name: expected one or two words")
    if len({name.casefold() for name in names}) != len(names):
        raise InvalidGame(f"the names {', '.join(names)} are not all different")
    return names


def _public(domain: Domain, given: object) -> dict[str, str]:
    if not isinstance(given, Mapping):
        raise InvalidGame(f"public is {shorten(given)}, expected an object")
    found = {}
    for part in public_parts(domain):
        text = given.get(part)
        if not isinstance(text, str) or not text.strip():
            raise InvalidGame(f"public.{part} is missing")
        found[part] = re.sub(r"\s+", " ", text.strip())
        if len(found[part]) > _LONGEST_TEXT:
            raise InvalidGame(f"public.{part} has {len(found[part])} characters; the limit is {_LONGEST_TEXT}")
    return found


def _private(domain: Domain, name: str, given: object) -> Private:
    if not isinstance(given, Mapping):
        raise InvalidGame(f"what {name} knows is {shorten(given)}, expected an object")
    return domain.deal.read_private(domain.generate, name, given)


def scenario_rules(domain: Domain) -> str:
    """What a writer has to keep to, one rule a line."""
    rules = [f"names: {domain.players} different first names"]
    rules += [f"public.{part}: {words}" for part, words in _PUBLIC_RULES.items() if part in public_parts(domain)]
    rules += domain.deal.describe_private(domain.generate)
    return "\n".join(f"- {rule}" for rule in rules)


_PUBLIC_RULES = {
    "topic": "a motion that people can argue about from two sides, one sentence",
    "situation": "why they talk, one sentence without numbers",
}


def scenario_schema(domain: Domain, most: int) -> JsonObject:
    """The JSON schema of an object that lists up to `most` scenarios."""
    people = {"minItems": domain.players, "maxItems": domain.players}
    text = {"type": "string"}
    public = make_object(dict.fromkeys(public_parts(domain), text))
    scenario = make_object(
        {
            "names": {"type": "array", "items": text, **people},
            "public": public,
            "private": {"type": "array", "items": domain.deal.private_schema(domain.generate), **people},
        }
    )
    return make_object({"scenarios": {"type": "array", "items": scenario, "minItems": 1, "maxItems": most}})
