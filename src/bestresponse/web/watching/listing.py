"""Runs and plays as lists that are searched and sorted; players over runs, and two runs beside each other."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path

from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.core.json import JsonMapping, canonical
from bestresponse.report.document import Cell, Column, Table
from bestresponse.report.metrics import Figures
from bestresponse.report.stats.interval import Interval
from bestresponse.runs.run import load_run
from bestresponse.runs.store.folder import RunFolder, StoredPlay
from bestresponse.studies.bench.metrics import METRICS
from bestresponse.studies.bench.results import Results
from bestresponse.studies.bench.summary import PlayerSummary
from bestresponse.web.watching.runs import Progress, build_report, name_play

__all__ = ["SORTS", "ComparedGame", "PlayFilter", "RunFilter", "board", "compare_games", "compared", "find_plays"]

SORTS = {
    "newest": lambda run: run.created,
    "name": lambda run: run.title.lower(),
    "plays": lambda run: run.plays,
    "cost": lambda run: run.money or 0.0,
}
_WHO = (
    "model", "players", "seats", "player", "llm_seed", "seed", "temperature", "max_tokens", "style", "samples",
    "attempts", "translator", "policy", "memory", "reasoning", "elicit", "study",
)  # fmt: skip
"""What of a spec says who plays and how they are asked, not what is played."""


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs are shown, and in which order."""

    find: str = ""
    study: str = ""
    status: str = ""
    sort: str = "newest"

    def apply(self, runs: Iterable[Progress]) -> list[Progress]:
        """Return the runs that fit; the newest, largest and dearest first, names from A to Z."""
        words = self.find.lower().split()
        found = [
            run
            for run in runs
            if all(word in f"{run.name} {run.title} {run.study}".lower() for word in words)
            and self.study in ("", run.study)
            and self.status in ("", run.status)
        ]
        return sorted(found, key=SORTS.get(self.sort, SORTS["newest"]), reverse=self.sort != "name")


@dataclass(frozen=True, slots=True)
class PlayFilter:
    """Which plays of a run are shown."""

    find: str = ""
    only: str = ""

    def accepts(self, play: StoredPlay) -> bool:
        """Tell whether the play fits."""
        record = play.record
        if self.only == "void" and record.void is None:
            return False
        if self.only == "repaired" and all(s.decision.reading.status.value == "valid" for s in record.submissions):
            return False
        text = f"{play.spec} {name_play(play)} {' '.join(record.players.values())}".lower()
        return all(word in text for word in self.find.lower().split())


def find_plays(folder: RunFolder, wanted: PlayFilter, start: int, count: int) -> list[StoredPlay]:
    """Return some of the plays that fit, in the order they finished."""
    return list(islice(filter(wanted.accepts, folder.plays()), start, start + count))


@dataclass(frozen=True, slots=True)
class ComparedGame:
    """One role of one game in two runs: mean payoffs, and a play of each run to look at."""

    name: str
    role: str
    first: float | None
    second: float | None
    specs: tuple[str | None, str | None]

    @property
    def difference(self) -> float | None:
        """The second less the first; None where one is missing."""
        return None if self.first is None or self.second is None else self.second - self.first


def compare_games(first: RunFolder, second: RunFolder, most: int = 500) -> list[ComparedGame]:
    """Put two runs beside each other game by game; a game is what is the same whoever plays it."""
    left, right = _group_plays(first), _group_plays(second)
    rows: list[ComparedGame] = []
    for key in dict.fromkeys((*left, *right)):
        plays = (left.get(key, []), right.get(key, []))
        some = (plays[0] or plays[1])[0]
        for role in dict.fromkeys(role for side in plays for play in side for role in play.record.payoffs):
            means = [_mean([p.record.payoffs[role] for p in side if role in p.record.payoffs]) for side in plays]
            specs = [side[0].spec if side else None for side in plays]
            rows.append(ComparedGame(name_play(some), role, means[0], means[1], (specs[0], specs[1])))
    return rows[:most]


def _group_plays(folder: RunFolder) -> dict[str, list[StoredPlay]]:
    found: dict[str, list[StoredPlay]] = {}
    for play in folder.plays():
        found.setdefault(_identify_game(play.data) + play.record.game, []).append(play)
    return found


def _identify_game(data: JsonMapping) -> str:
    return canonical({key: value for key, value in data.items() if key not in _WHO})


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


Figure = Interval | float | int
_log = logging.getLogger("bestresponse.web")


@lru_cache(maxsize=64)
def _summaries(path: Path, size: int) -> tuple[PlayerSummary, ...]:
    """The players of a benchmark run as it was at that size; none where it is no benchmark."""
    try:
        results = load_run(path).results
        return results.summaries if isinstance(results, Results) else ()
    except BestResponseError:
        return ()
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        _log.exception("the run %s is left out of the leaderboard", path.name)
        return ()


def _of(folder: RunFolder) -> tuple[PlayerSummary, ...]:
    records = folder.path / "records.jsonl"
    if folder.manifest.study != "bench" or not records.exists():
        return ()
    return _summaries(folder.path, records.stat().st_size)


def board(folders: list[RunFolder]) -> Table:
    """Every player of every benchmark run, the smallest normalised gap first."""
    rows = [(folder.path.name, line) for folder in folders for line in _of(folder)]
    rows.sort(key=lambda row: _middle(row[1].get_interval("gap_normalised"), float("inf")))
    groups = [((s.player, s.way, run), s.figures) for run, s in rows]
    caption = "Smaller is better; intervals hold 95 % by resampling games"
    return Figures(METRICS, ("player", "asked for", "run"), groups).to_table(caption)


def compared(first: RunFolder, second: RunFolder) -> Table:
    """Two runs of the same study side by side: benchmarks by their players, others by the figures of their reports."""
    study = first.manifest.study
    if second.manifest.study != study:
        raise UsageError(f"a run of {study} and one of {second.manifest.study} have nothing to compare")
    return _players(first, second) if study == "bench" else _figures(first, second)


def _players(first: RunFolder, second: RunFolder) -> Table:
    left, right = (
        {(s.player, s.way): s.get_interval("gap_normalised") for s in _of(folder)} for folder in (first, second)
    )
    return _beside(("player", "asked for"), left, right, (first, second), "Gap / payoff range of each player")


def _figures(first: RunFolder, second: RunFolder) -> Table:
    """Every figure of the first table of both reports, by the words before it in its row."""
    left, right = (_by_words(build_report(folder).tables) for folder in (first, second))
    return _beside(("row", "figure"), left, right, (first, second), "Figures of the first table of both reports")


def _by_words(tables: Sequence[tuple[str, Table]]) -> dict[tuple[str, str], Figure]:
    if not tables:
        return {}
    table = tables[0][1]
    found: dict[tuple[str, str], Figure] = {}
    for row in table.rows:
        words = " ".join(cell for cell in row if isinstance(cell, str))
        for column, cell in zip(table.columns, row, strict=True):
            if isinstance(cell, Interval | float | int) and not isinstance(cell, bool):
                found.setdefault((words, column.name), cell)
    return found


def _beside(
    heads: tuple[str, str],
    left: Mapping[tuple[str, str], Figure | None],
    right: Mapping[tuple[str, str], Figure | None],
    folders: tuple[RunFolder, RunFolder],
    caption: str,
) -> Table:
    figures = [Column(folder.path.name, "right", format=".3f") for folder in folders]
    columns = (*map(Column, heads), *figures, Column("difference", "right", format="+.3f"))
    rows: list[tuple[Cell, ...]] = []
    for key in dict.fromkeys((*left, *right)):
        a, b = left.get(key), right.get(key)
        rows.append((*key, a, b, None if a is None or b is None else _middle(b) - _middle(a)))
    return Table(columns, tuple(rows), caption)


def _middle(figure: Figure | None, absent: float = float("nan")) -> float:
    if figure is None:
        return absent
    return figure.estimate if isinstance(figure, Interval) else float(figure)
