"""Who takes which seat of a lobby: their own again, the next free one, or one at random as the experiment says."""

from __future__ import annotations

from collections.abc import Mapping

from bestresponse.core.errors import UsageError
from bestresponse.core.seeds import generator
from bestresponse.web.experiments.model import Assignment
from bestresponse.web.sessions.lobby import Lobby
from bestresponse.web.sessions.session import Table
from bestresponse.web.sessions.store import SessionStore

__all__ = ["take_seat"]


def take_seat(store: SessionStore, lobby: str, labels: Mapping[str, str] | None = None) -> tuple[str, int]:
    """Take the next free seat of a person, group by group; whoever has a label gets their own seat back."""
    given = dict(labels or {})
    with store.lock:
        own = store.register.find(lobby, given)
        if own is not None:
            return own
        free = _choose_seat(store, store.get_lobby(lobby))
        if free is not None:
            holder = store.register.count_holders(*free)
            store.record_event("seated", session=free[0], seat=free[1], holder=holder, labels=given)
            return free
    raise UsageError("every seat is taken; ask whoever invited you for another link")


def _choose_seat(store: SessionStore, lobby: Lobby) -> tuple[str, int] | None:
    """Choose a free seat: group by group in the order of the seats, or at random as the experiment says."""
    assignment = lobby.experiment.assignment if lobby.experiment else Assignment()
    free: list[tuple[str, int]] = []
    for table in lobby.first_tables:
        free += [(table.id, seat) for seat in _list_free(store, table)]
        if free and assignment.groups == "arrival":
            break
    if not free or assignment == Assignment():
        return free[0] if free else None
    chosen = generator(lobby.setup.seed, "seat", store.register.count_taken(lobby.id)).choice(free)
    if assignment.roles == "random":
        return chosen
    return next(one for one in free if one[0] == chosen[0])


def _list_free(store: SessionStore, table: Table) -> list[int]:
    """List the seats that the next person may take; none of a table that waits for nobody, as its game has begun."""
    live, standing = store.get_cached(table.id), store.get_standing(table.id)
    if not store.is_open(table.id) or not any(map(standing.is_awaited, table.setup.persons)):
        return []
    seen = live.seen if live else {}
    return [
        seat
        for seat in table.setup.persons
        if seat not in standing.replaced and store.register.is_free(table.id, seat, table.setup.hold, seen.get(seat))
    ]
