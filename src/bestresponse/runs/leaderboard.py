"""Players of many benchmark runs in one order, by the plays that all of them answered.

Runs that share plays have a table together; in it everybody is compared on the very same plays, so
that nobody is first for having met easier ones. What only some answered is left out, and counted.
Runs over other games are in a table of their own.

A place is a range: somebody is surely better where the interval of the difference, paired by games
(`report.stats.differences`), lies on one side of 0.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Annotated, TypedDict, cast
from urllib.parse import quote

from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.report import page
from bestresponse.report.document import Document, Note, Section
from bestresponse.report.files import write_text
from bestresponse.report.frames import Frame, Heads, column
from bestresponse.report.stats.statistics import Interval, as_interval, bound_mean
from bestresponse.runs.comparison import ComparedRun, pair_games
from bestresponse.runs.run import list_manifests, load_run
from bestresponse.runs.study import GameValue

_SEED = 20
_STUDY = "bench"
"""Whose metrics are losses: smaller is better."""
_CASE = attrgetter("game", "part")
_SUBTITLE = "Smaller is better. Only plays that everybody in a table answered count."


class PlaceRow(TypedDict):
    """A player of a run; what it loses on average is in a further column."""

    best_place: Annotated[int, column("place at best", help="1 + those that are surely better")]
    worst_place: Annotated[int, column("at worst", help="those that are not surely worse")]
    player: str
    plays: Annotated[int, column(help="answered by everybody in the table")]
    left_out: Annotated[int, column(help="answers to what others did not answer")]
    missing: Annotated[int, column(help="plays without an answer that could be read")]
    run: str


@dataclass(frozen=True)
class Ranked:
    """A player of a run, and what it got in each play by one metric."""

    run: ComparedRun
    heads: Heads
    metric: str
    values: Sequence[GameValue]

    @property
    def cases(self) -> set[tuple[str, str]]:
        """The games that it answered, and what was asked about them."""
        return set(map(_CASE, self.values))

    def keep(self, cases: set[tuple[str, str]]) -> Ranked:
        """Leave out what others did not answer."""
        kept = filter(lambda value: _CASE(value) in cases, self.values)
        return replace(self, values=list(kept))

    def count(self, name: str) -> int:
        """Return one of the counts of its run, 0 where there is none."""
        counted = self.run.get(self.heads, name)
        return counted if isinstance(counted, int) else 0


def write_leaderboard(paths: Sequence[Path], folder: Path) -> tuple[Path, Document]:
    """Write one page that ranks the players of all runs in these folders.

    UsageError where there is nothing to rank, or where nothing was answered by all.
    """
    notes: list[str] = []
    boards: list[list[Ranked]] = []
    for path in paths:
        own = path / "manifest.json"
        for manifest in [own] if own.exists() else list_manifests(path):
            for one in _list_ranked(manifest.parent, notes):
                boards = _join(boards, one)
    if not boards:
        where = ", ".join(map(str, paths))
        raise UsageError(
            " ".join(
                [f"there is no benchmark run to rank in {where}; `bench` writes them.", *notes]
            )
        )
    if len(boards) > 1:
        notes.append("Runs over different games are in tables of their own.")
    sections = tuple(_show(board, folder) for board in boards)
    opening = tuple(Note(note, "warning") for note in notes)
    document = Document("Leaderboard", _SUBTITLE, sections, opening)
    return write_text(folder / "leaderboard.html", page.render(document)), document


def _list_ranked(path: Path, notes: list[str]) -> list[Ranked]:
    """List the models of a run by the first tested metric that all of them have."""
    try:
        run = load_run(path)
        compared = ComparedRun("", run)
        for metric in run.study.compared.tested if run.study.name == _STUDY else ():
            found = [compared.values.get((heads, metric)) for heads in compared.players]
            if found and all(found):
                if run.missing:
                    notes.append(f"{path.name}: {run.missing} planned plays are not finished.")
                pairs = zip(compared.players, found, strict=True)
                return [Ranked(compared, heads, metric, values or ()) for heads, values in pairs]
        notes.append(f"{path.name} is left out: it has no losses play by play.")
    except BestResponseError as error:
        notes.append(f"{path.name} is left out: {error}")
    return []


def _join(boards: Sequence[list[Ranked]], one: Ranked) -> list[list[Ranked]]:
    """Put a player into the table with which it shares plays; it may join several."""
    apart = []
    joined = [one]
    for board in boards:
        if any(each.metric == one.metric and each.cases & one.cases for each in board):
            joined = [*board, *joined]
        else:
            apart.append(board)
    return [*apart, joined]


def _show(board: Sequence[Ranked], folder: Path) -> Section:
    """Show one table, those who lose least first; every row leads to the report of its run."""
    common = set.intersection(*(one.cases for one in board))
    if not common:
        runs = ", ".join(dict.fromkeys(one.run.run.path.name for one in board))
        raise UsageError(f"no play was answered by all players of {runs}; rank fewer runs")
    metric = board[0].metric
    kept = [one.keep(common) for one in board]
    rows: list[tuple[float, str, PlaceRow]] = []
    for one, whole in zip(kept, board, strict=True):
        most = max(value.most or 0.0 for value in one.values)
        games = map(attrgetter("game"), one.values)
        values = list(map(attrgetter("value"), one.values))
        lost = bound_mean(values, (0.0, most), games, rng=_SEED)
        match one.run.get(one.heads, metric):
            case Interval(method="exact"):  # what is computed has no error
                lost = as_interval(lost.estimate)
        best, worst = 1, len(board)
        for other in kept:
            paired = pair_games(one.values, other.values)
            if paired is not None and other is not one:
                best += paired.difference.high < 0
                worst -= paired.difference.low > 0
        row = PlaceRow(
            best_place=best,
            worst_place=worst,
            player=", ".join(map(str, one.heads)),
            plays=len(common),
            left_out=len(whole.cases) - len(common),
            missing=one.count("asked") - one.count("answered"),
            run=one.run.run.path.name,
        )
        report = os.path.relpath(one.run.run.path / "report.html", folder)
        rows.append((lost.estimate, quote(report), cast(PlaceRow, {**row, metric: lost})))
    _, links, shown = zip(*sorted(rows, key=itemgetter(0)), strict=True)
    title = next(one.column for one in board[0].run.metrics.columns if one.name == metric)
    frame = Frame(PlaceRow, shown, {metric: title})
    columns = ("best_place", "worst_place", "player", metric, "plays", "left_out", "missing", "run")
    table = replace(frame.to_table(columns), links=links)
    # What the run with the fewest plays is about, without who plays in it.
    fewest = min(board, key=lambda one: len(one.cases)).run
    names = ", ".join(dict.fromkeys(map(str, map(itemgetter(0), fewest.players))))
    about = fewest.run.report().subtitle.removeprefix(names).strip()
    return Section(about.removeprefix("in ").removeprefix("on "), (table,))
