"""An ask as a form, and what was typed into it as an answer; poker as cards and bets. The ask itself reads and refuses.

A question has one field, a form one for each of its parts. A mixture is typed in percent, one number an option.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bestresponse.core.ask import PASS, Amount, Ask, Choice, Form, Lottery, Mixture, Words
from bestresponse.core.errors import InvalidMove
from bestresponse.core.json import JsonObject
from bestresponse.web.texts import InterfaceTexts

_NAME = "answer"
_MOST_BUTTONS = 12
_ROUNDING = 0.11
"""Percent that may be missing because shares were rounded: three of 33.3 are meant to be everything."""
Simple = Choice | Amount | Words | Mixture


@dataclass(frozen=True, slots=True)
class Field:
    """One part of a question as it is drawn: `typed` is what stands in it, `error` the sentence beside it."""

    name: str
    label: str
    ask: Simple
    typed: tuple[str, ...] = ("",)
    error: str = ""

    @property
    def kind(self) -> str:
        """How it is drawn; many whole numbers in a row are typed and not looked for."""
        options = self.ask.options if isinstance(self.ask, Choice) else ()
        if len(options) > _MOST_BUTTONS and all(option.isascii() and option.isdecimal() for option in options):
            first, last = int(options[0]), int(options[-1])
            return "number" if list(map(int, options)) == list(range(first, last + 1)) else "choice"
        return type(self.ask).__name__.lower()

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
    return [
        Field(name, label, part, tuple(_list_typed(part, name, typed or {})), (errors or {}).get(name, ""))
        for name, label, part in _list_parts(ask)
    ]


def _list_typed(ask: Simple, name: str, typed: Mapping[str, str]) -> list[str]:
    names = [f"{name}.{k}" for k in range(len(ask.options))] if isinstance(ask, Mixture) else [name]
    return [typed.get(part, "") for part in names]


def write_fields(ask: Ask, action: Any) -> dict[str, str]:
    """Return what a person types into the fields to give that answer.

    >>> write_fields(Form((("a", Amount(0, 5)), ("b", Choice(("x", "y"))))), {"a": 2.5, "b": "y"})
    {'answer.0': '2.5', 'answer.1': 'y'}
    """
    typed: dict[str, str] = {}
    for name, label, part in _list_parts(ask):
        answer = action[label] if isinstance(ask, Form) else action
        if isinstance(part, Mixture):
            typed |= {f"{name}.{k}": f"{100 * share:.9f}" for k, share in enumerate(answer)}
        else:
            typed[name] = f"{answer:.12g}" if isinstance(answer, int | float) else str(answer)
    return typed


class FieldMistake(Exception):
    """What is wrong with a field, as a sentence for the person."""


def read_fields(ask: Ask, typed: Mapping[str, str], texts: InterfaceTexts) -> tuple[Any, dict[str, str]]:
    """Read the answer and no errors, or no answer and a sentence for each field that is wrong."""
    values: JsonObject = {}
    errors: dict[str, str] = {}
    for name, _, part in _list_parts(ask):
        try:
            values[name] = _read(part, name, typed, texts)
        except FieldMistake as mistake:
            errors[name] = str(mistake)
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


def _read(ask: Simple, name: str, typed: Mapping[str, str], texts: InterfaceTexts) -> Any:
    text, *_ = parts = _list_typed(ask, name, typed)
    if isinstance(ask, Mixture):
        return _read_shares(ask, parts, texts)
    if isinstance(ask, Amount) and text.count(",") == 1:
        text = text.replace(",", ".")
    try:
        if not text.strip() or ("_" in text and isinstance(ask, Amount)):
            raise InvalidMove("nothing that can be read")
        return ask.read(text)
    except InvalidMove:
        raise FieldMistake(_explain(ask, text.strip(), texts)) from None


def _explain(ask: Choice | Amount | Words, text: str, texts: InterfaceTexts) -> str:
    """Say in the person's language why the answer is not legal."""
    shown = text[:40]
    match ask:
        case Choice():
            return texts("not_option", text=shown) if text else texts("choose_option")
        case Words():
            return texts("too_long", count=len(text), most=ask.limit) if text else texts("empty_words")
    if not text:
        return texts("type_number")
    try:
        number = float("nan" if "_" in text else text.removeprefix("$"))
    except ValueError:
        number = float("nan")
    if not math.isfinite(number):
        return texts("not_number", text=shown)
    if not ask.low <= number <= ask.high:
        return texts("not_between", text=f"{number:g}", low=f"{ask.low:g}", high=f"{ask.high:g}")
    return texts("not_whole", text=f"{number:g}")


def _read_shares(ask: Mixture, typed: list[str], texts: InterfaceTexts) -> tuple[float, ...]:
    """Read percent as probabilities; an empty field is nothing, and what rounding leaves out is shared."""
    percent = []
    for option, text in zip(ask.options, typed, strict=True):
        try:
            percent.append(float(text.strip().removesuffix("%").replace(",", ".") or 0))
        except ValueError:
            raise FieldMistake(texts("not_share", text=text[:40], option=texts.word(option))) from None
    total = sum(percent)
    if not abs(total - 100) <= _ROUNDING:
        raise FieldMistake(texts("not_hundred", sum=f"{total:g}"))
    mix = tuple(share / total for share in percent)
    try:
        ask.check(mix)
    except InvalidMove as error:
        raise FieldMistake(f"{str(error)[:1].upper()}{str(error)[1:]}.") from None
    return mix


_MOVES = {"p": "pass", "b": "bet", "c": "call", "r": "raise"}
_RAISES = (2, 4)


@dataclass(frozen=True, slots=True)
class Hand:
    """The own card, the open card where there is one, the moves so far, and what is in the pot."""

    card: str
    open: str
    moves: tuple[tuple[str, str], ...]
    pot: int


def read_hand(game: str, label: str, roles: tuple[str, ...]) -> Hand | None:
    """Read the label of Kuhn's poker, or of Leduc poker for two; None for other games.

    >>> read_hand("kuhn-poker", "K pb", ("player 1", "player 2"))
    Hand(card='K', open='', moves=(('player 1', 'pass'), ('player 2', 'bet')), pot=3)
    >>> read_hand("kuhn-poker-3", "T pbb", ("player 1", "player 2", "player 3")).moves[-1]
    ('player 3', 'bet')
    >>> read_hand("leduc-poker", "J crc Q r", ("player 1", "player 2")).pot
    10
    """
    card, *rest = label.split(" ")
    if game.startswith("kuhn-poker"):
        letters = rest[0] if rest else ""
        moves = tuple((roles[k % len(roles)], _MOVES[letter]) for k, letter in enumerate(letters))
        return Hand(card, "", moves, len(roles) + letters.count("b"))
    if game != "leduc-poker" or len(roles) != 2:
        return None
    opened = next((part for part in rest if part in ("J", "Q", "K")), "")
    index = rest.index(opened) if opened else len(rest)
    return Hand(card, opened, *_count_pot(("".join(rest[:index]), "".join(rest[index + 1 :])), roles))


def _count_pot(rounds: tuple[str, str], roles: tuple[str, ...]) -> tuple[tuple[tuple[str, str], ...], int]:
    paid = [1, 1]
    moves: list[tuple[str, str]] = []
    for size, letters in zip(_RAISES, rounds, strict=True):
        for k, letter in enumerate(letters):
            seat = k % 2
            paid[seat] = paid[1 - seat] + (size if letter == "r" else 0)
            moves.append((roles[seat], _MOVES[letter]))
    return tuple(moves), sum(paid)
