"""Confidence intervals of a mean by resampling whole clusters (games).

Answers to the same game are not independent, so the game is the unit that is drawn (Davison & Hinkley 1997, section
3.8; Field & Welsh 2007). There are two intervals; `Interval.method` says which was used.

`cluster_bootstrap` is for numbers without known bounds. Ends are percentiles of the resampled mean, corrected for bias
and skewness (BCa: Efron 1987, JASA 82:171-185; the acceleration comes from the jackknife over clusters); plain
percentiles where BCa is not defined: the estimate lies outside its own resamples, or no cluster moves it.

`bound_mean` is for numbers with known bounds, such as losses as a share of the payoff range. A sample without a single
loss resamples to itself, so that a bootstrap calls a player perfect that errs in one game of ten. Here games are
weighted by random weights (the Bayesian bootstrap: Rubin 1981, Annals of Statistics 9:130-134), and half a game that
was not seen is added, for the upper end as bad as a game can be, for the lower end as good. With a whole game this is
the bound of Gaffke (2005), which for yes and no is that of Clopper and Pearson and is wider than its level demands;
half a game is to it what the mid-p interval is to Clopper and Pearson's. `benchmarks/interval_coverage.py` measures it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from statistics import NormalDist

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

_CELLS_AT_ONCE = 100_000
"""Counters of draws that stay in a processor's cache."""
_UNSEEN = 0.5
"""Games that were not seen, for each end."""


def cluster_bootstrap(
    values: ArrayLike,
    clusters: Iterable[Hashable] | None = None,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 2000,
) -> Interval:
    """Compute the interval of the mean of `values`, resampling the clusters they belong to.

    With a single cluster nothing is known about the spread between clusters, and the interval is infinite (method
    "none").

    >>> cluster_bootstrap([1, 1, 1, 1], "aabb", rng=np.random.default_rng(1))
    Interval(estimate=1.0, low=1.0, high=1.0, level=0.95, method='percentile', n=2)
    """
    sums, sizes = _add_up(values, clusters, level, resamples)
    count, estimate = sums.size, float(sums.sum() / sizes.sum())
    if count == 1:
        return Interval(estimate, -math.inf, math.inf, level, "none", count)
    draws = []
    for rows in _split_in_blocks(resamples, count):
        drawn = rng.integers(count, size=(rows, count)) + count * np.arange(rows)[:, None]
        weights: Integers = np.bincount(drawn.ravel(), minlength=rows * count).reshape(rows, count)
        draws.append((weights @ sums) / (weights @ sizes))
    means = np.concatenate(draws)
    without_each = (sums.sum() - sums) / (sizes.sum() - sizes)
    tails = _bca_tails(estimate, means, without_each, level)
    low, high = np.quantile(means, tails or ((1 - level) / 2, (1 + level) / 2))
    return Interval(estimate, float(low), float(high), level, "bca" if tails else "percentile", count)


def bound_mean(
    values: ArrayLike,
    bounds: tuple[float, float],
    clusters: Iterable[Hashable] | None = None,
    *,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 2000,
) -> Interval:
    """Compute the interval of the mean of `values`, none of which can lie outside `bounds`.

    Bounds are the least and the most that a game could give, whether or not one did. With a single cluster the
    interval is infinite (method "none").

    >>> f"{bound_mean([0.0] * 20, (0.0, 1.0), rng=np.random.default_rng(1)):.2f}"
    '0.00 [0.00, 0.12]'
    """
    sums, sizes = _add_up(values, clusters, level, resamples)
    count, estimate = sums.size, float(sums.sum() / sizes.sum())
    least, most = bounds
    slack = 1e-9 * max(1.0, abs(least), abs(most))
    if np.min(values) < least - slack or np.max(values) > most + slack:
        raise UsageError(f"values: expected numbers from {least:g} to {most:g}")
    if count == 1:
        return Interval(estimate, -math.inf, math.inf, level, "none", count)
    draws = []
    for rows in _split_in_blocks(resamples, count):
        weights = rng.standard_exponential((rows, count))
        unseen = rng.standard_gamma(_UNSEEN, rows) * sizes.mean()
        seen, total = weights @ sums, weights @ sizes + unseen
        draws.append(((seen + unseen * least) / total, (seen + unseen * most) / total))
    worst, best = np.concatenate(draws, axis=1)
    low, high = np.quantile(worst, (1 - level) / 2), np.quantile(best, (1 + level) / 2)
    ends = max(least, min(float(low), estimate)), min(most, max(float(high), estimate))
    return Interval(estimate, *ends, level, "bounded", count)


def _add_up(
    values: ArrayLike, clusters: Iterable[Hashable] | None, level: float, resamples: int
) -> tuple[Floats, Floats]:
    """Check the arguments, and return the sum and the number of the values of every cluster."""
    sample = as_sample(values)
    codes = cluster_codes(clusters, sample.size)
    check_level(level)
    if resamples < 1:
        raise UsageError(f"resamples: expected at least 1, got {resamples}")
    return np.bincount(codes, weights=sample).astype(np.float64), np.bincount(codes).astype(np.float64)


def _split_in_blocks(resamples: int, count: int) -> list[int]:
    """Split the resamples into blocks of bounded memory."""
    block = max(1, _CELLS_AT_ONCE // count)
    return [min(block, resamples - start) for start in range(0, resamples, block)]


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
