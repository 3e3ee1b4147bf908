"""The one rule for ties: as which exact numbers payoffs are compared.

Whole numbers, fractions, decimals and floats that are multiples of 1/64 are meant as they are.
Other floats are read as the numbers they stand for, to about 14 digits of the range of a player's
payoffs: 0.1 means one tenth, 0.1 + 0.2 equals 0.3, and 2 / 3 is twice 1 / 3. What is read is then
compared exactly, by whoever asks: equilibria, strictness, dominance, potentials and all other words
follow from the same numbers, so that they cannot contradict each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, gcd, lcm, log10

import numpy as np

from bestresponse.theory.arrays import Floats

_SIMPLE_DENOMINATOR = 1000
# With no more multiples of a common unit the floats are certainly meant as they are.
_FEW_UNITS = 2**40
_ROUNDING_LIMIT = Fraction(5, 10**10)
_SMALLEST_FLOAT = 5e-324
_APART = 1e-12
"""Floats that differ by more, as a share of the largest, are read as different numbers."""


def count_units(values: Sequence[int | float | Fraction]) -> list[int]:
    """Give numbers as multiples of the greatest common divisor of their differences.

    The smallest becomes 1.
    """
    ratios = [value.as_integer_ratio() for value in values]
    unit = lcm(*(below for _, below in ratios))
    whole = [above * (unit // below) for above, below in ratios]
    low = min(whole)
    above_low = [value - low for value in whole]
    step = gcd(*above_low) or 1
    return [difference // step + 1 for difference in above_low]


def read_floats(values: Sequence[float]) -> list[Fraction]:
    """Read floats as the numbers they stand for.

    Whole numbers and multiples of a common unit are taken as they are. Other numbers are taken to
    about 14 digits of their range, and as the simple fractions or decimals they are closest to.
    Where rounding in the last digit is more than 5e-10 of the range, the floats are taken exactly.

    >>> [str(number) for number in read_floats([1 / 3, 2 / 3, 0.0, 0.1 + 0.2])]
    ['1/3', '2/3', '0', '3/10']
    """
    exact = [Fraction(value) for value in values]
    is_whole = all(value.is_integer() for value in values)
    if is_whole or max(count_units(exact)) <= _FEW_UNITS:
        return exact
    low = min(exact)
    high = max(exact)
    largest = max(abs(low), abs(high))
    spread = high - low
    rounding = largest / spread / 2**51
    if rounding > _ROUNDING_LIMIT:
        return exact

    decimals = ceil(-log10(_find_last_digit(float(low), float(high))))
    lowest = _simple(float(low), float(largest), decimals)
    shares = [(value - low) / spread for value in exact]
    rough = map(float, shares)
    if all(_is_near_simple(share, 1.0) for share in rough):
        near = [share.limit_denominator(_SIMPLE_DENOMINATOR) for share in shares]
        off = [abs(a - b) for a, b in zip(shares, near, strict=True)]
        if max(off) <= 2 * rounding:
            width = _simple(float(high), float(largest), decimals) - lowest
            return [lowest + share * width for share in near]
    return [_simple(value, float(largest), decimals) for value in values]


def round_floats(table: Floats) -> Floats:
    """Give floats in units of the last of about 14 digits, for tables too large to be read."""
    low = float(table.min())
    high = float(table.max())
    return np.rint(table / _find_last_digit(low, high))


def are_apart(table: Floats) -> bool:
    """Say whether no two different numbers are so close that they might be read as one."""
    steps = np.diff(np.unique(table))
    return bool(steps.min(initial=np.inf) > _APART * np.abs(table).max())


def _find_last_digit(low: float, high: float) -> float:
    largest = max(abs(low), abs(high))
    return max((high - low) * 1e-14, largest * 2e-16, _SMALLEST_FLOAT)


def _simple(value: float, largest: float, decimals: int) -> Fraction:
    """The simple fraction that `value` is up to rounding, else its decimal.

    The fraction has a small denominator, and the decimal has so many places.
    """
    if _is_near_simple(value, largest):
        near = Fraction(value).limit_denominator(_SIMPLE_DENOMINATOR)
        rounding = Fraction(largest) / 2**51
        if abs(near - Fraction(value)) <= rounding:
            return near
    written = Decimal(repr(value))
    in_last_place = round(written.scaleb(decimals))
    if decimals < 0:
        return Fraction(in_last_place * 10**-decimals)
    return Fraction(in_last_place, 10**decimals)


def _is_near_simple(value: float, largest: float) -> bool:
    """Say whether a fraction of small denominator may be that close.

    Floats rule it out for most numbers.

    Such a fraction is one of the continued fraction's, if it is closer than 1 / (2 * denominator^2)
    (Legendre).
    """
    if not 1e-300 < largest < 1e5:
        return True
    above = (0, 1)
    below = (1, 0)
    rest = value
    while True:
        whole = floor(rest)
        above = (above[1], whole * above[1] + above[0])
        below = (below[1], whole * below[1] + below[0])
        if below[1] > _SIMPLE_DENOMINATOR:
            return False
        near = above[1] / below[1]
        if abs(value - near) <= 1e-12 * largest:
            return True
        if rest == whole:  # floats see no further
            return True
        rest = 1.0 / (rest - whole)
