"""The texts of the pages that participants see, one folder a language.

A translation is a folder with the files of `en`; what it leaves out is shown in English. A text
that depends on a number has the forms `one` and `many`. What games say themselves stands in
`[words]`, by their English phrases; an experiment file replaces their rules by its instructions,
and any phrase by its own.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import cache
from importlib.resources import files
from string import Template

from bestresponse.core.numbers import list_readings

_FILES = ("pages.toml", "messages.toml")
Wordings = Mapping[str, str | Mapping[str, str]]
"""Texts by their names; one that depends on a number has the forms `one` and `many`."""

_PLACE = re.compile(r"\\\$([a-z_]+)")
_SENTENCE = re.compile(r"(?<=[.!?]) ")


_SHOWN = 40
"""So many characters of what was typed are said back."""


class FieldMistake(Exception):
    """What is wrong with a field, as a sentence for the person."""


class InterfaceTexts:
    """The texts of one language, with places to fill; `words` are what games say, by their own
    English phrases.

    In a phrase `$name` stands for anything, and in what replaces it for the same: "player $n" =
    "Teilnehmer $n".
    """

    def __init__(self, language: str, texts: Wordings, words: Mapping[str, str]) -> None:
        self.language, self.names = language, tuple(texts)
        self._texts = texts
        self._words = words
        # What stands in a place is part of one sentence.
        phrases = (
            (_PLACE.sub(r"(?P<\1>(?:(?![.!?] ).)+?)", re.escape(phrase)), wording)
            for phrase, wording in words.items()
        )
        self._inside: re.Pattern[str] | None = None
        self._meant: dict[str, str] = {}
        self._patterns = [
            (re.compile(phrase), wording) for phrase, wording in phrases if "(?P<" in phrase
        ]

    def reword(self, language: str, texts: Wordings, words: Mapping[str, str]) -> InterfaceTexts:
        """Return these texts with some of them replaced; new phrases are tried before the old."""
        worded = InterfaceTexts(
            language, {**self._texts, **texts}, {**words, **self._words, **words}
        )
        plain = {word: wording for word, wording in words.items() if "$" not in word}
        worded._inside = _match_any(plain)
        worded._meant = {wording.lower(): word for word, wording in plain.items()}
        return worded

    def understand(self, text: str) -> str:
        """Put the game's own words for those that an experiment gave instead, as in a message that
        a referee reads."""
        known = _match_any(self._meant, re.IGNORECASE)
        return known.sub(lambda match: self._meant[match[0].lower()], text) if known else text

    def __call__(self, name: str, /, **placeholders: object) -> str:
        """Return the text of that name with its placeholders filled; `count` chooses between one
        and many."""
        text = self._texts[name]
        if isinstance(text, Mapping):
            text = text["one" if placeholders.get("count") == 1 else "many"]
        return Template(text).substitute(placeholders) if placeholders else text

    def list_placeholders(self, name: str) -> set[str]:
        """List the placeholders of a text."""
        text = self._texts[name]
        return set(
            Template(text if isinstance(text, str) else " ".join(text.values())).get_identifiers()
        )

    def money(self, currency: str, amount: Decimal) -> str:
        """Format an amount of money as the language writes it."""
        return self("money", currency=currency, amount=self.number(f"{amount:.2f}"))

    def number(self, figure: str) -> str:
        """Write a number as the language does; its text has a point before the decimals."""
        return figure.replace(".", self("decimal"))

    def figure(self, number: float) -> str:
        """Write a number as the language does, without what only floating-point arithmetic has
        added."""
        return self.number(f"{number:.12g}")

    def read_number(self, typed: str, low: float | None = None, high: float | None = None) -> float:
        """Read a number as people of this language type it; what is unclear or out of bounds is a
        FieldMistake.

        >>> load_texts("de").read_number("1,5"), load_texts("de").read_number("1.000,50")
        (1.5, 1000.5)
        >>> load_texts("de").read_number("1.000")
        Traceback (most recent call last):
            ...
        bestresponse.web.texts.FieldMistake: 1.000 kann 1000 oder 1 heißen. Bitte geben Sie eines davon ein.
        """  # noqa: E501
        shown = typed.strip()[:_SHOWN]
        match list_readings(typed, self("decimal")):
            case (number,):
                self._check_bounds(number, low, high)
                return number
            case (whole, fraction):
                meanings = {"whole": self.figure(whole), "fraction": self.figure(fraction)}
                raise FieldMistake(self("two_readings", text=shown, **meanings))
            case _:
                raise FieldMistake(self("not_number", text=shown) if shown else self("type_number"))

    def _check_bounds(self, number: float, low: float | None, high: float | None) -> None:
        below = low is not None and number < low
        above = high is not None and number > high
        if not (below or above):
            return
        shown = self.figure(number)
        if low is not None and high is not None:
            raise FieldMistake(
                self("not_between", text=shown, low=self.figure(low), high=self.figure(high))
            )
        if low is not None:
            raise FieldMistake(self("too_small", text=shown, low=self.figure(low)))
        if high is not None:
            raise FieldMistake(self("too_large", text=shown, high=self.figure(high)))

    def word_range(self, low: float | None, high: float | None, whole: bool = False) -> str:
        """Say which numbers can be typed; empty where there is no bound."""
        bounds = {
            name: self.figure(bound)
            for name, bound in (("low", low), ("high", high))
            if bound is not None
        }
        match tuple(bounds):
            case ("low", "high"):
                return self("whole_range" if whole else "number_range", **bounds)
            case ("low",):
                return self("number_from", **bounds)
            case ("high",):
                return self("number_to", **bounds)
        return ""

    def word(self, english: str) -> str:
        """Translate a word or phrase of a game, such as a role or an option; itself where there is
        no translation."""
        if english in self._words:
            return self._words[english]
        for pattern, wording in self._patterns:
            if match := pattern.fullmatch(english):
                placeholders = {name: self.word(part) for name, part in match.groupdict().items()}
                return Template(wording).safe_substitute(placeholders)
        return english

    def say(self, text: str) -> str:
        """Translate what a game tells: line by line, and where a line is not known sentence by
        sentence.

        In a sentence that is not known, words are replaced that an experiment gave; those of a
        language would mix two.
        """
        lines = [(line, self.word(line)) for line in text.split("\n")]
        parts = [
            [words] if words != line else map(self._say_sentence, _SENTENCE.split(line))
            for line, words in lines
        ]
        return "\n".join(" ".join(part) for part in parts)

    def _say_sentence(self, sentence: str) -> str:
        translation = self.word(sentence)
        if translation != sentence or self._inside is None:
            return translation
        return self._inside.sub(lambda match: self._words[match[0]], sentence)


def _match_any(words: Iterable[str], flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str] | None:
    """Return what finds any of the words, the longest first; None where there are none."""
    known = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    return re.compile(rf"\b(?:{known})\b", flags) if known else None


@cache
def list_languages() -> tuple[str, ...]:
    """List the languages for which texts exist, English first."""
    languages = [
        entry.name for entry in files(__name__).iterdir() if entry.joinpath(_FILES[0]).is_file()
    ]
    return tuple(sorted(languages, key=lambda name: (name != "en", name)))


@cache
def load_texts(language: str) -> InterfaceTexts:
    """Load the texts of one of the languages of `list_languages`."""
    texts = _read("en") | _read(language)
    words = texts.pop("words", {})
    return InterfaceTexts(language, texts, words if isinstance(words, dict) else {})


def _read(language: str) -> dict[str, str | dict[str, str]]:
    texts: dict[str, str | dict[str, str]] = {}
    for name in _FILES:
        texts |= tomllib.loads(files(__name__).joinpath(language, name).read_text("utf-8"))
    return texts
