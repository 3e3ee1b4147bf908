"""Claims as JSON: the schema a model is held to, and the reader."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from bestresponse.core.json import JsonObject
from bestresponse.formal.claims.claim import FORMS, Argument, Claim, Malformed
from bestresponse.formal.claims.form import YOU, Mix, Move, Sort
from bestresponse.formal.claims.grammar import MOST_CLAIMS, MOST_QUERY, read_number

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
    read = [_read_row(row) for row in rows[:MOST_CLAIMS]]
    if len(rows) > MOST_CLAIMS:
        read.append(
            QuotedClaim(Malformed("...", f"{len(rows):,} claims came; the limit is {MOST_CLAIMS:,}", "too long"))
        )
    return JsonAnswer(tuple(read), complete, json.dumps({"claims": rows}, ensure_ascii=False))


def _read_row(row: object) -> QuotedClaim:
    shown = json.dumps(row, ensure_ascii=False)[:200]
    if not isinstance(row, dict):
        return QuotedClaim(Malformed(shown, "a claim is an object with a form"))
    name, quote = row.get("form"), row.get("quote")
    quote = quote if isinstance(quote, str) else ""
    if not isinstance(name, str) or name not in FORMS:
        return QuotedClaim(Malformed(shown, f"there is no form of claim {name!r}"), quote)
    arguments = []
    for parameter, sort in FORMS[name].parameters:
        try:
            value = YOU if sort is Sort.WHO and row.get(parameter) is None else row[parameter]
            arguments.append(_read_argument(sort, value))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            why = f"{name} needs {parameter!r}" if row.get(parameter) is None else f"{parameter}: {error}"
            return QuotedClaim(Malformed(shown, why), quote)
    return QuotedClaim(Claim(name, tuple(arguments), row.get("negated") is True), quote)


def _read_argument(sort: Sort, value: Any) -> Argument:
    match sort:
        case Sort.WHO | Sort.ACTION:
            return _read_name(value)
        case Sort.NUMBER:
            return read_number(_read_name(value))
        case Sort.JOINT:
            return tuple(map(_read_name, value))
        case Sort.CHAIN:
            return tuple(Move(_read_name(move["who"]), _read_name(move["action"])) for move in value)
        case Sort.MIXES:
            return tuple(
                Mix(
                    _read_name(mix["who"]),
                    tuple((_read_name(w["action"]), read_number(_read_name(w["probability"]))) for w in mix["weights"]),
                )
                for mix in value
            )


def _read_name(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"a name or a number was expected, not {value!r:.60}")
    return str(value)
