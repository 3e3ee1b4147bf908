"""The figures of the playground: payoffs by seat, moves beside the equilibrium, and how both change over rounds."""

from __future__ import annotations

import numpy as np

from bestresponse.report.figures import charts as figures
from bestresponse.report.stats.interval import Interval
from bestresponse.studies.simulate.regrets import regret_by_round
from bestresponse.studies.simulate.summary import Amounts, Share, Summary

__all__ = ["amounts_by_round", "moves_beside_equilibrium", "payoff_strips", "regrets_by_round", "shares_by_round"]

_MOST_MOVES = 8
_MOST_SEATS = 12


def payoff_strips(summary: Summary) -> bytes:
    """One row a seat: every play a dot, quartiles and mean."""
    measured = summary.measured
    return figures.distribution(
        {seat: measured.payoffs[:, number] for number, seat in enumerate(measured.seats)}, x_label="payoff"
    )


def moves_beside_equilibrium(summary: Summary) -> bytes | None:
    """Stacked shares of the moves of every seat, what was played above what the nearest equilibrium plays.

    Only for seats that decide at one place among few moves; None where there is none.
    """
    rows: dict[str, dict[str, float]] = {}
    for seat in summary.measured.seats[:_MOST_SEATS]:
        own = [one for one in summary.shares if one.seat == seat]
        if not own or len(own) > _MOST_MOVES or len({(one.place, one.part) for one in own}) > 1:
            continue
        rows[f"{seat}, played"] = {one.move: one.share.estimate for one in own}
        if summary.nearest is not None:
            chances = summary.nearest.shares[seat][own[0].place]
            rows[f"{seat}, equilibrium"] = {one.move: chances.get(one.move, 0.0) for one in own}
    return figures.bars(rows, x_label="share of plays") if rows else None


def amounts_by_round(summary: Summary, part: str) -> bytes | None:
    """The mean amount of every seat by round, with its interval."""
    by_seat: dict[str, list[Amounts]] = {}
    for one in summary.amounts_by_round:
        if one.part == part:
            by_seat.setdefault(one.seat, []).append(one)
    return _lines({seat: [(one.turn, one.mean) for one in rows] for seat, rows in by_seat.items()}, "mean amount")


def shares_by_round(summary: Summary) -> bytes | None:
    """The share of every move of every seat by round, with its interval; None where there are too many lines."""
    by_move: dict[str, list[Share]] = {}
    for one in summary.shares_by_round:
        by_move.setdefault(f"{one.seat}: {one.move}", []).append(one)
    return _lines({name: [(one.turn, one.share) for one in rows] for name, rows in by_move.items()}, "share")


def regrets_by_round(summary: Summary) -> bytes | None:
    """Draw the regret of every seat for the rounds up to each; None where no table was repeated."""
    points = {seat: list(enumerate(rows, 1)) for seat, rows in regret_by_round(summary.measured).items()}
    return _lines(points, "regret a round")


def _lines(points: dict[str, list[tuple[int, Interval]]], y_label: str) -> bytes | None:
    if not 1 <= len(points) <= _MOST_MOVES:
        return None
    series = {name: ([turn for turn, _ in rows], [i.estimate for _, i in rows]) for name, rows in points.items()}
    bands = {
        name: ([i.low for _, i in rows], [i.high for _, i in rows])
        for name, rows in points.items()
        if np.isfinite([end for _, i in rows for end in (i.low, i.high)]).all()
    }
    return figures.lines(series, bands, x_label="round", y_label=y_label)
