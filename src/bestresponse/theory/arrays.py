"""Short names of array types, and arrays of fractions."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
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
