"""Runs below the output folder, watched while they grow.

It says how far they are, what they cost, their plays, and rankings.

A run is known by the name of its folder, which is looked up among those that are there. Files are
read on from where they were read last, so that looking at a long run often costs little.
"""

import json
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any

from bestresponse.core.episode import Record, Submission
from bestresponse.core.errors import BestResponseError, StoreError, UsageError
from bestresponse.core.game import NATURE, AnyGame, Role
from bestresponse.core.json import JsonMapping
from bestresponse.report.document import Document
from bestresponse.runs import Manifest, Run, RunFolder, StoredPlay, load_run
from bestresponse.runs.reporting.sections import count_calls, price_by_model, sum_money
from bestresponse.runs.reporting.steps import name_play
from bestresponse.runs.run import list_manifests, read_time
from bestresponse.runs.settings import RunSettings
from bestresponse.runs.store.folder import decode_answer, find_spec_id, read_lines, read_raw
from bestresponse.runs.study import studies
from bestresponse.web.sessions.errors import NotFound
from bestresponse.web.sessions.journal import SESSIONS
from bestresponse.web.sessions.setup import GameChoice, make_game

_COUNTS = {"num_games": "games", "count": "stories", "repeats": "repeats", "rounds": "rounds"}
_MOST_NAMES = 3
_FRESH = 120.0
"""Seconds after which a run whose lock cannot be seen, and whose files have not grown, counts as
stopped."""
_DAMAGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What a file that is not as it should be makes a reader raise."""
_log = logging.getLogger("bestresponse.web")


def name_run(manifest: Manifest) -> str:
    """Name a run by who plays what how often.

    >>> name_run(Manifest("9f", "bench", {"models": ["gpt-4o"], "family": "zero-sum", "num_games": 50}))
    'gpt-4o, zero-sum, 50 games'
    """  # noqa: E501
    config = manifest.config if isinstance(manifest.config, Mapping) else {}
    players: Any = next(
        (config[key] for key in ("models", "model", "entries", "strategies") if config.get(key)), []
    )
    seats = config["seat"].values() if isinstance(config.get("seat"), Mapping) else ()
    players = [*(players if isinstance(players, list) else [players]), *seats, config.get("others")]
    games: Any = next((config[key] for key in ("game", "domain", "family") if config.get(key)), "")
    game = ", ".join(map(_read_name, games)) if isinstance(games, list) else _read_name(games)
    names = list(dict.fromkeys(filter(None, map(_read_name, players))))
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    sizes = [
        f"{config[key]:g} {word}"
        for key, word in _COUNTS.items()
        if isinstance(config.get(key), int)
    ]
    seed = f"seed {config['seed']}" if config.get("seed") else ""
    parts = (" / ".join(names[:_MOST_NAMES]) + more, game, *sizes[:1], seed)
    return ", ".join(part for part in parts if part) or manifest.study


def _read_name(setting: object) -> str:
    if isinstance(setting, Mapping):
        setting = setting.get("name", "")
    return setting if isinstance(setting, str) else ""


@dataclass(frozen=True, slots=True)
class RunProgress:
    """A run at a glance.

    `total` is None where it is not settled beforehand, `money` where a price is not known.

    `status` is finished, running, unreadable, or stopped: nobody works in the folder of a run that
    was killed. `version` changes exactly when the run has come further.
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


class _FollowedRun:
    """Follow one run, as far as its files were read.

    It has sums over its plays and calls, and the plays under way.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder, self._prices = folder, price_by_model(folder.manifest)
        self._read_to: Counter[Path] = Counter()
        self._plays = self._calls = self._tokens = 0
        self._money: float | None = 0.0
        self._done: set[str] = set()
        self._begun: dict[str, list[Submission]] = {}
        self._specs: dict[str, JsonMapping] = {}
        self._run: Run[RunSettings] | None = None
        self._total: int | None = None
        self.calls_file = folder.path / "calls.jsonl"
        with suppress(StoreError, UsageError):
            run = load_run(folder.path)
            self._total, self.calls_file, self._run = (
                run.total,
                run.study.own.locate_calls(folder),
                run,
            )

    def _read_on(self, path: Path) -> Iterator[bytes]:
        for line in read_raw(path, self._read_to[path]):
            self._read_to[path] += len(line)
            yield line

    def _read_records(self) -> None:
        path = self._folder.path / "records.jsonl"
        for line in self._read_on(path):
            self._plays += 1
            self._done.add(find_spec_id(line, path, self._plays))

    def measure_progress(self) -> RunProgress:
        """Read what is new, and return how far the run is."""
        manifest = self._folder.manifest
        path = self._folder.path
        self._read_records()
        try:
            totals = count_calls(map(json.loads, self._read_on(self.calls_file)), self._prices)
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(f"{self.calls_file} holds a line that is no call: {error!r}") from None
        self._calls += sum(total.calls for total in totals)
        self._tokens += sum(total.prompt + total.completion for total in totals)
        spent = sum_money(totals)
        self._money = None if spent is None or self._money is None else self._money + spent
        # A run without plays counts something else on its way, and has ended when its report is
        # there.
        ended = (path / "finished").exists() or (
            self._plays == 0 and (path / "report.json").exists()
        )
        total = None if ended and self._plays == 0 else self._total
        done = ended or (total is not None and self._plays >= total)
        status = "finished" if done else "running" if is_worked_on(path) else "stopped"
        counts = (done, self._plays, total, self._calls, self._tokens, self._money)
        version = f"{self._plays}.{self._calls}.{int(done)}"
        return RunProgress(
            path.name,
            manifest.study,
            manifest.created,
            *counts,
            name_run(manifest),
            status,
            version,
        )

    def list_live(self) -> list[StoredPlay]:
        """List the plays that are not over, with the answers so far.

        A play whose game is not known is left out.
        """
        if self._run is None or not is_worked_on(self._folder.path):
            return []
        path = self._folder.path / "submissions.jsonl"
        self._read_records()
        for number, line in enumerate(self._read_on(path), 1):
            answers = self._begun.setdefault(find_spec_id(line, path, number), [])
            answers.append(decode_answer(line))
        self._begun = {
            spec: answers for spec, answers in self._begun.items() if spec not in self._done
        }
        # A plan can be long, so no more of it is read than needed.
        missing = self._begun.keys() - self._specs.keys()
        plan = self._run.study.list_specs(self._run.config) if missing else iter(())
        while missing and (spec := next(plan, None)) is not None:
            if spec.id in missing:
                self._specs[spec.id] = spec.data
                missing.discard(spec.id)
        plays: list[StoredPlay] = []
        for name, answers in self._begun.items():
            with suppress(LookupError, StoreError, UsageError):
                game = self._run.game(self._specs[name])
                if game is not None:
                    record = Record(game.name, game.version, {}, tuple(answers), {})
                    plays.append(StoredPlay(name, self._specs[name], record))
        return plays


class Runs:
    """All runs of an output folder."""

    def __init__(self, output: Path) -> None:
        self._output = output
        self._followed: dict[tuple[str, str], _FollowedRun] = {}
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        """List the names of the runs, the newest first."""
        return [path.parent.name for path in list_manifests(self._output)]

    def folder(self, name: str) -> RunFolder:
        """Return the folder of the run of that name, or raise NotFound."""
        if name not in self.names():
            raise NotFound("there is no such run")
        return RunFolder.read(self._output / name)

    def all(self) -> list[RunProgress]:
        """List every run; what people play on this server is none.

        One that cannot be read has the status unreadable, and its title says why.
        """
        runs = []
        for name in self.names():
            if name == SESSIONS:
                continue
            try:
                runs.append(self.progress(name))
            except (BestResponseError, *_DAMAGE) as error:
                why = f"{name} cannot be read: {str(error).replace(str(self._output / name), name)}"
                runs.append(
                    RunProgress(
                        name=name,
                        study="",
                        created="",
                        finished=False,
                        plays=0,
                        total=None,
                        calls=0,
                        tokens=0,
                        money=None,
                        title=why,
                        status="unreadable",
                        version="",
                    )
                )
        return runs

    def _follow(self, name: str) -> _FollowedRun:
        folder = self.folder(name)
        key = (name, folder.manifest.run)
        if key not in self._followed:
            self._followed[key] = _FollowedRun(folder)
        return self._followed[key]

    def progress(self, name: str) -> RunProgress:
        """Return how far the run of that name is."""
        with self._lock:
            return self._follow(name).measure_progress()

    def list_live(self, name: str) -> list[StoredPlay]:
        """List the unfinished plays of a run under way, with their answers so far."""
        with self._lock:
            return self._follow(name).list_live()

    def list_calls(self, name: str, start: int, count: int) -> list[dict[str, object]]:
        """List some of the calls of a run, the transcripts of one that has no plays of its own."""
        with self._lock:
            path = self._follow(name).calls_file
        return list(islice(read_lines(path), start, start + count))

    def open_play(self, name: str, spec: str) -> tuple[StoredPlay, list[dict[str, object]], bool]:
        """Open a play with its calls, and tell whether it is still going on.

        NotFound where there is none.
        """
        folder = self.folder(name)
        calls = [call for call in read_lines(folder.path / "calls.jsonl") if call["spec"] == spec]
        live = [play for play in self.list_live(name) if play.spec == spec]
        for play in (*live, *folder.plays()):
            if play.spec == spec:
                return play, calls, bool(live)
        raise NotFound("there is no such play in this run")


def is_worked_on(path: Path) -> bool:
    """Tell whether a process holds the lock of the folder.

    Where that cannot be seen, whether a file is fresh.
    """
    try:
        inode = (path / ".lock").stat().st_ino
        held = Path("/proc/locks").read_text("ascii")
    except OSError:
        written = max(map(read_time, path.glob("*.jsonl")), default=0.0)
        # A clock that was put back leaves times in the future; such a file is not fresh.
        return abs(time.time() - written) < _FRESH
    return any(f":{inode} " in line for line in held.splitlines())


def find_neighbours(folder: RunFolder, spec: str) -> tuple[str | None, str | None]:
    """Return the plays that finished before and after this one, None at the ends."""
    specs = [None, *(play.spec for play in folder.plays()), None]
    if spec not in specs:
        return None, None
    index = specs.index(spec)
    return specs[index - 1], specs[index + 1]


def rebuild_game(folder: RunFolder, data: JsonMapping) -> AnyGame | None:
    """Make the game again that was played, where the study of the run tells how."""
    if folder.manifest.study in studies.names():
        return load_run(folder.path).game(data)
    return (
        make_game(GameChoice(**data["setup"]["game"]))
        if folder.manifest.study == SESSIONS
        else None
    )


def has_report(folder: RunFolder) -> bool:
    """Tell whether runs of this kind are reported."""
    return folder.manifest.study in studies.names()


def build_report(folder: RunFolder) -> Document:
    """Report what is recorded so far; NotFound where there is nothing to report yet."""
    try:
        return load_run(folder.path).report()
    except StoreError as error:
        _log.warning("no report of %s: %s", folder.path.name, error)
        raise NotFound(str(error).replace(str(folder.path), folder.path.name)) from None


SORTS = {
    "newest": lambda run: run.created,
    "name": lambda run: run.title.lower(),
    "plays": lambda run: run.plays,
    "cost": lambda run: run.money or 0.0,
}


def filter_runs(
    runs: Iterable[RunProgress],
    find: str = "",
    study: str = "",
    status: str = "",
    sort: str = "newest",
) -> list[RunProgress]:
    """Return the runs that fit; the newest, largest and dearest first, names from A to Z."""
    fitting = []
    for run in runs:
        is_wanted = study in ("", run.study) and status in ("", run.status)
        if is_wanted and _has_words(f"{run.name} {run.title} {run.study}", find):
            fitting.append(run)
    return sorted(fitting, key=SORTS.get(sort, SORTS["newest"]), reverse=sort != "name")


def _has_words(text: str, words: str) -> bool:
    wanted = words.lower().split()
    found = text.lower()
    return all(word in found for word in wanted)


def filter_plays(folder: RunFolder, find: str, only: str) -> Iterator[StoredPlay]:
    """Yield the plays that fit, in the order they finished.

    These are all plays, or `only` those that are void or were repaired.
    """
    for play in folder.plays():
        record = play.record
        repaired = any(
            answer.decision.reading.status.value != "valid" for answer in record.submissions
        )
        if (only == "void" and record.void is None) or (only == "repaired" and not repaired):
            continue
        if _has_words(f"{play.spec} {name_play(play)} {' '.join(record.players.values())}", find):
            yield play


def _name_seats(play: StoredPlay) -> str:
    """Return who played, in the order of the seats; nature is no player."""
    players = play.record.players
    return ", ".join(players[role] for role in players if role != NATURE)


def _sum_payoffs(play: StoredPlay) -> float:
    return -sum(play.record.payoffs.values())


PLAY_SORTS: dict[str, Callable[[StoredPlay], str | float] | None] = {
    "time": None,
    "play": name_play,
    "players": _name_seats,
    "answers": lambda play: -len(play.record.submissions),
    "payoffs": _sum_payoffs,
}
"""What plays are sorted by; most answers and highest payoffs come first."""
GROUPS: dict[str, Callable[[StoredPlay], str]] = {
    "game": lambda play: play.record.game,
    "players": _name_seats,
}
"""What plays are counted together by."""


def sort_plays(plays: Iterable[StoredPlay], by: str) -> Iterable[StoredPlay]:
    """Return plays in the order asked for; in that of time they are not read all at once."""
    key = PLAY_SORTS[by]
    return plays if key is None else sorted(plays, key=key)


@dataclass(frozen=True, slots=True)
class PlayGroup:
    """Plays that have something in common: how many, how many void, mean payoffs of the others."""

    name: str
    plays: int
    void: int
    payoffs: Mapping[Role, float]


def group_plays(plays: Iterable[StoredPlay], by: str) -> list[PlayGroup]:
    """Count plays together that are equal in something."""
    members: dict[str, list[StoredPlay]] = {}
    for play in plays:
        members.setdefault(GROUPS[by](play), []).append(play)
    groups = []
    for name, plays in sorted(members.items()):
        ended = [play.record for play in plays if play.record.void is None]
        earned: dict[Role, list[float]] = {}
        for record in ended:
            for role, amount in record.payoffs.items():
                earned.setdefault(role, []).append(amount)
        payoffs = {role: fmean(amounts) for role, amounts in earned.items()}
        groups.append(PlayGroup(name, len(plays), len(plays) - len(ended), payoffs))
    return groups
