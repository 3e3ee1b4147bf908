"""What Play does, for pages and programs: games, tables and their seats, and what the experimenter does about them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from bestresponse.core.codec import submission_to_json
from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.core.json import JsonObject
from bestresponse.players.lookup import list_strategies
from bestresponse.web.access import ServerState
from bestresponse.web.experiments.reading import check_experiment, parse_experiment
from bestresponse.web.sessions import control
from bestresponse.web.sessions.games import list_models, make_game
from bestresponse.web.sessions.lobby import Lobby
from bestresponse.web.sessions.session import PHASES, Session, Table
from bestresponse.web.sessions.setup import PERSON, GameChoice, Setup
from bestresponse.web.sessions.store import BrokenSession, NotFound

__all__ = [
    "Action", "GameDetails", "LobbyLinks", "MonitoredSeat", "SeatState", "SessionState", "act", "create_experiment",
    "create_sessions", "describe_game", "describe_session", "list_links", "list_lobbies", "monitor_seats",
    "send_message",
]  # fmt: skip

Action = Literal["begin", "advance", "replace", "close", "restart"]
_LONGEST_MESSAGE = 1000


@dataclass(frozen=True, slots=True)
class GameDetails:
    """Who can play a game, and what the first role reads."""

    roles: list[str]
    strategies: list[str]
    briefing: str


@dataclass(frozen=True, slots=True)
class SeatLink:
    """A seat with its link; a seat that no person takes has none."""

    role: str
    seat: str
    token: str | None
    path: str | None
    participant: str | None


@dataclass(frozen=True, slots=True)
class SessionLinks:
    """A table with the links of its seats."""

    session: str
    group: int
    part: int
    treatment: str
    finished: bool
    seats: list[SeatLink]


@dataclass(frozen=True, slots=True)
class LobbyLinks:
    """`join` is the path, `join_token` the token by which the next free seat is taken."""

    lobby: str
    game: str
    created: str
    join: str | None
    join_token: str | None
    sessions: list[SessionLinks]


@dataclass(frozen=True, slots=True)
class SeatState:
    """How far a seat is, as whoever laid the table may see it."""

    role: str
    seat: str
    participant: str | None
    state: str
    answers: int
    stand_ins: int
    payoff: float | None


@dataclass(frozen=True, slots=True)
class MonitoredSeat(SeatState):
    """A seat with what the person sees, for how many seconds, and how long ago their page was last heard of."""

    number: int
    path: str
    label: str
    page: str
    on_page: int | None
    seen: int | None
    active: bool


@dataclass(frozen=True, slots=True)
class SessionState:
    """A table: how far it is, who is waited for, and every answer."""

    session: str
    game: str
    begun: bool
    over: bool
    trouble: str
    waiting_for: list[str]
    seats: list[SeatState]
    submissions: list[JsonObject]
    payoffs: dict[str, float] | None


def describe_game(choice: GameChoice) -> GameDetails:
    """Describe the roles of a game, who can fill them, and what the first role is told."""
    game = make_game(choice)
    briefing = game.view(game.start(), game.roles[0]).briefing
    return GameDetails(list(game.roles), list(list_strategies(game)), briefing)


def create_sessions(server: ServerState, setup: Setup, groups: int) -> Lobby:
    """Create sessions; refuse a model that cannot be opened before anybody sits down."""
    _open_models(server, [setup])
    return server.sessions.create_sessions(setup, groups)


def create_experiment(server: ServerState, text: str) -> Lobby:
    """Create the sessions of an experiment file; refuse a model that cannot be opened."""
    check_experiment(text)
    _open_models(server, (part.setup for parts in parse_experiment(text)[1].values() for part in parts))
    return server.sessions.create_experiment(text)


def _open_models(server: ServerState, setups: Iterable[Setup]) -> None:
    for name in dict.fromkeys(name for setup in setups for name in list_models(setup)):
        server.model(name)


def list_lobbies(server: ServerState) -> list[LobbyLinks]:
    """List all lobbies with their links, the newest first; one whose game is gone with its plug-in is left out."""
    listed: list[LobbyLinks] = []
    for lobby in server.sessions.list_lobbies():
        try:
            listed.append(list_links(server, lobby))
        except BestResponseError:
            continue
    return listed


def list_links(server: ServerState, lobby: Lobby) -> LobbyLinks:
    """List the tables of a lobby with the link of every seat."""
    people = lobby.setup.persons
    return LobbyLinks(
        lobby.id,
        lobby.title,
        lobby.created,
        server.join_path(lobby.id) if people else None,
        server.keys.token("lobby", lobby.id) if people else None,
        [
            SessionLinks(
                table.id,
                table.group,
                table.number,
                table.treatment,
                server.sessions.is_finished(table.id),
                [_link_seat(server, table, seat, role) for seat, role in enumerate(make_game(table.setup.game).roles)],
            )
            for table in lobby.tables
        ],
    )


def _link_seat(server: ServerState, table: Table, seat: int, role: str) -> SeatLink:
    place, occupant = (table.id, seat), table.setup.seats[seat]
    keys = (server.seat_token(*place), server.seat_path(*place), server.code(*place))
    return SeatLink(role, occupant, *(keys if occupant == PERSON else (None, None, None)))


def describe_session(server: ServerState, name: str) -> SessionState:
    """Describe everything that happened at a table."""
    session = server.sessions.get_session(name)
    with session.lock:
        over = session.begun and session.over
        return SessionState(
            session.id,
            session.setup.game.name,
            session.begun,
            over,
            session.trouble,
            list(session.pending()),
            list(monitor_seats(server, session)),
            [submission_to_json(submission) for submission in session.episode.submissions],
            session.payoffs() if over else None,
        )


def monitor_seats(server: ServerState, session: Session) -> list[MonitoredSeat]:
    """Describe every seat of a table as it is now; the caller holds the lock of the session."""
    return [_monitor_seat(server, session, seat) for seat in range(len(session.roles))]


def _monitor_seat(server: ServerState, session: Session, seat: int) -> MonitoredSeat:
    role, occupant, now = session.roles[seat], session.setup.seats[seat], time.monotonic()
    person = occupant == PERSON
    holder = server.sessions.register.get(*server.sessions.find_participant(session.id, seat))
    state = session.state(seat)
    if state == "not here yet" and holder is not None:
        state = "seated, not confirmed"
    version, since = session.pages.get(seat, ("", now))
    return MonitoredSeat(
        role,
        occupant,
        server.code(session.id, seat) if person else None,
        state,
        session.turn(role),
        session.stand_ins(role),
        session.payoffs().get(role) if session.over and session.begun else None,
        seat,
        server.seat_path(session.id, seat) if person else "",
        holder.label if holder else "",
        next((page for phase, (_, page) in PHASES.items() if version.split(".")[0] == phase), ""),
        int(now - since) if version else None,
        int(now - session.seen[seat]) if seat in session.seen else None,
        person and not session.ended and seat not in session.standing.replaced,
    )


def send_message(server: ServerState, lobby: Lobby, text: str, session: str = "") -> int:
    """Send a message to the people of one session or of all that are not over; returns how many tables got it."""
    words = text.strip()
    if not words or len(words) > _LONGEST_MESSAGE:
        raise UsageError(f"the message has {len(words):,} characters; expected 1 to {_LONGEST_MESSAGE:,}")
    tables = [table for table in _open_tables(server, lobby, session) if not table.ended]
    for table in tables:
        control.send_message(server.sessions, table, None, words)
    return len(tables)


def _open_tables(server: ServerState, lobby: Lobby, session: str) -> list[Session]:
    """Open one session or all of a lobby; one that cannot be rebuilt is left out."""
    opened: list[Session] = []
    for table in lobby.tables:
        if session in ("", table.id):
            try:
                opened.append(server.sessions.get_session(table.id))
            except BrokenSession:
                continue
    return opened


def act(server: ServerState, lobby: Lobby, action: str, session: str = "", seat: int | None = None) -> int:
    """Do it for one seat, for all people at one table, or for the whole lobby; returns how many were concerned.

    A session that cannot be rebuilt is left as it is, unless it is restarted.
    """
    if action not in get_args(Action):
        raise UsageError(f"{action[:40]!r} cannot be done; expected {', '.join(get_args(Action))}")
    if session and session not in [table.id for table in lobby.tables]:
        raise NotFound("there is no such session in this lobby")
    tables = [table for table in _open_tables(server, lobby, session) if not table.ended]
    if action == "restart":
        chosen = [session] if session else [table.id for table in tables if table.begun]
        return len([control.restart(server.sessions, name) for name in chosen])
    return sum(_act_on(server, table, action, seat) for table in tables)


def _act_on(server: ServerState, session: Session, action: str, seat: int | None) -> int:
    if action == "close":
        control.close(server.sessions, session)
        return 1
    if action == "begin":
        waited = not session.begun
        control.begin_without(server.sessions, session)
        return int(waited)
    people = [one for one in session.setup.persons if seat in (None, one) and one not in session.standing.replaced]
    if action == "advance":
        people = [one for one in people if not session.begun or session.roles[one] in session.pending()]
    for one in people:
        (control.advance if action == "advance" else control.replace)(server.sessions, session, one)
    return len(people)
