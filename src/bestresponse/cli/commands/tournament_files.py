"""The files a tournament leaves: the report as a page and as JSON, and the standings as data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bestresponse.report import codec, page
from bestresponse.report.document import Document
from bestresponse.runs.folder import RunFolder
from bestresponse.studies.tournament import session
from bestresponse.studies.tournament.standings import Standings

__all__ = ["publish", "write_files"]


def publish(folder: RunFolder) -> tuple[Document, list[Path]]:
    """The report of a stored tournament and all its files, made anew; for `bestresponse report`."""
    document, files, _ = write_files(folder, session.read_standings(folder))
    return document, files


def write_files(folder: RunFolder, standings: Standings) -> tuple[Document, list[Path], dict[str, Any]]:
    """Write everything; gives the document, the paths in the order a reader wants them, and the standings as data."""
    document, summary = session.report_of(folder, standings), session.summary_of(standings)
    written = [
        folder.write_text("report.html", page.render(document)),
        folder.write_text("report.json", codec.to_json(document)),
        folder.write_text("standings.json", json.dumps(summary, indent=2, ensure_ascii=False) + "\n"),
    ]
    return document, written, summary
