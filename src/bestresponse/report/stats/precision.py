"""How many games a wanted precision needs, and a stopping rule that may be looked at after every game.

Planning: with n games the half-width of the t interval is t(n - 1) * sd / sqrt(n).

Stopping: an ordinary 95 % interval that is checked again and again misses the truth far more often than 5 %. The rule
here uses the asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas (2024, Annals of
Statistics 52:2613-2640, theorem 2.2):

    mean_n  +-  sd_n * sqrt( 2 (n r + 1) / (n^2 r) * log( sqrt(n r + 1) / alpha ) )        with r = rho^2

It guarantees that the probability of *ever* missing the mean, over all looks, tends to at most alpha as the first
look moves out; so stopping as soon as it is narrow enough is allowed. It is asymptotic, like every interval from the
central limit theorem, so the first look is not earlier than `at_least` games. In 4,000 simulated runs of up to 1,000
games with a look after each from the 50th on, the 95 % sequence ever missed in 2.9 % (normal), 4.0 % (half zeros, half
uniform), 5.9 % (exponential) and 15 % (nine tenths zeros) of the runs: with rare large values raise `at_least`.
It is wider than a fixed-n interval (about 1.55 times where it is tuned): the price of looking. rho is fixed
beforehand and makes it narrowest near `tuned_for` games.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import UsageError
from bestresponse.report.stats.interval import Interval, as_sample, check_level, cluster_codes, normal_quantile

_MOST_GAMES = 10**12


@dataclass(frozen=True, slots=True)
class Precision:
    """Whether to stop, the interval that says so, and how many games it may take in all (None: more than 10**12)."""

    reached: bool
    interval: Interval
    games_expected: int | None


def games_needed(sd_between: float, half_width: float, level: float = 0.95) -> int:
    """Find the smallest number of games whose t interval has at most this half-width, if games vary by `sd_between`.

    >>> games_needed(0.1, 0.02)
    99
    """
    from scipy.special import stdtrit

    check_level(level)
    _check_half_width(half_width)
    if not (math.isfinite(sd_between) and sd_between >= 0):
        raise UsageError(f"sd_between: expected a standard deviation of 0 or more, got {sd_between:g}")
    least = (normal_quantile((1 + level) / 2) * sd_between / half_width) ** 2
    if least > _MOST_GAMES:
        raise UsageError(f"a half-width of {half_width:g} would need about {least:.0e} games; ask for less precision")
    games = max(2, math.ceil(least))
    while stdtrit(games - 1, (1 + level) / 2) * sd_between / math.sqrt(games) > half_width:
        games += 1
    return games


def confidence_sequence(values: ArrayLike, *, level: float = 0.95, tuned_for: int = 200) -> Interval:
    """Compute the interval of the mean of independent values that stays valid however often it is looked at."""
    sample = as_sample(values)
    check_level(level)
    mean = float(sample.mean())
    if sample.size < 2:
        return Interval(mean, -math.inf, math.inf, level, "none", sample.size)
    half = float(sample.std(ddof=1)) * _radius(sample.size, 1 - level, tuned_for)
    return Interval(mean, mean - half, mean + half, level, "asymptotic confidence sequence", sample.size)


def precision_reached(
    values: ArrayLike,
    half_width: float,
    clusters: Iterable[Hashable] | None = None,
    *,
    level: float = 0.95,
    at_least: int = 50,
    tuned_for: int = 200,
) -> Precision:
    """Tell whether the mean over games is known to within `half_width`, checked as often as one likes.

    Values of the same cluster are averaged first; the mean is the mean of these averages. Keep `level`, `at_least`
    and `tuned_for` the same from look to look.
    """
    _check_half_width(half_width)
    sample = as_sample(values)
    codes = cluster_codes(clusters, sample.size)
    means = np.bincount(codes, sample) / np.bincount(codes)
    interval = confidence_sequence(means, level=level, tuned_for=tuned_for)
    reached = means.size >= max(2, at_least) and interval.half_width <= half_width
    if means.size < 2:
        return Precision(reached, interval, None)
    expected = _games_until(float(means.std(ddof=1)), half_width, 1 - level, tuned_for)
    return Precision(reached, interval, None if expected is None else max(expected, means.size, at_least))


def _radius(games: float, alpha: float, tuned_for: int) -> float:
    """Half-width of the confidence sequence in standard deviations."""
    if tuned_for < 1:
        raise UsageError(f"tuned_for: expected a number of games, got {tuned_for}")
    log_term = -2 * math.log(alpha)
    scaled = games * (log_term + math.log(log_term + 1)) / tuned_for
    return math.sqrt(2 * (scaled + 1) / (games * scaled) * math.log(math.sqrt(scaled + 1) / alpha))


def _games_until(sd: float, half_width: float, alpha: float, tuned_for: int) -> int | None:
    """The first number of games at which the sequence is narrow enough if the spread stays as it is."""
    low, high = 1, 2
    while sd * _radius(high, alpha, tuned_for) > half_width:
        low, high = high, 2 * high
        if high > _MOST_GAMES:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if sd * _radius(middle, alpha, tuned_for) <= half_width else (middle, high)
    return high


def _check_half_width(half_width: float) -> None:
    if not (math.isfinite(half_width) and half_width > 0):
        raise UsageError(f"half_width: expected a positive number, got {half_width:g}")
