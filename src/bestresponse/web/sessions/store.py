"""Create, find and advance sessions, and keep them in the journal.

The store adds nothing to the rules. It accepts each answer once, from the seat that was asked, for the question that
was asked, and writes it to disk before it is confirmed.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import asdict
from typing import Any

from bestresponse.core import Decision, Episode, Role
from bestresponse.core.errors import BestResponseError, NotAsked, StoreError, UsageError
from bestresponse.core.json import JsonObject
from bestresponse.web.experiments.reading import check_experiment
from bestresponse.web.sessions.games import check_setup, make_game
from bestresponse.web.sessions.journal import Journal, now
from bestresponse.web.sessions.lobby import Lobby, draw_treatments, read_lobby
from bestresponse.web.sessions.register import SeatRegister
from bestresponse.web.sessions.session import Answer, Presence, Session, Standing, Table, Timing, name_play
from bestresponse.web.sessions.setup import PERSON, Setup

__all__ = ["AlreadyAnswered", "BrokenSession", "NotFound", "SessionStore", "StoodIn"]

_MOST_GROUPS = 500
_MOST_REMARKS = 20
_UNKNOWN = Presence()
_log = logging.getLogger("bestresponse.web")


class NotFound(BestResponseError):
    """There is no session, lobby or seat of that name."""


class AlreadyAnswered(NotAsked):
    """The answer came twice, or too late."""


class StoodIn(AlreadyAnswered):
    """A stand-in had answered before the person."""


class BrokenSession(BestResponseError):
    """The session cannot be rebuilt from its answers; nothing is added to it."""


class SessionStore:
    """Hold the sessions of one folder."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.register = SeatRegister()
        self.changed: Callable[[Session], None] = lambda session: None
        self.lock = threading.Lock()
        self._lobbies: dict[str, Lobby] = {}
        self._tables: dict[str, Table] = {}
        self._live: dict[str, Session] = {}
        self._standing: dict[str, Standing] = {}
        self._broken: dict[str, str] = {}
        self.questionnaires: dict[tuple[str, int], dict[str, str]] = {}
        self.remarks: dict[tuple[str, int], list[str]] = {}
        self.finished: dict[tuple[str, int], str] = {}
        self._before = journal.read_answers()
        self._recorded = {play.partition(".")[0] for play in journal.list_finished()}
        for event in journal.read_events():
            if "session" in event or event["event"] == "lobby":
                self._apply_event(event)

    def _apply_event(self, event: JsonObject) -> None:
        if event["event"] == "lobby":
            self._add_lobby(event)
            return
        standing = self.get_standing(event["session"])
        match event["event"]:
            case "seated" | "quiz":
                self.register.apply(event)
            case "ready":
                self.register.apply(event)
                standing.ready.add(event["seat"])
                standing.absent.discard(event["seat"])
            case "absent":
                standing.absent.add(event["seat"])
            case "replaced":
                standing.replaced.add(event["seat"])
            case "shown":
                standing.shown[event["seat"]] = (event["turn"], event["at"])
            case "message":
                standing.messages.append((event["seat"], event["text"]))
            case "closed":
                standing.closed = True
            case "restarted":
                standing.attempt += 1
                standing.closed = False
                standing.shown.clear()
            case "questionnaire":
                self.questionnaires[event["session"], event["seat"]] = event["answers"]
            case "finished":
                self.finished[event["session"], event["seat"]] = event["at"]
            case "remark":
                self.remarks.setdefault((event["session"], event["seat"]), []).append(event["text"])

    def _add_lobby(self, event: JsonObject) -> None:
        """Add a lobby; one that cannot be read any more is left out and spoils nothing else."""
        try:
            lobby = read_lobby(event)
        except (BestResponseError, LookupError, TypeError, ValueError):
            _log.exception("the lobby %s cannot be read", event.get("lobby"))
            return
        self._lobbies[lobby.id] = lobby
        self._tables |= {table.id: table for table in lobby.tables}

    def record_event(self, event: str, **what: Any) -> None:
        """Write an event to the journal and follow it."""
        self._apply_event(self.journal.append_event(event, **what))

    def create_sessions(self, setup: Setup, groups: int = 1) -> Lobby:
        """Create a lobby with one session for each group; UsageError where the setup does not fit its game."""
        if not 1 <= groups <= _MOST_GROUPS:
            raise UsageError(f"{groups} groups: expected 1 to {_MOST_GROUPS}")
        check_setup(setup)
        lobby = secrets.token_hex(6)
        sessions = [f"{lobby}-{number}" for number in range(1, groups + 1)]
        with self.lock:
            self.record_event("lobby", lobby=lobby, setup=asdict(setup), sessions=sessions)
        if not setup.persons:
            for session in sessions:
                self.changed(self.get_session(session))
        return self._lobbies[lobby]

    def create_experiment(self, text: str) -> Lobby:
        """Create the sessions of an experiment file; UsageError with line and cause where it is not right."""
        experiment = check_experiment(text)
        lobby = secrets.token_hex(6)
        with self.lock:
            self.record_event("lobby", lobby=lobby, experiment=text, treatments=draw_treatments(experiment))
        return self._lobbies[lobby]

    def find_experiment(self, text: str) -> Lobby | None:
        """Return the newest lobby that was created from this file, None where there is none."""
        return next((lobby for lobby in self.list_lobbies() if lobby.source == text), None)

    def list_seats(self, session: str, seat: int) -> list[tuple[str, int]]:
        """List the seats that a person of an experiment has, part by part; for any other person the one seat."""
        table = self._tables.get(session)
        if table is None or seat not in table.people:
            return [(session, seat)]
        person = table.people.index(seat)
        return [(part.id, part.people[person]) for part in self._lobbies[table.lobby].list_chain(table.group)]

    def find_participant(self, session: str, seat: int) -> tuple[str, int]:
        """Return the seat at the group's first table of the person who has this seat."""
        return self.list_seats(session, seat)[0]

    def find_current(self, session: str, seat: int) -> tuple[str, int]:
        """Return the seat at which the person is now: that of the first part that is not over."""
        seats = self.list_seats(session, seat)
        return next((place for place in seats if not self.is_finished(place[0])), seats[-1])

    def list_later(self, session: str, seat: int) -> list[tuple[str, int]]:
        """List the seats of the person in the parts after this one."""
        seats = self.list_seats(session, seat)
        return seats[seats.index((session, seat)) + 1 :]

    def note_questionnaire(self, session: Session, seat: int, answers: Mapping[str, str]) -> None:
        """Keep the answers to the questionnaire; the first ones count."""
        with session.lock:
            if (session.id, seat) not in self.questionnaires:
                self.record_event("questionnaire", session=session.id, seat=seat, answers=dict(answers))

    def note_finished(self, session: str, seat: int) -> None:
        """Keep the time at which the person first saw the last page of an experiment, under their first seat."""
        person = self.find_participant(session, seat)
        with self.lock:
            if person not in self.finished:
                with suppress(StoreError):
                    self.record_event("finished", session=person[0], seat=person[1])

    def note_remark(self, session: Session, seat: int, text: str) -> None:
        """Keep a remark about a game that is over; UsageError where the seat has made many."""
        with session.lock:
            if len(self.remarks.get((session.id, seat), ())) >= _MOST_REMARKS:
                raise UsageError(f"{_MOST_REMARKS} remarks are kept already; thank you")
            self.record_event("remark", session=session.id, seat=seat, text=text)

    def list_lobbies(self) -> list[Lobby]:
        """List all lobbies, the newest first."""
        return list(reversed(self._lobbies.values()))

    def get_lobby(self, name: str) -> Lobby:
        """Return the lobby of that name, or raise NotFound."""
        if name not in self._lobbies:
            raise NotFound("there is no such lobby")
        return self._lobbies[name]

    def list_unfinished(self) -> list[str]:
        """List the sessions that can go on: neither recorded nor closed."""
        return [name for name in self._tables if self.is_open(name)]

    def is_open(self, session: str) -> bool:
        """Tell whether the session can go on: it is not over, closed or broken."""
        return not (self.is_finished(session) or self.get_standing(session).closed or session in self._broken)

    def get_standing(self, session: str) -> Standing:
        """Return what happened to the seats of the session besides answers."""
        return self._standing.setdefault(session, Standing())

    def is_finished(self, session: str) -> bool:
        """Tell whether the session has its record."""
        return session in self._recorded

    def get_cached(self, name: str) -> Session | None:
        """Return the session if it is in memory."""
        return self._live.get(name)

    def get_session(self, name: str) -> Session:
        """Return the session, rebuilt from its answers if it is not in memory; BrokenSession where that fails."""
        live = self._live.get(name)
        if live is not None:
            return live
        if name not in self._tables:
            raise NotFound("there is no such session")
        if name not in self._broken:
            try:
                return self._restore(self._tables[name])
            except StoreError:
                raise
            except Exception as error:  # noqa: BLE001 - the rules of a plug-in can raise anything
                _log.exception("session %s cannot be rebuilt from its answers", name)
                self._broken[name] = str(error) or type(error).__name__
        raise BrokenSession(
            f"this table cannot go on: its answers do not fit its game any more ({self._broken[name]}). "
            "Every answer is kept, and nothing is added until the game is as it was"
        )

    def _restore(self, table: Table) -> Session:
        game = make_game(table.setup.game)
        with self.lock:
            if table.id not in self._live:
                standing = self.get_standing(table.id)
                play = name_play(table.id, standing.attempt)
                session = Session.restore(table, game, self._before.get(play, ()), standing)
                self._conclude(session)
                self._live[table.id] = session
                self._before.pop(play, None)
            return self._live[table.id]

    def begin_attempt(self, name: str) -> Session:
        """Begin the game of a session again; UsageError where it is over.

        What was answered so far counts as an earlier attempt.
        """
        before = self._live.get(name)
        with before.lock if before else nullcontext():
            if self.is_finished(name):
                raise UsageError("this game is over and its result is recorded; create new sessions to play it again")
            self.record_event("restarted", session=name)
            if before is not None:
                self._before[before.play] = before.list_answers()
                before.note_asked()
            self._live.pop(name, None)
            self._broken.pop(name, None)
        session = self.get_session(name)
        self.changed(session)
        return session

    def list_attempts(self, name: str) -> list[tuple[int, list[Answer]]]:
        """List number and answers of the attempts that are not in play: those before a restart, and a broken one."""
        numbers = range(1, self.get_standing(name).attempt + 1)
        found = [(number, list(self._before.get(name_play(name, number), ()))) for number in numbers]
        return [(number, answers) for number, answers in found if answers]

    def note_quiz_failed(self, session: Session, seat: int) -> None:
        """Count a try of the quiz that was not right."""
        with session.lock:
            tries = self.register.count_tries(session.id, seat) + 1
            self.record_event("quiz", session=session.id, seat=seat, tries=tries)

    def make_ready(self, session: Session, seat: int) -> None:
        """Note that the person in that seat has read the rules; the last one to do so begins the game."""
        with session.lock:
            if seat in session.standing.ready or session.setup.seats[seat] != PERSON:
                return
            tries = self.register.count_tries(session.id, seat) + 1
            self.record_event("ready", session=session.id, seat=seat, quiz_tries=tries)
            session.note_asked()
        self.changed(session)

    def note_shown(self, session: Session, seat: int) -> None:
        """Keep the time at which the person in that seat first saw the question."""
        with session.lock:
            role = session.roles[seat]
            turn = session.turn(role)
            if role in session.pending() and self._find_shown(session, role, turn) is None:
                with suppress(StoreError):
                    self.record_event("shown", session=session.id, seat=seat, turn=turn)

    def submit(
        self, session: Session, role: Role, turn: int, decision: Decision, presence: Presence = _UNKNOWN
    ) -> None:
        """Accept answer number `turn` of `role` once; else raise InvalidMove, NotAsked or AlreadyAnswered."""
        with session.lock:
            self._refuse_repeated(session, role, turn)
            if not session.begun:
                raise NotAsked("the game has not begun; not everybody is ready")
            if session.discarded:
                raise NotAsked("the experimenter has restarted this game; load the page again")
            if session.standing.closed:
                raise NotAsked("this session was closed by the experimenter")
            session.episode.submit(role, decision)
            seen = self._find_shown(session, role, turn)
            timing = Timing(**asdict(presence), shown=seen, answered=now())
            try:
                self.journal.submit(session.play, Answer(session.episode.submissions[-1], timing))
            except StoreError:
                session.episode = Episode(session.game, session.episode.submissions[:-1])
                raise
            session.timings.append(timing)
            self._conclude(session)
            session.note_asked()
        self.changed(session)

    def _find_shown(self, session: Session, role: Role, turn: int) -> str | None:
        found = session.standing.shown.items()
        return next((at for seat, (shown, at) in found if (session.roles[seat], shown) == (role, turn)), None)

    def _refuse_repeated(self, session: Session, role: Role, turn: int) -> None:
        expected = session.turn(role)
        given = session.answer(role, turn)
        if given is not None and given.decision.stand_in:
            raise StoodIn("The time was up: a stand-in had answered for you, and this answer does not count.")
        if turn < expected:
            raise AlreadyAnswered("You had answered this already; the first answer counts.")
        if turn > expected:
            raise NotAsked("This question has not been put yet; load the page again.")

    def _conclude(self, session: Session) -> None:
        """Write the record of a play that is over, once."""
        if session.begun and session.over and session.id not in self._recorded:
            players = dict(zip(session.roles, session.setup.seats, strict=True))
            self.journal.finish(session.table, session.attempt, session.episode.record(players))
            self._recorded.add(session.id)
