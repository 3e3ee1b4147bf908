"""How a language model is asked: the view in words, then the ask as an instruction it can follow.

Three styles of answer: `line` (free text that ends with ANSWER: ...), `json` (one object, by schema where the model
enforces one) and `letter` (the bare label, for one-token answers).
"""

from __future__ import annotations

from typing import Any, Literal

from bestresponse.core.ask import Amount, Ask, Choice, Form, Lottery, Mixture, Words
from bestresponse.core.game import View
from bestresponse.core.json import canonical
from bestresponse.players.texts import TEXTS

__all__ = ["Style", "instruction", "prompt", "schema"]

Style = Literal["line", "json", "letter"]


def prompt(view: View, ask: Ask, style: Style) -> str:
    """Everything the user message says."""
    parts = (view.briefing, view.situation, *view.notes, instruction(ask, style))
    return "\n\n".join(part for part in parts if part)


def instruction(ask: Ask, style: Style) -> str:
    """How to answer `ask`."""
    if style == "json" and not isinstance(ask, Words):
        return TEXTS.fill("ask_json", example=_example(ask))
    match ask:
        case Choice(options):
            if style == "letter":
                return TEXTS.fill("ask_letter", options=", ".join(options))
            return TEXTS.fill("ask_choice", options=", ".join(options), example=options[0])
        case Amount(low, high, whole):
            kind = "a whole number" if whole else "a number"
            return TEXTS.fill("ask_amount", kind=kind, low=f"{low:g}", high=f"{high:g}", example=f"{low:g}")
        case Words(limit):
            return TEXTS.fill("ask_words", limit=limit)
        case Mixture(options):
            return TEXTS.fill("ask_mixture", example=_even(options))
        case Form(fields):
            return TEXTS.fill("ask_form", fields=", ".join(name for name, _ in fields), example=_example(ask))
        case Lottery():
            raise TypeError("a language model does not draw lotteries")


def _even(options: tuple[str, ...]) -> str:
    return ", ".join(f"{option}: {share}" for option, share in zip(options, _shares(len(options)), strict=True))


def _shares(count: int) -> list[str]:
    """Equal shares to two digits that sum to exactly 1."""
    cents = [100 // count + (i < 100 % count) for i in range(count)]
    return [f"{c / 100:g}" for c in cents]


def _example(ask: Ask) -> str:
    match ask:
        case Choice(options):
            return canonical({"answer": options[0]})
        case Amount(low):
            return canonical({"answer": low})
        case Mixture(options):
            inner = ",".join(f"{canonical(o)}:{p}" for o, p in zip(options, _shares(len(options)), strict=True))
            return "{" + inner + "}"
        case Form(fields):
            return "{" + ",".join(f"{canonical(name)}:{_field_example(field)}" for name, field in fields) + "}"
        case Words() | Lottery():
            raise TypeError(f"{type(ask).__name__} has no JSON form")


def _field_example(ask: Choice | Amount | Words | Mixture) -> str:
    match ask:
        case Choice(options):
            return canonical(options[0])
        case Amount(low):
            return canonical(low)
        case Words():
            return '"..."'
        case Mixture():
            return _example(ask)


def schema(ask: Ask) -> dict[str, Any]:
    """A JSON schema of the answer in `json` style."""
    match ask:
        case Choice() | Amount():
            return _object({"answer": _value_schema(ask)})
        case Mixture():
            return _value_schema(ask)
        case Form(fields):
            return _object({name: _value_schema(field) for name, field in fields})
        case Words() | Lottery():
            raise TypeError(f"{type(ask).__name__} has no JSON form")


def _value_schema(ask: Choice | Amount | Words | Mixture) -> dict[str, Any]:
    match ask:
        case Choice(options):
            return {"type": "string", "enum": list(options)}
        case Amount(low, high, whole):
            return {"type": "integer" if whole else "number", "minimum": low, "maximum": high}
        case Words(limit):
            return {"type": "string", "maxLength": limit}
        case Mixture(options):
            return _object({option: {"type": "number", "minimum": 0, "maximum": 1} for option in options})


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
