"""All tables: set up, joined, played, and kept in the journal.

The house adds nothing to the rules. It makes sure that an answer is taken once, for the question it was given to, by
the seat that was asked, and that it is on disk before anybody is told.
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
from bestresponse.web.sessions.games import game_of
from bestresponse.web.sessions.journal import Journal, tables_of
from bestresponse.web.sessions.session import Session, Table
from bestresponse.web.sessions.setup import PERSON, Setup

__all__ = ["AlreadyAnswered", "House", "Lobby", "NoSuchTable"]

_MOST_GROUPS = 500


class NoSuchTable(BestResponseError):
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


class House:
    """The tables of one sessions folder."""

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
        self._before = journal.submissions()
        self._recorded = journal.finished()
        for event in journal.events("lobby", "seated", "ready", "absent"):
            self._remember(event)

    def _remember(self, event: dict[str, Any]) -> None:
        match event["event"]:
            case "lobby":
                tables = tuple(tables_of(event))
                self._lobbies[event["lobby"]] = Lobby(event["lobby"], tables[0].setup, tables, event["at"])
                self._tables |= {table.id: table for table in tables}
            case "seated":
                self._taken.setdefault(event["session"], set()).add(event["seat"])
            case "ready":
                self._ready.setdefault(event["session"], set()).add(event["seat"])
                self._absent.setdefault(event["session"], set()).discard(event["seat"])
            case "absent":
                self._absent.setdefault(event["session"], set()).add(event["seat"])

    def set_up(self, setup: Setup, groups: int = 1) -> Lobby:
        """Lay new tables; UsageError where the setup does not fit its game."""
        if not 1 <= groups <= _MOST_GROUPS:
            raise UsageError(f"{groups} groups: expected 1 to {_MOST_GROUPS}")
        game = game_of(setup.game)
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
            self._remember(self.journal.tell("lobby", lobby=lobby, setup=setup.to_json(), sessions=sessions))
        if not setup.persons:
            for session in sessions:
                self.changed(self.session(session))
        return self._lobbies[lobby]

    def lobbies(self) -> list[Lobby]:
        """The newest first."""
        return list(reversed(self._lobbies.values()))

    def lobby(self, name: str) -> Lobby:
        if name not in self._lobbies:
            raise NoSuchTable("there is no such lobby")
        return self._lobbies[name]

    def unfinished(self) -> list[str]:
        """Sessions without a record."""
        return [name for name in self._tables if name not in self._recorded]

    def finished(self, session: str) -> bool:
        """Whether that session has its record."""
        return session in self._recorded

    def at_hand(self, name: str) -> Session | None:
        """The table of that name where it is in memory."""
        return self._live.get(name)

    def session(self, name: str) -> Session:
        """The table of that name, rebuilt from its answers where it is not in memory."""
        live = self._live.get(name)
        if live is not None:
            return live
        if name not in self._tables:
            raise NoSuchTable("there is no such session")
        table = self._tables[name]
        game = game_of(table.setup.game)
        with self._lock:
            if name not in self._live:
                before: Iterable[Submission] = self._before.pop(name, ())
                absent = self._absent.setdefault(name, set())
                self._live[name] = Session.of(table, game, before, self._ready.get(name, ()), absent)
                self._conclude(self._live[name])
            return self._live[name]

    def take_seat(self, lobby: str) -> tuple[str, int]:
        """The next free seat for a person, group by group; it stays taken."""
        with self._lock:
            for table in self.lobby(lobby).tables:
                taken = self._taken.setdefault(table.id, set())
                for seat in table.setup.persons:
                    if seat not in taken:
                        self.journal.tell("seated", session=table.id, seat=seat)
                        taken.add(seat)
                        return table.id, seat
        raise UsageError("every seat is taken; ask whoever invited you for another link")

    def taken(self, session: str) -> set[int]:
        return self._taken.get(session, set())

    def make_ready(self, session: Session, seat: int, quiz_tries: int) -> None:
        """The person in that seat has read the rules; the last one to say so begins the game."""
        with session.lock:
            if seat in session.ready or session.setup.seats[seat] != PERSON:
                return
            self._remember(self.journal.tell("ready", session=session.id, seat=seat, quiz_tries=quiz_tries))
            self._taken.setdefault(session.id, set()).add(seat)
            session.ready.add(seat)
            session.note_asked()
        self.changed(session)

    def begin_without(self, session: Session) -> None:
        """Begin although people are missing; stand-ins answer for them until they are ready."""
        with session.lock:
            for seat in session.setup.persons:
                if seat not in session.ready and seat not in session.absent:
                    self._remember(self.journal.tell("absent", session=session.id, seat=seat))
            session.note_asked()
        self.changed(session)

    def submit(self, session: Session, role: Role, turn: int, decision: Decision) -> None:
        """Take the answer number `turn` of `role`, once; InvalidMove, NotAsked or AlreadyAnswered where it does not
        count."""
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
