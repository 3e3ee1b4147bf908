"""Everything that happens in sessions, on disk.

submissions.jsonl   as in every run, a session's id in the place of the spec; with the times "shown"
                    and "answered"
calls.jsonl, records.jsonl   as in every run
events.jsonl        lobbies, seats taken, people ready, questions shown, restarts:
                    {"event", "at", ...}

The second attempt at a session that was restarted has the id SESSION.2.
"""

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, fields
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from bestresponse.core import Record, Role
from bestresponse.core.codec import submission_from_json
from bestresponse.core.json import JsonObject
from bestresponse.runs import Manifest, RunFolder, environment
from bestresponse.runs.store.folder import HostMachine, Lines, read_lines
from bestresponse.web.sessions.session import (
    Moment,
    SessionTable,
    TimedAnswer,
    Timing,
    name_attempt,
)

SESSIONS = "sessions"
"""The name that a folder of sessions has in the place of a study."""


def now() -> str:
    """Return the time in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def read_clocks() -> Moment:
    """Return the present moment, by the clock that people read and by the steady one."""
    return Moment(now(), round(time.monotonic(), 3), find_boot())


@cache
def find_boot() -> str | None:
    """Return a mark of this machine's last start, None where the system has none."""
    machine = HostMachine.find()
    return None if machine.boot == machine.name else machine.boot[:8]


class Journal:
    """Keep everything that happens on disk. One server at a time writes into a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        versions = {} if (path / "manifest.json").exists() else environment()
        self.folder = RunFolder.open(
            path,
            Manifest(
                SESSIONS, SESSIONS, config={}, command=(), created=now(), environment=versions
            ),
        )
        with suppress(OSError):  # the folder of somebody else, who decides who may read it
            path.chmod(0o700)  # labels of people, what they wrote and what they are paid
        self._events = Lines(path / "events.jsonl")

    def close(self) -> None:
        """Close the files and let another server write."""
        self._events.close()
        self.folder.close()

    def append_event(self, event: str, **what: object) -> dict[str, object]:
        """Append an event that is no move and return it as written."""
        row = {"event": event, **asdict(read_clocks()), **what}
        self._events.append(row)
        return row

    def read_events(self, *kinds: str) -> list[JsonObject]:
        """Read the events of these kinds, or all, in the order they came."""
        return [
            row
            for row in read_lines(self.path / "events.jsonl")
            if not kinds or row["event"] in kinds
        ]

    def finish(
        self, table: SessionTable, attempt: int, record: Record, subjects: Mapping[Role, str]
    ) -> None:
        """Append the record of a play that is over, with the persons in its seats, by role."""
        data = {
            "lobby": table.lobby,
            "group": table.group,
            "setup": asdict(table.setup),
            "subjects": dict(subjects),
        }
        if attempt > 1:
            data["attempt"] = attempt
        if table.part.name:
            data |= {"part": table.number, "treatment": table.treatment}
        self.folder.finish(name_attempt(table.id, attempt), data, record)

    def read_answers(self) -> dict[str, list[TimedAnswer]]:
        """Read the answers of every play."""
        answers: dict[str, list[TimedAnswer]] = {}
        for row in read_lines(self.path / "submissions.jsonl"):
            known: dict[str, Any] = {field.name: row.get(field.name) for field in fields(Timing)}
            answers.setdefault(row["spec"], []).append(
                TimedAnswer(submission_from_json(row), Timing(**known))
            )
        return answers
