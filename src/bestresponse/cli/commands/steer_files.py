"""The files a steering run leaves: the report as a page and as JSON, and the figures as data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bestresponse.core.errors import StoreError
from bestresponse.report import codec, page
from bestresponse.report.document import Document
from bestresponse.runs.folder import RunFolder
from bestresponse.studies.steer import session
from bestresponse.studies.steer.findings import report_of
from bestresponse.studies.steer.session import Steered
from bestresponse.studies.steer.summary import summary_of

__all__ = ["publish", "write_files"]


def publish(folder: RunFolder) -> tuple[Document, list[Path]]:
    """The report of a stored run and all its files, made anew from its record; for `bestresponse report`."""
    steered = session.read_steered(folder)
    if not steered.solved and steered.psro is None:
        raise StoreError(f"{folder.path} holds no solved game yet")
    document, files, _ = write_files(folder, steered, 0)
    return document, files


def write_files(folder: RunFolder, steered: Steered, calls: int) -> tuple[Document, list[Path], dict[str, Any]]:
    """Write everything; `calls` were made now. Gives the document, the paths, and the figures as data."""
    summary = summary_of(steered, calls)
    summary["calls_in_all"] = _calls_before(folder) + calls
    document = report_of(steered, summary, folder.manifest)
    written = [
        folder.write_text("report.html", page.render(document)),
        folder.write_text("report.json", codec.to_json(document)),
        folder.write_text("summary.json", json.dumps(summary, indent=2, ensure_ascii=False) + "\n"),
    ]
    return document, written, summary


def _calls_before(folder: RunFolder) -> int:
    """The calls that this run made up to now, as its figures tell them."""
    try:
        return int(json.loads((folder.path / "summary.json").read_text("utf-8"))["calls_in_all"])
    except (FileNotFoundError, KeyError, ValueError):
        return 0
