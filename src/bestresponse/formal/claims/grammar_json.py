"""Claims as JSON: the schema a model is held to, and the reader, which makes terms and hands them to the grammar."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any, Final

from bestresponse.formal.claims.claim import FORMS, YOU, Claim, Form, Malformed, Sort
from bestresponse.formal.claims.grammar import MOST_CLAIMS, MOST_QUERY, claims_of
from bestresponse.logic.language.terms import Atom, Struct, Term, list_of

__all__ = ["claims_schema", "parse_json"]

_NUMBER: Final[dict[str, Any]] = {"type": "number"}


def _sorts(players: tuple[str, ...], actions: tuple[str, ...]) -> dict[Sort, dict[str, Any]]:
    who, action = _one_of(players), _one_of(actions)
    weights = {"type": "object", "additionalProperties": _NUMBER}
    return {
        Sort.WHO: who,
        Sort.NUMBER: _NUMBER,
        Sort.ACTION: action,
        Sort.CHAIN: {"type": "array", "items": _object({"who": who, "action": action})},
        Sort.MIXES: {"type": "array", "items": _object({"who": who, "weights": weights})},
        Sort.JOINT: {"type": "array", "items": action},
    }


def _one_of(names: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "string", "enum": list(names)} if names else {"type": "string"}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def claims_schema(
    forms: tuple[str, ...] = tuple(FORMS), players: tuple[str, ...] = (), actions: tuple[str, ...] = ()
) -> dict[str, Any]:
    """The JSON schema of a translator's answer: `{"claims": [{"form": ..., its arguments by name}, ...]}`; where
    players and actions are given, no other names are allowed."""
    sorts = _sorts(players, actions)
    properties: dict[str, Any] = {"form": {"type": "string", "enum": list(forms)}}
    for form in forms:
        for name, sort in FORMS[form].parameters:
            properties.setdefault(name, sorts[sort])
    claim = {"type": "object", "properties": properties, "required": ["form"], "additionalProperties": False}
    claims = {"type": "array", "items": claim, "maxItems": MOST_CLAIMS}
    return {
        "type": "object",
        "properties": {"claims": claims},
        "required": ["claims"],
        "additionalProperties": False,
    }


def parse_json(text: str) -> tuple[Claim | Malformed, ...]:
    """The claims of a JSON answer; an answer that is no such JSON is one `Malformed`.

    >>> [str(c) for c in parse_json('{"claims": [{"form": "higher", "first": 5, "second": 3}]}')]
    ['higher(5, 3).']
    """
    if len(text) > MOST_QUERY * MOST_CLAIMS:
        return (Malformed(text[:80], f"the answer has {len(text):,} characters, over {MOST_QUERY * MOST_CLAIMS:,}"),)
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        return (Malformed(text[:80], f"this is no JSON: {error}"),)
    rows = given.get("claims") if isinstance(given, dict) else given
    if not isinstance(rows, list):
        return (Malformed(text[:80], 'expected an object with a list "claims"'),)
    read = [one for row in rows[:MOST_CLAIMS] for one in _row(row)]
    if len(rows) > MOST_CLAIMS:
        read.append(Malformed("...", f"{len(rows):,} claims came; the limit is {MOST_CLAIMS:,}"))
    return tuple(dict.fromkeys(read))


def _row(row: object) -> tuple[Claim | Malformed, ...]:
    shown = json.dumps(row, ensure_ascii=False)[:200]
    if not isinstance(row, dict):
        return (Malformed(shown, "a claim is an object with a form"),)
    name = row.get("form")
    if not isinstance(name, str) or name not in FORMS:
        return (Malformed(shown, f"there is no form of claim {name!r}"),)
    if name == "no_claim":
        return (Claim("no_claim"),)
    try:
        return claims_of(_term(FORMS[name], row), shown)
    except ValueError as error:
        return (Malformed(shown, str(error)),)


def _term(form: Form, row: dict[str, Any]) -> Term:
    arguments: list[Term] = []
    for name, sort in form.parameters:
        value = row.get(name, YOU if sort is Sort.WHO else None)
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


def _value(sort: Sort, value: Any) -> Term:
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
    if not isinstance(value, dict) or not isinstance(value.get("weights"), dict):
        raise ValueError("a mix is an object with who and weights")
    pairs = [Struct("-", (Atom(action), _plain(weight))) for action, weight in value["weights"].items()]
    return Struct("mix", (_plain(value.get("who")), list_of(pairs)))


def _items(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"a list was expected, not {value!r:.60}")
    return value


def _plain(value: Any) -> Term:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"a name or a number was expected, not {value!r:.60}")
    if isinstance(value, float) and not abs(value) < float("inf"):
        raise ValueError(f"{value!r} is no number")
    if isinstance(value, float):
        return Fraction(repr(value))
    return Atom(value) if isinstance(value, str) else value
