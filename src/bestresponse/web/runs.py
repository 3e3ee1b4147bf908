"""Runs below the output folder, watched while they grow: how far they are, what they cost, and their plays.

A run is known by the name of its folder, which is looked up among those that are there. Files are read on from where
they were read last, so that looking at a long run often costs little.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from bestresponse.core.errors import BestResponseError, StoreError
from bestresponse.core.game import Game
from bestresponse.models.base import Usage
from bestresponse.models.prices import price_by_identity
from bestresponse.store.lines import read_lines
from bestresponse.store.run_folder import RunFolder, StoredPlay
from bestresponse.studies.bench.plan import Plan
from bestresponse.studies.bench.playing import game_of as bench_game
from bestresponse.studies.bench.session import plan_of
from bestresponse.web.games import game_of
from bestresponse.web.house import NoSuchTable
from bestresponse.web.setup import Setup

__all__ = ["Progress", "Runs", "game_of_play", "play_of", "plays_of", "total_of"]


@dataclass(frozen=True, slots=True)
class Progress:
    """A run at a glance; `money` is None where a price is not known."""

    name: str
    study: str
    created: str
    finished: bool
    plays: int
    total: int | None
    calls: int
    tokens: int
    money: float | None


@dataclass
class _Tally:
    """Sums over the calls of a run, as far as its file was read."""

    records: int = 0
    records_read: int = 0
    calls: int = 0
    calls_read: int = 0
    tokens: int = 0
    money: float | None = 0.0
    prices: dict[str, Callable[[Usage], float | None]] = field(default_factory=dict)
    total: int | None = None


class Runs:
    """All runs of an output folder."""

    def __init__(self, output: Path) -> None:
        self._output = output
        self._tallies: dict[str, _Tally] = {}
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        """The newest first."""
        found = sorted(self._output.glob("*/manifest.json"), key=lambda path: path.stat().st_mtime, reverse=True)
        return [path.parent.name for path in found]

    def folder(self, name: str) -> RunFolder:
        if name not in self.names():
            raise NoSuchTable("there is no such run")
        return RunFolder.read(self._output / name)

    def all(self) -> list[Progress]:
        """Every run that can be read."""
        found = []
        for name in self.names():
            try:
                found.append(self.progress(name))
            except StoreError:
                continue
        return found

    def progress(self, name: str) -> Progress:
        folder = self.folder(name)
        with self._lock:
            tally = self._tallies.get(name) or self._tallies.setdefault(name, _begun(folder))
            _read_on(folder.path, tally)
            done = (folder.path / "finished").exists() or (tally.total is not None and tally.records >= tally.total)
            m = folder.manifest
            return Progress(
                name, m.study, m.created, done, tally.records, tally.total, tally.calls, tally.tokens, tally.money
            )


def _begun(folder: RunFolder) -> _Tally:
    prices = {name: price_by_identity(entry["identity"]) for name, entry in folder.manifest.models.items()}
    return _Tally(prices=prices, total=total_of(folder))


def total_of(folder: RunFolder) -> int | None:
    """How many plays the run will have, where its plan says so."""
    try:
        plan: Plan = plan_of(folder)
    except (BestResponseError, KeyError, TypeError, ValueError):
        return None
    return None if plan.config.precision else plan.total


def _read_on(path: Path, tally: _Tally) -> None:
    new, tally.records_read = _fresh(path / "records.jsonl", tally.records_read)
    tally.records += new.count(b"\n")
    new, tally.calls_read = _fresh(path / "calls.jsonl", tally.calls_read)
    for line in new.splitlines():
        call = json.loads(line)
        usage = Usage(**call["reply"]["usage"])
        price = tally.prices[call["model"]](usage) if call["model"] in tally.prices else None
        tally.calls += 1
        tally.tokens += (usage.prompt or 0) + (usage.completion or 0)
        tally.money = None if price is None or tally.money is None else tally.money + price


def _fresh(path: Path, start: int) -> tuple[bytes, int]:
    """The complete lines after `start`, and where they end."""
    try:
        with path.open("rb") as file:
            file.seek(start)
            new = file.read()
    except FileNotFoundError:
        return b"", start
    whole = new[: new.rfind(b"\n") + 1]
    return whole, start + len(whole)


def plays_of(folder: RunFolder, start: int, count: int) -> list[StoredPlay]:
    """Some plays in the order they finished."""
    return list(islice(folder.plays(), start, start + count))


def play_of(folder: RunFolder, spec: str) -> tuple[StoredPlay, list[dict[str, Any]]]:
    """A play and its calls."""
    for play in folder.plays():
        if play.spec == spec:
            return play, [call for call in read_lines(folder.path / "calls.jsonl") if call["spec"] == spec]
    raise NoSuchTable("there is no such play in this run")


def game_of_play(folder: RunFolder, data: Mapping[str, Any]) -> Game[Any] | None:
    """The game that was played, where the study of the run tells how to make it again."""
    match folder.manifest.study:
        case "bench":
            return bench_game(data)
        case "sessions":
            return game_of(Setup.from_json(data["setup"]).game)
        case _:
            return None
