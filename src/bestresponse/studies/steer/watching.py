"""Steering runs as a watcher sees them: their texts are in a book of its own, their report is left at the end."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bestresponse.core.errors import BestResponseError, StoreError
from bestresponse.core.game import Game
from bestresponse.report import codec
from bestresponse.report.document import Document
from bestresponse.runs.folder import RunFolder
from bestresponse.studies.steer.session import book_of

__all__ = ["calls", "document", "game", "total"]


def total(folder: RunFolder) -> int | None:
    """Trees are built and solved; there is nothing to count beforehand."""
    return None


def calls(folder: RunFolder) -> Path:
    """The calls are kept with the book, which runs that ask the same of the same models share."""
    try:
        return book_of(folder) / "calls.jsonl"
    except BestResponseError:
        return folder.path / "calls.jsonl"


def document(folder: RunFolder) -> Document:
    """The report that the run left."""
    try:
        return codec.from_json((folder.path / "report.json").read_text("utf-8"))
    except FileNotFoundError:
        raise StoreError(f"{folder.path.name} has not come to its end; its report is written then") from None


def game(folder: RunFolder, data: Mapping[str, Any]) -> Game[Any] | None:
    """Dialogues are kept as texts, not as plays."""
    return None
