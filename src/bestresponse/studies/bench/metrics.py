"""The figures of the benchmark: add a `Metric` to `METRICS`, and it is in report, summary, leaderboard and docs.

A metric gets the rows of one player in one way of asking: the games as drawn and, in a suite with variants, the same
games told otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bestresponse.report.metrics import Metric, Value
from bestresponse.report.stats.statistics import Interval, cluster_bootstrap, wilson
from bestresponse.studies.bench.games.variants import VARIANTS
from bestresponse.studies.bench.rows import BenchRow, get_number

__all__ = ["METRICS", "compute_distance", "pair_variants", "select_metrics"]

Compute = Callable[[Sequence[BenchRow]], Value]
_SEED = 20
"""Of the resampling: the same for all players, so that they are resampled alike."""


def _select_original(rows: Sequence[BenchRow]) -> list[BenchRow]:
    return [row for row in rows if row["variant"] == "original"]


def _find_known(rows: Sequence[BenchRow], field: str) -> tuple[list[float], list[tuple[str, int]]]:
    """Return the known values of a field in the games as drawn, and the games they belong to."""
    values, games = [], []
    for row in _select_original(rows):
        number = get_number(row, field)
        if number is not None:
            values.append(number)
            games.append((row["condition"], row["game"]))
    return values, games


def _average(field: str) -> Compute:
    """Average a field over games, with an interval from resampling games."""

    def compute(rows: Sequence[BenchRow]) -> Interval | None:
        values, games = _find_known(rows, field)
        return cluster_bootstrap(values, games, rng=np.random.default_rng(_SEED)) if values else None

    return compute


def _mean(field: str) -> Compute:
    """Average a field without an interval."""

    def compute(rows: Sequence[BenchRow]) -> float | None:
        values, _ = _find_known(rows, field)
        return float(np.mean(values)) if values else None

    return compute


def _measure_loss(row: BenchRow) -> float | None:
    """Return what decides success: exploitability / range or, where there is none, the gap to the nearest equilibrium.

    The latter is 0 for every strategy that some equilibrium uses against its opponent.
    """
    if row["exploitability_normalised"] is not None:
        return row["exploitability_normalised"]
    gap, spread = row["gap_nearest"], row["payoff_range"]
    return None if gap is None or spread is None else gap / spread if spread else 0.0


def _succeed(epsilon: float) -> Compute:
    """Compute the share of answers that lose at most `epsilon` of the payoff range."""

    def compute(rows: Sequence[BenchRow]) -> Interval | None:
        values = [loss for row in _select_original(rows) if (loss := _measure_loss(row)) is not None]
        return wilson(sum(value <= epsilon for value in values), len(values)) if values else None

    return compute


def _count_asked(rows: Sequence[BenchRow]) -> int:
    return len(_select_original(rows))


def _count_answered(rows: Sequence[BenchRow]) -> int:
    return sum(row["nash_gap"] is not None for row in _select_original(rows))


def _compute_gap_ratio(rows: Sequence[BenchRow]) -> float | None:
    read = [row for row in rows if row["nash_gap"] is not None]
    gaps, best = (float(np.sum(_find_known(read, field)[0])) for field in ("nash_gap", "br_value"))
    return gaps / abs(best) if best else None


def pair_variants(rows: Sequence[BenchRow], variant: str | None = None) -> list[tuple[BenchRow, BenchRow]]:
    """Pair every answer to a game told otherwise with the answer to the same game as drawn."""
    originals = {row["game"]: row for row in _select_original(rows) if row["strategy"] is not None}
    told = [row for row in rows if row["variant"] != "original" and variant in (None, row["variant"])]
    return [(originals[r["game"]], r) for r in told if r["strategy"] is not None and r["game"] in originals]


def compute_distance(pair: tuple[BenchRow, BenchRow]) -> float:
    """Compute the total variation distance of two answers; an action that only one of them has counts as 0."""
    first, second = (np.asarray(row["strategy"], dtype=np.float64) for row in pair)
    size = max(first.size, second.size)
    return 0.5 * float(np.abs(np.pad(first, (0, size - first.size)) - np.pad(second, (0, size - second.size))).sum())


def _compute_invariance(rows: Sequence[BenchRow]) -> Interval | None:
    pairs = [pair for pair in pair_variants(rows) if pair[1]["variant"] in VARIANTS]
    if not pairs:
        return None
    games = [first["game"] for first, _ in pairs]
    return cluster_bootstrap([1 - compute_distance(p) for p in pairs], games, rng=np.random.default_rng(_SEED))


_LOST = "exploitability or, in games that are not zero-sum, gap to nearest (Wilson interval)"
_RANGE = "as a share of the game's payoff range"
METRICS: tuple[Metric[Sequence[BenchRow]], ...] = (
    Metric("asked", "plays", "games put to the player", "", "", _count_asked),
    Metric("answered", "answers", "answers that could be read", "", "", _count_answered),
    Metric(
        "nash_gap",
        "Nash gap",
        "best-response value less own value, against the equilibrium opponent; 0 is optimal",
        "",
        ".2f",
        _average("nash_gap"),
    ),
    Metric("gap_normalised", "gap / range", f"the Nash gap {_RANGE}", "", ".3f", _average("gap_normalised")),
    Metric(
        "exploitability_normalised",
        "exploitability / range",
        f"what a best-responding opponent takes, {_RANGE}",
        "",
        ".3f",
        _average("exploitability_normalised"),
    ),
    Metric(
        "success_1",
        "within 1 %",
        f"share of the answers that lose at most 0.01 of the range: {_LOST}",
        "",
        ".2f",
        _succeed(0.01),
    ),
    Metric(
        "success_5",
        "within 5 %",
        f"share of the answers that lose at most 0.05 of the range: {_LOST}",
        "",
        ".2f",
        _succeed(0.05),
    ),
    Metric(
        "invariance",
        "invariance",
        "1 - mean total variation distance between the answers to a game and to the same game told otherwise",
        "",
        ".3f",
        _compute_invariance,
    ),
    Metric(
        "equilibrium_distance",
        "distance to equilibrium",
        "total variation distance to the nearest equilibrium strategy; games that are not zero-sum",
        "",
        ".3f",
        _average("equilibrium_distance"),
    ),
    Metric(
        "gap_nearest",
        "gap to nearest",
        "Nash gap against the nearest equilibrium's opponent; games that are not zero-sum",
        "",
        ".2f",
        _average("gap_nearest"),
    ),
    Metric(
        "dominated_mass",
        "dominated",
        "probability on strictly dominated actions; games that are not zero-sum",
        "",
        ".3f",
        _average("dominated_mass"),
    ),
    Metric(
        "security_loss",
        "security loss",
        "maximin value less what the answer guarantees; games that are not zero-sum",
        "",
        ".2f",
        _average("security_loss"),
    ),
    Metric(
        "gap_ratio",
        "gap ratio",
        "mean gap over the size of the mean best-response value",
        "",
        ".2f",
        _compute_gap_ratio,
    ),
    Metric("llm_value", "own value", "mean expected payoff", "", ".2f", _mean("llm_value")),
    Metric("br_value", "best response", "mean best-response payoff", "", ".2f", _mean("br_value")),
    Metric(
        "attempts",
        "attempts",
        "mean number of reasonings until none of their claims was refuted; verified models",
        "",
        ".2f",
        _mean("attempts"),
    ),
    Metric(
        "claims",
        "claims",
        "mean number of claims in the last reasoning that could be read; verified models",
        "",
        ".1f",
        _mean("claims"),
    ),
    Metric(
        "refuted",
        "refuted",
        "mean number of claims in the last reasoning that are false; verified models",
        "",
        ".2f",
        _mean("refuted"),
    ),
)
"""Every figure of the benchmark, in the order of the columns."""


def select_metrics(*names: str) -> tuple[Metric[Sequence[BenchRow]], ...]:
    """Return the metrics of these names, in the order of `METRICS`."""
    return tuple(metric for metric in METRICS if metric.name in names)
