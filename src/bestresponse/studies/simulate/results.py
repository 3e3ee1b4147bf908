"""What a simulation measured: rows, and the figures as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from bestresponse.core.json import JsonObject
from bestresponse.report.stats.interval import Interval
from bestresponse.studies.simulate.measure import AnswerRow, Measured
from bestresponse.studies.simulate.summary import Summary

__all__ = ["SimulateResults"]


@dataclass(frozen=True)
class SimulateResults:
    """The measured plays of a run."""

    measured: Measured

    @property
    def rows(self) -> tuple[AnswerRow, ...]:
        """One row for each answer of a play that counts, and one for each void play."""
        return self.measured.rows

    @property
    def answered(self) -> int:
        """How many plays count."""
        return self.measured.plays

    @cached_property
    def summary(self) -> JsonObject:
        """The figures as plain data."""
        config = self.measured.config
        about = {
            "game": config.game.name,
            "seats": dict(config.seats),
            "plays": self.measured.plays,
            "void": len(self.measured.voids),
            "answers": {name: read.to_json() for name, read in self.measured.answers.items()},
        }
        return about | (_list_figures(Summary(self.measured)) if self.measured.plays else {})


def _list_figures(summary: Summary) -> JsonObject:
    judged, nearest, theory = summary.judged, summary.nearest, summary.measured.theory
    return {
        "payoffs": {seat: interval.to_json() for seat, interval in summary.payoffs.items()},
        "moves": [
            {"seat": s.seat, "place": s.place, "part": s.part, "move": s.move, "times": s.count} | s.share.to_json()
            for s in summary.shares
        ],
        "amounts": [
            {"seat": a.seat, "part": a.part, "answers": a.count, "median": a.median} | a.mean.to_json()
            for a in summary.amounts
        ],
        "regret": {seat: _to_plain(value) for seat, value in judged.regrets.items()} if judged else None,
        "lost": {seat: interval.to_json() for seat, interval in summary.losses.items()} or None,
        "nash_gap": _to_plain(judged.gap) if judged else None,
        "equilibrium": {"payoffs": dict(nearest.payoffs), "strategies": _to_table(nearest.shares)} if nearest else None,
        "welfare": summary.welfare.to_json(),
        "best_equilibrium_welfare": max((one.welfare for one in theory.predicted), default=None),
        "best_welfare": theory.optimum,
        "price_of_anarchy": summary.price_of_anarchy,
    }


def _to_table(shares: Mapping[str, Mapping[str, Mapping[str, float]]]) -> JsonObject:
    return {seat: {place: dict(moves) for place, moves in places.items()} for seat, places in shares.items()}


def _to_plain(value: Interval | float) -> dict[str, float | int | None] | float:
    return value.to_json() if isinstance(value, Interval) else value
