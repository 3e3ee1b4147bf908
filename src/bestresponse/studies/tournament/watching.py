"""Tournaments as a watcher sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bestresponse.games.matrix.repeated import RepeatedGame
from bestresponse.report.document import Document
from bestresponse.runs.folder import RunFolder
from bestresponse.studies.tournament.plan import Plan
from bestresponse.studies.tournament.playing import game_of
from bestresponse.studies.tournament.session import config_of, read_standings, report_of

__all__ = ["document", "game", "total"]


def total(folder: RunFolder) -> int:
    """The matches in which somebody is asked; those between strategies are worked out."""
    return Plan(config_of(folder)).total


def document(folder: RunFolder) -> Document:
    """The standings so far."""
    return report_of(folder, read_standings(folder))


def game(folder: RunFolder, data: Mapping[str, Any]) -> RepeatedGame:
    """The repeated game that all matches are of."""
    return game_of(config_of(folder))
