"""The sessions folder: a run like any other, with one more append-only file for what is no move.

submissions.jsonl, calls.jsonl, records.jsonl   as in every run, a session's id in the place of the spec
events.jsonl                                    lobbies, seats taken, people ready, remarks: {"event", ...}
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bestresponse.core.codec import submission_from_json
from bestresponse.core.episode import Record, Submission
from bestresponse.runs.folder import RunFolder
from bestresponse.runs.lines import Lines, read_lines
from bestresponse.runs.manifest import Manifest, environment
from bestresponse.web.sessions.session import Table
from bestresponse.web.sessions.setup import Setup

__all__ = ["Journal", "now", "tables_of"]

STUDY = "sessions"


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Journal:
    """Everything that happened, on disk. One server at a time writes into a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        versions = {} if (path / "manifest.json").exists() else environment()
        self._folder = RunFolder.open(path, Manifest(STUDY, STUDY, {}, (), now(), versions))
        self._events = Lines(path / "events.jsonl")

    def close(self) -> None:
        self._events.close()
        self._folder.close()

    def tell(self, event: str, **what: Any) -> dict[str, Any]:
        """Keep an event that is no move; gives it back as it was written."""
        row = {"event": event, "at": now(), **what}
        self._events.append(row)
        return row

    def events(self, *kinds: str) -> list[dict[str, Any]]:
        """The events of these kinds in the order they came."""
        return [row for row in read_lines(self.path / "events.jsonl") if row["event"] in kinds]

    def submit(self, session: str, submission: Submission) -> None:
        self._folder.submit(session, submission)

    def finish(self, table: Table, record: Record) -> None:
        data = {"lobby": table.lobby, "group": table.group, "setup": table.setup.to_json()}
        self._folder.finish(table.id, data, record)

    def finished(self) -> set[str]:
        return self._folder.finished()

    def submissions(self) -> dict[str, list[Submission]]:
        """The answers of every session."""
        found: dict[str, list[Submission]] = {}
        for row in read_lines(self.path / "submissions.jsonl"):
            found.setdefault(row["spec"], []).append(submission_from_json(row))
        return found

    def submissions_of(self, session: str) -> list[Submission]:
        rows = read_lines(self.path / "submissions.jsonl")
        return [submission_from_json(row) for row in rows if row["spec"] == session]

    def calls_of(self, session: str) -> list[dict[str, Any]]:
        """The calls of models in one session."""
        return [row for row in self._folder.calls() if row["spec"] == session]


def tables_of(lobby: Mapping[str, Any]) -> list[Table]:
    """The tables that the event of a lobby set up."""
    setup = Setup.from_json(lobby["setup"])
    return [
        Table(session, lobby["lobby"], group, setup, lobby["at"]) for group, session in enumerate(lobby["sessions"], 1)
    ]
