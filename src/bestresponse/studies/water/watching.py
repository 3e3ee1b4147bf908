"""Runs of the water study as a watcher sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bestresponse.core.errors import StoreError
from bestresponse.games.water.game import Water
from bestresponse.games.water.rules import WaterRules
from bestresponse.report.document import Document
from bestresponse.runs.folder import RunFolder
from bestresponse.studies.water.findings import findings
from bestresponse.studies.water.session import config_of, read_results

__all__ = ["document", "game", "total"]


def total(folder: RunFolder) -> int:
    """All games of all settings."""
    return config_of(folder).games


def document(folder: RunFolder) -> Document:
    """The report of the games that are finished."""
    measured = read_results(folder)
    if not measured.games:
        raise StoreError(f"{folder.path.name} holds no finished game yet")
    return findings(measured, folder.manifest)


def game(folder: RunFolder, data: Mapping[str, Any]) -> Water:
    """The drought under the rules of its setting."""
    return Water(WaterRules.from_json(data["rules"]))
