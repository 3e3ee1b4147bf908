"""The sessions folder: a run like any other, with one more append-only file for what is no move.

submissions.jsonl   as in every run, a session's id in the place of the spec; with the times "shown" and "answered"
calls.jsonl, records.jsonl   as in every run
events.jsonl        lobbies, seats taken, people ready, questions shown, restarts, remarks: {"event", "at", ...}

The second attempt at a session that was restarted has the id SESSION.2.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bestresponse.core.codec import submission_from_json
from bestresponse.core.episode import Record
from bestresponse.core.json import JsonObject
from bestresponse.runs import Manifest, RunFolder, environment
from bestresponse.runs.store.lines import Lines, read_lines
from bestresponse.web.sessions.session import Answer, Table, Timing, name_play

__all__ = ["Journal", "now"]

STUDY = "sessions"


def now() -> str:
    """Return the time in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Journal:
    """Keep everything that happens on disk. One server at a time writes into a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        versions = {} if (path / "manifest.json").exists() else environment()
        self._folder = RunFolder.open(path, Manifest(STUDY, STUDY, {}, (), now(), versions))
        self._events = Lines(path / "events.jsonl")

    def close(self) -> None:
        """Close the files and let another server write."""
        self._events.close()
        self._folder.close()

    def append_event(self, event: str, **what: Any) -> JsonObject:
        """Append an event that is no move and return it as written."""
        row = {"event": event, "at": now(), **what}
        self._events.append(row)
        return row

    def read_events(self, *kinds: str) -> list[JsonObject]:
        """Read the events of these kinds, or all, in the order they came."""
        return [row for row in read_lines(self.path / "events.jsonl") if not kinds or row["event"] in kinds]

    def submit(self, play: str, answer: Answer) -> None:
        """Append an answer with its timing, in one line."""
        self._folder.submit(play, answer.submission, asdict(answer.timing))

    def finish(self, table: Table, attempt: int, record: Record) -> None:
        """Append the record of a play that is over."""
        data = {"lobby": table.lobby, "group": table.group, "setup": asdict(table.setup)}
        if attempt > 1:
            data["attempt"] = attempt
        if table.part is not None:
            data |= {"part": table.number, "treatment": table.treatment}
        self._folder.finish(name_play(table.id, attempt), data, record)

    def list_finished(self) -> set[str]:
        """List the plays that have a record."""
        return self._folder.finished()

    def read_answers(self) -> dict[str, list[Answer]]:
        """Read the answers of every play."""
        found: dict[str, list[Answer]] = {}
        for row in read_lines(self.path / "submissions.jsonl"):
            timing = Timing(**{field.name: row[field.name] for field in fields(Timing)})
            found.setdefault(row["spec"], []).append(Answer(submission_from_json(row), timing))
        return found
