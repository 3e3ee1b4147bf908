"""The texts of the pages that participants see, one folder a language.

A translation is a folder with the files of `en`; what it leaves out is shown in English. A text that depends on a
number has the forms `one` and `many`. The games' own words (rules, actions) are not here: an experiment file replaces
them by its instructions.
"""

from __future__ import annotations

import tomllib
from decimal import Decimal
from functools import cache
from importlib.resources import files
from string import Template

from bestresponse.core.errors import UsageError

__all__ = ["InterfaceTexts", "list_languages", "load_texts"]

_FILES = ("pages.toml", "messages.toml")


class InterfaceTexts:
    """The texts of one language, with places to fill."""

    def __init__(self, language: str, texts: dict[str, str | dict[str, str]], words: dict[str, str]) -> None:
        self.language = language
        self._texts, self._words = texts, words

    def __call__(self, name: str, /, **places: object) -> str:
        """Return the text of that name with its places filled; `count` chooses between one and many."""
        found = self._texts[name]
        if isinstance(found, dict):
            found = found["one" if places.get("count") == 1 else "many"]
        return Template(found).substitute(places) if places else found

    def money(self, currency: str, amount: Decimal) -> str:
        """Format an amount of money as the language writes it."""
        return self("money", currency=currency, amount=f"{amount:.2f}".replace(".", self("decimal")))

    def word(self, english: str) -> str:
        """Translate a word that a game uses, such as the title of a column; itself where there is no translation."""
        return self._words.get(english, english)


@cache
def list_languages() -> tuple[str, ...]:
    """List the languages that there are texts for, English first."""
    found = [entry.name for entry in files(__name__).iterdir() if entry.joinpath(_FILES[0]).is_file()]
    return tuple(sorted(found, key=lambda name: (name != "en", name)))


@cache
def load_texts(language: str) -> InterfaceTexts:
    """Load the texts of a language; UsageError where there are none."""
    if language not in list_languages():
        raise UsageError(f"there are no texts in {language!r}; known: {', '.join(list_languages())}")
    texts = _read("en") | _read(language)
    words = texts.pop("words", {})
    return InterfaceTexts(language, texts, words if isinstance(words, dict) else {})


def _read(language: str) -> dict[str, str | dict[str, str]]:
    found: dict[str, str | dict[str, str]] = {}
    for name in _FILES:
        found |= tomllib.loads(files(__name__).joinpath(language, name).read_text("utf-8"))
    return found
