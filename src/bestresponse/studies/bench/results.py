"""All rows of a run, grouped by player and way of asking, with the baselines on the same games."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bestresponse.runs.folder import StoredPlay
from bestresponse.studies.bench.measure import Row, measure
from bestresponse.studies.bench.plan import BASE, Plan
from bestresponse.studies.bench.summary import PlayerSummary, baseline_rows, seed_summary, summarise

__all__ = ["Results"]

Group = tuple[str, str]


@dataclass(frozen=True)
class Results:
    """The measured plays of a run."""

    plan: Plan
    rows: tuple[Row, ...]

    @classmethod
    def measure(cls, plan: Plan, plays: Iterable[StoredPlay]) -> Results:
        """Measure plays of `plan`; rows are in the order of conditions and games."""
        rows = sorted(
            measure(plays), key=lambda row: (row["condition"] != BASE, row["condition"], row["game"], row["spec"])
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
    def summary(self) -> dict[str, Any]:
        """The summary of the first player, and every player's and baseline's under `players` and `baselines`."""
        players = {" / ".join(group): seed_summary(rows) for group, rows in self.groups.items()}
        for s in self.summaries:
            players[f"{s.player} / {s.way}"]["intervals"] = {
                name: None if interval is None else interval.to_json()
                for name, interval in (
                    ("nash_gap", s.gap),
                    ("gap_normalised", s.gap_normalised),
                    ("exploitability_normalised", s.exploitability_normalised),
                )
            }
        first = next(iter(players.values()), {})
        baselines = {name: seed_summary(rows) for name, rows in self.baselines.items()}
        return {**{k: v for k, v in first.items() if k != "intervals"}, "players": players, "baselines": baselines}

    @cached_property
    def original(self) -> tuple[Row, ...]:
        """The rows of games told as drawn, under the run's base settings."""
        return tuple(row for row in self.rows if row["variant"] == "original" and row["condition"] == BASE)

    @cached_property
    def games(self) -> tuple[int, ...]:
        return tuple(sorted({row["game"] for row in self.original}))

    def way(self, row: Row) -> str:
        """How the row's player was asked, naming only what varies in this run."""
        c = self.plan.config
        parts = [row["elicit"]]
        for name, values in (("format", c.formats), ("theme", c.themes), ("seat", c.seats)):
            if len(values) > 1:
                parts.append(str(row[name]))
        return ", ".join(parts)

    @cached_property
    def groups(self) -> dict[Group, list[Row]]:
        """Rows of the original games by (model, way), in the order of the settings."""
        found: dict[Group, list[Row]] = {}
        order = {model: number for number, model in enumerate(self.plan.config.models)}
        for row in sorted(self.original, key=lambda r: order.get(r["model"], len(order))):
            found.setdefault((row["model"], self.way(row)), []).append(row)
        return found

    @cached_property
    def baselines(self) -> dict[str, list[Row]]:
        """Rows of every baseline on the games that were put to the models."""
        if not self.games:
            return {}
        condition = self.plan.conditions[0]
        return baseline_rows(condition.drawn, self.plan.config.seats, self.games, self.plan.config.seed)

    @cached_property
    def summaries(self) -> tuple[PlayerSummary, ...]:
        seed = self.plan.config.seed
        return tuple(summarise(rows, model, way, seed) for (model, way), rows in self.groups.items())

    @cached_property
    def baseline_summaries(self) -> tuple[PlayerSummary, ...]:
        seed = self.plan.config.seed
        return tuple(summarise(rows, name, "baseline", seed) for name, rows in self.baselines.items())
