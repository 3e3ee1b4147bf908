"""Runs of the verify study as a watcher sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bestresponse.core.errors import StoreError
from bestresponse.core.game import Game
from bestresponse.report.document import Document
from bestresponse.runs.folder import RunFolder
from bestresponse.runs.watching import money_of
from bestresponse.studies.verify.evaluation import read_sheet
from bestresponse.studies.verify.findings import findings
from bestresponse.studies.verify.measure import Measured
from bestresponse.studies.verify.session import config_of, read_results
from bestresponse.studies.verify.setup import scene_of

__all__ = ["document", "game", "report_of", "total"]


def total(folder: RunFolder) -> int:
    """One play a repeat."""
    return config_of(folder).repeats


def document(folder: RunFolder) -> Document:
    """The report of the runs of the loop that are finished."""
    measured = read_results(folder)
    if not measured.rows:
        raise StoreError(f"{folder.path.name} holds no finished run yet")
    return report_of(folder, measured)


def report_of(folder: RunFolder, measured: Measured) -> Document:
    """What was measured, with the raters' sheets that lie in the folder."""
    filled = sorted(folder.path.glob("sheet-rater-*.csv"))
    ratings = [read_sheet(path.read_text("utf-8-sig")) for path in filled]
    return findings(measured, folder.manifest, money_of(folder), ratings)


def game(folder: RunFolder, data: Mapping[str, Any]) -> Game[Any]:
    """The game that was reasoned about, as it was told."""
    return scene_of(config_of(folder)).game
