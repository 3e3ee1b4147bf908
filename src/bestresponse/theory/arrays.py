"""Short names of array types, and arrays of fractions."""

from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bytes = NDArray[np.int8]
Shorts = NDArray[np.int32]
Words = NDArray[np.uint64]
Bools = NDArray[np.bool_]
Indices = NDArray[np.intp]
Rationals = NDArray[np.object_]
Numbers = NDArray[Any]
"""Floats, or whole numbers of any length."""


def as_fractions(numbers: Numbers) -> Rationals:
    """Turn all numbers of an array into fractions of the same value."""
    return np.asarray(np.frompyfunc(Fraction, 1, 1)(numbers), dtype=object)


def find_denominator(numbers: Rationals) -> int:
    """Return the smallest common denominator."""
    return lcm(*(number.denominator for number in numbers.ravel().tolist()))


def find_range(numbers: Numbers) -> float:
    """Give the range of numbers to divide them by: 1 where all are the same.

    >>> find_range(np.array([[2.0, 5.0], [4.0, 2.0]])), find_range(np.ones(3))
    (3.0, 1.0)
    """
    return float(np.ptp(numbers)) or 1.0
