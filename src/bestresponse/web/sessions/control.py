"""What people do at a table, take a seat, and what the experimenter does: begin, advance, replace, close, restart."""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import islice

from bestresponse.core.errors import UsageError
from bestresponse.core.seeds import generator
from bestresponse.web.experiments.model import Assignment
from bestresponse.web.sessions.session import Session, Table
from bestresponse.web.sessions.setup import PERSON
from bestresponse.web.sessions.store import Lobby, SessionStore

_MIXED = 4
"""Groups that are filled at the same time where groups are random: enough to mix those who come one after the other,
and few enough that hardly anybody is left in a group that stays incomplete."""


def take_seat(
    store: SessionStore, lobby: str, labels: Mapping[str, str] | None = None, agreed: bool = False
) -> tuple[str, int]:
    """Take the next free seat of a person, group by group; whoever has a label gets their own seat back."""
    given = dict(labels or {})
    with store.lock:
        held = store.register.find(lobby, given)
        if held is not None:
            return held
        free = _choose_seat(store, store.get_lobby(lobby))
        if free is not None:
            holder = store.register.count_holders(*free)
            about = {"holder": holder, "labels": given, "agreed": agreed}
            store.record_event("seated", session=free[0], seat=free[1], **about)
            return free
    raise UsageError("every seat is taken; ask whoever invited you for another link")


def _choose_seat(store: SessionStore, lobby: Lobby) -> tuple[str, int] | None:
    """Choose a free seat: group by group in the order of the seats, or at random as the experiment says."""
    assignment = lobby.experiment.assignment
    filling = filter(None, ([(table.id, seat) for seat in _list_free(store, table)] for table in lobby.first_tables))
    free = [place for group in islice(filling, 1 if assignment.groups == "arrival" else _MIXED) for place in group]
    if not free or assignment == Assignment():
        return free[0] if free else None
    chosen = generator(lobby.setup.seed, "seat", store.register.count_taken(lobby.id)).choice(free)
    if assignment.roles == "random":
        return chosen
    return next(place for place in free if place[0] == chosen[0])


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


def begin_without(store: SessionStore, session: Session) -> None:
    """Begin although people are missing; stand-ins answer for them until they are ready."""
    with store.changing(session):
        for seat in filter(session.standing.is_awaited, session.setup.persons):
            store.record_event("absent", session=session.id, seat=seat)


def replace(store: SessionStore, session: Session, seat: int) -> None:
    """Let the stand-in of the setup play that seat from now on; the person cannot come back."""
    with store.changing(session):
        if session.setup.seats[seat] != PERSON or session.ended or seat in session.standing.replaced:
            return
        store.record_event("replaced", session=session.id, seat=seat)
    for name, later in store.list_later(session.id, seat):
        replace(store, store.get_session(name), later)


def advance(store: SessionStore, session: Session, seat: int) -> None:
    """Have the page send what is typed, or else the stand-in answer, or begin without that person."""
    with store.changing(session):
        role = session.roles[seat]
        if session.setup.seats[seat] != PERSON or session.ended:
            return
        if role in session.pending():
            session.advanced.setdefault((role, session.turn(role)), time.monotonic())
        elif session.standing.is_awaited(seat):
            store.record_event("absent", session=session.id, seat=seat)


def close(store: SessionStore, session: Session) -> None:
    """End the session before its game is over; nobody is asked any more."""
    with store.changing(session):
        if session.ended:
            return
        store.record_event("closed", session=session.id)
    for name in _list_later_tables(store, session):
        close(store, store.get_session(name))


def restart(store: SessionStore, name: str) -> Session:
    """Begin the game of a table again, for the same people; UsageError where its play is over.

    The answers so far stay in the journal and in the export as those of an earlier attempt. A table that was closed
    is opened again with the later parts of its group; a person who was replaced stays replaced.
    """
    session = store.begin_attempt(name)
    for later in _list_later_tables(store, session):
        if store.get_standing(later).closed:
            store.begin_attempt(later)
    return session


def _list_later_tables(store: SessionStore, session: Session) -> list[str]:
    later = [place for seat in session.setup.persons for place in store.list_later(session.id, seat)]
    return list(dict.fromkeys(name for name, _ in later))


def send_message(store: SessionStore, session: Session, seat: int | None, text: str) -> None:
    """Show a message of the experimenter to one seat, or to the whole table."""
    with session.lock:
        store.record_event("message", session=session.id, seat=seat, text=text)
