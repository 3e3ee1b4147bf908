"""Confidence intervals by resampling whole clusters (games) with replacement.

Answers to the same game are not independent, so the game is the unit that is drawn (Davison & Hinkley 1997, section
3.8; Field & Welsh 2007). Ends are percentiles of the resampled statistic, corrected for bias and skewness (BCa: Efron
1987, JASA 82:171-185; the acceleration comes from the jackknife over clusters). BCa falls back to plain percentiles
where it is not defined: the estimate lies outside its own resamples, or no cluster moves it. The median always uses
percentiles, because the jackknife is inconsistent for it (Efron & Tibshirani 1993, section 11.6).
`Interval.method` says which was used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import UsageError
from bestresponse.report.stats.interval import (
    Floats,
    Integers,
    Interval,
    as_sample,
    check_level,
    cluster_codes,
    normal_quantile,
)

__all__ = ["Statistic", "cluster_bootstrap"]

Statistic = Literal["mean", "median"] | Callable[[Floats], float]

_CELLS_AT_ONCE = 100_000
"""Counters of draws that stay in a processor's cache."""
_JACKKNIFE_GROUPS = 500


def cluster_bootstrap(
    values: ArrayLike,
    clusters: Iterable[Hashable] | None = None,
    statistic: Statistic = "mean",
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 2000,
    method: Literal["bca", "percentile"] = "bca",
) -> Interval:
    """Compute the interval of a statistic of `values`, resampling the clusters they belong to.

    A callable statistic gets the values of one resample as an array. With a single cluster nothing is known about the
    spread between clusters, and the interval is infinite (method "none").

    >>> cluster_bootstrap([1, 2, 3, 4], "aabb", rng=np.random.default_rng(1), method="percentile")
    Interval(estimate=2.5, low=1.5, high=3.5, level=0.95, method='percentile', n=2)
    """
    sample = as_sample(values)
    codes = cluster_codes(clusters, sample.size)
    check_level(level)
    if resamples < 1:
        raise UsageError(f"resamples: expected at least 1, got {resamples}")
    count = int(codes.max()) + 1
    weighted = _weighted(statistic, sample, codes, count)
    estimate = float(weighted.of(np.ones((1, count), dtype=np.int64))[0])
    if count == 1:
        return Interval(estimate, -math.inf, math.inf, level, "none", count)
    draws = np.concatenate([weighted.of(w) for w in _resampled_weights(count, resamples, sample.size, rng)])
    used, tails = "percentile", ((1 - level) / 2, (1 + level) / 2)
    if method == "bca" and statistic != "median":
        corrected = _bca_tails(estimate, draws, weighted.without_each(), level)
        if corrected is not None:
            used, tails = "bca", corrected
    low, high = np.quantile(draws, tails)
    return Interval(estimate, float(low), float(high), level, used, count)


class _Weighted(Protocol):
    """A statistic as a function of how often each cluster was drawn."""

    def of(self, weights: Integers) -> Floats:
        """The statistic for every row of `weights` (resamples x clusters)."""

    def without_each(self) -> Floats:
        """The statistic with each cluster (or group of clusters) left out in turn."""


@dataclass(frozen=True, slots=True)
class _Mean:
    sums: Floats
    sizes: Floats

    def of(self, weights: Integers) -> Floats:
        result: Floats = (weights @ self.sums) / (weights @ self.sizes)
        return result

    def without_each(self) -> Floats:
        result: Floats = (self.sums.sum() - self.sums) / (self.sizes.sum() - self.sizes)
        return result


@dataclass(frozen=True, slots=True)
class _Median:
    ascending: Floats
    codes: Integers

    def of(self, weights: Integers) -> Floats:
        reached = np.cumsum(weights[:, self.codes], axis=1)
        total = reached[:, -1:]
        lower = np.argmax(2 * reached >= total, axis=1)
        upper = np.argmax(2 * reached > total, axis=1)
        result: Floats = (self.ascending[lower] + self.ascending[upper]) / 2
        return result

    def without_each(self) -> Floats:
        return np.empty(0)


@dataclass(frozen=True, slots=True)
class _Arbitrary:
    statistic: Callable[[Floats], float]
    sample: Floats
    codes: Integers
    count: int

    def of(self, weights: Integers) -> Floats:
        return np.array([float(self.statistic(np.repeat(self.sample, row[self.codes]))) for row in weights])

    def without_each(self) -> Floats:
        groups = min(self.count, _JACKKNIFE_GROUPS)
        group_of = self.codes * groups // self.count
        return np.array([float(self.statistic(self.sample[group_of != group])) for group in range(groups)])


def _weighted(statistic: Statistic, sample: Floats, codes: Integers, count: int) -> _Weighted:
    if statistic == "mean":
        sums = np.bincount(codes, weights=sample, minlength=count).astype(np.float64)
        return _Mean(sums, np.bincount(codes, minlength=count).astype(np.float64))
    if statistic == "median":
        order = np.argsort(sample, kind="stable")
        return _Median(sample[order], codes[order])
    if callable(statistic):
        return _Arbitrary(statistic, sample, codes, count)
    raise UsageError(f'statistic: expected "mean", "median" or a function of an array, got {statistic!r}')


def _resampled_weights(count: int, resamples: int, width: int, rng: np.random.Generator) -> Iterator[Integers]:
    """How often each cluster is drawn in each resample, in blocks of bounded memory."""
    block = max(1, _CELLS_AT_ONCE // max(width, count))
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        drawn = rng.integers(count, size=(rows, count)) + count * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * count).reshape(rows, count)


def _bca_tails(estimate: float, draws: Floats, left_out: Floats, level: float) -> tuple[float, float] | None:
    """The two percentiles BCa reads off, or None where BCa is not defined."""
    tolerance = 1e-12 * max(1.0, abs(estimate))
    below = np.mean(draws < estimate - tolerance) + np.mean(np.abs(draws - estimate) <= tolerance) / 2
    bias = normal_quantile(float(below))
    pulls = left_out.mean() - left_out
    spread = float(np.sum(pulls**2))
    if not math.isfinite(bias) or spread <= tolerance**2 * left_out.size:
        return None
    skew = float(np.sum(pulls**3)) / (6 * spread**1.5)
    tails = []
    for probability in ((1 - level) / 2, (1 + level) / 2):
        shifted = bias + normal_quantile(probability)
        if 1 - skew * shifted <= 0:
            return None
        tails.append(NormalDist().cdf(bias + shifted / (1 - skew * shifted)))
    return tails[0], tails[1]
