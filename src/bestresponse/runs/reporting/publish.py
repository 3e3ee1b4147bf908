"""The files that every run leaves, whatever study it is of.

report.html  report.json   the report as a page and as data
summary.json               the figures and the short frames
figures.csv                the figures alone, one row for each player, seat or setting
FRAME.csv  FRAME.parquet   every frame of the study (Parquet where pyarrow is installed)
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bestresponse.report import codec, page, tables
from bestresponse.report.files import write_bytes, write_text

if TYPE_CHECKING:
    from bestresponse.runs.run import Run

_MOST_ROWS = 500_000
"""A longer frame is not written again as CSV and Parquet: the records hold it, and writing it takes minutes."""


def publish(run: Run[Any]) -> list[Path]:
    """Write the report, the frames and the summary of a run into its folder; return the files, the report first."""
    document, folder = run.report(), run.folder
    written = [
        folder.write_text("report.html", page.render(document)),
        folder.write_text("report.json", codec.to_json(document)),
        folder.write_text("summary.json", run.summary_as_json() + "\n"),
    ]
    if run.figures.metrics:
        written.append(folder.write_text("figures.csv", tables.to_csv(run.figures.to_rows())))
    for name, frame in run.frames.items():
        if 0 < len(frame) <= _MOST_ROWS:
            written.append(folder.write_text(f"{name}.csv", frame.to_csv()))
            if find_spec("pyarrow"):
                written.append(write_bytes(folder.path / f"{name}.parquet", frame.to_parquet()))
    written += [write_text(path, text) for path, text in run.study.extra_files(run.results, run)]
    return written
