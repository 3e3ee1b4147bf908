"""Create, find and advance sessions, and keep them in the journal.

The store adds nothing to the rules. It accepts each answer once, from the seat that was asked, for the question that
was asked, and writes it to disk before it is confirmed.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from bestresponse.core.episode import Episode, Submission
from bestresponse.core.errors import BestResponseError, NotAsked, StoreError, UsageError
from bestresponse.core.game import Role
from bestresponse.core.player import Decision
from bestresponse.players.lookup import check_strategy
from bestresponse.web.sessions.games import make_game
from bestresponse.web.sessions.journal import Journal, read_tables
from bestresponse.web.sessions.session import Session, Table
from bestresponse.web.sessions.setup import PERSON, Setup

__all__ = ["AlreadyAnswered", "Lobby", "NotFound", "SessionStore"]

_MOST_GROUPS = 500


class NotFound(BestResponseError):
    """There is no session, lobby or seat of that name."""


class AlreadyAnswered(NotAsked):
    """The answer came twice, or too late."""


@dataclass(frozen=True, slots=True)
class Lobby:
    """Tables with the same setup, filled one after the other."""

    id: str
    setup: Setup
    tables: tuple[Table, ...]
    created: str


class SessionStore:
    """Hold the sessions of one folder."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.changed: Callable[[Session], None] = lambda session: None
        self._lock = threading.Lock()
        self._lobbies: dict[str, Lobby] = {}
        self._tables: dict[str, Table] = {}
        self._live: dict[str, Session] = {}
        self._taken: dict[str, set[int]] = {}
        self._ready: dict[str, set[int]] = {}
        self._absent: dict[str, set[int]] = {}
        self._before = journal.read_submissions()
        self._recorded = journal.list_finished()
        for event in journal.read_events("lobby", "seated", "ready", "absent"):
            self._apply_event(event)

    def _apply_event(self, event: dict[str, Any]) -> None:
        match event["event"]:
            case "lobby":
                tables = tuple(read_tables(event))
                self._lobbies[event["lobby"]] = Lobby(event["lobby"], tables[0].setup, tables, event["at"])
                self._tables |= {table.id: table for table in tables}
            case "seated":
                self._taken.setdefault(event["session"], set()).add(event["seat"])
            case "ready":
                self._ready.setdefault(event["session"], set()).add(event["seat"])
                self._absent.setdefault(event["session"], set()).discard(event["seat"])
            case "absent":
                self._absent.setdefault(event["session"], set()).add(event["seat"])

    def create_sessions(self, setup: Setup, groups: int = 1) -> Lobby:
        """Create a lobby with one session for each group; UsageError where the setup does not fit its game."""
        if not 1 <= groups <= _MOST_GROUPS:
            raise UsageError(f"{groups} groups: expected 1 to {_MOST_GROUPS}")
        game = make_game(setup.game)
        if len(setup.seats) != len(game.roles):
            who = ", ".join(game.roles)
            raise UsageError(f"{game.name} has {len(game.roles)} seats ({who}), not {len(setup.seats)}")
        for seat in setup.seats:
            if seat.startswith("strategy:"):
                check_strategy(seat.removeprefix("strategy:"), game)
        check_strategy(setup.stand_in, game)
        lobby = secrets.token_hex(6)
        sessions = [f"{lobby}-{number}" for number in range(1, groups + 1)]
        with self._lock:
            self._apply_event(self.journal.append_event("lobby", lobby=lobby, setup=setup.to_json(), sessions=sessions))
        if not setup.persons:
            for session in sessions:
                self.changed(self.get_session(session))
        return self._lobbies[lobby]

    def list_lobbies(self) -> list[Lobby]:
        """List all lobbies, the newest first."""
        return list(reversed(self._lobbies.values()))

    def get_lobby(self, name: str) -> Lobby:
        """Return the lobby of that name, or raise NotFound."""
        if name not in self._lobbies:
            raise NotFound("there is no such lobby")
        return self._lobbies[name]

    def list_unfinished(self) -> list[str]:
        """List the sessions that have no record yet."""
        return [name for name in self._tables if name not in self._recorded]

    def is_finished(self, session: str) -> bool:
        """Tell whether the session has its record."""
        return session in self._recorded

    def get_cached(self, name: str) -> Session | None:
        """Return the session if it is in memory."""
        return self._live.get(name)

    def get_session(self, name: str) -> Session:
        """Return the session, rebuilt from its answers if it is not in memory."""
        live = self._live.get(name)
        if live is not None:
            return live
        if name not in self._tables:
            raise NotFound("there is no such session")
        table = self._tables[name]
        game = make_game(table.setup.game)
        with self._lock:
            if name not in self._live:
                before: Iterable[Submission] = self._before.pop(name, ())
                absent = self._absent.setdefault(name, set())
                self._live[name] = Session.restore(table, game, before, self._ready.get(name, ()), absent)
                self._conclude(self._live[name])
            return self._live[name]

    def take_seat(self, lobby: str) -> tuple[str, int]:
        """Take the next free seat of a person, group by group."""
        with self._lock:
            for table in self.get_lobby(lobby).tables:
                taken = self._taken.setdefault(table.id, set())
                for seat in table.setup.persons:
                    if seat not in taken:
                        self.journal.append_event("seated", session=table.id, seat=seat)
                        taken.add(seat)
                        return table.id, seat
        raise UsageError("every seat is taken; ask whoever invited you for another link")

    def list_taken(self, session: str) -> set[int]:
        """List the seats of the session that people have taken."""
        return self._taken.get(session, set())

    def make_ready(self, session: Session, seat: int, quiz_tries: int) -> None:
        """Note that the person in that seat has read the rules; the last one to do so begins the game."""
        with session.lock:
            if seat in session.ready or session.setup.seats[seat] != PERSON:
                return
            self._apply_event(self.journal.append_event("ready", session=session.id, seat=seat, quiz_tries=quiz_tries))
            self._taken.setdefault(session.id, set()).add(seat)
            session.ready.add(seat)
            session.note_asked()
        self.changed(session)

    def begin_without(self, session: Session) -> None:
        """Begin although people are missing; stand-ins answer for them until they are ready."""
        with session.lock:
            for seat in session.setup.persons:
                if seat not in session.ready and seat not in session.absent:
                    self._apply_event(self.journal.append_event("absent", session=session.id, seat=seat))
            session.note_asked()
        self.changed(session)

    def submit(self, session: Session, role: Role, turn: int, decision: Decision) -> None:
        """Accept answer number `turn` of `role` once; else raise InvalidMove, NotAsked or AlreadyAnswered."""
        with session.lock:
            self._refuse_repeated(session, role, turn)
            if not session.begun:
                raise NotAsked("the game has not begun; not everybody is ready")
            session.episode.submit(role, decision)
            try:
                self.journal.submit(session.id, session.episode.submissions[-1])
            except StoreError:
                session.episode = Episode(session.game, session.episode.submissions[:-1])
                raise
            self._conclude(session)
            session.note_asked()
        self.changed(session)

    def _refuse_repeated(self, session: Session, role: Role, turn: int) -> None:
        expected = session.turn(role)
        given = session.answer(role, turn)
        if given is not None and given.decision.stand_in:
            raise AlreadyAnswered("The time was up: a stand-in had answered for you, and this answer does not count.")
        if turn < expected:
            raise AlreadyAnswered("You had answered this already; the first answer counts.")
        if turn > expected:
            raise NotAsked("This question has not been put yet; load the page again.")

    def _conclude(self, session: Session) -> None:
        """Write the record of a play that is over, once."""
        if session.begun and session.over and session.id not in self._recorded:
            players = dict(zip(session.roles, session.setup.seats, strict=True))
            self.journal.finish(session.table, session.episode.record(players))
            self._recorded.add(session.id)
