"""Claims as JSON: the schema a model is held to, and the reader, which makes terms and hands them to the grammar."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from bestresponse.core.json import JsonObject
from bestresponse.formal.claims.claim import FORMS, Claim, Malformed
from bestresponse.formal.claims.form import YOU, Form, Sort
from bestresponse.formal.claims.grammar import MOST_CLAIMS, MOST_QUERY, build_claims
from bestresponse.logic.language.terms import Atom, Struct, Term, list_of

__all__ = ["JsonAnswer", "QuotedClaim", "claims_schema", "parse_json", "read_answer"]

_NUMBER: Final[JsonObject] = {"type": ["number", "string"]}
"""A number, or a fraction as text: a third has no decimal."""
_MOST_NAMES: Final = 100
"""The most names that the schema lists; with more, any name is allowed and checked when the claim is decided."""


@dataclass(frozen=True, slots=True)
class QuotedClaim:
    """A claim of a translator's answer, and the words of the text that make it ("" where it does not say)."""

    claim: Claim | Malformed
    quote: str = ""


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    """What a translator answered; `complete` is false where the answer was cut off after these claims.

    `kept` is the part of the answer that these claims were read from, as JSON.
    """

    rows: tuple[QuotedClaim, ...]
    complete: bool = True
    kept: str = ""


def _sorts(players: tuple[str, ...], actions: tuple[str, ...]) -> dict[Sort, JsonObject]:
    who, action = _one_of(players), _one_of(actions)
    weight = _object({"action": action, "probability": _NUMBER})
    return {
        Sort.WHO: who,
        Sort.NUMBER: _NUMBER,
        Sort.ACTION: action,
        Sort.CHAIN: {"type": "array", "items": _object({"who": who, "action": action})},
        Sort.MIXES: {"type": "array", "items": _object({"who": who, "weights": {"type": "array", "items": weight}})},
        Sort.JOINT: {"type": "array", "items": action},
    }


def _one_of(names: tuple[str, ...]) -> JsonObject:
    return {"type": "string", "enum": list(names)} if 0 < len(names) <= _MOST_NAMES else {"type": "string"}


def _object(properties: JsonObject) -> JsonObject:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _or_null(schema: JsonObject) -> JsonObject:
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    nullable = schema | {"type": [*kinds, "null"]}
    return nullable | {"enum": [*schema["enum"], None]} if "enum" in schema else nullable


def claims_schema(
    forms: tuple[str, ...] = tuple(FORMS), players: tuple[str, ...] = (), actions: tuple[str, ...] = ()
) -> JsonObject:
    """Return the JSON schema of a translator's answer, `{"claims": [{"form": ..., its arguments by name}, ...]}`.

    It is valid in OpenAI's strict mode: every property is required, no object is open, and what a form does not take
    is null. Where players and actions are given, no other names are allowed.
    """
    sorts = _sorts(players, actions)
    properties: JsonObject = {
        "form": {"type": "string", "enum": list(forms)},
        "negated": {"type": "boolean"},
        "quote": {"type": "string"},
    }
    for form in forms:
        for name, sort in FORMS[form].parameters:
            properties.setdefault(name, _or_null(sorts[sort]))
    return _object({"claims": {"type": "array", "items": _object(properties)}})


def parse_json(text: str) -> tuple[Claim | Malformed, ...]:
    """Return the claims of a JSON answer; an answer that is no such JSON is one `Malformed`.

    >>> [str(c) for c in parse_json('{"claims": [{"form": "higher", "first": 5, "second": 3}]}')]
    ['higher(5, 3).']
    """
    return tuple(dict.fromkeys(row.claim for row in read_answer(text).rows))


def read_answer(text: str) -> JsonAnswer:
    """Read a translator's JSON answer; of one that was cut off, the claims that are complete."""
    if len(text) > MOST_QUERY * MOST_CLAIMS:
        return _no_answer(text, f"the answer has {len(text):,} characters, over {MOST_QUERY * MOST_CLAIMS:,}")
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        kept = _complete_rows(text)
        return _read_rows(kept, complete=False) if kept else _no_answer(text, f"this is no JSON: {error}")
    rows = given.get("claims") if isinstance(given, dict) else given
    if not isinstance(rows, list):
        return _no_answer(text, 'expected an object with a list "claims"')
    return _read_rows(rows, complete=True)


def _no_answer(text: str, why: str) -> JsonAnswer:
    return JsonAnswer((QuotedClaim(Malformed(text[:80], why)),))


def _complete_rows(text: str) -> list[Any]:
    """The objects of the list "claims" up to where a cut answer breaks off."""
    start = re.search(r'"claims"\s*:\s*\[', text)
    rows: list[Any] = []
    place = start.end() if start is not None else len(text)
    decoder = json.JSONDecoder()
    while place < len(text):
        try:
            row, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            break
        rows.append(row)
        between = re.compile(r"\s*,\s*").match(text, place)
        if between is None:
            break
        place = between.end()
    return rows


def _read_rows(rows: list[Any], *, complete: bool) -> JsonAnswer:
    read = [QuotedClaim(one, _quote(row)) for row in rows[:MOST_CLAIMS] for one in _row(row)]
    if len(rows) > MOST_CLAIMS:
        read.append(QuotedClaim(Malformed("...", f"{len(rows):,} claims came; the limit is {MOST_CLAIMS:,}")))
    return JsonAnswer(tuple(read), complete, json.dumps({"claims": rows}, ensure_ascii=False))


def _quote(row: object) -> str:
    quote = row.get("quote") if isinstance(row, dict) else None
    return quote if isinstance(quote, str) else ""


def _row(row: object) -> tuple[Claim | Malformed, ...]:
    shown = json.dumps(row, ensure_ascii=False)[:200]
    if not isinstance(row, dict):
        return (Malformed(shown, "a claim is an object with a form"),)
    name = row.get("form")
    if not isinstance(name, str) or name not in FORMS:
        return (Malformed(shown, f"there is no form of claim {name!r}"),)
    try:
        found = build_claims(_term(FORMS[name], row), shown)
    except ValueError as error:
        return (Malformed(shown, str(error)),)
    denied = row.get("negated") is True
    return tuple(one.negate() if denied and isinstance(one, Claim) else one for one in found)


def _term(form: Form, row: JsonObject) -> Term:
    arguments: list[Term] = []
    for name, sort in form.parameters:
        value = row.get(name)
        if value is None and sort is Sort.WHO:
            value = YOU
        if value is None:
            raise ValueError(f"{form.name} needs {name!r}")
        if sort is Sort.JOINT:
            arguments += [_plain(one) for one in _items(value)]
        else:
            arguments.append(_value(sort, value))
    if form.name == "payoff":
        who, value, outcome = arguments
        return Struct("finally", (Struct("goal", (who, value)), outcome))
    return Struct(form.name, tuple(arguments)) if arguments else Atom(form.name)


def _value(sort: Sort, value: object) -> Term:
    if sort is Sort.CHAIN:
        term: Term = Atom("s0")
        for move in _items(value):
            if not isinstance(move, dict):
                raise ValueError("a move is an object with who and action")
            term = Struct("do", (Struct("choice", (_plain(move.get("who")), _plain(move.get("action")))), term))
        return term
    if sort is Sort.MIXES:
        return list_of([_mix(one) for one in _items(value)])
    return _plain(value)


def _mix(value: Any) -> Term:
    weights = value.get("weights") if isinstance(value, dict) else None
    if not isinstance(weights, list) or not all(isinstance(one, dict) for one in weights):
        raise ValueError("a mix is an object with who and a list of weights, each with action and probability")
    pairs = [Struct("-", (_plain(one.get("action")), _plain(one.get("probability")))) for one in weights]
    return Struct("mix", (_plain(value.get("who")), list_of(pairs)))


def _items(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"a list was expected, not {value!r:.60}")
    return value


def _plain(value: object) -> Term:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"a name or a number was expected, not {value!r:.60}")
    if isinstance(value, float) and not abs(value) < float("inf"):
        raise ValueError(f"{value!r} is no number")
    if isinstance(value, float):
        return Fraction(repr(value))
    return Atom(value) if isinstance(value, str) else value
