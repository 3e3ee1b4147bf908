"""Asks as the fields of a form: how each is drawn, and how what was typed is read."""

from collections.abc import Mapping
from dataclasses import dataclass

from bestresponse.core.ask import PASS, Amount, Ask, Choice, Form, Lottery, Mixture, Words
from bestresponse.core.errors import InvalidMove
from bestresponse.core.json import JsonObject
from bestresponse.core.numbers import list_readings
from bestresponse.web.texts import FieldMistake, PageTexts

_NAME = "answer"
_MOST_BUTTONS = 12
_MOST_IN_ROW = 3
"""Numbers to choose from in one row of a form with several."""
_ROUNDING = 0.11
"""Percent that may be missing because shares were rounded: three of 33.3 are meant to be
everything."""
SimpleAsk = Choice | Amount | Words | Mixture


@dataclass(frozen=True, slots=True)
class DrawnField:
    """One part of a question as it is drawn.

    `typed` is what is in it, `error` the sentence beside it.
    """

    name: str
    label: str
    ask: SimpleAsk
    typed: tuple[str, ...] = ("",)
    error: str = ""

    @property
    def kind(self) -> str:
        """How it is drawn; many whole numbers in a row are typed and not looked for."""
        options = self.ask.options if isinstance(self.ask, Choice) else ()
        most = _MOST_IN_ROW if self.label else _MOST_BUTTONS
        if len(options) > most and all(
            option.isascii() and option.isdecimal() for option in options
        ):
            first = int(options[0])
            last = int(options[-1])
            return "number" if list(map(int, options)) == list(range(first, last + 1)) else "choice"
        return type(self.ask).__name__.lower()

    @property
    def options(self) -> tuple[str, ...]:
        """The labels to choose from or to divide a hundred percent among."""
        if isinstance(self.ask, Choice):
            return (*self.ask.options, PASS) if self.ask.may_pass else self.ask.options
        return self.ask.options if isinstance(self.ask, Mixture) else ()


def make_fields(ask: Ask, typed: Mapping[str, str], errors: Mapping[str, str]) -> list[DrawnField]:
    """Make the fields of a question, with what was typed before and what is wrong with it."""
    return [
        DrawnField(name, label, part, tuple(_list_typed(part, name, typed)), errors.get(name, ""))
        for name, label, part in _list_parts(ask)
    ]


def _list_typed(ask: SimpleAsk, name: str, typed: Mapping[str, str]) -> list[str]:
    names = [f"{name}.{k}" for k in range(len(ask.options))] if isinstance(ask, Mixture) else [name]
    return [typed.get(part, "") for part in names]


def write_fields(ask: Ask, action: object, texts: PageTexts) -> dict[str, str]:
    """Return what a person types into the fields to give that answer.

    >>> from bestresponse.web.texts import load_texts
    >>> two = Form((("a", Amount(0, 5)), ("b", Choice(("x", "y")))))
    >>> write_fields(two, {"a": 2.5, "b": "y"}, load_texts("de"))
    {'answer.0': '2,5', 'answer.1': 'y'}
    """
    typed: dict[str, str] = {}
    for name, label, _ in _list_parts(ask):
        answer = action[label] if isinstance(action, Mapping) else action
        match answer:
            case tuple() | list():
                for number, share in enumerate(answer):
                    typed[f"{name}.{number}"] = texts.number(f"{100 * share:.9f}")
            case int() | float():
                typed[name] = texts.figure(answer)
            case _:
                typed[name] = str(answer)
    return typed


def read_fields(
    ask: Ask, typed: Mapping[str, str], texts: PageTexts
) -> tuple[object, dict[str, str]]:
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


def _list_parts(ask: Ask) -> list[tuple[str, str, SimpleAsk]]:
    """Name, label and ask of every field."""
    match ask:
        case Form(fields):
            return [
                (f"{_NAME}.{number}", label, part) for number, (label, part) in enumerate(fields)
            ]
        case Lottery():
            raise TypeError("nobody but nature draws a lottery")
        case _:
            return [(_NAME, "", ask)]


def _read(ask: SimpleAsk, name: str, typed: Mapping[str, str], texts: PageTexts) -> object:
    parts = _list_typed(ask, name, typed)
    text = parts[0]
    match ask:
        case Mixture():
            return _read_shares(ask, parts, texts)
        case Amount():
            return _read_amount(ask, text.strip(), texts)
    if not text.strip():
        raise FieldMistake(texts("empty_words" if isinstance(ask, Words) else "choose_option"))
    try:
        return ask.read(text)
    except InvalidMove:
        if isinstance(ask, Words):
            raise FieldMistake(texts("too_long", count=len(text), most=ask.limit)) from None
        raise FieldMistake(texts("not_option", text=text.strip()[:40])) from None


def _read_amount(ask: Amount, text: str, texts: PageTexts) -> float | str:
    if ask.may_pass and text.lower() in (PASS, texts.word(PASS).lower()):
        return PASS
    number = texts.read_number(text.removeprefix("$"), ask.low, ask.high)
    try:
        ask.check(number)
    except InvalidMove:
        raise FieldMistake(texts("not_whole", text=texts.figure(number))) from None
    return number


def _read_shares(ask: Mixture, typed: list[str], texts: PageTexts) -> tuple[float, ...]:
    """Read percent as probabilities.

    An empty field is nothing, and what rounding leaves out is shared.
    """
    percent = []
    for option, text in zip(ask.options, typed, strict=True):
        readings = list_readings(text.strip().removesuffix("%") or "0", texts.language.decimal_mark)
        if not readings:
            raise FieldMistake(texts("not_share", text=text[:40], option=texts.word(option)))
        # No share is a thousand percent, so that 33,333 can only be 33 and a third.
        percent.append(min(readings))
    total = sum(percent)
    if not abs(total - 100) <= _ROUNDING:
        raise FieldMistake(texts("not_hundred", sum=texts.figure(total)))
    mix = tuple(share / total for share in percent)
    try:
        ask.check(mix)
    except InvalidMove as error:
        raise FieldMistake(f"{str(error)[:1].upper()}{str(error)[1:]}.") from None
    return mix
