"""The statistics of a report: pure functions of arrays; randomness comes in as a generator.

interval     an estimate with its interval
bootstrap    intervals by resampling whole games
comparison   paired comparison of two players, corrections for many comparisons
precision    how many games are needed; stopping when a precision is reached
rates        proportions, and bounds for what missing answers could change
agreement    how far raters agree (kept apart: `bestresponse.report.stats.agreement`)
"""

from bestresponse.report.stats.bootstrap import bound_mean, cluster_bootstrap
from bestresponse.report.stats.comparison import Comparison, benjamini_hochberg, holm, paired_difference
from bestresponse.report.stats.interval import Interval
from bestresponse.report.stats.precision import Precision, confidence_sequence, games_needed, precision_reached
from bestresponse.report.stats.rates import Bounds, missing_bounds, wilson

__all__ = [
    "Bounds",
    "Comparison",
    "Interval",
    "Precision",
    "benjamini_hochberg",
    "bound_mean",
    "cluster_bootstrap",
    "confidence_sequence",
    "games_needed",
    "holm",
    "missing_bounds",
    "paired_difference",
    "precision_reached",
    "wilson",
]
