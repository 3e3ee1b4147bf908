"""From rows to figures: one line per player, the baselines beside them, and the seed format of the summary file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestresponse.core.player import Status
from bestresponse.core.seeds import split
from bestresponse.players.strategies.baselines import BASELINES
from bestresponse.report.stats.statistics import Bounds, Interval, cluster_bootstrap, missing_bounds
from bestresponse.studies.bench.drawn import Drawn, own_view
from bestresponse.studies.bench.measure import Row, measure_strategies

__all__ = ["PlayerSummary", "baseline_rows", "seed_summary", "summarise"]


@dataclass(frozen=True, slots=True)
class PlayerSummary:
    """The figures of one player in one way of asking. None: there is no figure, because no answer could be read."""

    player: str
    way: str
    asked: int
    statuses: tuple[tuple[str, int], ...]
    gap: Interval | None
    gap_normalised: Interval | None
    exploitability: Interval | None
    exploitability_normalised: Interval | None
    llm_value: float | None
    br_value: float | None
    bounds: Bounds | None

    @property
    def answered(self) -> int:
        return sum(count for status, count in self.statuses if Status(status).readable)

    @property
    def gap_ratio(self) -> float | None:
        """The mean gap as a share of the mean best-response value (its size)."""
        if self.gap is None or not self.br_value:
            return None
        return self.gap.estimate / abs(self.br_value)


def summarise(rows: Iterable[Row], player: str, way: str, seed: int) -> PlayerSummary:
    """The figures of one player's rows; intervals by resampling games."""
    rows = list(rows)
    read = [row for row in rows if row["nash_gap"] is not None]
    unread = [row for row in rows if row["nash_gap"] is None]
    statuses = Counter(row["status"] for row in rows)
    order = [status.value for status in Status if statuses[status.value]]
    interval = _interval_of(read, split(seed, "bootstrap", player, way))
    return PlayerSummary(
        player,
        way,
        len(rows),
        tuple((status, statuses[status]) for status in order),
        interval("nash_gap"),
        interval("gap_normalised"),
        interval("exploitability"),
        interval("exploitability_normalised"),
        _mean(read, "llm_value"),
        _mean(read, "br_value"),
        _bounds(read, unread),
    )


def _interval_of(read: list[Row], seed: int) -> Callable[[str], Interval | None]:
    games = [(row["condition"], row["game"]) for row in read]

    def interval(figure: str) -> Interval | None:
        values = [row.get(figure) for row in read]
        if not values or any(value is None for value in values):
            return None
        return cluster_bootstrap(values, games, rng=np.random.default_rng(seed))  # type: ignore[arg-type]

    return interval


def _mean(rows: list[Row], figure: str) -> float | None:
    return float(np.mean([row[figure] for row in rows])) if rows else None


def _bounds(read: list[Row], unread: list[Row]) -> Bounds | None:
    """Between which values the mean normalised gap would lie had every answer been readable."""
    if not read and not unread:
        return None
    worst = [row["worst_normalised"] for row in unread]
    return missing_bounds([row["gap_normalised"] for row in read], len(unread), worst, 0.0)


def baseline_rows(drawn: Drawn, seats: tuple[str, ...], games: Iterable[int], seed: int) -> dict[str, list[Row]]:
    """Rows like those of a play, for every baseline on the same games and seats."""
    games = sorted(games)
    found: dict[str, list[Row]] = {name: [] for name in BASELINES}
    for seat in seats:
        own_seat = 0 if seat == "row" else 1
        views = [own_view(drawn.payoffs[k], own_seat) for k in games]
        own, other = np.stack([v[0] for v in views]), np.stack([v[1] for v in views])
        opponents = np.stack([np.asarray(drawn.opponent_of(k, own_seat)) for k in games])
        for name, play in BASELINES.items():
            figures = measure_strategies(own, other, play(own, other, seed), opponents)
            asked = {"seat": seat, "condition": "base", "status": "valid", "model": name}
            found[name] += [asked | {"game": k} | figure for k, figure in zip(games, figures, strict=True)]
    return found


def seed_summary(rows: Iterable[Row]) -> dict[str, Any]:
    """The summary in the keys of the benchmark's original description, and the figures that go beyond it."""
    rows = list(rows)
    gaps = np.asarray([row["nash_gap"] for row in rows if row["nash_gap"] is not None], dtype=np.float64)
    summary: dict[str, Any] = {"num_games": len(rows), "num_answered": len(gaps)}
    read = [row for row in rows if row["nash_gap"] is not None]
    for name, statistic in _SEED_STATISTICS.items():
        summary[name] = float(statistic(gaps)) if gaps.size else None
    summary["mean_llm_value"], summary["mean_br_value"] = _mean(read, "llm_value"), _mean(read, "br_value")
    summary["gap_ratio"] = (
        summary["mean_nash_gap"] / abs(summary["mean_br_value"]) if summary["mean_br_value"] else None
    )
    for figure in ("gap_normalised", "exploitability", "exploitability_normalised"):
        known = [row[figure] for row in read if row.get(figure) is not None]
        summary[f"mean_{figure}"] = float(np.mean(known)) if known else None
    summary["statuses"] = dict(Counter(row["status"] for row in rows))
    return summary


_SEED_STATISTICS: dict[str, Callable[[Any], Any]] = {
    "mean_nash_gap": np.mean,
    "median_nash_gap": np.median,
    "std_nash_gap": np.std,
    "min_nash_gap": np.min,
    "max_nash_gap": np.max,
}
