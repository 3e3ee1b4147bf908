"""How a language model is asked: the view in words, then the ask as an instruction it can follow.

Four styles of answer: `line` (free text that ends with ANSWER: ...), `json` (one object, by schema where the model
enforces one), `reasoned` (one object with the reasons first, then the answer) and `letter` (the bare label, for
one-token answers).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from bestresponse.core.ask import Amount, Ask, Choice, Form, Lottery, Mixture, Words
from bestresponse.core.game import View
from bestresponse.core.json import JsonObject, canonical
from bestresponse.models.schema import schema_text
from bestresponse.players.llm.texts import TEXTS

Style = Literal["line", "json", "reasoned", "letter"]


def prompt(view: View, ask: Ask, style: Style) -> str:
    """Everything the user message says."""
    parts = (view.briefing, view.situation, *view.notes, instruction(ask, style))
    return "\n\n".join(part for part in parts if part)


@lru_cache(256)
def instruction(ask: Ask, style: Style) -> str:
    """Say how to answer `ask`. No example answer is shown: small models would repeat it."""
    if style in ("json", "reasoned") and not isinstance(ask, Words):
        form = _json_form(ask)
        if style == "reasoned":
            answer = _place(ask) if isinstance(ask, Choice | Amount) else form
            form = f'{{"reasons": <why you choose so, in a few sentences, in quotes>, "answer": {answer}}}'
        where = TEXTS.text("where_mixture" if isinstance(ask, Mixture) else "where_values")
        return TEXTS.fill("ask_json", form=form, where=where)
    match ask:
        case Choice(options):
            return TEXTS.fill("ask_letter" if style == "letter" else "ask_choice", options=", ".join(options))
        case Amount(low, high, whole):
            kind = "a whole number" if whole else "a number"
            return TEXTS.fill("ask_amount", kind=kind, low=f"{low:g}", high=f"{high:g}")
        case Words(limit):
            return TEXTS.fill("ask_words", limit=limit)
        case Mixture(options):
            return TEXTS.fill("ask_mixture", form=", ".join(f"{option}: <p>" for option in options))
        case Form():
            return TEXTS.fill("ask_form", form=_json_form(ask))
        case Lottery():
            raise TypeError("a language model does not draw lotteries")


def _json_form(ask: Ask) -> str:
    """What the JSON object looks like, with a place in angle brackets for every value."""
    match ask:
        case Choice() | Amount():
            return f'{{"answer": {_place(ask)}}}'
        case Mixture(options):
            return "{" + ", ".join(f"{canonical(option)}: <p>" for option in options) + "}"
        case Form(fields):
            return "{" + ", ".join(f"{canonical(name)}: {_place(field)}" for name, field in fields) + "}"
        case Words() | Lottery():
            raise TypeError(f"{type(ask).__name__} has no JSON form")


def _place(ask: Choice | Amount | Words | Mixture) -> str:
    match ask:
        case Choice(options):
            return "<one of " + ", ".join(canonical(option) for option in options) + ">"
        case Amount(low, high, whole):
            return f"<{'whole number' if whole else 'number'} from {low:g} to {high:g}>"
        case Words(limit):
            return f"<text of at most {limit} characters, in quotes>"
        case Mixture():
            return _json_form(ask)


@lru_cache(256)
def write_schema(ask: Ask, style: Style = "json") -> str:
    """Write the JSON schema of the answer as text for a request."""
    return schema_text(schema(ask, style))


def schema(ask: Ask, style: Style = "json") -> JsonObject:
    """Build the JSON schema of the answer in `json` or `reasoned` style; reasons come first, so they are made first."""
    if style == "reasoned":
        answer = _value_schema(ask) if isinstance(ask, Choice | Amount | Mixture) else schema(ask)
        return _object({"reasons": {"type": "string"}, "answer": answer})
    match ask:
        case Choice() | Amount():
            return _object({"answer": _value_schema(ask)})
        case Mixture():
            return _value_schema(ask)
        case Form(fields):
            return _object({name: _value_schema(field) for name, field in fields})
        case Words() | Lottery():
            raise TypeError(f"{type(ask).__name__} has no JSON form")


def _value_schema(ask: Choice | Amount | Words | Mixture) -> JsonObject:
    match ask:
        case Choice(options):
            return {"type": "string", "enum": list(options)}
        case Amount(low, high, whole):
            return {"type": "integer" if whole else "number", "minimum": low, "maximum": high}
        case Words(limit):
            return {"type": "string", "maxLength": limit}
        case Mixture(options):
            return _object({option: {"type": "number", "minimum": 0, "maximum": 1} for option in options})


def _object(properties: JsonObject) -> JsonObject:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
