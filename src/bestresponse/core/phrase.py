"""A text of a game in English, which a language may have in its own words."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

Filling: TypeAlias = str | int | float | Fraction | tuple["Phrase", ...]
"""What is in a place: a name, a number, or phrases that are joined as in `a, b and c`."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A text in English with places in braces, and what is in them.

    A language that has the text in its catalogue says it in its own words; any other says it in
    English, whole.
    """

    text: str
    places: tuple[tuple[str, Filling], ...] = ()


def make_phrase(text: str, **places: Filling) -> Phrase:
    """Make a phrase.

    >>> make_phrase("Which number from {low} to {high} do you choose?", low=0, high=100).places
    (('low', 0), ('high', 100))
    """
    return Phrase(text, tuple(places.items()))
