"""The files that every run leaves, whatever study it is of.

report.html  report.json   the report as a page and as data
rows.csv  rows.parquet     one row for each measured play or answer (Parquet where pyarrow is installed)
summary.json               the figures and what else was found
figures.csv                the figures alone, one row for each player, seat or setting
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from bestresponse.report import codec, page, tables
from bestresponse.report.document import Cell
from bestresponse.report.files import write_bytes, write_text

if TYPE_CHECKING:
    from bestresponse.runs.run import Run

__all__ = ["publish"]

_MOST_ROWS = 500_000


def publish(run: Run) -> list[Path]:
    """Write the report, rows and summary of a run into its folder; return the files, the report first."""
    document, folder = run.report(), run.folder
    written = [
        folder.write_text("report.html", page.render(document)),
        folder.write_text("report.json", codec.to_json(document)),
        folder.write_text("summary.json", run.summary_as_json() + "\n"),
    ]
    if run.figures.metrics:
        written.append(folder.write_text("figures.csv", tables.to_csv(run.figures.to_rows())))
    if len(run.rows()) <= _MOST_ROWS:
        rows = [_flatten(row) for row in run.rows()]
        written.append(folder.write_text("rows.csv", tables.to_csv(rows)))
        if find_spec("pyarrow"):
            written.append(write_bytes(folder.path / "rows.parquet", tables.to_parquet(rows)))
    written += [write_text(path, text) for path, text in run.study.extra_files(run.results, run)]
    return written


def _flatten(row: Mapping[str, object]) -> dict[str, Cell]:
    """Write nested values as JSON text, so that every cell is a number, a text or empty."""
    return {name: value if isinstance(value, Cell) else _to_text(value) for name, value in row.items()}


def _to_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
