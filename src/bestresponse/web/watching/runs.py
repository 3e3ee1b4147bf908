"""Runs below the output folder, watched while they grow: how far they are, what they cost, and their plays.

A run is known by the name of its folder, which is looked up among those that are there. Files are read on from where
they were read last, so that looking at a long run often costs little.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bestresponse.core.codec import submission_from_json
from bestresponse.core.episode import Record, Submission
from bestresponse.core.errors import StoreError, UsageError
from bestresponse.core.game import AnyGame, Role
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.seeds import split
from bestresponse.report.document import Cell, Column, Document, Note, Section, Table
from bestresponse.report.stats.statistics import cluster_bootstrap
from bestresponse.runs.reporting.costs import Prices, price_by_model
from bestresponse.runs.run import Run
from bestresponse.runs.settings import RunSettings
from bestresponse.runs.store.folder import RunFolder, StoredPlay
from bestresponse.runs.store.lines import find_spec_id, read_lines
from bestresponse.runs.store.manifest import Manifest
from bestresponse.runs.study import find_study, studies
from bestresponse.web.sessions.games import make_game
from bestresponse.web.sessions.setup import PERSON, GameChoice
from bestresponse.web.sessions.store import NotFound

if TYPE_CHECKING:
    from bestresponse.report.document import Document

__all__ = [
    "LivePlays", "Progress", "Runs", "build_report", "build_sessions_report", "find_neighbours", "has_report",
    "list_plays", "name_play", "name_run", "read_new_lines", "rebuild_game",
]  # fmt: skip

_COUNTS = {"num_games": "games", "count": "stories", "repeats": "repeats", "rounds": "rounds"}
_MOST_NAMES = 3


def name_run(manifest: Manifest) -> str:
    """Name a run by who plays what how often.

    >>> name_run(Manifest("9f", "bench", {"models": ["gpt-4o"], "family": "zero-sum", "num_games": 50}))
    'gpt-4o, zero-sum, 50 games'
    """
    config = manifest.config if isinstance(manifest.config, Mapping) else {}
    who = next((config[key] for key in ("models", "model", "entries", "players") if config.get(key)), "")
    what = next((config[key] for key in ("game", "domain", "family") if config.get(key)), "")
    sizes = [f"{config[key]:g} {word}" for key, word in _COUNTS.items() if isinstance(config.get(key), int)]
    parts = (_list_names(who), _read_name(what), *sizes[:1])
    return ", ".join(part for part in parts if part) or manifest.study


def name_play(play: StoredPlay) -> str:
    """Name a play by its game and by which of the games or repeats of the run it is."""
    data = play.data
    parts = [play.record.game]
    if isinstance(data.get("game"), int):
        parts.append(f"game {data['game'] + 1}")
    for key in ("variant", "condition", "abundance", "treatment"):
        if isinstance(data.get(key), str) and data[key] not in ("", "original", "base"):
            parts.append(data[key])
    for key in ("repeat", "repetition"):
        if isinstance(data.get(key), int):
            parts.append(f"repeat {data[key] + 1}")
    if isinstance(data.get("group"), int):
        parts.append(f"group {data['group']}")
    return ", ".join(parts)


def _list_names(given: Any) -> str:
    names = [_read_name(one) for one in given] if isinstance(given, list | tuple) else [_read_name(given)]
    found = list(dict.fromkeys(name for name in names if name))
    more = f" and {len(found) - _MOST_NAMES} more" if len(found) > _MOST_NAMES else ""
    return " / ".join(found[:_MOST_NAMES]) + more


def _read_name(given: Any) -> str:
    if isinstance(given, Mapping):
        given = given.get("name", "")
    return given if isinstance(given, str) else ""


def read_new_lines(path: Path, start: int) -> tuple[bytes, int]:
    """Return the complete lines after `start`, and where they end."""
    try:
        with path.open("rb") as file:
            file.seek(start)
            new = file.read()
    except FileNotFoundError:
        return b"", start
    whole = new[: new.rfind(b"\n") + 1]
    return whole, start + len(whole)


class LivePlays:
    """Follow the plays of one run."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._read = {"records": 0, "submissions": 0}
        self._done: set[str] = set()
        self._begun: dict[str, list[Submission]] = {}
        self._specs: dict[str, JsonMapping] = {}

    def list_plays(self) -> list[StoredPlay]:
        """List the plays that are not over, with the answers so far; a play whose game is not known is left out."""
        self._done |= {spec for spec, _ in self._read_on("records")}
        for spec, line in self._read_on("submissions"):
            if spec not in self._done:
                self._begun.setdefault(spec, []).append(submission_from_json(json.loads(line)))
        self._begun = {spec: answers for spec, answers in self._begun.items() if spec not in self._done}
        self._find_specs()
        return [play for spec, answers in self._begun.items() if (play := self._make_play(spec, answers)) is not None]

    def _read_on(self, name: str) -> list[tuple[str, bytes]]:
        path = self._folder.path / f"{name}.jsonl"
        new, self._read[name] = read_new_lines(path, self._read[name])
        return [(find_spec_id(line, path, number), line) for number, line in enumerate(new.splitlines(), 1)]

    def _find_specs(self) -> None:
        """Find the data of the specs that are in play."""
        missing = self._begun.keys() - self._specs.keys()
        if not missing:
            return
        run: Run[RunSettings] = Run(self._folder, find_study(self._folder.manifest.study))
        for spec in run.study.list_specs(run.config):
            if spec.id in missing:
                self._specs[spec.id] = spec.data
                missing.discard(spec.id)
            if not missing:
                return

    def _make_play(self, spec: str, answers: list[Submission]) -> StoredPlay | None:
        data = self._specs.get(spec)
        if data is None:
            return None
        try:
            game = Run(self._folder, find_study(self._folder.manifest.study)).game(data)
        except (StoreError, UsageError):
            return None
        return StoredPlay(spec, data, Record(game.name, game.version, {}, tuple(answers), {})) if game else None


_STAND_INS = (
    "A stand-in answers for a person whose time is up and for a model without a usable answer. "
    "Payoffs are those of seats that gave every answer themselves."
)


def build_sessions_report(folder: RunFolder) -> Document:
    """What is known of the sessions that are over; StoreError where none is."""
    by_game: dict[str, list[StoredPlay]] = {}
    for play in folder.plays():
        by_game.setdefault(_format_game(GameChoice(**play.data["setup"]["game"])), []).append(play)
    if not by_game:
        raise StoreError("no session has come to its end yet")
    played = Section("Sessions", (_sessions(by_game), Note(_STAND_INS)))
    return Document("Sessions with people", sections=(played, Section("Payoffs", (_payoffs(by_game),))))


def _format_game(game: GameChoice) -> str:
    rounds = f", {game.rounds} rounds" if game.rounds > 1 else ""
    return game.name + rounds + (", mixed" if game.mixed else "")


def _sessions(by_game: dict[str, list[StoredPlay]]) -> Table:
    counts = ("sessions", "void", "people", "answers", "stood in for")
    rows: list[tuple[Cell, ...]] = []
    for game, plays in by_game.items():
        own = [s for play in plays for s in play.record.submissions if s.role in play.record.players]
        people = sum(who == PERSON for play in plays for who in play.record.players.values())
        stood_in = sum(bool(s.decision.stand_in) for s in own)
        rows.append((game, len(plays), sum(play.record.void is not None for play in plays), people, len(own), stood_in))
    return Table((Column("game"), *(Column(name, "right") for name in counts)), tuple(rows))


def _payoffs(by_game: dict[str, list[StoredPlay]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for game, plays in by_game.items():
        counted = [play.record for play in plays if play.record.void is None]
        seats = dict.fromkeys((role, who) for record in counted for role, who in record.players.items())
        for role, who in seats:
            got = [record.payoffs[role] for record in counted if _played_alone(record, role, who)]
            if got:
                rows.append((game, role, who, len(got), _mean(got, game, role, who)))
    columns = (Column("game"), Column("role"), Column("seat"), Column("sessions", "right"))
    return Table((*columns, Column("payoff", "right", format=".3f")), tuple(rows), "Means; intervals hold 95 %")


def _played_alone(record: Record, role: Role, who: str) -> bool:
    """Tell whether `who` sat there and gave every answer; a play with a stand-in is not counted as theirs."""
    own = (s.decision.stand_in for s in record.submissions if s.role == role)
    return record.players.get(role) == who and not any(own)


def _mean(got: Iterable[float], *what: str) -> Cell:
    return cluster_bootstrap(list(got), rng=np.random.default_rng(split(0, *what)))


SESSIONS = "sessions"
_FRESH = 120.0
_log = logging.getLogger("bestresponse.web")


@dataclass(frozen=True, slots=True)
class Progress:
    """A run at a glance; `total` is None where it is not settled beforehand, `money` where a price is not known.

    `status` is finished, running or stopped: nobody works in the folder of a run that was killed. `version` changes
    exactly when the run has come further.
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
    title: str
    status: str
    version: str


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
            status = "finished" if done else "running" if is_worked_on(folder.path) else "stopped"
            version = f"{tally.records}.{tally.calls}.{int(done)}"
            return Progress(
                name, m.study, m.created, done, tally.records, tally.total, tally.calls, tally.tokens, tally.money,
                name_run(m), status, version,
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
        run: Run[RunSettings] = Run(folder, find_study(folder.manifest.study))
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
