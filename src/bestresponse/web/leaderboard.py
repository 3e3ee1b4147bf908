"""Players over runs: who plays how far from optimal, with intervals, in one run or in all of them."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from bestresponse.core.errors import BestResponseError
from bestresponse.report.document import Cell, Column, Table
from bestresponse.store.run_folder import RunFolder
from bestresponse.studies.bench.session import read_results
from bestresponse.studies.bench.summary import PlayerSummary

__all__ = ["board", "compared"]

Lines = tuple[PlayerSummary, ...]


@lru_cache(maxsize=64)
def _summaries(path: Path, size: int) -> Lines:
    """The players of a benchmark run as it was at that size; none where it is no benchmark."""
    try:
        return read_results(RunFolder.read(path)).summaries
    except (BestResponseError, IndexError):
        return ()


def _of(folder: RunFolder) -> Lines:
    records = folder.path / "records.jsonl"
    if folder.manifest.study != "bench" or not records.exists():
        return ()
    return _summaries(folder.path, records.stat().st_size)


def board(folders: list[RunFolder]) -> Table:
    """Every player of every benchmark run, the smallest normalised gap first."""
    rows = [(folder.path.name, line) for folder in folders for line in _of(folder)]
    rows.sort(key=lambda row: row[1].gap_normalised.estimate if row[1].gap_normalised else float("inf"))
    figures = [Column(name, "right", format=".3f") for name in ("gap / payoff range", "exploitability / range")]
    counts = [Column(name, "right") for name in ("plays", "answered")]
    columns = (Column("player"), Column("asked for"), Column("run"), *counts, *figures)
    cells: list[tuple[Cell, ...]] = [
        (s.player, s.way, run, s.asked, s.answered, s.gap_normalised, s.exploitability_normalised) for run, s in rows
    ]
    return Table(columns, tuple(cells), "Smaller is better; intervals hold 95 % by resampling games")


def compared(first: RunFolder, second: RunFolder) -> Table:
    """The players of two runs side by side."""
    left, right = ({(s.player, s.way): s.gap_normalised for s in _of(folder)} for folder in (first, second))
    keys = list(dict.fromkeys((*left, *right)))
    figures = [Column(folder.path.name, "right", format=".3f") for folder in (first, second)]
    columns = (Column("player"), Column("asked for"), *figures, Column("difference", "right", format="+.3f"))
    rows: list[tuple[Cell, ...]] = []
    for key in keys:
        a, b = left.get(key), right.get(key)
        rows.append((*key, a, b, b.estimate - a.estimate if a and b else None))
    return Table(columns, tuple(rows), "Gap / payoff range of each player in both runs")
