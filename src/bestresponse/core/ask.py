"""What a legal answer looks like.

A game never calls a player. It publishes asks; whoever sits in the seat (a strategy, a language
model, a person at a form, nature, a referee) returns an answer that the ask accepts. The union
`Ask` is closed on purpose: a form, a prompt and a command line each handle every kind, and the type
checker proves that they do.

`read(text)` turns what somebody typed into a value, `check(value)` refuses a value that is not
legal; both raise `InvalidMove` with the kind of flaw. Values are plain JSON data: text, numbers,
tuples of numbers, mappings.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeGuard

from bestresponse.core.errors import Flaw, InvalidMove
from bestresponse.core.json import JsonObject, refuse_repeated_keys

PASS = "pass"
"""The answer of a seat that gives no answer, where the ask allows it."""

NO_WORDS = "(no message)"
"""The message of a seat that writes none: a random player, or a stand-in for a person."""

_SUM_TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few labels.

    >>> Choice(("rock", "paper")).read(" Rock ")
    'rock'
    """

    options: tuple[str, ...]
    may_pass: bool = False

    def __post_init__(self) -> None:
        if not self.options or len(set(self.options)) != len(self.options):
            raise ValueError(f"a choice needs different options, got {self.options!r}")

    def read(self, text: str) -> str:
        """Return the option that `text` names, ignoring case, outer spaces and quotes."""
        # Names of actions in files may have spaces around them, and differ in nothing else.
        wanted = text if text in self.options else _unquote(text.strip())
        if wanted in self.options or (self.may_pass and wanted == PASS):
            return wanted
        folded = wanted.casefold()
        same = [option for option in self.options if option.strip().casefold() == folded]
        if len(same) != 1:
            raise InvalidMove(f"{_short(text)} is not one of {', '.join(self.options)}")
        return same[0]

    def check(self, value: object) -> None:
        """Refuse what is not one of the options."""
        if not (isinstance(value, str) and value in self.options) and not (
            self.may_pass and value == PASS
        ):
            raise InvalidMove(f"{_short(value)} is not one of {', '.join(self.options)}")


@dataclass(frozen=True, slots=True)
class Amount:
    """A number between two bounds, both included; `whole` allows integers only.

    Bounds without end are not told.

    >>> Amount(0, 70).read("12.5")
    12.5
    """

    low: float
    high: float
    whole: bool = False
    may_pass: bool = False

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"an amount needs low <= high, got {self.low!r} and {self.high!r}")

    def read(self, text: str) -> float | str:
        """Return the number that `text` states, with or without a dollar sign."""
        if self.may_pass and text.strip().casefold() == PASS:
            return PASS
        try:
            amount = float(text.strip().removeprefix("$"))
        except ValueError:
            raise InvalidMove(f"{_short(text)} is not a number", Flaw.UNPARSEABLE) from None
        self.check(amount)
        return amount

    def check(self, value: object) -> None:
        """Refuse what is not a number within the bounds."""
        if self.may_pass and value == PASS:
            return
        if not is_number(value) or not math.isfinite(value):
            raise InvalidMove(f"{_short(value)} is not a finite number")
        if not self.low <= value <= self.high:
            raise InvalidMove(f"{value:g} is not between {self.low:g} and {self.high:g}")
        if self.whole and value != int(value):
            raise InvalidMove(f"{value:g} is not a whole number")


@dataclass(frozen=True, slots=True)
class Words:
    """Free text of bounded length; `least` characters of it, 0 where it may be empty."""

    limit: int = 2000
    least: int = 1

    def read(self, text: str) -> str:
        """Return the message as it is."""
        self.check(text)
        return text

    def check(self, value: object) -> None:
        """Refuse an empty message and one that is too long."""
        if not isinstance(value, str) or len(value.strip()) < self.least:
            raise InvalidMove("the message is empty", Flaw.UNPARSEABLE)
        if len(value) > self.limit:
            raise InvalidMove(f"the message has {len(value)} characters; the limit is {self.limit}")


@dataclass(frozen=True, slots=True)
class Mixture:
    """A probability for each option, in the options' order.

    Without a `question`, a model is asked how likely it is to choose each of its actions.

    >>> Mixture(("A", "B")).read("A: 0.25, B: 0.75")
    (0.25, 0.75)
    """

    options: tuple[str, ...]
    question: str = ""

    def __post_init__(self) -> None:
        if not self.options or len(set(self.options)) != len(self.options):
            raise ValueError(f"a mixture needs different options, got {self.options!r}")

    def read(self, text: str) -> tuple[float, ...]:
        """Return the probabilities that `text` states, as JSON or as `label: number` pairs."""
        mix = _numbers_of(self.options, text)
        self.check(mix)
        return mix

    def check(self, value: object) -> None:
        """Refuse what is not one probability for each option."""
        if not isinstance(value, tuple | list) or len(value) != len(self.options):
            raise InvalidMove(f"expected {len(self.options)} probabilities, got {_short(value)}")
        for p in value:
            # Most are floats; the general check takes three times as long, and every answer is
            # checked several times.
            if type(p) is not float and not is_number(p):
                raise InvalidMove(f"{_short(p)} is not a probability")
            if not 0 <= p <= 1 + _SUM_TOLERANCE:
                raise InvalidMove(f"{p:g} is not between 0 and 1")
        total = math.fsum(value)
        if abs(total - 1) > _SUM_TOLERANCE:
            raise InvalidMove(f"the probabilities sum to {total:.6g}, not 1")


@dataclass(frozen=True, slots=True)
class Form:
    """Several asks answered together, as a JSON object by field name."""

    fields: tuple[tuple[str, Choice | Amount | Words | Mixture], ...]

    def read(self, text: str) -> dict[str, object]:
        """Return the fields of a JSON object, each read by its own ask."""
        try:
            parsed = json.loads(text, object_pairs_hook=refuse_repeated_keys)
        except ValueError:
            parsed = None
        if not isinstance(parsed, dict):
            raise InvalidMove(f"{_short(text)} is not a JSON object", Flaw.UNPARSEABLE)
        missing = [name for name, _ in self.fields if name not in parsed]
        if missing:
            raise InvalidMove(f"the field {missing[0]!r} is missing")
        answers: JsonObject = {}
        for name, ask in self.fields:
            typed = parsed[name] if isinstance(parsed[name], str) else json.dumps(parsed[name])
            try:
                answers[name] = ask.read(typed)
            except InvalidMove as error:
                raise InvalidMove(f"{name}: {error}", error.kind) from None
        return answers

    def check(self, value: object) -> None:
        """Refuse other fields, and values that their asks refuse."""
        if not isinstance(value, Mapping) or set(value) != {name for name, _ in self.fields}:
            names = ", ".join(name for name, _ in self.fields)
            raise InvalidMove(f"expected the fields {names}, got {_short(value)}")
        for name, ask in self.fields:
            try:
                ask.check(value[name])
            except InvalidMove as error:
                raise InvalidMove(f"{name}: {error}", error.kind) from None


@dataclass(frozen=True, slots=True)
class Lottery:
    """A draw by nature: each outcome with its probability."""

    chances: tuple[tuple[str | int, float], ...]

    def __post_init__(self) -> None:
        total = math.fsum(p for _, p in self.chances)
        is_negative = any(p < 0 for _, p in self.chances)
        if is_negative or not math.isclose(total, 1.0, rel_tol=0, abs_tol=1e-9):
            raise ValueError(f"a lottery needs probabilities that sum to 1, got {total!r}")
        outcomes = {outcome for outcome, _ in self.chances}
        if len(outcomes) != len(self.chances):
            raise ValueError("a lottery needs different outcomes")

    @classmethod
    def uniform(cls, outcomes: tuple[str | int, ...]) -> Lottery:
        """Return a lottery in which all outcomes are equally likely."""
        p = 1 / len(outcomes)
        return cls(tuple((outcome, p) for outcome in outcomes))

    def read(self, text: str) -> str | int:
        """Return the outcome that `text` names."""
        for outcome, _ in self.chances:
            if str(outcome) == text.strip():
                return outcome
        raise InvalidMove(f"{_short(text)} cannot be drawn")

    def check(self, value: object) -> None:
        """Refuse what cannot be drawn."""
        for outcome, _ in self.chances:
            if value == outcome and type(value) is type(outcome):
                return
        raise InvalidMove(f"{_short(value)} cannot be drawn")


Ask = Choice | Amount | Words | Mixture | Form | Lottery


def _numbers_of(options: tuple[str, ...], text: str) -> tuple[float, ...]:
    """Probabilities written as JSON (list or object) or as `label: number` pairs."""
    try:
        parsed = json.loads(text, object_pairs_hook=refuse_repeated_keys)
    except ValueError:
        parsed = _pairs_in(options, text)
    if isinstance(parsed, list) and len(parsed) == len(options):
        return tuple(_number(p) for p in parsed)
    if isinstance(parsed, dict) and not set(parsed) <= set(options):
        # A name that is told in quotes may come back with them, as a name within quotes.
        named = {_unquote(name): p for name, p in parsed.items()}
        parsed = named if len(named) == len(parsed) else None
    if isinstance(parsed, dict) and set(parsed) <= set(options) and parsed:
        given = [parsed.get(option, 0.0) for option in options]
        return tuple(map(_number, given))
    raise InvalidMove(
        f"expected a probability for each of {', '.join(options)}, got {_short(text)}",
        Flaw.UNPARSEABLE,
    )


def _pairs_in(options: tuple[str, ...], text: str) -> dict[str, float] | None:
    pairs: dict[str, float] = {}
    # Names with commas are told in quotes, and come back so.
    parts = _QUOTED_PART.findall(text) if '"' in text else re.split(r"[,;\n]+", text.strip())
    for part in filter(str.strip, parts):
        label, colon, number = part.strip().rpartition(":")
        name = _unquote(label.strip())
        if not colon or name not in options or name in pairs:
            return None
        pairs[name] = _number(number.strip())
    return pairs


_QUOTED_PART = re.compile(r'(?:"(?:[^"\\]|\\.)*"|[^",;\n])+')


def _unquote(text: str) -> str:
    """Return a name that is written in double quotes as JSON does, and any other text as it is."""
    if len(text) < 2 or not text.startswith('"') or not text.endswith('"'):
        return text
    try:
        name = json.loads(text)
    except ValueError:
        return text
    return name if isinstance(name, str) else text


def is_number(value: object) -> TypeGuard[int | float]:
    """Tell whether a value is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(entry: object) -> float:
    if isinstance(entry, bool) or not isinstance(entry, int | float | str):
        raise InvalidMove(f"{_short(entry)} is not a number", Flaw.UNPARSEABLE)
    try:
        return float(entry)
    except (ValueError, OverflowError):
        raise InvalidMove(f"{_short(entry)} is not a number", Flaw.UNPARSEABLE) from None


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:60]}... ({len(text)} characters)"
