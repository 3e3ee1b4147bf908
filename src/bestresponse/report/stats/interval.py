"""An estimate with its confidence interval, and the checks every statistic makes on its sample."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bestresponse.core.errors import UsageError
from bestresponse.report.numbers import format_number

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
LEVEL = 0.95
"""Of every interval."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate, the ends of its interval, and how they were found.

    An end that the sample says nothing about is infinite. `n` counts the independent units (games, not answers).

    >>> f"{Interval(0.125, 0.1, 0.15, level=0.95, method='wilson', n=40):.3f}"
    '0.125 [0.100, 0.150]'
    """

    estimate: float
    low: float
    high: float
    level: float
    method: str
    n: int

    @property
    def half_width(self) -> float:
        """Return half the distance between the ends; infinite when an end is."""
        return (self.high - self.low) / 2

    def __format__(self, spec: str) -> str:
        estimate, low, high = (format_number(number, spec) for number in (self.estimate, self.low, self.high))
        return f"{estimate} [{low}, {high}]"

    def to_json(self) -> dict[str, str | float | None]:
        """Return the interval as plain JSON data; an end that is infinite becomes None."""
        ends = {"estimate": self.estimate, "low": self.low, "high": self.high, "level": self.level}
        finite = {name: end if math.isfinite(end) else None for name, end in ends.items()}
        return {**finite, "n": self.n, "method": self.method}

    def contains(self, value: float) -> bool:
        """Tell whether `value` lies between the ends."""
        return self.low <= value <= self.high


def as_sample(values: ArrayLike, what: str = "values") -> Floats:
    """Return `values` as a non-empty, finite, one-dimensional array, or raise UsageError saying what is wrong."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(f"{what}: expected a list of numbers") from None
    if array.ndim != 1:
        raise UsageError(f"{what}: expected one list of numbers, got an array of shape {array.shape}")
    if array.size == 0:
        raise UsageError(f"{what}: expected at least one number, got none")
    if not np.isfinite(array).all():
        place = int(np.flatnonzero(~np.isfinite(array))[0])
        raise UsageError(
            f"{what}: expected finite numbers, got {array[place]} at position {place}; "
            "leave missing answers out and report them with missing_bounds"
        )
    return array


def cluster_codes(clusters: Iterable[Hashable] | None, size: int) -> Integers:
    """Number the clusters 0, 1, ... by first appearance; without clusters every value is its own."""
    if clusters is None:
        return np.arange(size)
    numbers: dict[Hashable, int] = {}
    codes = np.array([numbers.setdefault(name, len(numbers)) for name in clusters], dtype=np.int64)
    if codes.size != size:
        raise UsageError(f"clusters: expected one label for each of the {size} values, got {codes.size}")
    return codes


def normal_quantile(probability: float) -> float:
    """Return the standard normal quantile, infinite at 0 and 1."""
    if probability <= 0:
        return -math.inf
    if probability >= 1:
        return math.inf
    return NormalDist().inv_cdf(probability)
