"""The files a run of the playground leaves, and its summary as plain data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bestresponse.report import codec, page, tables
from bestresponse.report.document import Document
from bestresponse.report.stats.interval import Interval
from bestresponse.runs.costs import call_totals
from bestresponse.runs.folder import RunFolder
from bestresponse.runs.watching import prices_of
from bestresponse.studies.simulate import session
from bestresponse.studies.simulate.measure import Measured
from bestresponse.studies.simulate.summary import Summary

__all__ = ["publish", "summary_of", "write_files"]

_MOST_ROWS = 500_000


def publish(folder: RunFolder) -> tuple[Document, list[Path]]:
    """The report of a stored run, made anew."""
    return write_files(folder, session.read_results(folder))


def write_files(folder: RunFolder, measured: Measured) -> tuple[Document, list[Path]]:
    """The report as a page and as JSON, and one row an answer where these are not too many."""
    document = session.report_of(folder, measured)
    written = [
        folder.write_text("report.html", page.render(document)),
        folder.write_text("report.json", codec.to_json(document)),
    ]
    if len(measured.made) <= _MOST_ROWS:
        written.append(folder.write_text("rows.csv", tables.to_csv(measured.rows())))
    return document, written


def summary_of(folder: RunFolder, measured: Measured) -> dict[str, Any]:
    """What was found, as plain data."""
    config = measured.config
    about = {
        "run": folder.manifest.run,
        "folder": str(folder.path),
        "game": config.game.name,
        "seats": dict(config.seats),
        "plays": measured.plays,
        "void": len(measured.voids),
        "answers": {name: read.to_json() for name, read in measured.answers.items()},
        "calls": list(call_totals(folder, prices_of(folder))),
    }
    return {**about, **(_figures(Summary(measured)) if measured.plays else {})}


def _figures(summary: Summary) -> dict[str, Any]:
    judged, nearest, theory = summary.judged, summary.nearest, summary.measured.theory
    return {
        "payoffs": {seat: _plain(interval) for seat, interval in summary.payoffs.items()},
        "moves": [
            {"seat": s.seat, "place": s.place, "part": s.part, "move": s.move, "times": s.count} | _ends(s.share)
            for s in summary.shares
        ],
        "amounts": [
            {"seat": a.seat, "part": a.part, "answers": a.count, "median": a.median} | _ends(a.mean)
            for a in summary.amounts
        ],
        "regret": {seat: _plain(value) for seat, value in judged.regrets.items()} if judged else None,
        "lost": {seat: _ends(interval) for seat, interval in summary.losses.items()} or None,
        "nash_gap": _plain(judged.gap) if judged else None,
        "equilibrium": {"payoffs": dict(nearest.payoffs), "strategies": _table(nearest.shares)} if nearest else None,
        "welfare": _plain(summary.welfare),
        "best_equilibrium_welfare": max((one.welfare for one in theory.predicted), default=None),
        "best_welfare": theory.optimum,
        "price_of_anarchy": summary.price_of_anarchy,
    }


def _table(shares: Any) -> dict[str, Any]:
    return {seat: {place: dict(moves) for place, moves in places.items()} for seat, places in shares.items()}


def _plain(value: Interval | float) -> dict[str, float | None] | float:
    return _ends(value) if isinstance(value, Interval) else value


def _ends(interval: Interval) -> dict[str, float | None]:
    ends = {"estimate": interval.estimate, "low": interval.low, "high": interval.high}
    return {name: value if abs(value) < float("inf") else None for name, value in ends.items()}
