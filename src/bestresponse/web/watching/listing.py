"""Runs and plays as lists that are searched and sorted; players over runs, and two runs beside each other."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path

from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.core.json import canonical
from bestresponse.report.document import Cell, Column, Table
from bestresponse.report.metrics import Figures, Value
from bestresponse.report.stats.interval import Interval
from bestresponse.runs import RunFolder, StoredPlay, load_run
from bestresponse.web.watching.runs import Progress, name_play

__all__ = [
    "SORTS", "ComparedGame", "PlayFilter", "RunFilter", "compare_games", "compare_runs", "find_plays", "rank_players",
]  # fmt: skip

SORTS = {
    "newest": lambda run: run.created,
    "name": lambda run: run.title.lower(),
    "plays": lambda run: run.plays,
    "cost": lambda run: run.money or 0.0,
}
_WHO = (
    "model", "seats", "player", "llm_seed", "seed", "temperature", "max_tokens", "style", "samples", "attempts",
    "translator", "policy", "memory", "own_words", "reasoning", "reasons", "personas", "about_others", "referee",
    "elicit", "study",
)  # fmt: skip
"""What of a spec says who plays and how they are asked, not what is played."""
_log = logging.getLogger("bestresponse.web")


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
        fitting = [
            run
            for run in runs
            if all(word in f"{run.name} {run.title} {run.study}".lower() for word in words)
            and self.study in ("", run.study)
            and self.status in ("", run.status)
        ]
        return sorted(fitting, key=SORTS.get(self.sort, SORTS["newest"]), reverse=self.sort != "name")


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
        sides = (left.get(key, []), right.get(key, []))
        name = name_play((sides[0] or sides[1])[0])
        specs = (sides[0][0].spec if sides[0] else None, sides[1][0].spec if sides[1] else None)
        for role in dict.fromkeys(role for side in sides for play in side for role in play.record.payoffs):
            earned = [[play.record.payoffs[role] for play in side if role in play.record.payoffs] for side in sides]
            means = [sum(payoffs) / len(payoffs) if payoffs else None for payoffs in earned]
            rows.append(ComparedGame(name, role, means[0], means[1], specs))
    return rows[:most]


def _group_plays(folder: RunFolder) -> dict[str, list[StoredPlay]]:
    groups: dict[str, list[StoredPlay]] = {}
    for play in folder.plays():
        told = canonical({key: value for key, value in play.data.items() if key not in _WHO})
        groups.setdefault(told + play.record.game, []).append(play)
    return groups


@lru_cache(maxsize=64)
def _read_figures(path: Path, size: int) -> Figures:
    """Read the figures of a run as it was when its records had that size; none where they cannot be read."""
    try:
        return load_run(path).figures
    except BestResponseError:
        pass
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        _log.exception("the run %s is left out of the leaderboard", path.name)
    return Figures((), (), ())


def _load_figures(folder: RunFolder) -> Figures:
    records = folder.path / "records.jsonl"
    return _read_figures(folder.path, records.stat().st_size if records.exists() else 0)


def rank_players(folders: Iterable[RunFolder]) -> Table:
    """List every player of every benchmark run, the smallest normalised gap first; baselines are left out."""
    found = [(folder, _load_figures(folder)) for folder in folders if folder.manifest.study == "bench"]
    rows = [
        ((*heads, folder.path.name), values)
        for folder, figures in found
        for heads, values in figures.groups
        if "baseline" not in heads
    ]
    rows.sort(key=lambda row: _find_middle(row[1].get("gap_normalised"), float("inf")))
    metrics = next((figures.metrics for _, figures in found if figures.metrics), ())
    caption = "Smaller is better; intervals hold 95 % by resampling games"
    return Figures(metrics, ("player", "asked for", "run"), rows).to_table(caption)


def compare_runs(first: RunFolder, second: RunFolder) -> Table:
    """Put the figures of two runs of one study beside each other."""
    study = first.manifest.study
    if second.manifest.study != study:
        raise UsageError(f"a run of {study} and one of {second.manifest.study} have nothing to compare")
    left, right = (_name_figures(_load_figures(folder)) for folder in (first, second))
    rows: list[tuple[Cell, ...]] = []
    for key in dict.fromkeys((*left, *right)):
        a, b = left.get(key), right.get(key)
        rows.append((*key, a, b, None if a is None or b is None else _find_middle(b) - _find_middle(a)))
    names = [Column(folder.path.name, "right", format=".3f") for folder in (first, second)]
    columns = (Column("row"), Column("figure"), *names, Column("difference", "right", format="+.3f"))
    return Table(columns, tuple(rows), "Figures of both runs")


def _name_figures(figures: Figures) -> dict[tuple[str, str], Value]:
    """Return what is known of every row, by its words and the title of the figure."""
    return {
        (" ".join(map(str, heads)), metric.column.name): values[metric.name]
        for heads, values in figures.groups
        for metric in figures.metrics
        if values.get(metric.name) is not None
    }


def _find_middle(figure: Value, absent: float = float("nan")) -> float:
    if figure is None:
        return absent
    return figure.estimate if isinstance(figure, Interval) else float(figure)
