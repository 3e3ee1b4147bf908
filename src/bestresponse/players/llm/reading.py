"""What a language model's reply says: an answer, a repaired answer, or which kind of no answer.

Nothing is guessed. An answer is VALID when it stands where it was asked for and is legal as it stands. It is REPAIRED
when one rule of the list below makes it legal and the rule is recorded:

    the last ANSWER line of several that differ; markdown or quotes around the answer; percentages; fractions;
    probabilities that sum to within 5 % of 1 (rounding), scaled; the answer given without its ANSWER line where the
    reply holds nothing else, or in one sentence such as "I choose B"

Otherwise it is REFUSED (the model declines), TRUNCATED (it was cut off before an answer), ILLEGAL (an answer that the
ask does not allow) or UNPARSEABLE.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bestresponse.core.ask import Amount, Ask, Choice, Form, Lottery, Mixture, Words
from bestresponse.core.errors import Flaw, InvalidMove
from bestresponse.core.json import JsonObject
from bestresponse.core.player import Reading, Status

__all__ = ["Answer", "find_reasons", "read_reply"]

_LONGEST = 100_000
_BRACES = 50
_ANSWER = re.compile(r"^[ \t>*_#`\-]*(?:final[ \t])?answer[ \t*_`]*[:=：](.*)$", re.IGNORECASE | re.MULTILINE)
_DECORATION = " \t\r\n*_`'\"“”‘’.[](){}<>$\\"
_REFUSAL = re.compile(
    r"\b(?:i(?:'m| am)? (?:can(?:no|')t|unable|not able|won't|will not|must decline|sorry)|i(?:'m| am) sorry"
    r"|as an ai\b|i (?:decline|refuse)\b)",
    re.IGNORECASE,
)
_CHOSEN = (
    r"(?:i|we)(?:'ll| will| would| should)? (?:choose|pick|play|select|go with|take)(?: action| option| row| column)?"
)
_ROUNDING = 0.05
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Answer:
    """A value where there is one, and how it was read."""

    value: Any
    reading: Reading

    @property
    def readable(self) -> bool:
        """Whether there is a value."""
        return self.reading.status.readable


def read_reply(ask: Ask, text: str, *, cut_off: bool = False, declined: bool = False) -> Answer:
    """Read `text` as an answer to `ask`. `cut_off`: it ended at the token limit; `declined`: by a content filter."""
    if declined:
        return _no(Status.REFUSED, "the provider's filter ended the reply")
    if len(text) > _LONGEST:
        return _no(Status.UNPARSEABLE, f"the reply has {len(text)} characters; the limit is {_LONGEST}")
    if isinstance(ask, Words):
        return _words(ask, text, cut_off)
    if isinstance(ask, Lottery):
        raise TypeError("a reply is never read as a draw of nature")
    candidate, found_how = _candidate(ask, text)
    if candidate is None:
        return _missing(text, cut_off)
    try:
        value, repaired_how = _value(ask, candidate)
    except InvalidMove as error:
        return _bad(error, text, cut_off)
    how = "; ".join(part for part in (found_how, repaired_how) if part)
    return Answer(value, Reading(Status.REPAIRED if how else Status.VALID, how))


def find_reasons(text: str) -> str:
    """Return what a reply says besides its answer: the reasons of a JSON object, else the words before ANSWER.

    >>> find_reasons('{"reasons": "Water is scarce.", "answer": 40}'), find_reasons("Water is scarce.\\nANSWER: 40")
    ('Water is scarce.', 'Water is scarce.')
    """
    for found, data in reversed(_find_json_objects(text)):
        if isinstance(data.get("reasons"), str):
            return str(data["reasons"]).strip()
        if text.strip() == found:
            return ""
    return _ANSWER.split(text)[0].strip()


def _no(status: Status, how: str) -> Answer:
    return Answer(None, Reading(status, how))


def _missing(text: str, cut_off: bool) -> Answer:
    if not text.strip():
        return _no(Status.TRUNCATED if cut_off else Status.UNPARSEABLE, "the reply is empty")
    if _REFUSAL.search(text):
        return _no(Status.REFUSED, "the model declines to answer")
    if cut_off:
        return _no(Status.TRUNCATED, "the reply was cut off before an answer")
    return _no(Status.UNPARSEABLE, "the reply holds no answer in the form that was asked for")


def _bad(error: InvalidMove, text: str, cut_off: bool) -> Answer:
    if error.kind is Flaw.UNPARSEABLE:
        if cut_off:
            return _no(Status.TRUNCATED, f"the reply was cut off in its answer: {error}")
        if _REFUSAL.search(text):
            return _no(Status.REFUSED, "the model declines to answer")
    return _no(Status(error.kind.value), str(error))


def _words(ask: Words, text: str, cut_off: bool) -> Answer:
    if cut_off:
        return _no(Status.TRUNCATED, "the message was cut off")
    try:
        return Answer(ask.read(text.strip()), Reading())
    except InvalidMove as error:
        return _no(Status(error.kind.value), str(error))


def _candidate(ask: Choice | Amount | Mixture | Form, text: str) -> tuple[str | None, str]:
    """The part of the reply that is the answer, and what had to be done to find it."""
    lines = [line.strip(" \t\r*_`") for line in _ANSWER.findall(text) if line.strip(_DECORATION)]
    if lines:
        differ = len({line.strip(_DECORATION) for line in lines}) > 1
        return lines[-1], "the last of several answers" if differ else ""
    whole = text.strip()
    objects = _find_json_objects(whole)
    if objects:
        last, data = objects[-1]
        inside = _from_object(ask, last, data)
        if inside is not None:
            return inside, "" if whole == last else "a JSON object among other text"
    if isinstance(ask, Choice) and whole in ask.options:
        return whole, ""
    return _bare(ask, whole)


def _bare(ask: Choice | Amount | Mixture | Form, whole: str) -> tuple[str | None, str]:
    """An answer without the line that was asked for, where it can be nothing else."""
    if isinstance(ask, Choice):
        if _matching(ask, whole):
            return whole, "the bare answer"
        names = "|".join(re.escape(option) for option in sorted(ask.options, key=len, reverse=True))
        said = set(re.findall(rf"\b{_CHOSEN} [\"'*_`]*({names})(?!\w)", whole, re.IGNORECASE))
        if len(said) == 1:
            return said.pop(), "a sentence that names the choice"
        return None, ""
    if isinstance(ask, Amount):
        return (whole, "the bare answer") if re.fullmatch(r"\$?\s*-?\d+(?:\.\d+)?", whole) else (None, "")
    if isinstance(ask, Mixture) and "\n" not in whole and _pairs(ask, whole) is not None:
        return whole, "the bare answer"
    return None, ""


def _matching(ask: Choice, text: str) -> str | None:
    plain = text.strip(_DECORATION).casefold()
    same = [option for option in ask.options if option.casefold() == plain]
    return same[0] if len(same) == 1 else None


def _find_json_objects(text: str) -> list[tuple[str, JsonObject]]:
    """Find the JSON objects in `text` that are not inside another one, each as text and as data.

    Of very many braces only the first and the last are tried.
    """
    starts = [match.start() for match in re.finditer(r"\{", text)]
    if len(starts) > 2 * _BRACES:
        starts = starts[:_BRACES] + starts[-_BRACES:]
    found: list[tuple[str, JsonObject]] = []
    end = 0
    for start in starts:
        if start < end:
            continue
        try:
            data, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        found.append((text[start:end], data))
    return found


def _from_object(ask: Choice | Amount | Mixture | Form, text: str, data: JsonObject) -> str | None:
    if isinstance(ask, Form):
        inside = data.get("answer")
        return json.dumps(inside) if isinstance(inside, dict) and "answer" not in dict(ask.fields) else text
    if isinstance(ask, Mixture):
        if "answer" not in data:
            return text
        return json.dumps(data["answer"]) if isinstance(data["answer"], dict | list) else None
    if "answer" not in data or isinstance(data["answer"], dict | list | bool):
        return None
    return str(data["answer"])


def _value(ask: Choice | Amount | Mixture | Form, candidate: str) -> tuple[Any, str]:
    """The value of the answer and the repair it needed, or InvalidMove."""
    match ask:
        case Choice():
            return _first_of(candidate, ask.read, lambda text: _matching_or_fail(ask, text))
        case Amount():
            return _first_of(candidate, ask.read, lambda text: ask.read(text.strip(_DECORATION).replace(",", "")))
        case Form():
            return _first_of(candidate, ask.read, lambda text: ask.read(text.strip("`* \t")))
        case Mixture():
            return _mixture(ask, candidate)


def _matching_or_fail(ask: Choice, text: str) -> str:
    option = _matching(ask, text)
    return option if option is not None else ask.read(text)


def _first_of(candidate: str, plain: Callable[[str], Any], repaired: Callable[[str], Any]) -> tuple[Any, str]:
    try:
        return plain(candidate), ""
    except InvalidMove:
        return repaired(candidate), "decoration around the answer"


def _mixture(ask: Mixture, candidate: str) -> tuple[tuple[float, ...], str]:
    try:
        return ask.read(candidate), ""
    except InvalidMove:
        numbers = _pairs(ask, candidate)
        if numbers is None:
            raise
    repairs = []
    if abs(math.fsum(numbers) / 100 - 1) <= _ROUNDING:
        numbers = [p / 100 for p in numbers]
        repairs.append("percentages")
    total = math.fsum(numbers)
    if min(numbers) < 0 or abs(total - 1) > _ROUNDING:
        ask.check(tuple(numbers))
    if abs(total - 1) > 1e-9:
        repairs.append(f"scaled from a sum of {total:.4g}")
    mix = tuple(p / total for p in numbers)
    ask.check(mix)
    return mix, ", ".join(repairs) or "another notation"


_NUMBER = re.compile(r"(-?(?:\d+(?:\.\d+)?|\.\d+))(?:[ ]?/[ ]?(\d+(?:\.\d+)?))?(?:[ ]?%)?")


def _pairs(ask: Mixture, text: str) -> list[float] | None:
    """A number for each option, from `label: number` pairs in any decoration, or from a bare list; else None."""
    found: dict[str, float] = {}
    for option in ask.options:
        label = rf"(?<![\w.]){re.escape(option)}[\"'*_`)]{{0,3}}[ ]?(?:[:=]|->)[ ]?[\"'*_`]{{0,3}}"
        hits = re.findall(label + _NUMBER.pattern, text)
        if len(hits) > 1:
            return None
        if hits:
            found[option] = _quotient(*hits[0])
    if found:
        return [found[option] for option in ask.options] if len(found) == len(ask.options) else None
    parts = [part.strip(_DECORATION) for part in re.split("[,;]", text)]
    matches = [_NUMBER.fullmatch(part) for part in parts]
    if len(parts) != len(ask.options) or not all(matches):
        return None
    return [_quotient(*match.groups()) for match in matches if match]


def _quotient(above: str, below: str | None) -> float:
    """`above / below`; a zero below gives infinity, which no ask accepts."""
    divisor = float(below or 1)
    return float(above) / divisor if divisor else math.inf
