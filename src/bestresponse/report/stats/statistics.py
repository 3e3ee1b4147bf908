"""The statistics of a report: pure functions of arrays; randomness comes in as a generator.

All check their samples.

Confidence intervals of a mean by resampling whole clusters (games).

Answers to the same game are not independent, so the game is the unit that is drawn (Davison &
Hinkley 1997, section 3.8; Field & Welsh 2007). There are two intervals; `Interval.method` says
which was used.

`cluster_bootstrap` is for numbers without known bounds. Ends are percentiles of the resampled mean,
corrected for bias and skewness (BCa: Efron 1987, JASA 82:171-185; the acceleration comes from the
jackknife over clusters); plain percentiles where BCa is not defined because the estimate lies
outside its own resamples. Where all clusters have the same mean, nothing was seen of how they
vary, and there is no interval.

`bound_mean` is for numbers with known bounds, such as losses as a share of the payoff range. A
sample without a single loss resamples to itself, so that a bootstrap calls a player perfect that
errs in one game of ten. Here games are weighted by random weights (the Bayesian bootstrap: Rubin
1981, Annals of Statistics 9:130-134), and half a game that was not seen is added, for the upper end
as bad as a game can be, for the lower end as good. With a whole game this is the bound of Gaffke
(2005), which for yes and no is that of Clopper and Pearson and is wider than its level demands;
half a game is to it what the mid-p interval is to Clopper and Pearson's.
`benchmarks/interval_coverage.py` measures it.

20,000 resamples are drawn: with 2,000 the ends moved by 6 % of a standard error from seed to seed.
Above 500 games fewer are drawn, down to 2,000, since a standard error is small then.

Rates of yes among n, and what missing answers could change.

`wilson`: the score interval of Wilson (1927, JASA 22:209-212), which behaves at 0 and n.
`missing_bounds`: worst-case bounds of Manski (1989, J. Human Resources 24:343-360): put every
missing answer at one end of what it could have been, then at the other. They assume nothing about
why answers are missing.

How many games a wanted precision needs: with n games the half-width of the t interval is
t(n - 1) * sd / sqrt(n).
"""

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
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

    An end that the sample says nothing about is infinite. `n` counts the independent units (games,
    not answers).

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
        estimate, low, high = (
            format_number(number, spec) for number in (self.estimate, self.low, self.high)
        )
        return f"{estimate} [{low}, {high}]"

    def to_json(self) -> dict[str, str | float | None]:
        """Return the interval as plain JSON data; an end that is infinite becomes None."""
        ends = {
            "estimate": self.estimate,
            "low": self.low,
            "high": self.high,
            "level": self.level,
        }
        finite = {name: end if math.isfinite(end) else None for name, end in ends.items()}
        return {**finite, "n": self.n, "method": self.method}

    def contains(self, value: float) -> bool:
        """Tell whether `value` lies between the ends."""
        return self.low <= value <= self.high


def open_interval(estimate: float, n: int) -> Interval:
    """Return the interval of an estimate of which `n` units say nothing more."""
    return Interval(estimate, -math.inf, high=math.inf, level=LEVEL, method="none", n=n)


def as_interval(value: float | Interval) -> Interval:
    """Return a figure that is known exactly as an interval without width."""
    if isinstance(value, Interval):
        return value
    return Interval(value, value, high=value, level=LEVEL, method="exact", n=1)


def as_sample(values: ArrayLike, what: str = "values") -> Floats:
    """Return `values` as a non-empty, finite, one-dimensional array.

    Raises UsageError saying what is wrong.
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(f"{what}: expected a list of numbers") from None
    if array.ndim != 1:
        raise UsageError(
            f"{what}: expected one list of numbers, got an array of shape {array.shape}"
        )
    if array.size == 0:
        raise UsageError(f"{what}: expected at least one number, got none")
    missing = np.flatnonzero(~np.isfinite(array))
    if missing.size:
        position = int(missing[0])
        raise UsageError(
            f"{what}: expected finite numbers, got {array[position]} at position {position}; "
            "leave missing answers out and report them with missing_bounds"
        )
    return array


def cluster_codes(clusters: Iterable[Hashable] | None, size: int) -> Integers:
    """Number the clusters 0, 1, ... by first appearance.

    Without clusters every value is its own.
    """
    if clusters is None:
        return np.arange(size)
    numbers: dict[Hashable, int] = {}
    labels = [numbers.setdefault(name, len(numbers)) for name in clusters]
    codes = np.array(labels, dtype=np.int64)
    if codes.size != size:
        raise UsageError(
            f"clusters: expected one label for each of the {size} values, got {codes.size}"
        )
    return codes


def normal_quantile(probability: float) -> float:
    """Return the standard normal quantile, infinite at 0 and 1."""
    if probability <= 0:
        return -math.inf
    if probability >= 1:
        return math.inf
    return NormalDist().inv_cdf(probability)


_TAILS = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
_CELLS_AT_ONCE = 100_000
"""Counters of draws that stay in a processor's cache."""
UNSEEN = 0.5
"""Games that were not seen, for each end."""
_MOST_RESAMPLES = 20_000
_LEAST_RESAMPLES = 2_000
_MOST_CELLS = 10_000_000
"""Weights of games over all resamples: 20,000 resamples of 500 games."""

Seed = np.random.Generator | int
"""Where resamples come from. The same number draws the same weights for as many games, and these
are kept: figures of one run that share them take a tenth of the time."""


def count_resamples(games: int) -> int:
    """Return how often so many games are resampled.

    >>> [count_resamples(games) for games in (12, 500, 1000, 100_000)]
    [20000, 20000, 10000, 2000]
    """
    return min(_MOST_RESAMPLES, max(_LEAST_RESAMPLES, _MOST_CELLS // games))


def cluster_bootstrap(
    values: ArrayLike,
    clusters: Iterable[Hashable] | None = None,
    *,
    rng: np.random.Generator,
    resamples: int | None = None,
    weights: ArrayLike = 1.0,
) -> Interval:
    """Compute the interval of the mean of `values`, resampling the clusters they belong to.

    Weights, one for each value, are drawn together with their values. With a single cluster, or
    clusters that are all alike, nothing is known about the spread between clusters, and the
    interval is infinite (method "none").

    >>> cluster_bootstrap([1, 1, 1, 1], "aabb", rng=np.random.default_rng(1))
    Interval(estimate=1.0, low=-inf, high=inf, level=0.95, method='none', n=2)
    """
    sums, sizes = _add_up(values, clusters, weights)
    count = sums.size
    estimate = float(sums.sum() / sizes.sum())
    if _are_alike(sums / sizes):
        return open_interval(estimate, count)
    draws = []
    for rows in _split_in_blocks(resamples or count_resamples(count), count):
        offsets = count * np.arange(rows)[:, None]
        drawn = rng.integers(count, size=(rows, count)) + offsets
        times: Integers = np.bincount(drawn.ravel(), minlength=rows * count).reshape(rows, count)
        draws.append((times @ sums) / (times @ sizes))
    means = np.concatenate(draws)
    left_out = (sums.sum() - sums) / (sizes.sum() - sizes)
    tails = _bca_tails(estimate, means, left_out)
    low, high = np.quantile(means, tails or _TAILS)
    return Interval(
        estimate,
        float(low),
        high=float(high),
        level=LEVEL,
        method="bca" if tails else "percentile",
        n=count,
    )


def bound_mean(
    values: ArrayLike,
    bounds: tuple[float, float],
    clusters: Iterable[Hashable] | None = None,
    *,
    rng: Seed,
    resamples: int | None = None,
    weights: ArrayLike = 1.0,
) -> Interval:
    """Compute the interval of the mean of `values`, none of which can lie outside `bounds`.

    Bounds are the least and the most that a game could give, whether or not one did. Weights, one
    for each value, are drawn together with their values. With a single cluster the interval is
    infinite (method "none").

    >>> f"{bound_mean([0.0] * 20, (0.0, 1.0), rng=np.random.default_rng(1)):.2f}"
    '0.00 [0.00, 0.12]'
    """
    sums, sizes = _add_up(values, clusters, weights)
    count = sums.size
    estimate = float(sums.sum() / sizes.sum())
    least, most = bounds
    slack = 1e-9 * max(1.0, abs(least), abs(most))
    if np.min(values) < least - slack or np.max(values) > most + slack:
        raise UsageError(f"values: expected numbers from {least:g} to {most:g}")
    if count == 1:
        return open_interval(estimate, count)
    draws = []
    for drawn, share in _draw_weights(rng, resamples or count_resamples(count), count):
        unseen = share * sizes.mean()
        seen = drawn @ sums
        total = drawn @ sizes + unseen
        worst_means = (seen + unseen * least) / total
        best_means = (seen + unseen * most) / total
        draws.append((worst_means, best_means))
    worst, best = np.concatenate(draws, axis=1)
    low = np.quantile(worst, _TAILS[0])
    high = np.quantile(best, _TAILS[1])
    ends = max(least, min(float(low), estimate)), min(most, max(float(high), estimate))
    return Interval(estimate, *ends, LEVEL, "bounded", count)


def interval_of_draws(
    estimate: float,
    draws: Floats,
    n: int,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Interval:
    """Compute the interval of an estimate made anew from each of `draws` resamples.

    Each resample is of `n` units.

    Within finite `bounds` half a unit that was not seen is added, as in `bound_mean`: its weight
    beside n units is Beta(1/2, n), taken here at 1,000 of its quantiles instead of at random. A
    single unit has no interval, nor have draws that are all alike where no bounds are known.

    >>> f"{interval_of_draws(0.0, np.zeros(200), 2, (0.0, 1.0)):.2f}"
    '0.00 [0.00, 0.75]'
    """
    from scipy.special import betaincinv

    bounded = math.isfinite(bounds[0]) and math.isfinite(bounds[1])
    if n < 2 or (_are_alike(draws) and not bounded):
        return open_interval(estimate, n)
    low, high = np.quantile(draws, _TAILS)
    if bounded:
        quantiles = (np.arange(1000) + 0.5) / 1000
        unseen = betaincinv(UNSEEN, n, quantiles)
        seen = np.multiply.outer(draws, 1 - unseen)
        least, most = bounds
        low = np.quantile(seen + unseen * least, _TAILS[0])
        high = np.quantile(seen + unseen * most, _TAILS[1])
    ends = min(float(low), estimate), max(float(high), estimate)
    return Interval(estimate, *ends, LEVEL, "percentile bootstrap", n)


def dyadic_ratio(
    values: ArrayLike,
    clusters: Iterable[Hashable],
    persons: Sequence[tuple[Hashable, ...]],
) -> float:
    """Return how much larger a mean's standard error is if values depend on persons.

    Values depend on one or two persons. The result is at least 1.

    `persons` names for every value those on whom it depends. All pairs of values that share a
    person count (P. Aronow, C. Samii & V. Assenova, "Cluster-robust variance estimation for dyadic
    data", Political Analysis 23, 2015), beside those of a cluster alone. The estimate is no
    variance in every sample, so that the one of clusters is the least.

    >>> dyadic_ratio([0, 0, 1, 1], [1, 2, 3, 4], [(1, 2), (1, 2), (3, 4), (3, 4)]) == math.sqrt(2)
    True
    """
    sample = as_sample(values)
    rests = sample - sample.mean()
    sums, _ = _add_up(rests, clusters)
    alone = float(np.sum(sums**2))
    pairs = [known for known in persons if len(known) > 1]
    if not pairs or not alone:
        return 1.0
    of_person: dict[Hashable, float] = defaultdict(float)
    of_pair: dict[Hashable, float] = defaultdict(float)
    for rest, known in zip(rests.tolist(), persons, strict=True):
        for person in known:
            of_person[person] += rest
        if len(known) > 1:
            of_pair[known] += rest
    # Values of one pair share both persons and were counted twice.
    by_person = sum(total**2 for total in of_person.values())
    by_pair = sum(total**2 for total in of_pair.values())
    ratio = (by_person - by_pair) / alone
    return math.sqrt(max(ratio, 1.0))


def widen(interval: Interval, bounds: tuple[float, float], ratio: float) -> Interval:
    """Return the interval with both ends `ratio` times as far from the estimate.

    The ends stay within the bounds.
    """
    low = interval.estimate - ratio * (interval.estimate - interval.low)
    high = interval.estimate + ratio * (interval.high - interval.estimate)
    return replace(interval, low=max(low, bounds[0]), high=min(high, bounds[1]))


def _add_up(
    values: ArrayLike,
    clusters: Iterable[Hashable] | None,
    weights: ArrayLike = 1.0,
) -> tuple[Floats, Floats]:
    """Return the weighted sum of the values of every cluster, and the sum of their weights."""
    sample = as_sample(values)
    codes = cluster_codes(clusters, sample.size)
    sizes = np.broadcast_to(weights, sample.shape)
    sums = np.bincount(codes, sample * sizes).astype(np.float64)
    totals = np.bincount(codes, sizes).astype(np.float64)
    return sums, totals


def _split_in_blocks(resamples: int, count: int) -> list[int]:
    """Split the resamples into blocks of bounded memory."""
    block = max(1, _CELLS_AT_ONCE // count)
    return [min(block, resamples - start) for start in range(0, resamples, block)]


def _are_alike(numbers: Floats) -> bool:
    """Tell whether numbers differ by no more than rounding, as a single one does."""
    largest = float(np.abs(numbers).max())
    return float(np.ptp(numbers)) <= 1e-12 * max(1.0, largest)


def _draw_weights(rng: Seed, resamples: int, count: int) -> Iterable[tuple[Floats, Floats]]:
    """Draw the weight of every game in every resample, and that of what was not seen, in blocks."""
    if isinstance(rng, int) and resamples * count <= _MOST_CELLS:
        return _keep_weights(rng, resamples, count)
    return _generate_weights(rng, resamples, count)


def _generate_weights(rng: Seed, resamples: int, count: int) -> Iterator[tuple[Floats, Floats]]:
    generator = np.random.default_rng(rng)
    for rows in _split_in_blocks(resamples, count):
        drawn = generator.standard_exponential((rows, count))
        yield drawn, generator.standard_gamma(UNSEEN, rows)


@lru_cache(maxsize=1)  # at most 80 MB
def _keep_weights(seed: int, resamples: int, count: int) -> tuple[tuple[Floats, Floats], ...]:
    return tuple(_generate_weights(seed, resamples, count))


def _bca_tails(estimate: float, draws: Floats, left_out: Floats) -> tuple[float, float] | None:
    """The two percentiles BCa reads off, or None where BCa is not defined."""
    tolerance = 1e-12 * max(1.0, abs(estimate))
    is_below = draws < estimate - tolerance
    is_equal = np.abs(draws - estimate) <= tolerance
    share_below = np.mean(is_below) + np.mean(is_equal) / 2
    bias = normal_quantile(float(share_below))
    pulls = left_out.mean() - left_out
    spread = float(np.sum(pulls**2))
    if not math.isfinite(bias):
        return None
    if spread <= tolerance**2 * left_out.size:
        return None

    skew = float(np.sum(pulls**3)) / (6 * spread**1.5)
    tails = []
    for probability in _TAILS:
        shifted = bias + normal_quantile(probability)
        damping = 1 - skew * shifted
        if damping <= 0:
            return None
        tails.append(NormalDist().cdf(bias + shifted / damping))
    return tails[0], tails[1]


def wilson(successes: int, n: int) -> Interval:
    """Compute the interval of a proportion.

    >>> f"{wilson(0, 10):.3f}"
    '0.000 [0.000, 0.278]'
    """
    if not 0 <= successes <= n or n == 0:
        raise UsageError(f"a rate needs 0 <= successes <= n and n >= 1; got {successes} of {n}")
    z = normal_quantile(_TAILS[1])
    share = successes / n
    shrinking = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / shrinking
    variance = share * (1 - share) / n
    half = z / shrinking * math.sqrt(variance + z * z / (4 * n * n))
    low = 0.0 if successes == 0 else centre - half
    high = 1.0 if successes == n else centre + half
    return Interval(share, low, high=high, level=LEVEL, method="wilson", n=n)


def missing_bounds(
    values: ArrayLike,
    missing: int,
    worst: ArrayLike,
    best: ArrayLike,
) -> tuple[float, float]:
    """Bound the mean over answered and missing.

    `worst` and `best` are one number, or one per missing answer.

    >>> missing_bounds([0.0, 0.2], missing=2, worst=1.0, best=0.0)
    (0.05, 0.55)
    """
    at_worst = np.broadcast_to(worst, missing)
    at_best = np.broadcast_to(best, missing)
    least = np.minimum(at_worst, at_best).sum()
    most = np.maximum(at_worst, at_best).sum()
    total = float(np.sum(values))
    size = np.size(values) + missing
    return float(total + least) / size, float(total + most) / size


_MOST_GAMES = 10**12


def games_needed(sd_between: float, half_width: float) -> int:
    """Find the smallest number of games whose t interval has at most this half-width.

    Games vary by `sd_between`.

    >>> games_needed(0.1, 0.02)
    99
    """
    from scipy.special import stdtrit

    quantile = normal_quantile(_TAILS[1])
    least = (quantile * sd_between / half_width) ** 2
    if least > _MOST_GAMES:
        raise UsageError(
            f"a half-width of {half_width:g} would need about {least:.0e} games; ask for less"
            " precision"
        )
    games = max(2, math.ceil(least))
    while stdtrit(games - 1, _TAILS[1]) * sd_between / math.sqrt(games) > half_width:
        games += 1
    return games
