"""Sessions in play: lobbies, answers, seats, and what the experimenter does.

The store adds nothing to the rules. It accepts each answer once, from the seat that was asked, for
the question that was asked, and writes it to disk before it is confirmed.
"""

import logging
import secrets
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict
from typing import TypeVar

from bestresponse.core import NATURE, Decision, Episode, Nature, Role
from bestresponse.core.errors import BestResponseError, NotAsked, StoreError, UsageError
from bestresponse.core.json import JsonObject
from bestresponse.core.seeds import generator
from bestresponse.web.experiments.items import ItemAnswer
from bestresponse.web.experiments.model import Assignment
from bestresponse.web.experiments.payment import Outcome
from bestresponse.web.experiments.reading import check_experiment
from bestresponse.web.sessions.errors import (
    AlreadyAnswered,
    BrokenSession,
    NoSeatLeft,
    NotFound,
    StoodIn,
)
from bestresponse.web.sessions.journal import Journal, read_clocks
from bestresponse.web.sessions.lobbies import (
    Departed,
    Lobby,
    Place,
    Room,
    check_room,
    draw_treatments,
    read_lobby,
)
from bestresponse.web.sessions.session import (
    Presence,
    SeatRegister,
    Session,
    SessionTable,
    TableStanding,
    TimedAnswer,
    Timing,
    name_attempt,
)
from bestresponse.web.sessions.setup import PERSON, Setup, check_setup, make_game
from bestresponse.web.texts import Cause, PageTexts, load_texts

V = TypeVar("V")


def _exchange(first: dict[int, V], second: dict[int, V], here: int, there: int) -> None:
    """Exchange what two tables have noted of a seat each."""
    noted = (first.pop(here, None), second.pop(there, None))
    if noted[0] is not None:
        second[there] = noted[0]
    if noted[1] is not None:
        first[here] = noted[1]


_MIXED = 4
"""Groups that are filled at the same time where groups are random: enough to mix those who come one
after the other, and few enough that hardly anybody is left in a group that stays incomplete."""
_MOST_GROUPS = 500
_UNKNOWN = Presence()
_log = logging.getLogger("bestresponse.web")


class SessionStore:
    """Hold the sessions of one folder."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.register = SeatRegister()
        self.changed: Callable[[Session], None] = lambda session: None
        self.lock = threading.Lock()
        self._grouping = threading.Lock()
        self._lobbies: dict[str, Lobby] = {}
        self._tables: dict[str, SessionTable] = {}
        self.live: dict[str, Session] = {}
        self.standings: defaultdict[str, TableStanding] = defaultdict(TableStanding)
        self._broken: dict[str, str] = {}
        self.questionnaires: defaultdict[Place, dict[str, ItemAnswer]] = defaultdict(dict)
        self.answered_pages: set[tuple[str, int, str]] = set()
        self.finished: dict[Place, str] = {}
        self._before = journal.read_answers()
        self._recorded = {play.partition(".")[0] for play in journal.folder.finished()}
        self.departed: defaultdict[str, list[Departed]] = defaultdict(list)
        self.rooms: dict[str, Room] = {}
        for event in journal.read_events():
            self._apply_event(event)

    def _apply_event(self, event: JsonObject) -> None:
        """Follow a journal event: of a lobby, of a person who came in vain, or of a table."""
        match event["event"]:
            case "lobby":
                try:
                    lobby = read_lobby(event)
                except (BestResponseError, LookupError, TypeError, ValueError):
                    # One that cannot be read any more is left out and spoils nothing else.
                    _log.exception("the lobby %s cannot be read", event.get("lobby"))
                    return
                self._lobbies[lobby.id] = lobby
                self._tables |= {table.id: table for table in lobby.tables}
            case "declined":
                agreed = event.get("agreed", False)
                left = Departed(event["why"], event["at"], event["labels"], agreed)
                self.departed[event["lobby"]].append(left)
            case "room" if event["lobby"] in self._lobbies:
                self.rooms[event["room"]] = Room(event["lobby"], event["open"])
            case _ if "session" in event:
                self._apply_table_event(event)

    def _apply_table_event(self, event: JsonObject) -> None:
        address = (event["session"], event.get("seat", -1))
        match event["event"]:
            case "left":
                self._note_departed(address, event["why"], event["at"])
            case "seated" if self.register.get(*address).is_here:
                self._note_departed(address, "seat lost", event["at"])
            case "questionnaire":
                self.questionnaires[address] |= event["answers"]
                self.answered_pages.add((*address, event.get("page", "questionnaire")))
            case "finished":
                self.finished[address] = event["at"]
            case "moved":
                self._exchange_pages(address, (event["to"], event["to_seat"]))
        if "seat" in event:
            self.register.apply(event)
        self.standings[event["session"]].apply(event)

    def _exchange_pages(self, here: Place, there: Place) -> None:
        """Let what two people have answered and seen before the game go with them."""
        answers = self.questionnaires.pop(here, {})
        self.questionnaires[here] = self.questionnaires.pop(there, {})
        self.questionnaires[there] = answers
        other = {here: there, there: here}
        moved = set[tuple[str, int, str]]()
        for session, seat, page in self.answered_pages:
            moved.add((*other.get((session, seat), (session, seat)), page))
        self.answered_pages = moved
        first = self.standings[here[0]]
        second = self.standings[there[0]]
        first.asked_as.setdefault(here[1], here[1])
        if self.register.get(*there).is_here:
            second.asked_as.setdefault(there[1], there[1])
        _exchange(first.asked_as, second.asked_as, here[1], there[1])
        _exchange(first.pages, second.pages, here[1], there[1])
        tables = [self.live[name] for name, _ in (here, there) if name in self.live]
        if len(tables) > 1:
            _exchange(tables[0].seen, tables[1].seen, here[1], there[1])
            _exchange(tables[0].pages, tables[1].pages, here[1], there[1])

    def _note_departed(self, address: Place, why: Outcome, when: str) -> None:
        """Keep what is known of a person who loses a seat; the next one is asked anew."""
        holder = self.register.get(*address)
        left = Departed(
            why=why,
            at=when,
            labels=holder.labels,
            agreed=holder.agreed,
            seated=holder.seated,
            quiz_tries=holder.quiz_tries,
            place=(*address, holder.number),
            answers=self.questionnaires.pop(address, {}),
            origin=holder.origin,
        )
        table = self._tables.get(address[0])
        if table is not None:
            self.departed[table.lobby].append(left)
        self.answered_pages = {page for page in self.answered_pages if page[:2] != address}

    def record_event(self, event: str, **what: object) -> None:
        """Write an event to the journal and follow it."""
        self._apply_event(self.journal.append_event(event, **what))

    @contextmanager
    def changing(self, session: Session) -> Iterator[None]:
        """Hold a table while something happens there.

        Then new questions get their time, and the worker looks.
        """
        with session.lock:
            yield
            session.note_asked()
        self.changed(session)

    def create_sessions(self, setup: Setup, groups: int = 1) -> Lobby:
        """Create a lobby with one session for each group.

        Raises UsageError where the setup does not fit its game.
        """
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

    def create_experiment(self, text: str, speed: int = 1) -> Lobby:
        """Create the sessions of an experiment file.

        UsageError with line and cause where it is not right.
        """
        experiment = check_experiment(text)
        lobby = secrets.token_hex(6)
        about = {"experiment": text, "treatments": draw_treatments(experiment), "speed": speed}
        with self.lock:
            self.record_event("lobby", lobby=lobby, **about)
        return self._lobbies[lobby]

    def find_experiment(self, text: str) -> Lobby | None:
        """Return the newest lobby that was created from this file, None where there is none."""
        return next((lobby for lobby in self.list_lobbies() if lobby.source == text), None)

    def list_seats(self, session: str, seat: int) -> list[tuple[str, int]]:
        """List the seats that a person of an experiment has, part by part.

        For any other person the one seat.
        """
        table = self._tables.get(session)
        chains = self._lobbies[table.lobby].chains if table else {}
        return chains.get((session, seat), [(session, seat)])

    def find_participant(self, session: str, seat: int) -> tuple[str, int]:
        """Return the seat at the group's first table of the person who has this seat."""
        return self.list_seats(session, seat)[0]

    def find_current(self, session: str, seat: int) -> tuple[str, int]:
        """Return the seat at which the person is now: that of the first part that is not over."""
        seats = self.list_seats(session, seat)
        return next((address for address in seats if not self.is_finished(address[0])), seats[-1])

    def list_later(self, session: str, seat: int) -> list[tuple[str, int]]:
        """List the seats of the person in the parts after this one."""
        seats = self.list_seats(session, seat)
        return seats[seats.index((session, seat)) + 1 :]

    def note_questionnaire(
        self, session: Session, seat: int, page: str, answers: Mapping[str, ItemAnswer]
    ) -> None:
        """Keep the answers to the questionnaire or to another page; the first ones count."""
        with session.lock:
            if (session.id, seat, page) not in self.answered_pages:
                self.record_event(
                    "questionnaire", session=session.id, seat=seat, page=page, answers=dict(answers)
                )

    def gather_answers(self, session: str, seat: int) -> dict[str, ItemAnswer]:
        """Return what the person has answered on all pages with questions, by question name."""
        sent: dict[str, ItemAnswer] = {}
        for address in self.list_seats(session, seat):
            sent |= self.questionnaires[address]
        return sent

    def note_finished(self, session: str, seat: int) -> None:
        """Keep the time at which the person first saw the last page of an experiment.

        It is kept under their first seat.
        """
        person = self.find_participant(session, seat)
        with self.lock:
            if person not in self.finished:
                with suppress(StoreError):
                    self.record_event("finished", session=person[0], seat=person[1])

    def note_declined(
        self, lobby: str, labels: Mapping[str, str], why: Outcome, agreed: bool = False
    ) -> int:
        """Keep that somebody took no seat, as they did not agree or found none.

        Returns their number among those who left.

        Whoever comes again with the same label is kept once.
        """
        with self.lock:
            for number, left in enumerate(self.departed[lobby]):
                if labels and left.why == why and dict(left.labels) == dict(labels):
                    return number
            self.record_event("declined", lobby=lobby, labels=dict(labels), why=why, agreed=agreed)
            return len(self.departed[lobby]) - 1

    def screen_out(self, session: Session, seat: int) -> None:
        """Release the seat of a person who did not pass the quiz, for somebody else to take."""
        labels = dict(self.register.get(session.id, seat).labels)
        about = {"lobby": session.table.lobby, "labels": labels, "why": "screened out"}
        with self.lock:
            self.record_event("left", session=session.id, seat=seat, **about)

    def open_room(self, room: str, lobby: str) -> None:
        """Let a room lead to that lobby, whichever was open in it before.

        Raises UsageError where its name cannot be part of a link.
        """
        check_room(room)
        self.get_lobby(lobby)
        with self.lock:
            if self.rooms.get(room) != Room(lobby):
                self.record_event("room", room=room, lobby=lobby, open=True)

    def close_room(self, room: str) -> None:
        """Let a room lead nowhere; whoever comes waits there for the next lobby."""
        with self.lock:
            if room not in self.rooms:
                raise NotFound("there is no such room")
            self.record_event("room", room=room, lobby=self.rooms[room].lobby, open=False)

    def list_lobbies(self) -> list[Lobby]:
        """List all lobbies, the newest first."""
        return list(reversed(self._lobbies.values()))

    def get_lobby(self, name: str) -> Lobby:
        """Return the lobby of that name, or raise NotFound."""
        if name not in self._lobbies:
            raise NotFound("there is no such lobby")
        return self._lobbies[name]

    def get_table(self, session: str) -> SessionTable:
        """Return the table of that session."""
        return self._tables[session]

    def find_texts(self, name: str) -> PageTexts:
        """Return the texts of the lobby or session of that name.

        Returns the English ones if there is none.
        """
        lobby = self._lobbies.get(name.partition("-")[0])
        return lobby.texts if lobby else load_texts("en")

    def list_unfinished(self) -> list[str]:
        """List the sessions that can go on: neither recorded nor closed."""
        return [name for name in self._tables if self.is_open(name)]

    def is_open(self, session: str) -> bool:
        """Tell whether the session can go on: it is not over, closed or broken."""
        return not (
            self.is_finished(session) or self.standings[session].closed or session in self._broken
        )

    def is_finished(self, session: str) -> bool:
        """Tell whether the session has its record."""
        return session in self._recorded

    def get_session(self, name: str) -> Session:
        """Return the session, rebuilt from its answers if it is not in memory.

        BrokenSession where that fails.
        """
        if name in self.live:
            return self.live[name]
        if name not in self._tables:
            raise NotFound("there is no such session")
        if name not in self._broken:
            table = self._tables[name]
            standing = self.standings[name]
            play = name_attempt(name, standing.attempt)
            try:
                game = make_game(table.setup.game)
                with self.lock:
                    if name not in self.live:
                        session = Session.restore(table, game, self._before.get(play, ()), standing)
                        self._conclude(session)
                        self.live[name] = session
                        self._before.pop(play, None)
                    return self.live[name]
            except StoreError:
                raise
            except Exception as error:  # noqa: BLE001 - the rules of a plug-in can raise anything
                _log.exception("session %s cannot be rebuilt from its answers", name)
                self._broken[name] = str(error) or type(error).__name__
        raise BrokenSession(Cause("cause_broken", why=self._broken[name]))

    def find_session(self, name: str) -> Session | None:
        """Return the session, None where it cannot be rebuilt."""
        try:
            return self.get_session(name)
        except BrokenSession:
            return None

    def begin_attempt(self, name: str) -> Session:
        """Begin the game of a session again; UsageError where it is over.

        What was answered so far counts as an earlier attempt.
        """
        before = self.live.get(name)
        with before.lock if before else nullcontext():
            if self.is_finished(name):
                raise UsageError(
                    "this game is over and its result is recorded; create new sessions to play it"
                    " again"
                )
            self.record_event("restarted", session=name)
            if before is not None:
                self._before[before.play] = before.list_answers()
                before.note_asked()
            self.live.pop(name, None)
            self._broken.pop(name, None)
        session = self.get_session(name)
        self.changed(session)
        return session

    def list_attempts(self, name: str) -> list[tuple[int, list[TimedAnswer]]]:
        """List number and answers of the attempts that are not in play.

        These are the attempts before a restart, and a broken one.
        """
        numbers = range(1, self.standings[name].attempt + 1)
        attempts = [
            (number, list(self._before.get(name_attempt(name, number), ()))) for number in numbers
        ]
        return [(number, answers) for number, answers in attempts if answers]

    def note_quiz_failed(self, session: Session, seat: int) -> None:
        """Count a try of the quiz that was not right."""
        with session.lock:
            tries = self.register.get(session.id, seat).quiz_tries + 1
            self.record_event("quiz", session=session.id, seat=seat, tries=tries)

    def make_ready(self, session: Session, seat: int) -> None:
        """Note that the person in that seat has read the rules.

        The last one to do so begins the game.
        """
        if session.table.grouped_by_quiz:
            with self._grouping:
                self._note_ready(*self._find_group(session, seat))
        else:
            self._note_ready(session, seat)

    def _find_group(self, session: Session, seat: int) -> tuple[Session, int]:
        """Put a person who has passed the quiz into the group that lacks the fewest people.

        This is in exchange for somebody who has not passed. Returns the seat there.

        The role stays, unless roles are drawn.
        """
        table = session.table
        lobby = self._lobbies[table.lobby]
        any_role = lobby.experiment.assignment.roles == "random"
        with self.lock:
            if not self.register.get(session.id, seat).is_here:
                return session, seat  # by the link of this very seat
            most_ready = len(session.standing.ready)
            better: Place | None = None
            for other in lobby.first_tables:
                standing = self.standings[other.id]
                if other.treatment != table.treatment or not self.is_open(other.id):
                    continue
                seats = other.setup.persons if any_role else (seat,)
                free = [number for number in seats if standing.is_awaited(number)]
                if free and len(standing.ready) > most_ready:
                    most_ready = len(standing.ready)
                    better = (other.id, free[0])
            if better is None:
                return session, seat
            name, place = better
            self.record_event("moved", session=session.id, seat=seat, to=name, to_seat=place)
        return self.get_session(name), place

    def _note_ready(self, session: Session, seat: int) -> None:
        with self.changing(session):
            if seat not in session.standing.ready and session.setup.seats[seat] == PERSON:
                tries = self.register.get(session.id, seat).quiz_tries + 1
                self.record_event("ready", session=session.id, seat=seat, quiz_tries=tries)

    def note_shown(self, session: Session, seat: int, page: str) -> None:
        """Keep the time at which that seat's person came to a page, and first saw a question."""
        with session.lock:
            role = session.roles[seat]
            turn = session.turn(role) if role in session.pending() else None
            seen = page == session.standing.pages.get(seat)
            if turn is not None:
                seen = (seat, turn) in session.standing.shown
            if not seen:
                with suppress(StoreError):
                    self.record_event("shown", session=session.id, seat=seat, turn=turn, page=page)

    def submit(
        self,
        session: Session,
        role: Role,
        turn: int,
        decision: Decision,
        presence: Presence = _UNKNOWN,
    ) -> None:
        """Accept answer number `turn` of `role` once.

        Else raise InvalidMove, NotAsked or AlreadyAnswered.
        """
        with self.changing(session):
            earlier = session.answer(role, turn)
            expected = session.turn(role)
            if earlier is not None and earlier.decision.stand_in:
                raise StoodIn(
                    "The time was up: a stand-in had answered for you, and this answer does not"
                    " count."
                )
            if turn < expected:
                raise AlreadyAnswered("You had answered this already; the first answer counts.")
            if turn > expected:
                raise NotAsked("This question has not been put yet; load the page again.")
            if not session.begun:
                raise NotAsked("the game has not begun; not everybody is ready")
            if session.discarded:
                raise NotAsked("the experimenter has restarted this game; load the page again")
            if session.standing.closed:
                raise NotAsked("this session was closed by the experimenter")
            self._keep_answer(session, role, turn, decision, presence)
            # Draws take no time, so nobody is shown the moment before them; the worker makes up for
            # one that fails.
            with suppress(StoreError):
                while NATURE in (asked := session.pending()):
                    drawn = Nature(session.seed).decide(session.episode.view(NATURE), asked[NATURE])
                    self._keep_answer(session, NATURE, session.turn(NATURE), drawn, _UNKNOWN)

    def _keep_answer(
        self, session: Session, role: Role, turn: int, decision: Decision, presence: Presence
    ) -> None:
        session.episode.submit(role, decision)
        seat = session.roles.index(role) if role in session.roles else -1
        shown = session.standing.shown.get((seat, turn))
        answered = read_clocks()
        timing = Timing(
            **asdict(presence),
            shown=None if shown is None else shown.at,
            answered=answered.at,
            spent=None if shown is None else shown.seconds_until(answered),
        )
        submission = session.episode.submissions[-1]
        try:
            self.journal.folder.submit(session.play, submission, asdict(timing))
        except StoreError:
            session.episode = Episode(session.game, session.episode.submissions[:-1])
            raise
        session.timings.append(timing)
        self._conclude(session)

    def _conclude(self, session: Session) -> None:
        """Write the record of a play that is over, once."""
        if session.begun and session.over and session.id not in self._recorded:
            players = dict(zip(session.roles, session.setup.seats, strict=True))
            record = session.episode.record(players)
            self.journal.finish(session.table, session.attempt, record, self._name_persons(session))
            self._recorded.add(session.id)

    def _name_persons(self, session: Session) -> dict[Role, str]:
        """Name the person in every seat that one has, the same in all parts of an experiment."""
        names = {}
        for seat in session.setup.persons:
            table, first = self.find_participant(session.id, seat)
            # A seat that was released and taken again has another person.
            holder = self.register.get(table, first)
            names[session.roles[seat]] = f"{table} {first} {holder.number}"
        return names

    def take_seat(
        self, lobby: str, labels: Mapping[str, str] | None = None, agreed: bool = False
    ) -> tuple[str, int]:
        """Take the next free seat of a person, group by group.

        Whoever has a label gets their own seat back.
        """
        labels = dict(labels or {})
        with self.lock:
            held = self.register.find(lobby, labels)
            if held is not None:
                return held
            free = self._choose_seat(self.get_lobby(lobby))
            if free is not None:
                number = self.register.get(*free).number + 1
                self.record_event(
                    "seated",
                    session=free[0],
                    seat=free[1],
                    holder=number,
                    labels=labels,
                    agreed=agreed,
                )
                return free
        raise NoSeatLeft(Cause("cause_full"))

    def _choose_seat(self, lobby: Lobby) -> tuple[str, int] | None:
        """Choose a free seat, in order or at random.

        The order is group by group, in the order of the seats. Seats are drawn at random if the
        experiment says so.
        """
        assignment = lobby.experiment.assignment
        groups_left = _MIXED if assignment.groups == "random" else 1
        free: list[Place] = []
        for table in lobby.first_tables:
            seats = self._list_free(table)
            free += [(table.id, seat) for seat in seats]
            groups_left -= bool(seats)
            if not groups_left:
                break
        if not free or assignment == Assignment():
            return free[0] if free else None
        chosen = generator(lobby.setup.seed, "seat", self.register.taken[lobby.id]).choice(free)
        if assignment.roles == "random":
            return chosen
        return next(address for address in free if address[0] == chosen[0])

    def _list_free(self, table: SessionTable) -> list[int]:
        """List the seats that the next person may take; none where the game has begun."""
        live = self.live.get(table.id)
        seen = live.seen if live else {}
        standing = self.standings[table.id]
        persons = table.setup.persons
        if not self.is_open(table.id) or not any(map(standing.is_awaited, persons)):
            return []
        free = []
        for seat in persons:
            is_free = self.register.is_free(table.id, seat, table.setup.hold, seen.get(seat))
            if is_free and seat not in standing.replaced:
                free.append(seat)
        return free

    def begin_without(self, session: Session) -> None:
        """Begin although people are missing; stand-ins answer for them until they are ready."""
        with self.changing(session):
            for seat in filter(session.standing.is_awaited, session.setup.persons):
                self.record_event("absent", session=session.id, seat=seat)

    def replace_person(self, session: Session, seat: int) -> None:
        """Let the stand-in of the setup play that seat from now on; the person cannot come back."""
        with self.changing(session):
            if (
                session.setup.seats[seat] != PERSON
                or session.ended
                or seat in session.standing.replaced
            ):
                return
            self.record_event("replaced", session=session.id, seat=seat)
        for name, later in self.list_later(session.id, seat):
            self.replace_person(self.get_session(name), later)

    def advance_person(self, session: Session, seat: int) -> None:
        """Have the page send what is typed, or let the stand-in answer, or begin without them."""
        with self.changing(session):
            role = session.roles[seat]
            if session.setup.seats[seat] != PERSON or session.ended:
                return
            if role in session.pending():
                session.advanced.setdefault((role, session.turn(role)), time.monotonic())
            elif session.standing.is_awaited(seat):
                self.record_event("absent", session=session.id, seat=seat)

    def close_table(self, session: Session) -> None:
        """End the session before its game is over; nobody is asked any more."""
        with self.changing(session):
            if session.ended:
                return
            self.record_event("closed", session=session.id)
        for name in self._list_later_tables(session):
            self.close_table(self.get_session(name))

    def restart_table(self, name: str) -> Session:
        """Begin the game of a table again, for the same people; UsageError where its play is over.

        The answers so far stay in the journal and in the export as those of an earlier attempt. A
        table that was closed is opened again with the later parts of its group; a person who was
        replaced stays replaced.
        """
        session = self.begin_attempt(name)
        for later in self._list_later_tables(session):
            if self.standings[later].closed:
                self.begin_attempt(later)
        return session

    def _list_later_tables(self, session: Session) -> list[str]:
        later: dict[str, None] = {}  # each once, in order
        for seat in session.setup.persons:
            for name, _ in self.list_later(session.id, seat):
                later[name] = None
        return list(later)

    def keep_chat(self, session: Session, seat: int, text: str) -> None:
        """Keep a message that a person has written to the group, and show it."""
        after = len(session.episode.submissions)
        with self.changing(session):
            self.record_event("chat", session=session.id, seat=seat, text=text, after=after)

    def send_message(self, session: Session, text: str) -> None:
        """Show a message of the experimenter to the whole table."""
        with self.changing(session):
            self.record_event("message", session=session.id, text=text)
