"""Payoffs as the rational numbers they were given as: integers of any size, fractions and decimals.

Floats hold whole numbers up to 2**53 and few fractions exactly. What they do not hold is kept beside them, so that ties
are decided, and equilibria computed, from the numbers that were meant.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from numbers import Rational

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Rationals", "are_meant", "as_rationals", "fits_floats", "parse_rational", "read_simplest"]

Rationals = NDArray[np.object_]

_LARGEST_WHOLE = 2**53
_LARGEST_EXPONENT = 400


def as_rationals(numbers: ArrayLike) -> Rationals | None:
    """Turn integers, fractions, decimals and whole floats into exact numbers; None if anything else is among them.

    >>> as_rationals([[Fraction(1, 3), 2], [Decimal("0.1"), 4.0]]).tolist()
    [[Fraction(1, 3), 2], [Fraction(1, 10), 4]]
    >>> as_rationals([[0.1, 2]]) is None
    True
    """
    if isinstance(numbers, np.ndarray) and numbers.dtype.kind == "f" and not (numbers == np.rint(numbers)).all():
        return None
    try:
        given = np.asarray(numbers, dtype=object)
    except ValueError:
        return None
    found = np.empty(given.size, dtype=object)
    for k, number in enumerate(given.ravel()):
        exact = _as_rational(number)
        if exact is None:
            return None
        found[k] = exact
    return found.reshape(given.shape)


def _as_rational(number: object) -> int | Fraction | None:
    match number:
        case int() | np.integer() | np.bool_():
            return int(number)
        case Rational():
            return Fraction(int(number.numerator), int(number.denominator))
        case float() | np.floating():
            return int(number) if float(number).is_integer() else None
        case Decimal():
            return Fraction(number) if number.is_finite() else None
        case _:
            return None


def are_meant(floats: NDArray[np.float64]) -> bool:
    """Say whether all floats are multiples of 1/64, which are taken to be meant as they are."""
    fine = 64.0 * floats
    return bool((fine == np.rint(fine)).all())


@lru_cache(maxsize=100_000)
def read_simplest(number: float) -> Fraction:
    """Give the simplest rational of that float among those with a small denominator, else the float's own value.

    >>> read_simplest(0.1), read_simplest(1 / 3)
    (Fraction(1, 10), Fraction(1, 3))
    """
    near = Fraction(number).limit_denominator(1_000_000)
    return near if float(near) == number else Fraction(number)


def fits_floats(numbers: Rationals) -> bool:
    """Say whether all are whole numbers that floats hold exactly."""
    return all(isinstance(number, int) and abs(number) <= _LARGEST_WHOLE for number in numbers.flat)


def parse_rational(text: str) -> Fraction:
    """Read `3`, `-2.5`, `1e-3` or `2/3`; raise ValueError, ZeroDivisionError or OverflowError where that fails.

    >>> parse_rational("0.1"), parse_rational("2/6")
    (Fraction(1, 10), Fraction(1, 3))
    """
    exponent = text.lower().partition("e")[2]
    if exponent and abs(int(exponent)) > _LARGEST_EXPONENT:
        return Fraction(float(text))
    return Fraction(text)
