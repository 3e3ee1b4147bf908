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

    def __str__(self) -> str:
        """Return the text in English.

        >>> str(make_phrase("Bid {share} of it: {amount}.", share="half", amount=2.5))
        'Bid half of it: 2.5.'
        """
        return self.text.format(**{name: _write_filling(value) for name, value in self.places})


def _write_filling(value: Filling) -> str:
    if isinstance(value, tuple):
        *most, last = map(str, value)
        return f"{', '.join(most)} and {last}" if most else last
    return f"{value:g}" if isinstance(value, float) else str(value)


def make_phrase(text: str, **places: Filling) -> Phrase:
    """Make a phrase.

    >>> make_phrase("Which number from {low} to {high} do you choose?", low=0, high=100).places
    (('low', 0), ('high', 100))
    """
    return Phrase(text, tuple(places.items()))
