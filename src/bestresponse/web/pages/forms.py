"""An ask as a form, and what was typed into it as an answer. The ask itself reads and refuses.

A question has one field, a form one for each of its parts. A mixture is typed in percent, one number an option.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bestresponse.core.ask import PASS, Amount, Ask, Choice, Form, Lottery, Mixture, Words
from bestresponse.core.errors import Flaw, InvalidMove

__all__ = ["Field", "make_fields", "read_fields"]

_NAME = "answer"
Simple = Choice | Amount | Words | Mixture


@dataclass(frozen=True, slots=True)
class Field:
    """One part of a question as it is drawn: `typed` is what stands in it, `error` the sentence beside it."""

    name: str
    label: str
    kind: str
    ask: Simple
    typed: tuple[str, ...] = ("",)
    error: str = ""

    @property
    def options(self) -> tuple[str, ...]:
        """The labels to choose from or to divide a hundred percent among."""
        if isinstance(self.ask, Choice):
            return (*self.ask.options, PASS) if self.ask.may_pass else self.ask.options
        return self.ask.options if isinstance(self.ask, Mixture) else ()


def make_fields(
    ask: Ask, typed: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None
) -> list[Field]:
    """Make the fields of a question, with what was typed before and what is wrong with it."""
    return [_make_field(name, label, part, typed or {}, errors or {}) for name, label, part in _list_parts(ask)]


def _make_field(name: str, label: str, ask: Simple, typed: Mapping[str, str], errors: Mapping[str, str]) -> Field:
    error = errors.get(name, "")
    match ask:
        case Mixture(options):
            given = tuple(typed.get(f"{name}.{k}", "") for k in range(len(options)))
            return Field(name, label, "mixture", ask, given, error)
        case Choice():
            return Field(name, label, "choice", ask, (typed.get(name, ""),), error)
        case Amount():
            return Field(name, label, "amount", ask, (typed.get(name, ""),), error)
        case Words():
            return Field(name, label, "words", ask, (typed.get(name, ""),), error)


def read_fields(ask: Ask, typed: Mapping[str, str]) -> tuple[Any, dict[str, str]]:
    """Read the answer and no errors, or no answer and a sentence for each field that is wrong."""
    values: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for name, _, part in _list_parts(ask):
        try:
            values[name] = _read(part, name, typed)
        except InvalidMove as error:
            errors[name] = _format_error(error)
    if errors:
        return None, errors
    if isinstance(ask, Form):
        return {label: values[name] for name, label, _ in _list_parts(ask)}, {}
    return values[_NAME], {}


def _list_parts(ask: Ask) -> list[tuple[str, str, Simple]]:
    """Name, label and ask of every field."""
    match ask:
        case Form(fields):
            return [(f"{_NAME}.{number}", label, part) for number, (label, part) in enumerate(fields)]
        case Lottery():
            raise TypeError("nobody but nature draws a lottery")
        case _:
            return [(_NAME, "", ask)]


def _read(ask: Simple, name: str, typed: Mapping[str, str]) -> Any:
    if isinstance(ask, Mixture):
        return _read_shares(ask, [typed.get(f"{name}.{k}", "") for k in range(len(ask.options))])
    text = typed.get(name, "")
    if not text.strip() and not isinstance(ask, Words):
        raise InvalidMove("choose one of the options" if isinstance(ask, Choice) else "type a number", Flaw.UNPARSEABLE)
    return ask.read(text.replace(",", ".") if isinstance(ask, Amount) and text.count(",") == 1 else text)


def _read_shares(ask: Mixture, typed: list[str]) -> tuple[float, ...]:
    """Percent as probabilities; an empty field is nothing."""
    percent = []
    for option, text in zip(ask.options, typed, strict=True):
        try:
            percent.append(float(text.strip().removesuffix("%").replace(",", ".") or 0))
        except ValueError:
            raise InvalidMove(f"{text[:40]!r} for {option} is not a number", Flaw.UNPARSEABLE) from None
    total = sum(percent)
    if abs(total - 100) > 1e-4:
        raise InvalidMove(f"the shares add up to {total:g} percent, not to 100")
    mix = tuple(share / total for share in percent)
    ask.check(mix)
    return mix


def _format_error(error: InvalidMove) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."
