"""Two players compared on the same games: a test, and the interval that belongs to it.

The test flips the sign of each game's difference: if the two players are exchangeable on every
game, each sign is equally likely (Fisher 1935, The Design of Experiments, section 21). Flipping the
signs of d - m for some of the games adds up to as much as was seen, or more, where the mean of d
over those games is at least m. So the means of all subsets of the games hold both answers: how many
of them lie beyond 0 is the p-value, and the interval of all means that the test does not reject at
5 % lies between two of them (Hartigan 1969, "Using subsample values as typical values", JASA
64:1303-1317). Interval and test agree in every sample. With fewer than six games the test can
reject nothing.

All subsets are used of at most 12 games; otherwise random ones, each with its complement, counting
the observed signs among them so that the p-value is never 0 and the test stays valid (Phipson &
Smyth 2010, Stat. Appl. Genet. Mol. Biol. 9:39).

Rare large differences are missed by small samples, and players that never differed are not known to
be equal. So half a game that was not seen is added, as in `bound_mean`, wherever that cannot
contradict the test. If the test finds a direction, the end away from 0 gets one as extreme as the
most extreme that was seen; if it finds none, both ends get one as extreme as a game can be.
`benchmarks/interval_coverage.py` measures it.

Many tests: `holm` bounds the chance of any false finding (Holm 1979, Scand. J. Stat. 6:65-70).
"""

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import UsageError
from bestresponse.report.stats.statistics import (
    LEVEL,
    UNSEEN,
    Floats,
    Interval,
    Seed,
    as_sample,
    cluster_codes,
)

_TAIL = (1 - LEVEL) / 2
_EXACT_CLUSTERS = 12
"""Their 4,096 subsets are fewer than those drawn of more clusters."""
_SIGNS_AT_ONCE = 2_000_000
"""In memory."""
_LEAST_FOR_EFFECT = 3
"""Two games have a deviation between them, but it says nothing: effects of 12 were seen."""

Bounds = tuple[ArrayLike, ArrayLike]
"""The least and the most that a difference can be: of every pair, or one for all."""


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """The mean of a - b over common games, and whether chance explains it.

    `effect` is Cohen's d for paired data: the mean of the games' differences in units of their
    standard deviation; None where they do not vary or are fewer than three. `n` counts pairs;
    `difference.n` counts games.
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
    rng: Seed,
    bounds: Bounds | None = None,
    flips: int = 9999,
) -> PairedComparison:
    """Compare two lists of values, paired by position.

    Their clusters are the games they were measured on. Without `bounds` of a - b, games that were
    not seen are taken to be at most as extreme as those that were.

    >>> result = paired_difference([3, 4, 5], [1, 2, 3], rng=np.random.default_rng(0))
    >>> result.difference.estimate, result.p_value, result.test
    (2.0, 0.25, 'exact sign flips of 3 clusters')
    """
    first = as_sample(a, "a")
    second = as_sample(b, "b")
    if first.size != second.size:
        raise UsageError(
            f"a and b are compared pair by pair, but a has {first.size} values and b has"
            f" {second.size}"
        )
    # What is no more than the rounding of its two values is no difference: an effect would make a
    # finding of it.
    rounding = 1e-12 * np.maximum(np.abs(first), np.abs(second))
    apart = first - second
    difference = np.where(np.abs(apart) > rounding, apart, 0.0)
    return compare_sums(
        difference,
        np.ones(difference.size),
        clusters,
        rng=rng,
        bounds=bounds,
        flips=flips,
    )


def compare_sums(
    values: Floats,
    sizes: Floats,
    clusters: Iterable[Hashable] | None = None,
    *,
    rng: Seed,
    bounds: Bounds | None = None,
    flips: int = 9999,
) -> PairedComparison:
    """Compare sum(values) / sum(sizes) with 0; values are exchangeable with their negatives."""
    codes = cluster_codes(clusters, values.size)
    sums = np.bincount(codes, values).astype(np.float64)
    totals = np.bincount(codes, sizes).astype(np.float64)
    ends = None
    if bounds is not None:
        lowest = np.asarray(bounds[0]) / sizes.mean()
        highest = np.asarray(bounds[1]) / sizes.mean()
        ends = (float(lowest.mean()), float(highest.mean()))
    subsets = _draw_subsets(sums, totals, flips, np.random.default_rng(rng))
    difference, p_value = _invert(sums, totals, subsets, ends)
    kind = "exact" if sums.size <= _EXACT_CLUSTERS else f"{flips} random"
    test = f"{kind} sign flips of {sums.size} clusters"
    effect = _effect(sums / totals) if totals.all() else None
    return PairedComparison(difference, p_value, test, effect, values.size)


@dataclass(frozen=True, slots=True)
class _Subsets:
    """What the values of subsets of the games add up to, and their sizes.

    `unseen` has, for each, sizes of half a game that was not seen.
    """

    sums: Floats
    sizes: Floats
    unseen: Floats


def _draw_subsets(sums: Floats, sizes: Floats, flips: int, rng: np.random.Generator) -> _Subsets:
    """Draw subsets of the games: all but the empty one, or random ones and their complements."""
    count = sums.size
    both = np.stack([sums, sizes], axis=1)
    if count <= _EXACT_CLUSTERS:
        numbers = np.arange(1, 2**count)[:, None]
        chosen = numbers >> np.arange(count) & 1
        added = chosen @ both
    else:
        drawn = []
        block = max(1, _SIGNS_AT_ONCE // count)
        for start in range(0, flips, block):
            chosen = rng.integers(2, size=(min(block, flips - start), count), dtype=np.int8)
            drawn.append(chosen @ both)
        some = np.concatenate(drawn)
        whole = both.sum(axis=0)
        added = np.concatenate([some, whole - some, whole[None]])
    # no sum and no size: the empty subset, which is the observed signs
    added = added[added.any(axis=1)]
    # A game that was not seen has the mean size, and a chosen one counts twice: so the weights of
    # games have mean 1 and deviation 1, as those of `bound_mean` do.
    shape = (len(added), max(1, flips // len(added)))
    unseen = rng.standard_gamma(UNSEEN, shape) * sizes.mean() / 2
    return _Subsets(added[:, 0], added[:, 1], unseen)


def _invert(
    sums: Floats,
    sizes: Floats,
    subsets: _Subsets,
    bounds: tuple[float, float] | None,
) -> tuple[Interval, float]:
    """Return the interval of all means that the test does not reject, and the p-value of 0."""
    count = sums.size
    estimate = float(sums.sum() / sizes.sum())
    # Sums that are no more than rounding are 0, which is as extreme as the observed signs.
    rounding = 1e-12 * np.abs(sums).sum()
    added = np.where(np.abs(subsets.sums) > rounding, subsets.sums, 0.0)
    with np.errstate(divide="ignore"):
        means = np.sort(added / subsets.sizes)
    signs = means.size + 1
    extreme = 1 + min(int(np.count_nonzero(means <= 0)), int(np.count_nonzero(means >= 0)))
    p_value = min(1.0, 2 * extreme / signs)

    rejected = math.floor(_TAIL * signs + 1e-9) - 1
    if rejected < 0:  # of so few games no signs are rare
        low, high = bounds or (-math.inf, math.inf)
        method = "bounds" if bounds else "none"
        return Interval(estimate, low, high=high, level=LEVEL, method=method, n=count), p_value

    low = float(means[rejected])
    high = float(means[-1 - rejected])
    is_directed = p_value <= 1 - LEVEL
    if is_directed or bounds is None:
        seen = sums / sizes.mean()
        least, most = min(0.0, float(seen.min())), max(0.0, float(seen.max()))
    else:
        least, most = bounds
    total = subsets.sizes[:, None] + subsets.unseen
    if not is_directed or estimate < 0:
        with_least = (added[:, None] + subsets.unseen * least) / total
        end = np.quantile(with_least, _TAIL)
        low = min(low, float(end))
    if not is_directed or estimate > 0:
        with_most = (added[:, None] + subsets.unseen * most) / total
        end = np.quantile(with_most, 1 - _TAIL)
        high = max(high, float(end))
    if bounds is not None:
        low, high = max(low, bounds[0]), min(high, bounds[1])
    elif least == most == 0:  # nobody differed, and nothing says by how much they could
        low, high = -math.inf, math.inf
    method = "sign flips" if math.isfinite(low) else "none"
    return Interval(estimate, low, high=high, level=LEVEL, method=method, n=count), p_value


def _effect(means: Floats) -> float | None:
    if means.size < _LEAST_FOR_EFFECT:
        return None
    spread = float(means.std(ddof=1))
    largest = float(np.abs(means).max())
    if math.isclose(spread, 0, abs_tol=1e-12 * (largest or 1)):
        return None
    return float(means.mean()) / spread


def holm(p_values: ArrayLike) -> Floats:
    """Adjusted p-values.

    Those at most alpha may be called findings with family-wise error at most alpha.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    array = as_sample(p_values, "p_values")
    if array.min() < 0 or array.max() > 1:
        raise UsageError(
            f"p_values: expected numbers from 0 to 1, got {array.min():g} to {array.max():g}"
        )
    order = np.argsort(array, kind="stable")
    adjusted = np.empty_like(array)
    multiplied = np.arange(array.size, 0, -1) * array[order]
    adjusted[order] = np.minimum(np.maximum.accumulate(multiplied), 1.0)
    return adjusted
