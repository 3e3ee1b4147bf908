"""Players over runs: who plays how far from optimal, with intervals, in all runs or in two beside each other."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.report.document import Cell, Column, Table
from bestresponse.report.metrics import Figures, Heads, Value, compute_figures
from bestresponse.report.stats.interval import Interval
from bestresponse.runs.run import load_run
from bestresponse.runs.store.folder import RunFolder
from bestresponse.studies.bench.measure import BASELINE, METRICS
from bestresponse.web.watching.runs import build_report

__all__ = ["board", "compared"]

Figure = Interval | float | int
Players = tuple[tuple[Heads, Mapping[str, Value]], ...]
_log = logging.getLogger("bestresponse.web")


@lru_cache(maxsize=64)
def _list_players(path: Path, size: int) -> Players:
    """List the players of a benchmark run as it was at that size with their figures; none where it cannot be read."""
    try:
        run = load_run(path)
        asked = {heads: run.results.groups[heads] for heads in run.results.groups if heads[1] != BASELINE}
        return tuple(compute_figures(METRICS, run.results.labels, asked).groups)
    except BestResponseError:
        return ()
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        _log.exception("the run %s is left out of the leaderboard", path.name)
        return ()


def _of(folder: RunFolder) -> Players:
    records = folder.path / "records.jsonl"
    if folder.manifest.study != "bench" or not records.exists():
        return ()
    return _list_players(folder.path, records.stat().st_size)


def board(folders: list[RunFolder]) -> Table:
    """Every player of every benchmark run, the smallest normalised gap first."""
    rows = [((*heads, folder.path.name), figures) for folder in folders for heads, figures in _of(folder)]
    rows.sort(key=lambda row: _middle(row[1]["gap_normalised"], float("inf")))
    caption = "Smaller is better; intervals hold 95 % by resampling games"
    return Figures(METRICS, ("player", "asked for", "run"), rows).to_table(caption)


def compared(first: RunFolder, second: RunFolder) -> Table:
    """Two runs of the same study side by side: benchmarks by their players, others by the figures of their reports."""
    study = first.manifest.study
    if second.manifest.study != study:
        raise UsageError(f"a run of {study} and one of {second.manifest.study} have nothing to compare")
    return _players(first, second) if study == "bench" else _figures(first, second)


def _players(first: RunFolder, second: RunFolder) -> Table:
    left, right = (
        {(str(heads[0]), str(heads[1])): figures["gap_normalised"] for heads, figures in _of(folder)}
        for folder in (first, second)
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
