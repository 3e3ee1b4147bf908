"""From rows to figures: the figures of one player, the baselines beside it, and the seed format of the summary file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.player import Status
from bestresponse.players.strategies.baselines import BASELINES
from bestresponse.report.metrics import Metric, Value
from bestresponse.report.stats.statistics import Bounds, Interval, missing_bounds
from bestresponse.studies.bench.games.drawn import Drawn, own_view
from bestresponse.studies.bench.measure import measure_strategies
from bestresponse.studies.bench.metrics import METRICS, select_metrics
from bestresponse.studies.bench.rows import Asked, BenchRow, get_number
from bestresponse.theory.games.normal_form import Array

__all__ = ["BASELINE", "PlayerSummary", "make_baseline_rows", "seed_summary"]

BASELINE = "baseline"
"""What stands for the way of asking where nobody was asked."""


@dataclass(frozen=True)
class PlayerSummary:
    """One player in one way of asking: its rows (of the games as drawn, and told otherwise) and their figures."""

    player: str
    way: str
    rows: tuple[BenchRow, ...]

    @cached_property
    def _computed(self) -> dict[str, Value]:
        return {}

    @property
    def figures(self) -> dict[str, Value]:
        """Every metric of the benchmark by its name; None where there is no figure."""
        return {metric.name: self._compute(metric) for metric in METRICS}

    def get_interval(self, name: str) -> Interval | None:
        """Return a metric that has an interval; None where no answer could be read."""
        (metric,) = select_metrics(name)
        value = self._compute(metric)
        return value if isinstance(value, Interval) else None

    def _compute(self, metric: Metric[Sequence[BenchRow]]) -> Value:
        if metric.name not in self._computed:
            self._computed[metric.name] = metric.compute(self.rows)
        return self._computed[metric.name]

    @cached_property
    def original(self) -> tuple[BenchRow, ...]:
        """The rows of the games as drawn."""
        return tuple(row for row in self.rows if row["variant"] == "original")

    @property
    def asked(self) -> int:
        """How many games were put to the player."""
        return len(self.original)

    @property
    def answered(self) -> int:
        """How many answers could be read."""
        return sum(row["nash_gap"] is not None for row in self.original)

    @property
    def statuses(self) -> tuple[tuple[str, int], ...]:
        """How many answers were read in which way, kinds that did not occur left out."""
        counts = Counter(row["status"] for row in self.original)
        return tuple((status.value, counts[status.value]) for status in Status if counts[status.value])

    def bound(self, figure: str) -> Bounds | None:
        """Bound the mean of `gap_normalised` or `exploitability_normalised` had every answer been readable."""
        worst_field = {
            "gap_normalised": "worst_normalised",
            "exploitability_normalised": "worst_exploitability_normalised",
        }[figure]
        seen = [get_number(row, figure) for row in self.original if row["nash_gap"] is not None]
        worst = [get_number(row, worst_field) for row in self.original if row["nash_gap"] is None]
        if not (seen or worst) or None in (*seen, *worst):
            return None
        return missing_bounds(cast(list[float], seen), len(worst), cast(list[float], worst), 0.0)


def make_baseline_rows(
    drawn: Drawn, seats: Sequence[str], games: Iterable[int], seed: int, condition: str = "base"
) -> dict[str, list[BenchRow]]:
    """Measure every baseline on the same games and seats."""
    games = sorted(games)
    found: dict[str, list[BenchRow]] = {name: [] for name in BASELINES}
    for seat in seats:
        own_seat = 0 if seat == "row" else 1
        views = [own_view(drawn.payoffs[k], own_seat) for k in games]
        own, other = np.stack([v[0] for v in views]), np.stack([v[1] for v in views])
        opponents = np.stack([np.asarray(drawn.get_opponent(k, own_seat)) for k in games])
        for name in BASELINES:
            played = _play_baseline(name, drawn, own_seat, games, seed, own, other)
            for k, mix, figures in zip(games, played, measure_strategies(own, other, played, opponents), strict=True):
                found[name].append({**_describe(name, condition, k, seat, mix, own.shape), **figures})
    return found


def _play_baseline(
    name: str, drawn: Drawn, seat: int, games: Sequence[int], seed: int, own: Array, other: Array
) -> Array:
    """Return the strategies of a baseline; `equilibrium` plays its part of the opponent's equilibrium."""
    if name == "equilibrium":
        return np.stack([drawn.get_equilibrium(k)[seat] for k in games])
    return BASELINES[name](own, other, seed)


def _describe(name: str, condition: str, game: int, seat: str, mix: Array, shape: tuple[int, ...]) -> Asked:
    return {
        "spec": "",
        "condition": condition,
        "game": game,
        "variant": "original",
        "model": name,
        "elicit": BASELINE,
        "format": "",
        "theme": "",
        "seat": seat,
        "temperature": None,
        "rows": shape[1],
        "cols": shape[2],
        "status": "valid",
        "how": "",
        "strategy": mix.tolist(),
        "attempts": None,
        "claims": None,
        "refuted": None,
    }


def seed_summary(rows: Iterable[JsonMapping]) -> JsonObject:
    """Summarise rows in the keys of the benchmark's original description."""
    rows = list(rows)
    read = [row for row in rows if row["nash_gap"] is not None]
    gaps = np.asarray([row["nash_gap"] for row in read], dtype=np.float64)
    summary: JsonObject = {"num_games": len(rows), "num_answered": len(gaps)}
    for name, statistic in _SEED_STATISTICS.items():
        summary[name] = float(statistic(gaps)) if gaps.size else None
    for figure in ("llm_value", "br_value", "gap_normalised", "exploitability", "exploitability_normalised"):
        known = [row[figure] for row in read if row[figure] is not None]
        summary[f"mean_{figure}"] = float(np.mean(known)) if known else None
    best = summary["mean_br_value"]
    summary["gap_ratio"] = summary["mean_nash_gap"] / abs(best) if best else None
    summary["statuses"] = dict(Counter(row["status"] for row in rows))
    return summary


_SEED_STATISTICS: dict[str, Callable[[Any], Any]] = {
    "mean_nash_gap": np.mean,
    "median_nash_gap": np.median,
    "std_nash_gap": np.std,
    "min_nash_gap": np.min,
    "max_nash_gap": np.max,
}
