"""The files a run of the water study leaves, and its summary as plain data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bestresponse.core.errors import StoreError
from bestresponse.report import codec, page, tables
from bestresponse.report.document import Document
from bestresponse.report.stats.statistics import Interval
from bestresponse.runs.folder import RunFolder
from bestresponse.studies.water import session
from bestresponse.studies.water.findings import findings, summaries
from bestresponse.studies.water.measure import Measured

__all__ = ["publish", "summary_of", "write_files"]

_MOST_DAY_ROWS = 200_000


def publish(folder: RunFolder) -> tuple[Document, list[Path]]:
    """The report of a stored run, made anew."""
    measured = session.read_results(folder)
    if not measured.games:
        raise StoreError(f"{folder.path} holds no finished game yet")
    return write_files(folder, measured)


def write_files(folder: RunFolder, measured: Measured) -> tuple[Document, list[Path]]:
    """The report as a page and as JSON, one row a game, and one a day and resident where these are not too many."""
    document = findings(measured, folder.manifest)
    written = [
        folder.write_text("report.html", page.render(document)),
        folder.write_text("report.json", codec.to_json(document)),
        folder.write_text("games.csv", tables.to_csv(measured.rows())),
    ]
    if sum(one.trace.present.sum() for one in measured.settings) <= _MOST_DAY_ROWS:
        written.append(folder.write_text("days.csv", tables.to_csv(measured.day_rows())))
    return document, written


def summary_of(folder: RunFolder, measured: Measured) -> dict[str, Any]:
    """The indicators by setting."""
    settings = [
        {
            "setting": summary.one.setting.name,
            "abundance": summary.one.setting.abundance,
            "personas": summary.one.setting.persona,
            "games": len(summary.one.repeats),
            "void": summary.one.void,
            "survivors": _interval(summary.survivors),
            "survival": {
                resident.name: _interval(rate)
                for resident, rate in zip(summary.one.trace.rules.residents, summary.survival, strict=True)
            },
            "rsr_start": summary.rsr_start,
            "rsr_end": _interval(summary.rsr_end),
            "median_price": _interval(summary.price),
        }
        for summary in summaries(measured)
    ]
    answers = {name: read.to_json() for name, read in measured.answers.items()}
    return {"run": folder.manifest.run, "folder": str(folder.path), "settings": settings, "answers": answers}


def _interval(interval: Interval | None) -> dict[str, float | None] | None:
    if interval is None:
        return None
    ends = {"estimate": interval.estimate, "low": interval.low, "high": interval.high}
    return {name: value if abs(value) < float("inf") else None for name, value in ends.items()}
