"""What a simulation measured: rows, and the figures as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from bestresponse.core.capabilities import Wording
from bestresponse.core.json import JsonObject
from bestresponse.report.metrics import Figures, Heads, Metric, Value, compute_figures
from bestresponse.report.stats.interval import Interval
from bestresponse.studies.simulate.measure import AnswerRow, Measured
from bestresponse.studies.simulate.summary import Summary

__all__ = ["METRICS", "SimulateResults"]


@dataclass(frozen=True)
class SeatGroup:
    """One seat of a run; `summary` is that of all seats."""

    summary: Summary
    seat: str

    @property
    def predicted(self) -> float | None:
        """The seat's payoff in the equilibrium nearest to the play, or in the one that is known in words."""
        nearest, known = self.summary.nearest, self.summary.measured.theory.known
        payoffs = nearest.payoffs if nearest else known.payoffs if known else None
        return payoffs[self.seat] if payoffs else None

    @property
    def regret(self) -> Value:
        """What the best single strategy would have earned more; None where theory has neither table nor tree."""
        return self.summary.judged.regrets[self.seat] if self.summary.judged else None


METRICS: tuple[Metric[SeatGroup], ...] = (
    Metric("payoff", "payoff", "mean over plays, 95 % interval", "", ".3f", lambda g: g.summary.payoffs[g.seat]),
    Metric(
        "equilibrium_payoff",
        "in equilibrium",
        "the payoff in the equilibrium nearest to what was played",
        "",
        ".3f",
        lambda g: g.predicted,
    ),
    Metric(
        "payoff_least",
        "had all counted, at least",
        "the mean payoff if void plays had ended in the worst way",
        "",
        ".3f",
        lambda g: g.summary.bounds[g.seat].low if g.summary.bounds else None,
    ),
    Metric(
        "payoff_most",
        "had all counted, at most",
        "the mean payoff if void plays had ended in the best way",
        "",
        ".3f",
        lambda g: g.summary.bounds[g.seat].high if g.summary.bounds else None,
    ),
    Metric(
        "regret",
        "regret",
        "the best single strategy against what the others did, less what was earned (of a round in a repeated game); "
        "negative where varying moves earned more than any single one would have",
        "",
        ".3f",
        lambda g: g.regret,
    ),
    Metric(
        "lost",
        "lost",
        "what the answers of a play lose if all others play the equilibrium",
        "",
        ".3f",
        lambda g: g.summary.losses.get(g.seat),
    ),
)
"""Every figure of a seat, in the order of the columns."""


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
    def figures(self) -> Figures:
        """The metrics of every seat; payoffs in the unit of the game and, where it is repeated, a round."""
        config, summary = self.measured.config, Summary(self.measured)
        game = config.make_game()
        unit = game.unit if isinstance(game, Wording) else ""
        payoff = replace(METRICS[0], unit=unit)
        if config.rounds > 1:
            told = "mean over the rounds of a play (discounted), then plays, 95 % interval"
            payoff = replace(payoff, title="payoff a round", help=told)
        seats = config.seats if self.measured.plays else ()
        groups: dict[Heads, SeatGroup] = {(seat, who): SeatGroup(summary, seat) for seat, who in seats}
        return compute_figures((payoff, *METRICS[1:]), ("seat", "player"), groups)

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
