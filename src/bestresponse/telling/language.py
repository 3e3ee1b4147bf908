"""The sentences of a language: messages of a gettext catalogue, with places that are filled.

A catalogue is one file, `catalogues/LANGUAGE.po`. The context of a message (`msgctxt`) is its name
here, its text (`msgid`) the English sentence; another language has its own sentence beside it
(`msgstr`), so that an English sentence that is changed leaves the translation out of date, not
wrong. A language that lacks a message is refused when it is loaded: half a language is never shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Formatter
from typing import Literal

from bestresponse.core.errors import UsageError

ENGLISH = "en"
_LOCALES = {"en": "en_GB"}
"""Where lists are joined as "a, b or c"; other languages are their own locale."""
_PLAIN = re.compile(r"[+-]?[^\W_][\w+./%-]*(?: [\w+./%-]+)*")
_MOST_PLACES = 10_000
"""Numbers of at most four decimals are written as decimals."""
_LONG_RANGE = 6
"""Whole numbers in a row from which only the first and the last are named."""
_MOST_OPTIONS = 100
"""Of more options only the first and the last are named in a sentence; the list of all ends has
each of them."""
_LONG = 21
"""Digits from which a whole number that ends in zeros is written with an exponent."""


@dataclass(frozen=True, eq=False)
class Language:
    """The messages of one language by their names."""

    name: str
    messages: Mapping[str, str]

    def say(self, key: str, **places: object) -> str:
        """Fill the places of a message."""
        return self.messages[key].format(**places)

    def write_name(self, name: str) -> str:
        """Write the name of a player or a move, in quotes where it could be misread.

        >>> english = load_language("en")
        >>> english.write_name("offer 7"), english.write_name("show 1, guess 2"), english.write_name('say "yes"')
        ('offer 7', '"show 1, guess 2"', '"say \\\\"yes\\\\""')
        """  # noqa: E501
        if _PLAIN.fullmatch(name) and _find_own_words(self.messages["own-words"]).isdisjoint(
            name.casefold().split(" ")
        ):
            return name
        quoted = json.dumps(name, ensure_ascii=False)
        # JSON leaves separators of lines and marks of direction as they are.
        return "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in quoted)

    def write_number(self, number: Fraction) -> str:
        """Write a number exactly: as a decimal where that is short, else as a fraction.

        >>> english = load_language("en")
        >>> [english.write_number(Fraction(text)) for text in ("51/4", "1/3", "-2", "1/1024", "1e30")]
        ['12.75', '1/3', '-2', '1/1024', '1e30']
        """  # noqa: E501
        if number.denominator == 1:
            return _write_whole(number.numerator)
        fraction = f"{number.numerator}/{number.denominator}"
        places = _count_places(number.denominator)
        if places is None:
            return fraction
        scaled = number.numerator * 10**places // number.denominator
        digits = f"{abs(scaled):0{places + 1}d}"
        sign = "-" if number < 0 else ""
        decimal = f"{sign}{digits[:-places]}{self.messages['decimal-mark']}{digits[-places:]}"
        is_short = _MOST_PLACES % number.denominator == 0
        return decimal if is_short or len(decimal) < len(fraction) else fraction

    def join(self, parts: Iterable[str], style: Literal["or", "standard"]) -> str:
        """Join parts of a sentence: `a, b or c` or `a, b and c`."""
        from babel.lists import format_list

        return format_list(list(parts), style=style, locale=_LOCALES.get(self.name, self.name))

    def join_names(self, names: Iterable[str]) -> str:
        """Join names: `a, b and c`."""
        return self.join(map(self.write_name, names), "standard")

    def join_options(self, options: Sequence[str]) -> str:
        """Join options: `a, b or c`; many whole numbers in a row by the first and the last.

        >>> load_language("en").join_options("0 1 2 3 4 5 6".split())
        'a whole number from 0 to 6'
        """
        if len(options) >= _LONG_RANGE and _are_in_a_row(options):
            return self.say("options.range", first=options[0], last=options[-1])
        if len(options) > _MOST_OPTIONS:
            first, last = self.write_name(options[0]), self.write_name(options[-1])
            return self.say("options.many", count=f"{len(options):,}", first=first, last=last)
        return self.join(map(self.write_name, options), "or")


@cache
def load_language(name: str, folder: Path | None = None) -> Language:
    """Load a language; UsageError where it lacks a message or a message lacks a place."""
    english = _read_catalogue(ENGLISH, None)
    own = english if name == ENGLISH and folder is None else _read_catalogue(name, folder)
    messages = {}
    for key, (source, _) in english.items():
        text = source if own is english else _find_translation(own, key, source, name)
        if _list_places(text) != _list_places(source):
            wanted = ", ".join(sorted(_list_places(source))) or "no places"
            raise UsageError(
                f"the language {name!r} cannot be used: its message {key!r} must have {wanted}"
            )
        messages[key] = text
    unknown = [key for key in own if key not in english]
    if unknown:
        raise UsageError(
            f"the language {name!r} cannot be used: there is no message {unknown[0]!r}"
        )
    return Language(name, messages)


def list_catalogues() -> list[str]:
    """List the languages that have a catalogue, English first."""
    names = [
        entry.name.removesuffix(".po")
        for entry in _find_catalogues().iterdir()
        if entry.name.endswith(".po")
    ]
    return sorted(names, key=lambda name: (name != ENGLISH, name))


def _find_catalogues() -> Traversable:
    return files("bestresponse.telling.catalogues")


def _read_catalogue(name: str, folder: Path | None) -> dict[str, tuple[str, str]]:
    """Read the English and the translated text of every message, by its name."""
    from babel.messages.pofile import read_po

    path = (folder or _find_catalogues()) / f"{name}.po"
    if not re.fullmatch(r"[a-z]{2,3}(_[A-Za-z]+)?", name) or not path.is_file():
        raise UsageError(f"there is no language {name!r}; there are {', '.join(list_catalogues())}")
    with path.open("rb") as file:
        catalogue = read_po(file)
    messages: dict[str, tuple[str, str]] = {}
    for message in catalogue:
        if message.id and message.context:
            translation = "" if message.fuzzy else str(message.string)
            messages[message.context] = str(message.id), translation
    return messages


def _find_translation(own: Mapping[str, tuple[str, str]], key: str, source: str, name: str) -> str:
    if key not in own:
        raise UsageError(f"the language {name!r} cannot be used: it lacks the message {key!r}")
    translated, text = own[key]
    if translated != source:
        raise UsageError(
            f"the language {name!r} cannot be used: {key!r} translates {translated!r}, not"
            f" {source!r}"
        )
    if not text:
        raise UsageError(f"the language {name!r} cannot be used: its message {key!r} is empty")
    return text


def _list_places(text: str) -> set[str]:
    return {place for _, place, _, _ in Formatter().parse(text) if place is not None}


@cache
def _find_own_words(listed: str) -> frozenset[str]:
    return frozenset(listed.casefold().split())


def _count_places(denominator: int) -> int | None:
    """Return how many decimals a fraction has, None where they never end."""
    places = 0
    for prime in (2, 5):
        count = 0
        while denominator % prime == 0:
            denominator //= prime
            count += 1
        places = max(places, count)
    return places if denominator == 1 else None


def _are_in_a_row(options: Sequence[str]) -> bool:
    """Say whether names are whole numbers, each one more than the number before."""
    first = options[0]
    if not re.fullmatch(r"-?[0-9]{1,15}", first):
        return False
    return list(options) == [str(int(first) + k) for k in range(len(options))]


def _write_whole(number: int) -> str:
    text = str(Decimal(number))
    if len(text) < _LONG or not text.endswith("0"):
        return text
    digits = text.rstrip("0")
    return f"{digits}e{len(text) - len(digits)}"
