"""Runs that formalize stories as a watcher sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bestresponse.core.errors import StoreError
from bestresponse.core.game import Game
from bestresponse.report.document import Document
from bestresponse.runs.folder import RunFolder
from bestresponse.studies.stories import session

__all__ = ["document", "game", "total"]


def total(folder: RunFolder) -> int:
    """Every story for every model and sample."""
    return session.total(session.config_of(folder))


def document(folder: RunFolder) -> Document:
    """The report of the stories that are done."""
    rows = session.read_rows(folder)
    if not rows:
        raise StoreError(f"{folder.path.name} holds no finished play yet")
    return session.report_of(folder, rows)


def game(folder: RunFolder, data: Mapping[str, Any]) -> Game[Any] | None:
    """A play is a text about a game, not a game."""
    return None
