"""What sampled plays leave open: intervals of payoffs per round, and the places they may mean.

Matches are sampled independently, and the two payoffs of a play are not: so every match has the
covariance of the mean payoffs per round of its seats. Who takes part averages over matches, whose
variances add up; the ends are those of Student's t with the degrees of freedom of Satterthwaite
(1946, Biometrics Bulletin 2:110-114).

The places of one who takes part go from 1 + the number of those who are surely better to the number
of those who are not surely worse: so many as a test of each difference says, at the level 5 %
divided by the number of differences (Mogstad, Romano, Shaikh & Wilhelm 2024, "Inference for ranks",
Review of Economic Studies 91:476-518, with Bonferroni's bound for theirs).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bestresponse.report.stats.statistics import LEVEL, Interval
from bestresponse.theory.games.normal_form import Array


def measure_error(plays: Array) -> Array:
    """Return the covariance of the mean payoffs per round of the two seats of matches.

    The last axes of `plays` are plays and (first payoff, second payoff, rounds). Every play is left
    out in turn (the jackknife), since a mean per round is a ratio. One play says nothing of it.
    """
    count = plays.shape[-2]
    if count == 1:
        return np.full((*plays.shape[:-2], 2, 2), np.nan)
    left = plays.sum(axis=-2, keepdims=True) - plays
    per_round = left[..., :2] / left[..., 2:]
    rests = per_round - per_round.mean(axis=-2, keepdims=True)
    products: Array = np.einsum("...na,...nb->...ab", rests, rests)
    scale = (count - 1) / count
    return np.asarray(scale * products)


@dataclass(frozen=True)
class SampledMeans:
    """Mean payoffs per round over matches, of which each has an error.

    `errors` are by first and second seat; `counted` says which cells of a row enter its mean in the
    first seat, and of a column in the second; `plays` counts those of each match that are not void.
    """

    means: Array
    errors: Array
    counted: Array
    plays: Array

    @cached_property
    def sizes(self) -> Array:
        """How many cells everybody averages over."""
        first, second = np.moveaxis(self.counted, -1, 0)
        return np.asarray(np.maximum(first.sum(axis=1) + second.sum(axis=0), 1.0))

    @cached_property
    def _cells(self) -> tuple[Array, Array]:
        """What cells add to the variance of everybody's mean, in the first and second seat."""
        first = np.where(self.counted[..., 0], self.errors[..., 0, 0], 0.0)
        second = np.where(self.counted[..., 1], self.errors[..., 1, 1], 0.0)
        squares = self.sizes[:, None] ** 2
        return first / squares, second.T / squares

    @cached_property
    def _met(self) -> Array:
        """The covariance of any two by the match of the one in the first seat."""
        met = np.where(self.counted.all(axis=-1), self.errors[..., 0, 1], 0.0)
        return np.asarray(met / np.outer(self.sizes, self.sizes))

    @cached_property
    def variances(self) -> Array:
        """The variance of every mean; NaN where a match was played once."""
        first, second = self._cells
        return np.asarray((first + second).sum(axis=1) + 2 * np.diag(self._met))

    @cached_property
    def _squares(self) -> Array:
        """The squares of what matches add to every variance, by their degrees of freedom.

        Both seats of a match are one sample.
        """
        first, second = self._cells
        others = ~np.eye(len(first), dtype=bool)
        own = np.diag(first + second + 2 * self._met)
        apart = first**2 / self._rest + second**2 / self._rest.T
        return np.asarray(apart.sum(axis=1, where=others) + own**2 / np.diag(self._rest))

    @cached_property
    def _rest(self) -> Array:
        """The degrees of freedom of every match."""
        return np.asarray(np.maximum(self.plays - 1.0, 1.0))

    @cached_property
    def freedom(self) -> Array:
        """The degrees of freedom of every variance."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.variances**2 / self._squares)

    def estimate(self, index: int, bounds: tuple[float, float]) -> Interval | float:
        """Return a mean with its interval; without one where nothing was seen to vary."""
        from scipy.special import stdtrit

        mean = float(self.means[index])
        if not self.variances[index] > 0:
            return mean
        quantile = float(stdtrit(self.freedom[index], (1 + LEVEL) / 2))
        reach = quantile * float(self.variances[index]) ** 0.5
        low = max(bounds[0], mean - reach)
        high = min(bounds[1], mean + reach)
        first, second = self.counted[index, :, 0], self.counted[:, index, 1]
        played = int(self.plays[index, first].sum() + self.plays[second, index].sum())
        return Interval(mean, low, high=high, level=LEVEL, method="t", n=played)

    @cached_property
    def places(self) -> tuple[Array, Array] | None:
        """The best and the worst place that everybody may have; None where nothing varies."""
        from scipy.special import stdtrit

        known = np.isfinite(self.means) & np.isfinite(self.variances)
        if not known.all() or not self.variances.any():
            return None
        apart = self.means[:, None] - self.means
        first, second = self._cells
        met = self._met
        own = self.variances
        variances = np.maximum(own[:, None] + own - 2 * (met + met.T), 0.0)
        error = np.sqrt(variances)
        # Of two who met, what their match adds to the difference replaces what it adds to each.
        shared = ((first + second.T - 2 * met) ** 2 - first**2 - second.T**2) / self._rest
        squares = self._squares[:, None] + self._squares + shared + shared.T
        never = np.full_like(squares, np.inf)
        freedom = np.divide(variances**2, squares, out=never, where=squares > 0)
        differences = max(1, len(apart) - 1)
        level = (1 - LEVEL) / (2 * differences)
        quantiles = stdtrit(np.minimum(freedom, 1e9), 1 - level)
        rounding = 1e-9 * np.abs(self.means).max()
        bar = quantiles * error + rounding
        best = 1 + (apart < -bar).sum(axis=1)
        worst = len(apart) - (apart > bar).sum(axis=1)
        return best, worst
