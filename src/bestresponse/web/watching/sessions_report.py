"""The report of all sessions with people: how many were played to their end, and what those in each seat got."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bestresponse.core.episode import Record
from bestresponse.core.errors import StoreError
from bestresponse.core.game import Role
from bestresponse.core.seeds import split
from bestresponse.report.document import Cell, Column, Document, Note, Section, Table
from bestresponse.report.stats.statistics import cluster_bootstrap
from bestresponse.runs.store.folder import RunFolder, StoredPlay
from bestresponse.web.sessions.setup import PERSON, GameChoice

__all__ = ["build_sessions_report"]

_STAND_INS = (
    "A stand-in answers for a person whose time is up and for a model without a usable answer. "
    "Payoffs are those of seats that gave every answer themselves."
)


def build_sessions_report(folder: RunFolder) -> Document:
    """What is known of the sessions that are over; StoreError where none is."""
    by_game: dict[str, list[StoredPlay]] = {}
    for play in folder.plays():
        by_game.setdefault(_format_game(GameChoice(**play.data["setup"]["game"])), []).append(play)
    if not by_game:
        raise StoreError("no session has come to its end yet")
    played = Section("Sessions", (_sessions(by_game), Note(_STAND_INS)))
    return Document("Sessions with people", sections=(played, Section("Payoffs", (_payoffs(by_game),))))


def _format_game(game: GameChoice) -> str:
    rounds = f", {game.rounds} rounds" if game.rounds > 1 else ""
    return game.name + rounds + (", mixed" if game.mixed else "")


def _sessions(by_game: dict[str, list[StoredPlay]]) -> Table:
    counts = ("sessions", "void", "people", "answers", "stood in for")
    rows: list[tuple[Cell, ...]] = []
    for game, plays in by_game.items():
        own = [s for play in plays for s in play.record.submissions if s.role in play.record.players]
        people = sum(who == PERSON for play in plays for who in play.record.players.values())
        stood_in = sum(bool(s.decision.stand_in) for s in own)
        rows.append((game, len(plays), sum(play.record.void is not None for play in plays), people, len(own), stood_in))
    return Table((Column("game"), *(Column(name, "right") for name in counts)), tuple(rows))


def _payoffs(by_game: dict[str, list[StoredPlay]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for game, plays in by_game.items():
        counted = [play.record for play in plays if play.record.void is None]
        seats = dict.fromkeys((role, who) for record in counted for role, who in record.players.items())
        for role, who in seats:
            got = [record.payoffs[role] for record in counted if _played_alone(record, role, who)]
            if got:
                rows.append((game, role, who, len(got), _mean(got, game, role, who)))
    columns = (Column("game"), Column("role"), Column("seat"), Column("sessions", "right"))
    return Table((*columns, Column("payoff", "right", format=".3f")), tuple(rows), "Means; intervals hold 95 %")


def _played_alone(record: Record, role: Role, who: str) -> bool:
    """Tell whether `who` sat there and gave every answer; a play with a stand-in is not counted as theirs."""
    own = (s.decision.stand_in for s in record.submissions if s.role == role)
    return record.players.get(role) == who and not any(own)


def _mean(got: Iterable[float], *what: str) -> Cell:
    return cluster_bootstrap(list(got), rng=np.random.default_rng(split(0, *what)))
