"""All rows of a run, grouped by player and way of asking, with the baselines on the same games."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from bestresponse.core.json import JsonObject
from bestresponse.report.metrics import Figures, figures_to_json
from bestresponse.runs.store.folder import StoredPlay
from bestresponse.studies.bench.measure import measure
from bestresponse.studies.bench.metrics import METRICS
from bestresponse.studies.bench.plan import BASE, Plan
from bestresponse.studies.bench.rows import BenchRow
from bestresponse.studies.bench.summary import BASELINE, PlayerSummary, make_baseline_rows, seed_summary

__all__ = ["Group", "Results", "list_figures"]

Group = tuple[str, str]
"""A player and how it was asked."""


@dataclass(frozen=True)
class Results:
    """The measured plays of a run."""

    plan: Plan
    rows: tuple[BenchRow, ...]

    @classmethod
    def measure(cls, plan: Plan, plays: Iterable[StoredPlay]) -> Results:
        """Measure plays of `plan`; rows are in the order of conditions and games."""
        rows = sorted(
            measure(plan, plays), key=lambda row: (row["condition"] != BASE, row["condition"], row["game"], row["spec"])
        )
        return cls(plan, tuple(rows))

    @property
    def answered(self) -> int:
        """How many answers could be read."""
        return sum(row["nash_gap"] is not None for row in self.rows)

    @property
    def unfinished(self) -> int:
        """How many planned plays are missing; 0 where a run ends as soon as its figures are precise."""
        return 0 if self.plan.config.precision else max(self.plan.total - len(self.rows), 0)

    @cached_property
    def summary(self) -> JsonObject:
        """The summary of the first player, and every player's and baseline's under `players` and `baselines`."""
        players = {f"{s.player} / {s.way}": _summarise(s) for s in self.summaries}
        baselines = {s.player: _summarise(s) for s in self.baseline_summaries}
        first = next(iter(players.values()), {})
        top = {name: value for name, value in first.items() if name != "metrics"}
        return {**top, "players": players, "baselines": baselines}

    @cached_property
    def original(self) -> tuple[BenchRow, ...]:
        """The rows of games told as drawn, under the run's base settings."""
        return tuple(row for row in self.rows if row["variant"] == "original" and row["condition"] == BASE)

    @cached_property
    def games(self) -> tuple[int, ...]:
        """The numbers of the games that were played under the base settings."""
        return tuple(sorted({row["game"] for row in self.original}))

    def describe_way(self, row: BenchRow) -> str:
        """Say how the row's player was asked, naming only what varies in this run."""
        c = self.plan.config
        parts = [row["elicit"]]
        parts += [row["format"]] if len(c.formats) > 1 else []
        parts += [row["theme"]] if len(c.themes) > 1 else []
        parts += [row["seat"]] if len(c.seats) > 1 else []
        return ", ".join(parts)

    def group(self, rows: Iterable[BenchRow]) -> dict[Group, list[BenchRow]]:
        """Group rows by player and way of asking, in the order of the settings."""
        found: dict[Group, list[BenchRow]] = {}
        order = {model: number for number, model in enumerate(self.plan.config.labels)}
        for row in sorted(rows, key=lambda r: order.get(r["model"], len(order))):
            found.setdefault((row["model"], self.describe_way(row)), []).append(row)
        return found

    @cached_property
    def groups(self) -> dict[Group, list[BenchRow]]:
        """Rows of the games as drawn, by player and way of asking."""
        return self.group(self.original)

    @cached_property
    def baselines(self) -> dict[str, list[BenchRow]]:
        """Rows of every baseline on the games that were put to the models."""
        if not self.games:
            return {}
        config = self.plan.config
        return make_baseline_rows(self.plan.conditions[0].drawn, config.seats, self.games, config.seed)

    @cached_property
    def summaries(self) -> tuple[PlayerSummary, ...]:
        """Every player in every way of asking, under the base settings."""
        base = self.group(row for row in self.rows if row["condition"] == BASE)
        return tuple(PlayerSummary(model, way, tuple(rows)) for (model, way), rows in base.items())

    @cached_property
    def baseline_summaries(self) -> tuple[PlayerSummary, ...]:
        """Every baseline on the games that were put to the models."""
        return tuple(PlayerSummary(name, BASELINE, tuple(rows)) for name, rows in self.baselines.items())


def _summarise(summary: PlayerSummary) -> JsonObject:
    return seed_summary(summary.original) | {"metrics": figures_to_json(summary.figures)}


def list_figures(summaries: Sequence[PlayerSummary]) -> Figures:
    """List every metric of players."""
    return Figures(METRICS, ("player", "asked for"), [((s.player, s.way), s.figures) for s in summaries])
