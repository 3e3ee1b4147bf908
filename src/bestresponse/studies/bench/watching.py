"""Benchmark runs as a watcher sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bestresponse.core.errors import StoreError
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.report.document import Document
from bestresponse.runs.folder import RunFolder
from bestresponse.runs.watching import prices_of
from bestresponse.studies.bench.playing import game_of
from bestresponse.studies.bench.session import plan_of, read_results, report_of

__all__ = ["document", "game", "total"]


def total(folder: RunFolder) -> int | None:
    """All plays of the plan; None where a run ends as soon as its figures are precise."""
    plan = plan_of(folder)
    return None if plan.config.precision else plan.total


def document(folder: RunFolder) -> Document:
    """The report of the plays that are finished."""
    results = read_results(folder)
    if not results.rows:
        raise StoreError(f"{folder.path.name} holds no finished play yet")
    return report_of(folder, results, prices_of(folder))


def game(folder: RunFolder, data: Mapping[str, Any]) -> MatrixGame:
    """The game as it was shown."""
    return game_of(data)
