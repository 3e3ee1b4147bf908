"""Runs below the output folder, watched while they grow: how far they are, what they cost, and their plays.

A run is known by the name of its folder, which is looked up among those that are there. Files are read on from where
they were read last, so that looking at a long run often costs little.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from bestresponse.core.errors import StoreError, UsageError
from bestresponse.core.game import AnyGame
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.runs.reporting.costs import Prices, price_by_model
from bestresponse.runs.run import Run
from bestresponse.runs.store.folder import RunFolder, StoredPlay
from bestresponse.runs.store.lines import read_lines
from bestresponse.runs.study import find_study, studies
from bestresponse.web.sessions.games import make_game
from bestresponse.web.sessions.setup import GameChoice
from bestresponse.web.sessions.store import NotFound
from bestresponse.web.watching.live import LivePlays, read_new_lines
from bestresponse.web.watching.names import name_run
from bestresponse.web.watching.sessions_report import build_sessions_report

if TYPE_CHECKING:
    from bestresponse.report.document import Document

__all__ = [
    "Progress",
    "Runs",
    "build_report",
    "find_neighbours",
    "has_report",
    "list_plays",
    "rebuild_game",
]

SESSIONS = "sessions"
_FRESH = 120.0
_log = logging.getLogger("bestresponse.web")


@dataclass(frozen=True, slots=True)
class Progress:
    """A run at a glance; `total` is None where it is not settled beforehand, `money` where a price is not known.

    `status` is finished, running or stopped: nobody works in the folder of a run that was killed.
    """

    name: str
    study: str
    created: str
    finished: bool
    plays: int
    total: int | None
    calls: int
    tokens: int
    money: float | None
    title: str = ""
    status: str = ""

    @property
    def version(self) -> str:
        """Changes exactly when the run has come further."""
        return f"{self.plays}.{self.calls}.{int(self.finished)}"


@dataclass
class _Tally:
    """Sums over the plays and calls of a run, as far as its files were read."""

    prices: Prices
    total: int | None
    calls_file: Path
    records: int = 0
    records_read: int = 0
    calls: int = 0
    calls_read: int = 0
    tokens: int = 0
    money: float | None = 0.0


class Runs:
    """All runs of an output folder."""

    def __init__(self, output: Path) -> None:
        self._output = output
        self._tallies: dict[tuple[str, str], _Tally] = {}
        self._live: dict[tuple[str, str], LivePlays] = {}
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        """The newest first."""
        found = [(_age(path), path.parent.name) for path in self._output.glob("*/manifest.json")]
        return [name for _, name in sorted(found, reverse=True)]

    def folder(self, name: str) -> RunFolder:
        """Return the folder of the run of that name, or raise NotFound."""
        if name not in self.names():
            raise NotFound("there is no such run")
        return RunFolder.read(self._output / name)

    def all(self) -> list[Progress]:
        """Every run that can be read."""
        found = []
        for name in self.names():
            try:
                found.append(self.progress(name))
            except (StoreError, NotFound):
                continue
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
                _log.exception("the run %s cannot be read", name)
        return found

    def list_live(self, name: str) -> list[StoredPlay]:
        """List the plays of a run that is under way which are not over, with their answers so far."""
        folder = self.folder(name)
        if folder.manifest.study not in studies.names() or not is_worked_on(folder.path):
            return []
        key = (name, folder.manifest.run)
        with self._lock:
            if key not in self._live:
                self._live[key] = LivePlays(folder)
            return self._live[key].list_plays()

    def open_play(self, name: str, spec: str) -> tuple[StoredPlay, list[JsonObject], bool]:
        """Open a play with its calls, and tell whether it is still going on."""
        folder = self.folder(name)
        for play in self.list_live(name):
            if play.spec == spec:
                return play, _read_calls(folder, spec), True
        return _find_play(folder, spec), _read_calls(folder, spec), False

    def progress(self, name: str) -> Progress:
        """Return how far the run of that name is."""
        folder = self.folder(name)
        m = folder.manifest
        with self._lock:
            tally = self._tallies.get((name, m.run))
            if tally is None:
                tally = _Tally(price_by_model(m), *_plan(folder))
                self._tallies[name, m.run] = tally
            _read_on(folder.path, tally)
            done = _is_done(folder, tally)
            return Progress(
                name, m.study, m.created, done, tally.records, tally.total, tally.calls, tally.tokens, tally.money,
                name_run(m), "finished" if done else "running" if is_worked_on(folder.path) else "stopped",
            )  # fmt: skip


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def is_worked_on(path: Path) -> bool:
    """Tell whether a process holds the lock of the folder; where that cannot be seen, whether a file is fresh."""
    try:
        inode = (path / ".lock").stat().st_ino
        held = Path("/proc/locks").read_text("ascii")
    except OSError:
        newest = max((_age(file) for file in path.glob("*.jsonl")), default=0.0)
        return time.time() - newest < _FRESH
    return any(f":{inode} " in line for line in held.splitlines())


def _plan(folder: RunFolder) -> tuple[int | None, Path]:
    """Return how many plays a run will have, None where nobody knows, and the file of its calls."""
    calls = folder.path / "calls.jsonl"
    if folder.manifest.study not in studies.names():
        return None, calls
    try:
        run = Run(folder, find_study(folder.manifest.study))
        return run.total, run.calls_path
    except (StoreError, UsageError):
        return None, calls


def _is_done(folder: RunFolder, tally: _Tally) -> bool:
    """Whether the run says so, or everything is played; a run without plays has ended when its report is there."""
    if (folder.path / "finished").exists():
        return True
    if tally.total is not None:
        return tally.records >= tally.total
    return tally.records == 0 and (folder.path / "report.json").exists()


def _read_on(path: Path, tally: _Tally) -> None:
    new, tally.records_read = read_new_lines(path / "records.jsonl", tally.records_read)
    tally.records += new.count(b"\n")
    new, tally.calls_read = read_new_lines(tally.calls_file, tally.calls_read)
    for line in new.splitlines():
        try:
            call = json.loads(line)
            usage = call["reply"]["usage"]
            price = tally.prices(call["model"], usage)
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{tally.calls_file} holds a line that is no call: {error!r}") from None
        tally.calls += 1
        tally.tokens += (usage.get("prompt") or 0) + (usage.get("completion") or 0)
        tally.money = None if price is None or tally.money is None else tally.money + price


def list_plays(folder: RunFolder, start: int, count: int) -> list[StoredPlay]:
    """List some plays in the order they finished."""
    return list(islice(folder.plays(), start, start + count))


def _find_play(folder: RunFolder, spec: str) -> StoredPlay:
    """Find a finished play, or raise NotFound."""
    for play in folder.plays():
        if play.spec == spec:
            return play
    raise NotFound("there is no such play in this run")


def _read_calls(folder: RunFolder, spec: str) -> list[JsonObject]:
    return [call for call in read_lines(folder.path / "calls.jsonl") if call["spec"] == spec]


def find_neighbours(folder: RunFolder, spec: str) -> tuple[str | None, str | None]:
    """Return the plays that finished before and after this one, None at the ends."""
    before = None
    plays = iter(folder.plays())
    for play in plays:
        if play.spec == spec:
            after = next(plays, None)
            return before, after.spec if after else None
        before = play.spec
    return None, None


def rebuild_game(folder: RunFolder, data: JsonMapping) -> AnyGame | None:
    """The game that was played, where the study of the run tells how to make it again."""
    if folder.manifest.study in studies.names():
        return Run(folder, find_study(folder.manifest.study)).game(data)
    if folder.manifest.study != SESSIONS:
        return None
    return make_game(GameChoice(**data["setup"]["game"]))


def has_report(folder: RunFolder) -> bool:
    """Whether runs of this kind are reported."""
    return folder.manifest.study in (SESSIONS, *studies.names())


def build_report(folder: RunFolder) -> Document:
    """The report of what is recorded so far; NotFound where there is nothing to report yet."""
    try:
        if folder.manifest.study == SESSIONS:
            return build_sessions_report(folder)
        return Run(folder, find_study(folder.manifest.study)).report()
    except StoreError as error:
        _log.warning("no report of %s: %s", folder.path.name, error)
        raise NotFound(_hide_path(str(error), folder.path)) from None


def _hide_path(sentence: str, path: Path) -> str:
    return sentence.replace(str(path), path.name)
