"""Stored runs of any study as a watcher sees them: how large, what came out so far, which game a play was of.

Each study has a module `watching` with three functions of a run's folder: `total` (how many plays it will have, None
where that is not settled beforehand), `document` (its report, made from what is recorded so far) and `game` (the game
of a play by the data of its spec, None where the play was of no game); and `calls`, the file of its calls, where that
is not in the folder. Looking writes nothing and calls no model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bestresponse.core.errors import StoreError
from bestresponse.models.base import Usage
from bestresponse.models.prices import find_price_by_identity
from bestresponse.players.llm.verified import bare_name
from bestresponse.runs.folder import RunFolder

if TYPE_CHECKING:
    from bestresponse.core.game import Game
    from bestresponse.report.document import Document

__all__ = ["WATCHED", "calls_of", "document_of", "game_of_play", "money_of", "prices_of", "total_of"]

WATCHED = {
    "autoformalization": "bestresponse.studies.stories.watching",
    "bench": "bestresponse.studies.bench.watching",
    "playground": "bestresponse.studies.simulate.watching",
    "steer": "bestresponse.studies.steer.watching",
    "tournament": "bestresponse.studies.tournament.watching",
    "verify": "bestresponse.studies.verify.watching",
    "water": "bestresponse.studies.water.watching",
}
"""By study, the module that knows its runs."""

Prices = Callable[[str, Mapping[str, Any]], float | None]


def total_of(folder: RunFolder) -> int | None:
    """How many plays the run will have; None where nobody knows beforehand, or its settings cannot be read."""
    if folder.manifest.study not in WATCHED:
        return None
    work: Callable[[RunFolder], int | None] = _module(folder).total
    try:
        return work(folder)
    except (KeyError, TypeError, ValueError):
        return None


def calls_of(folder: RunFolder) -> Path:
    """The file in which the calls of the run are kept, one a line."""
    elsewhere = getattr(_module(folder), "calls", None) if folder.manifest.study in WATCHED else None
    found: Path = elsewhere(folder) if elsewhere is not None else folder.path / "calls.jsonl"
    return found


def document_of(folder: RunFolder) -> Document:
    """The report of what is recorded so far; StoreError where there is nothing to report."""
    if folder.manifest.study not in WATCHED:
        raise StoreError(f"runs of {folder.manifest.study!r} have no report; known: {', '.join(WATCHED)}")
    work: Callable[[RunFolder], Document] = _module(folder).document
    return work(folder)


def game_of_play(folder: RunFolder, data: Mapping[str, Any]) -> Game[Any] | None:
    """The game that a play of this run was of; None where it was of none."""
    if folder.manifest.study not in WATCHED:
        return None
    work: Callable[[RunFolder, Mapping[str, Any]], Game[Any] | None] = _module(folder).game
    return work(folder, data)


def _module(folder: RunFolder) -> Any:
    return import_module(WATCHED[folder.manifest.study])


def prices_of(folder: RunFolder) -> Prices:
    """The price in dollars of a model's usage, by the identity that the manifest recorded for it."""
    by_id = {
        bare_name(name): find_price_by_identity(entry["identity"]) for name, entry in folder.manifest.models.items()
    }

    def price(model: str, usage: Mapping[str, Any]) -> float | None:
        return by_id[model](Usage(**usage)) if model in by_id else None

    return price


def money_of(folder: RunFolder) -> float | None:
    """What all calls of a run cost in dollars; None where a price is not known."""
    prices = prices_of(folder)
    costs = [prices(call["model"], call["reply"]["usage"]) for call in folder.calls()]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None
