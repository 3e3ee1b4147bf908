"""What was found in a model's answer, and the parts that all JSON forms share: schemas, names, numbers, refusals."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from bestresponse.core.errors import InvalidGame
from bestresponse.core.json import JsonObject
from bestresponse.models.schema import schema_text

NO_GAME: Final = "no game"
MISFIT: Final = "does not fit"
MOST_QUESTIONS = 10
_LONGEST_NAME = 200
_LONGEST_REASON = 300
_NUMBER = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,30}|/\d{1,30})?")

Schema = JsonObject
TEXT: Final[Schema] = {"type": "string"}
PROBABILITY: Final[Schema] = {"type": "string", "pattern": r"^[0-9]+(/[0-9]+|\.[0-9]+)?$"}


@dataclass(frozen=True, slots=True)
class Question:
    """Something the story leaves open or contradicts, and what the model assumed instead."""

    text: str
    assumed: str = ""

    def __str__(self) -> str:
        return f"{self.text} (assumed: {self.assumed})" if self.assumed else self.text


@dataclass(frozen=True, slots=True)
class Answer:
    """A program, empty where there is none, and what kept the answer from being one.

    `no_game` is the reason why the story is no game, `misfit` the reason why the form cannot hold the game, where the
    model says so.
    """

    source: str = ""
    problem: str = ""
    questions: tuple[Question, ...] = ()
    no_game: str | None = None
    misfit: str | None = None


def object_schema(optional: Mapping[str, Schema] | None = None, /, **properties: Schema) -> Schema:
    """Return the schema of an object with these properties, in this order, and no others."""
    return {
        "type": "object",
        "properties": {**properties, **(optional or {})},
        "required": list(properties),
        "additionalProperties": False,
    }


def list_schema(items: Schema, least: int | None = None, most: int | None = None) -> Schema:
    """Return the schema of a list, of a bounded length where bounds are given."""
    bounds = {"minItems": least, "maxItems": most}
    return {"type": "array", "items": items} | {name: one for name, one in bounds.items() if one is not None}


def choice_schema(names: Sequence[str]) -> Schema:
    """Return the schema of one of these names."""
    return {"type": "string", "enum": list(names)}


def asides_schema() -> dict[str, Schema]:
    """Return the optional properties in which a model asks, or says that there is no game or that it does not fit."""
    return {
        "unclear": list_schema(object_schema(question=TEXT, assumed=TEXT)),
        **refusal_schema(),
    }


def refusal_schema() -> dict[str, Schema]:
    """Return the optional property in which a model says that there is no game, or that it does not fit."""
    return {"refusal": object_schema(kind=choice_schema([NO_GAME, MISFIT]), reason=TEXT)}


def sheet_schema(players: Sequence[str], ends: Sequence[str]) -> str:
    """Return the schema of a sheet with everybody's payoff at every end, each after the words of the story about it."""
    numbers: dict[str, Schema] = {who: {"type": "number"} for who in players}
    end = object_schema(story=TEXT, payoffs=object_schema(**numbers))
    return schema_text(object_schema(**dict.fromkeys(ends, end)))


def read_payoffs(data: JsonObject, players: Sequence[str], ends: Sequence[str]) -> list[tuple[Fraction, ...]]:
    """Return the payoffs on a sheet, end by end; InvalidGame says which are missing."""
    found = []
    for name in ends:
        end = data.get(name)
        given = end.get("payoffs") if isinstance(end, dict) else None
        if not isinstance(given, dict):
            raise InvalidGame(f"the end {name} is missing")
        found.append(read_numbers([given.get(who) for who in players], name))
    return found


def read_numbers(payoffs: Sequence[object], end: str) -> tuple[Fraction, ...]:
    """Return the payoffs of an end; InvalidGame where one is no number."""
    numbers = [read_number(u) for u in payoffs]
    if None in numbers:
        raise InvalidGame(f"the payoffs of the end {end} must be numbers")
    return tuple(u for u in numbers if u is not None)


def read_object(answer: str) -> JsonObject:
    """Return the JSON object in an answer; InvalidGame where there is none."""
    start, stop = answer.find("{"), answer.rfind("}")
    try:
        data = json.loads(answer[start : stop + 1])
    except (ValueError, RecursionError):
        raise InvalidGame("the answer is no JSON object") from None
    return data if isinstance(data, dict) else {}


def read_asides(data: Mapping[str, object]) -> Answer:
    """Return an answer that has only the questions and the refusal in the data."""
    given = data.get("unclear")
    listed = given[:MOST_QUESTIONS] if isinstance(given, list) else []
    questions = tuple(
        Question(_shorten(one.get("question")), _shorten(one.get("assumed")))
        for one in listed
        if isinstance(one, dict) and _shorten(one.get("question"))
    )
    refusal = data.get("refusal")
    if not isinstance(refusal, dict):
        return Answer(questions=questions)
    reason = _shorten(refusal.get("reason")) or "it gave no reason"
    if refusal.get("kind") == NO_GAME:
        return Answer(questions=questions, no_game=reason)
    return Answer(questions=questions, misfit=reason)


def _shorten(value: object) -> str:
    return " ".join(value.split())[:_LONGEST_REASON] if isinstance(value, str) else ""


def read_name(value: object) -> str:
    """Return a name of a player or a move; InvalidGame where it is none."""
    if not isinstance(value, str) or not 0 < len(value.strip()) <= _LONGEST_NAME:
        raise InvalidGame(f"expected a name of 1 to {_LONGEST_NAME} characters, got {str(value)[:40]!r}")
    return value.strip()


def read_number(value: object) -> Fraction | None:
    """Return a number, or a text such as `-1/3` or `0.25`, exactly; None where it is no number.

    >>> read_number("1/3"), read_number(0.1), read_number("one")
    (Fraction(1, 3), Fraction(1, 10), None)
    """
    if isinstance(value, str):
        plain = value.strip()
        return None if _NUMBER.fullmatch(plain) is None or _is_over_zero(plain) else Fraction(plain)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return Fraction(repr(value))


def _is_over_zero(text: str) -> bool:
    return "/" in text and not int(text.partition("/")[2])
