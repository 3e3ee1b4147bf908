"""Rates of yes among n, and what missing answers could change.

`wilson`: the score interval of Wilson (1927, JASA 22:209-212), which behaves at 0 and n.
`missing_bounds`: worst-case bounds of Manski (1989, J. Human Resources 24:343-360): put every missing answer at one
end of what it could have been, then at the other. They assume nothing about why answers are missing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import UsageError
from bestresponse.report.stats.interval import Floats, Interval, as_sample, check_level, normal_quantile


@dataclass(frozen=True, slots=True)
class Bounds:
    """Between `low` and `high` lies the mean that would have been seen had nothing been missing.

    `seen` is the mean of what was seen (None if nothing was); `answered` and `missing` count answers.
    """

    low: float
    high: float
    seen: float | None
    answered: int
    missing: int

    def __format__(self, spec: str) -> str:
        return f"{self.low:{spec}} to {self.high:{spec}}"


def wilson(successes: int, n: int, level: float = 0.95) -> Interval:
    """Compute the interval of a proportion.

    >>> f"{wilson(0, 10):.3f}"
    '0.000 [0.000, 0.278]'
    """
    check_level(level)
    if not 0 <= successes <= n or n == 0:
        raise UsageError(f"a rate needs 0 <= successes <= n and n >= 1; got {successes} of {n}")
    z, share = normal_quantile((1 + level) / 2), successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == n else centre + half
    return Interval(share, low, high, level, "wilson", n)


def missing_bounds(values: ArrayLike, missing: int, worst: ArrayLike, best: ArrayLike) -> Bounds:
    """Bounds of the mean over answered and missing; `worst` and `best` are one number, or one per missing answer.

    >>> missing_bounds([0.0, 0.2], missing=2, worst=1.0, best=0.0)
    Bounds(low=0.05, high=0.55, seen=0.1, answered=2, missing=2)
    """
    if missing < 0:
        raise UsageError(f"missing: expected a count, got {missing}")
    if np.size(values) == 0 and missing == 0:
        raise UsageError("expected at least one answer, present or missing, got none")
    sample = as_sample(values) if np.size(values) else np.empty(0)
    ends = (_per_missing(worst, missing, "worst"), _per_missing(best, missing, "best"))
    low, high = np.minimum(*ends).sum(), np.maximum(*ends).sum()
    total, size = float(sample.sum()), sample.size + missing
    seen = float(sample.mean()) if sample.size else None
    return Bounds(float(total + low) / size, float(total + high) / size, seen, sample.size, missing)


def _per_missing(end: ArrayLike, missing: int, what: str) -> Floats:
    if np.ndim(end) == 0:
        return np.full(missing, as_sample(np.reshape(end, 1), what)[0])
    array = as_sample(end, what) if np.size(end) else np.empty(0)
    if array.size != missing:
        raise UsageError(f"{what}: expected one number, or one for each of {missing} missing answers; got {array.size}")
    return array
