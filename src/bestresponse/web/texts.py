"""The texts of the pages that participants see, in the language of their study.

They are messages of the language's catalogue (`telling/catalogues`), as the sentences of the games
are: one file is one language. An experiment may replace texts of the pages by their names, and
words and sentences of a game by their English.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from string import Template

from bestresponse.core.numbers import list_readings
from bestresponse.telling.language import PAGE, Forms, Language, load_language

Wordings = Mapping[str, str | Mapping[str, str]]
"""Texts by their names; one that depends on a number has the forms `one` and `many`."""

_SHOWN = 40
"""So many characters of what was typed are said back."""


class FieldMistake(Exception):
    """What is wrong with a field, as a sentence for the person."""


class Cause(str):
    """Why something did not work, in English for programs and logs.

    A page says it in its own language.
    """

    name: str
    places: Mapping[str, object]

    def __new__(cls, name: str, /, **places: object) -> Cause:
        """Make the sentence of that name."""
        cause = super().__new__(cls, load_texts("en")(name, **places))
        cause.name = name
        cause.places = places
        return cause


@dataclass(frozen=True, eq=False)
class PageTexts:
    """The texts of one language, as an experiment has reworded them, with places to fill."""

    language: Language

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the texts."""
        keys = (*self.language.messages, *self.language.plurals)
        return tuple(key.removeprefix(PAGE) for key in keys if key.startswith(PAGE))

    def within(self, homes: Iterable[str]) -> PageTexts:
        """Return these texts with what the folders of games say."""
        language = self.language
        for home in homes:
            language = language.within(home)
        return PageTexts(language)

    def reword(self, pages: Wordings, phrases: Mapping[str, str]) -> PageTexts:
        """Return these texts with some replaced.

        Texts of pages go by their names, sentences and words of games by their English. A place is
        written $name in both.
        """
        messages: dict[str, Forms] = {}
        for name, wording in pages.items():
            messages[f"{PAGE}{name}"] = self._read_forms(f"{PAGE}{name}", wording)
        words: dict[str, str] = {}
        for phrase, wording in phrases.items():
            keys = find_messages(phrase, self.language)
            messages |= dict.fromkeys(keys, (read_phrase(wording),))
            if not keys:
                words |= _read_word(phrase, wording, self.language)
        return PageTexts(self.language.reword(messages, words))

    def _read_forms(self, key: str, wording: str | Mapping[str, str]) -> Forms:
        count = len(self.language.plurals.get(key, ("",)))
        if isinstance(wording, str):
            return (read_phrase(wording),) * count
        return (read_phrase(wording["one"]), *[read_phrase(wording["many"])] * (count - 1))

    def __call__(self, name: str, /, **places: object) -> str:
        """Return the text of that name with its places filled.

        `count` chooses between its forms.
        """
        return self.language.say(f"{PAGE}{name}", **places)

    def list_placeholders(self, name: str) -> set[str]:
        """List the places of a text."""
        return self.language.list_places(f"{PAGE}{name}")

    def word(self, name: str) -> str:
        """Translate a name that a game has in English, such as a role or an option.

        Itself where there is no word for it.
        """
        return self.language.translate(name)

    def explain(self, sentence: str, otherwise: str) -> str:
        """Say a cause in this language.

        The text named `otherwise` where it is known in English only.
        """
        if isinstance(sentence, Cause):
            return self(sentence.name, **sentence.places)
        known = self.language.find_word(sentence)
        if known is not None:
            return known
        return sentence if self.language.name == "en" else self(otherwise)

    def money(self, currency: str, amount: Decimal) -> str:
        """Format an amount of money as the language writes it."""
        return self("money", currency=currency, amount=self.number(format_amount(amount)))

    def number(self, figure: str) -> str:
        """Write a number as the language does; its text has a point before the decimals."""
        return figure.replace(".", self.language.decimal_mark)

    def figure(self, number: float) -> str:
        """Write a number as the language does, without floating-point noise."""
        return self.number(f"{number:.12g}")

    def read_number(self, typed: str, low: float | None = None, high: float | None = None) -> float:
        """Read a number as people of this language type it.

        What is unclear or out of bounds is a FieldMistake.

        >>> load_texts("de").read_number("1,5"), load_texts("de").read_number("1.000,50")
        (1.5, 1000.5)
        >>> load_texts("de").read_number("1.000")
        Traceback (most recent call last):
            ...
        bestresponse.web.texts.FieldMistake: 1.000 kann 1000 oder 1 heißen. Bitte geben Sie eines davon ein.
        """  # noqa: E501
        shown = typed.strip()[:_SHOWN]
        match list_readings(typed, self.language.decimal_mark):
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
        bounds = {}
        for name, bound in (("low", low), ("high", high)):
            if bound is not None:
                bounds[name] = self.figure(bound)
        match tuple(bounds):
            case ("low", "high"):
                return self("whole_range" if whole else "number_range", **bounds)
            case ("low",):
                return self("number_from", **bounds)
            case ("high",):
                return self("number_to", **bounds)
        return ""


def format_amount(amount: Decimal) -> str:
    """Format an amount of money that is not rounded yet, with two to four decimals.

    There are two decimals, or up to four if it has more.

    >>> format_amount(Decimal("4.6475")), format_amount(Decimal(3)), format_amount(Decimal("1.50"))
    ('4.6475', '3.00', '1.50')
    """
    exact = amount.quantize(Decimal("0.0001"), ROUND_HALF_UP)
    return f"{exact:.4f}".removesuffix("0").removesuffix("0")


def _read_word(phrase: str, wording: str, language: Language) -> dict[str, str]:
    """Return a word of a game and what people read instead, as a language looks it up."""
    if read_phrase(phrase) in language.sources:
        return {read_phrase(phrase): read_phrase(wording)}
    place = "".join(Template(phrase).get_identifiers()[:1])
    numbered = {place: "{number}"} if place else {}
    return {Template(phrase).safe_substitute(numbered): Template(wording).safe_substitute(numbered)}


def read_phrase(text: str) -> str:
    """Turn a text of an experiment file, with places as $name, into a message.

    >>> read_phrase("$who got {3} for $$5")
    '{who} got {{3}} for $5'
    """
    pieces: list[str] = []
    end = 0
    for match in Template.pattern.finditer(text):
        pieces.append(_escape(text[end : match.start()]))
        place = match["named"] or match["braced"]
        pieces.append(f"{{{place}}}" if place else "$")
        end = match.end()
    pieces.append(_escape(text[end:]))
    return "".join(pieces)


def _escape(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def write_phrase(message: str) -> str:
    """Write a message as an experiment file has it, with places as $name.

    >>> write_phrase("{who} got {{3}} for $5")
    '$who got {3} for $$5'
    """
    shown = re.sub(r"(?<!{){(\w+)}(?!})", r"$\1", message.replace("$", "$$"))
    return shown.replace("{{", "{").replace("}}", "}")


def find_messages(phrase: str, language: Language) -> list[str]:
    """Find the sentences that a language has and that read so in English, with places as $name."""
    message = read_phrase(phrase)
    return [
        key
        for key, text in load_like(language).messages.items()
        if text == message and not key.startswith(PAGE)
    ]


def load_like(language: Language) -> Language:
    """Return English with the same folders of games as a language."""
    english = load_language("en")
    for home in sorted(language.homes):
        english = english.within(home)
    return english


@cache
def load_texts(language: str) -> PageTexts:
    """Load the texts of a language."""
    return PageTexts(load_language(language))
