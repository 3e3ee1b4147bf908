"""Runs of the playground as a watcher sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bestresponse.core.game import Game
from bestresponse.report.document import Document
from bestresponse.runs.folder import RunFolder
from bestresponse.studies.simulate.session import config_of, read_results, report_of

__all__ = ["document", "game", "total"]


def total(folder: RunFolder) -> int:
    """One play a repeat."""
    return config_of(folder).repeats


def document(folder: RunFolder) -> Document:
    """The report of the plays that are finished."""
    return report_of(folder, read_results(folder))


def game(folder: RunFolder, data: Mapping[str, Any]) -> Game[Any]:
    """The game that all plays are of."""
    return config_of(folder).game.game()
