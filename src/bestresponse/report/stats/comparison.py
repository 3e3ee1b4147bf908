"""Two players compared on the same games, and many comparisons made at once.

The test flips the sign of each game's difference: if the two players are exchangeable on every game, each sign is
equally likely (Fisher 1935, The Design of Experiments, section 21). All sign patterns are tried when there are at
most 2**12; otherwise random patterns, counting the observed one among them so that the p-value is never 0 and the
test stays valid (Phipson & Smyth 2010, Stat. Appl. Genet. Mol. Biol. 9:39).

Many tests: `holm` bounds the chance of any false finding (Holm 1979, Scand. J. Stat. 6:65-70); `benjamini_hochberg`
bounds the expected share of false findings (Benjamini & Hochberg 1995, JRSS B 57:289-300).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import UsageError
from bestresponse.report.stats.bootstrap import bound_mean, cluster_bootstrap
from bestresponse.report.stats.interval import Floats, Interval, as_sample, cluster_codes

_EXACT_CLUSTERS = 12
_CELLS_AT_ONCE = 2_000_000
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
    hits, block = 0, max(1, _CELLS_AT_ONCE // count)
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
