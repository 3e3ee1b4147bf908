"""The files a benchmark run leaves: the report as a page, as JSON and as tables, and the two classic result files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bestresponse.core.errors import StoreError
from bestresponse.report import codec, page, tables
from bestresponse.report.document import Document
from bestresponse.report.files import write_bytes, write_text
from bestresponse.runs.folder import RunFolder
from bestresponse.runs.watching import prices_of
from bestresponse.studies.bench import session
from bestresponse.studies.bench.results import Results
from bestresponse.studies.bench.summary import seed_summary

__all__ = ["publish", "write_files"]


def publish(folder: RunFolder) -> tuple[Document, list[Path]]:
    """The report of a stored run and all its files, made anew; for `bestresponse report`."""
    results = session.read_results(folder)
    if not results.rows:
        raise StoreError(f"{folder.path} holds no finished play yet")
    document, files, _ = write_files(folder, results, folder.path, datetime.now().strftime("%Y%m%d_%H%M%S"))
    return document, files


def write_files(
    folder: RunFolder, results: Results, output_dir: Path, stamp: str
) -> tuple[Document, list[Path], dict[str, Any]]:
    """Write everything; gives the document, the paths in the order a reader wants them, and the summary."""
    document = session.report_of(folder, results, prices_of(folder))
    summary = summary_of(results)
    rows = [{name: value for name, value in row.items() if name != "strategy"} | _flat(row) for row in results.rows]
    written = [
        folder.write_text("report.html", page.render(document)),
        folder.write_text("report.json", codec.to_json(document)),
        folder.write_text("rows.csv", tables.to_csv(rows)),
    ]
    if find_spec("pyarrow"):
        path = folder.path / "rows.parquet"
        write_bytes(path, tables.to_parquet(rows))
        written.append(path)
    written += [
        write_text(output_dir / f"benchmark_results_{stamp}.json", "".join(session.results_json(results))),
        write_text(
            output_dir / f"benchmark_summary_{stamp}.json", json.dumps(summary, indent=2, ensure_ascii=False) + "\n"
        ),
    ]
    return document, written, summary


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"strategy": json.dumps(row["strategy"])}


def summary_of(results: Results) -> dict[str, Any]:
    """The classic summary of the first player, and every player's and baseline's under `players` and `baselines`."""
    players = {" / ".join(group): seed_summary(rows) for group, rows in results.groups.items()}
    baselines = {name: seed_summary(rows) for name, rows in results.baselines.items()}
    first = next(iter(players.values()))
    intervals = {
        f"{s.player} / {s.way}": {
            "nash_gap": _ends(s.gap),
            "gap_normalised": _ends(s.gap_normalised),
            "exploitability_normalised": _ends(s.exploitability_normalised),
        }
        for s in results.summaries
    }
    for name, ends in intervals.items():
        players[name]["intervals"] = ends
    return {**{k: v for k, v in first.items() if k != "intervals"}, "players": players, "baselines": baselines}


def _ends(interval: Any) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]
