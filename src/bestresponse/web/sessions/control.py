"""What the experimenter does at a table: begin, advance, replace, close, restart, send a message."""

from __future__ import annotations

from bestresponse.web.sessions.session import Session
from bestresponse.web.sessions.setup import PERSON
from bestresponse.web.sessions.store import SessionStore

__all__ = ["advance", "begin_without", "close", "replace", "restart", "send_message"]


def begin_without(store: SessionStore, session: Session) -> None:
    """Begin although people are missing; stand-ins answer for them until they are ready."""
    with session.lock:
        for seat in session.setup.persons:
            if seat not in session.ready and seat not in session.absent:
                store.record_event("absent", session=session.id, seat=seat)
        session.note_asked()
    store.changed(session)


def replace(store: SessionStore, session: Session, seat: int) -> None:
    """Let the stand-in of the setup play that seat from now on; the person cannot come back."""
    with session.lock:
        if session.setup.seats[seat] != PERSON or session.ended or seat in session.standing.replaced:
            return
        store.record_event("replaced", session=session.id, seat=seat)
        session.note_asked()
    store.changed(session)
    for name, later in store.list_later(session.id, seat):
        replace(store, store.get_session(name), later)


def advance(store: SessionStore, session: Session, seat: int) -> None:
    """Have the stand-in answer the question that the seat is asked now, or begin without that person."""
    with session.lock:
        role = session.roles[seat]
        if session.setup.seats[seat] != PERSON or session.ended:
            return
        if role in session.pending():
            session.advanced.add((role, session.turn(role)))
        elif seat not in session.ready and seat not in session.absent:
            store.record_event("absent", session=session.id, seat=seat)
        session.note_asked()
    store.changed(session)


def close(store: SessionStore, session: Session) -> None:
    """End the session before its game is over; nobody is asked any more."""
    with session.lock:
        if session.ended:
            return
        store.record_event("closed", session=session.id)
        session.note_asked()
    store.changed(session)
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
    people = session.setup.persons
    return [name for name, _ in store.list_later(session.id, people[0])] if people else []


def send_message(store: SessionStore, session: Session, seat: int | None, text: str) -> None:
    """Show a message of the experimenter to one seat, or to the whole table."""
    with session.lock:
        store.record_event("message", session=session.id, seat=seat, text=text)
