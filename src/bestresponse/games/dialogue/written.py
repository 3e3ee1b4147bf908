"""Scenarios that somebody has written (a model, a person): plain data checked against a domain before it is played.

A written scenario has the form of `Scenario.to_json`: names, what everybody knows (`public`), and what each knows alone
(`private`, in the order of the names). It has to keep to what the domain's own generator draws: the items, the ranges
of numbers, different sides; and some deal must be possible. Names, topics and situations are the writer's own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bestresponse.core.errors import InvalidGame
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.games.dialogue.deal import Option, Private, Trade, Verdict
from bestresponse.games.dialogue.domain import Domain
from bestresponse.games.dialogue.scenario import Scenario, possible_deal, public_parts

__all__ = ["read_scenario", "scenario_rules", "scenario_schema"]

_NAME = re.compile(r"[^\W\d_][\w.'’-]*( [\w.'’-]+)?")
_LONGEST_NAME = 30
_LONGEST_TEXT = 300


def read_scenario(domain: Domain, data: object) -> Scenario:
    """The scenario that `data` describes; InvalidGame says in what it is none of this domain."""
    if not isinstance(data, Mapping):
        raise InvalidGame(f"a scenario is {_short(data)}, expected an object with names and private")
    names = _names(domain, data.get("names"))
    public = _public(domain, data.get("public") or {})
    given = data.get("private")
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != domain.players:
        raise InvalidGame(f"private is {_short(given)}, expected one entry for each of {domain.players} people")
    private = tuple(_private(domain, name, own) for name, own in zip(names, given, strict=True))
    if not possible_deal(domain, private):
        raise InvalidGame("no deal is possible: " + _NO_DEAL[type(domain.deal)])
    return Scenario(names, public, private)


_NO_DEAL = {
    Option: "nothing suits all of them",
    Trade: "somebody owns nothing",
    Verdict: "two of them are on the same side",
}


def _names(domain: Domain, given: object) -> tuple[str, ...]:
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != domain.players:
        raise InvalidGame(f"names is {_short(given)}, expected {domain.players} names")
    names = tuple(str(name).strip() for name in given)
    for name in names:
        if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
            raise InvalidGame(f"{_short(name)} is no name: expected one or two words")
    if len({name.casefold() for name in names}) != len(names):
        raise InvalidGame(f"the names {', '.join(names)} are not all different")
    return names


def _public(domain: Domain, given: object) -> dict[str, str]:
    if not isinstance(given, Mapping):
        raise InvalidGame(f"public is {_short(given)}, expected an object")
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
        raise InvalidGame(f"what {name} knows is {_short(given)}, expected an object")
    match domain.deal:
        case Option(items):
            values = _numbers(name, "values", given.get("values"), items, domain.generate["values"])
            fewest, most = domain.generate["available"]
            if not fewest <= len(values) <= most:
                raise InvalidGame(f"{name} has {len(values)} values, expected {fewest} to {most}")
            return {"values": values}
        case Trade(items):
            parts = {
                part: _numbers(name, part, given.get(part), items, domain.generate[part])
                for part in ("endowment", "values")
            }
            lacking = [item for item in items if item not in parts["values"]]
            if lacking:
                raise InvalidGame(f"{name} has no value for {lacking[0]}")
            return {"endowment": {item: parts["endowment"].get(item, 0) for item in items}, "values": parts["values"]}
        case Verdict():
            said = str(given.get("side")).strip().casefold()
            sides = [side for side in domain.generate["sides"] if side.casefold() == said]
            if not sides:
                expected = ", ".join(domain.generate["sides"])
                raise InvalidGame(f"the side of {name} is {_short(given.get('side'))}, expected one of {expected}")
            return {"side": sides[0]}


def _numbers(name: str, part: str, given: object, items: tuple[str, ...], span: Sequence[int]) -> dict[str, int]:
    """Whole numbers by item, in the order of the items."""
    if not isinstance(given, Mapping):
        raise InvalidGame(f"the {part} of {name} are {_short(given)}, expected numbers by item")
    known = {str(item).strip().casefold(): number for item, number in given.items()}
    strangers = [item for item in known if item not in {one.casefold() for one in items}]
    if strangers:
        raise InvalidGame(f"the {part} of {name} have {strangers[0]!r}, expected only {', '.join(items)}")
    low, high = span
    for item, number in known.items():
        if not isinstance(number, int) or isinstance(number, bool) or not low <= number <= high:
            raise InvalidGame(f"{item} in the {part} of {name} is {_short(number)}, expected {low} to {high}")
    return {item: known[item.casefold()] for item in items if item.casefold() in known}


def scenario_rules(domain: Domain) -> str:
    """What a writer has to keep to, one rule a line."""
    generate = domain.generate
    rules = [f"names: {domain.players} different first names"]
    rules += [f"public.{part}: {words}" for part, words in _PUBLIC_RULES.items() if part in public_parts(domain)]
    match domain.deal:
        case Option(items):
            fewest, most = generate["available"]
            rules.append(f"private, for each person: values of {fewest} to {most} of {', '.join(items)}, and no others")
            rules.append(f"values: {_span(generate['values'])}; at least one of them is named by every person")
        case Trade(items):
            rules.append(f"private, for each person: endowment and values of {', '.join(items)}")
            rules.append(f"endowment: {_span(generate['endowment'])}; values: {_span(generate['values'])}")
        case Verdict():
            rules.append(f"private, for each person: side, one of {', '.join(generate['sides'])}, different for each")
    return "\n".join(f"- {rule}" for rule in rules)


_PUBLIC_RULES = {
    "topic": "a motion that people can argue about from two sides, one sentence",
    "situation": "why they talk, one sentence without numbers",
}


def _span(span: Sequence[int]) -> str:
    return f"whole numbers from {span[0]} to {span[1]}"


def scenario_schema(domain: Domain, most: int) -> JsonObject:
    """The JSON schema of an object that lists up to `most` scenarios."""
    people = {"minItems": domain.players, "maxItems": domain.players}
    text = {"type": "string"}
    public = _object(dict.fromkeys(public_parts(domain), text))
    scenario = _object(
        {
            "names": {"type": "array", "items": text, **people},
            "public": public,
            "private": {"type": "array", "items": _private_schema(domain), **people},
        }
    )
    return _object({"scenarios": {"type": "array", "items": scenario, "minItems": 1, "maxItems": most}})


def _private_schema(domain: Domain) -> JsonObject:
    match domain.deal:
        case Option(items):
            return _object({"values": _numbers_schema(items, required=False)})
        case Trade(items):
            return _object(dict.fromkeys(("endowment", "values"), _numbers_schema(items, required=True)))
        case Verdict():
            return _object({"side": {"type": "string", "enum": list(domain.generate["sides"])}})


def _numbers_schema(items: tuple[str, ...], *, required: bool) -> JsonObject:
    schema = _object({item: {"type": "integer"} for item in items})
    return schema if required else schema | {"required": []}


def _object(properties: JsonMapping) -> JsonObject:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
