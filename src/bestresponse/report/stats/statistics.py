"""The statistics of a report: pure functions of arrays; randomness comes in as a generator.

Confidence intervals of a mean by resampling whole clusters (games).

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

Two players compared on the same games, and many comparisons made at once.

The test flips the sign of each game's difference: if the two players are exchangeable on every game, each sign is
equally likely (Fisher 1935, The Design of Experiments, section 21). All sign patterns are tried when there are at
most 2**12; otherwise random patterns, counting the observed one among them so that the p-value is never 0 and the
test stays valid (Phipson & Smyth 2010, Stat. Appl. Genet. Mol. Biol. 9:39).

Many tests: `holm` bounds the chance of any false finding (Holm 1979, Scand. J. Stat. 6:65-70); `benjamini_hochberg`
bounds the expected share of false findings (Benjamini & Hochberg 1995, JRSS B 57:289-300).

Rates of yes among n, and what missing answers could change.

`wilson`: the score interval of Wilson (1927, JASA 22:209-212), which behaves at 0 and n.
`missing_bounds`: worst-case bounds of Manski (1989, J. Human Resources 24:343-360): put every missing answer at one
end of what it could have been, then at the other. They assume nothing about why answers are missing.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import UsageError
from bestresponse.report.stats.interval import (
    Floats,
    Integers,
    Interval as Interval,
    as_sample,
    check_level,
    cluster_codes,
    normal_quantile,
)
from bestresponse.report.stats.precision import (
    Precision as Precision,
    confidence_sequence as confidence_sequence,
    games_needed as games_needed,
    precision_reached as precision_reached,
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


_EXACT_CLUSTERS = 12
_SIGNS_AT_ONCE = 2_000_000
_LEAST_FOR_EFFECT = 3
"""Two games have a deviation between them, but it says nothing: effects of 12 were seen."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The mean of a - b over common games, and whether chance explains it.

    `effect` is Cohen's d for paired data: the mean of the games' differences in units of their standard deviation;
    None where they do not vary or are fewer than three. `n` counts pairs; `difference.n` counts games.
    """

    difference: Interval
    p_value: float
    test: str
    effect: float | None
    n: int


def paired_difference(
    a: ArrayLike,
    b: ArrayLike,
    clusters: Iterable[Hashable] | None = None,
    *,
    rng: np.random.Generator,
    most: float | None = None,
    resamples: int = 2000,
    flips: int = 9999,
) -> Comparison:
    """Compare two lists of values, paired by position, whose clusters are the games they were measured on.

    `most` is how far two values of a pair can lie apart, where that is known: the interval is then that of
    `bound_mean`, which is not a point where no two values differ.

    >>> result = paired_difference([3, 4, 5], [1, 2, 3], rng=np.random.default_rng(0))
    >>> result.difference.estimate, result.p_value, result.test
    (2.0, 0.25, 'exact sign flips of 3 clusters')
    """
    first, second = as_sample(a, "a"), as_sample(b, "b")
    if first.size != second.size:
        raise UsageError(f"a and b are compared pair by pair, but a has {first.size} values and b has {second.size}")
    difference = first - second
    codes = cluster_codes(clusters, difference.size)
    games = codes.tolist()
    if most is None:
        interval = cluster_bootstrap(difference, games, rng=rng, resamples=resamples)
    else:
        interval = bound_mean(difference, (-most, most), games, rng=rng, resamples=resamples)
    sums = np.bincount(codes, weights=difference).astype(np.float64)
    p_value, test = _sign_flip(sums, flips, rng)
    return Comparison(interval, p_value, test, _effect(sums / np.bincount(codes)), difference.size)


def _sign_flip(sums: Floats, flips: int, rng: np.random.Generator) -> tuple[float, str]:
    count = sums.size
    bar = abs(sums.sum()) - 1e-12 * np.abs(sums).sum()
    if count <= _EXACT_CLUSTERS:
        patterns = np.arange(2**count)[:, None] >> np.arange(count) & 1
        extreme = np.abs((1 - 2 * patterns) @ sums) >= bar
        return float(extreme.mean()), f"exact sign flips of {count} clusters"
    hits, block = 0, max(1, _SIGNS_AT_ONCE // count)
    for start in range(0, flips, block):
        flipped = rng.integers(2, size=(min(block, flips - start), count), dtype=np.int8)
        hits += int(np.count_nonzero(np.abs(sums.sum() - 2 * (flipped @ sums)) >= bar))
    return (hits + 1) / (flips + 1), f"{flips} random sign flips of {count} clusters"


def _effect(means: Floats) -> float | None:
    if means.size < _LEAST_FOR_EFFECT:
        return None
    spread = float(means.std(ddof=1))
    constant = math.isclose(spread, 0, abs_tol=1e-12 * float(np.abs(means).max() or 1))
    return None if constant else float(means.mean()) / spread


def holm(p_values: ArrayLike) -> Floats:
    """Adjusted p-values: those at most alpha may be called findings with family-wise error at most alpha.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    ordered, order = _ascending(p_values)
    factors = np.arange(ordered.size, 0, -1)
    return _unsorted(np.maximum.accumulate(factors * ordered), order)


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Adjusted p-values: those at most q may be called findings with false discovery rate at most q.

    Valid for independent or positively dependent tests.

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """
    ordered, order = _ascending(p_values)
    factors = ordered.size / np.arange(1, ordered.size + 1)
    return _unsorted(np.minimum.accumulate((factors * ordered)[::-1])[::-1], order)


def _ascending(p_values: ArrayLike) -> tuple[Floats, np.ndarray[tuple[int], np.dtype[np.intp]]]:
    array = as_sample(p_values, "p_values")
    if array.min() < 0 or array.max() > 1:
        raise UsageError(f"p_values: expected numbers from 0 to 1, got {array.min():g} to {array.max():g}")
    order = np.argsort(array, kind="stable")
    return array[order], order


def _unsorted(adjusted: Floats, order: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Floats:
    result = np.empty_like(adjusted)
    result[order] = np.minimum(adjusted, 1.0)
    return result


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
