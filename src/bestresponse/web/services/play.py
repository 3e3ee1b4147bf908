"""What Play does, for pages and programs: games, tables and their seats, and what the experimenter does about them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Literal, get_args

from bestresponse.core.codec import submission_to_json
from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonObject
from bestresponse.players.lookup import list_strategies
from bestresponse.web.access import Name, Server, ServerState
from bestresponse.web.experiments.model import check_experiment, parse_experiment
from bestresponse.web.services.payments import compute_earnings
from bestresponse.web.sessions import control
from bestresponse.web.sessions.session import PHASES, Session, Table
from bestresponse.web.sessions.setup import PERSON, GameChoice, Setup, list_named_models, make_game
from bestresponse.web.sessions.store import BrokenSession, Lobby, NotFound

Action = Literal["begin", "advance", "replace", "close", "restart"]
_LONGEST_MESSAGE = 1000


@dataclass(frozen=True, slots=True)
class GameDetails:
    """Who can play a game, and what the first role reads."""

    roles: list[str]
    strategies: list[str]
    briefing: str


@dataclass(frozen=True, slots=True)
class LobbySummary:
    """A lobby at a glance: how many people it has seats for, and how many of its groups have finished."""

    lobby: str
    game: str
    created: str
    groups: int
    people: int
    finished: int


@dataclass(frozen=True, slots=True)
class SeatState:
    """A seat with its link, how far it is, and what its person sees; a seat that no person takes has no link.

    `on_page` are the seconds since the page was first shown, `seen` those since it was last heard of.
    """

    number: int
    role: str
    seat: str
    token: str | None
    path: str | None
    participant: str | None
    label: str
    state: str
    page: str
    on_page: int | None
    seen: int | None
    answers: int
    stand_ins: int
    payoff: float | None
    active: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TableState:
    """A table with its seats; `status` is gathering, in play, finished, closed or broken."""

    session: str
    group: int
    part: int
    name: str
    treatment: str
    status: str
    trouble: str = ""
    restarts: int = 0
    seats: list[SeatState] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState(TableState):
    """A table with every answer."""

    game: str
    waiting_for: list[str]
    submissions: list[JsonObject]
    payoffs: dict[str, float] | None


@dataclass(frozen=True, slots=True)
class LobbyState:
    """`join` is the path, `join_token` the token by which the next free seat is taken.

    Of `people` seats so many are `seated`, `ready` and `finished`; `money` is due to those who have finished.
    """

    lobby: str
    game: str
    created: str
    people: int
    seated: int
    ready: int
    finished: int
    money: float | None
    join: str | None
    join_token: str | None
    sessions: list[TableState]


def describe_choice(choice: GameChoice) -> GameDetails:
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
    for name in dict.fromkeys(name for setup in setups for name in list_named_models(setup)):
        server.model(name)


def summarize_lobby(server: ServerState, lobby: Lobby) -> LobbySummary:
    """Summarize a lobby without opening its tables."""
    over = sum(server.sessions.is_finished(table.id) for table in lobby.last_tables)
    groups = len(lobby.first_tables)
    return LobbySummary(lobby.id, lobby.title, lobby.created, groups, len(lobby.setup.persons) * groups, over)


def describe_lobby(server: ServerState, lobby: Lobby, tables: slice = slice(None)) -> LobbyState:
    """Describe some or all tables of a lobby with every seat."""
    sessions, people = server.sessions, lobby.setup.persons
    seats = [(table.id, seat) for table in lobby.first_tables for seat in people]
    holders = [holder for place in seats if (holder := sessions.register.get(*place)) and not holder.released]
    finished = [place for place in seats if place in sessions.finished]
    experiment = lobby.experiment
    paid = [compute_earnings(server, experiment, *place).total for place in finished if experiment.payment]
    return LobbyState(
        lobby.id,
        lobby.title,
        lobby.created,
        len(seats),
        len(holders),
        sum(holder.confirmed for holder in holders),
        len(finished),
        float(sum(paid)) if experiment.payment else None,
        server.join_path(lobby.id) if people else None,
        server.keys.token("lobby", lobby.id) if people else None,
        [_describe_table(server, table) for table in lobby.tables[tables]],
    )


def describe_session(server: Server, session: Name) -> SessionState:
    """Describe everything that happened at a table."""
    found = server.sessions.get_session(session)
    with found.lock:
        table = _describe_table(server, found.table)
        return SessionState(
            **{known.name: getattr(table, known.name) for known in fields(TableState)},
            game=found.setup.game.name,
            waiting_for=list(found.pending()),
            submissions=[submission_to_json(submission) for submission in found.episode.submissions],
            payoffs=found.payoffs() if found.begun and found.over else None,
        )


def _describe_table(server: ServerState, table: Table) -> TableState:
    part = f", part {table.number}: {table.part.name}" if table.part.name else ""
    about = TableState(
        session=table.id,
        group=table.group,
        part=table.number,
        name=f"Group {table.group}{part}",
        treatment=table.treatment,
        status="broken",
    )
    try:
        session = server.sessions.get_session(table.id)
    except BrokenSession as error:
        return replace(about, trouble=str(error))
    with session.lock:
        status = "in play" if session.begun else "gathering"
        if session.ended:
            status = "finished" if session.over else "closed"
        return replace(
            about,
            status=status,
            trouble="" if session.ended else session.trouble,
            restarts=session.attempt - 1,
            seats=[_describe_seat(server, session, seat) for seat in range(len(session.roles))],
        )


def _describe_seat(server: ServerState, session: Session, seat: int) -> SeatState:
    role, occupant, now = session.roles[seat], session.setup.seats[seat], time.monotonic()
    place, person = (session.id, seat), occupant == PERSON
    holder = server.sessions.register.get(*server.sessions.find_participant(*place))
    state = session.state(seat)
    if state == "not here yet" and holder is not None:
        state = "seated, not confirmed"
    version, since = session.pages.get(seat, ("", now))
    return SeatState(
        seat,
        role,
        occupant,
        server.seat_token(*place) if person else None,
        server.seat_path(*place) if person else None,
        server.code(*place) if person else None,
        holder.label if holder else "",
        state,
        next((page for phase, (_, page) in PHASES.items() if version.split(".")[0] == phase), ""),
        int(now - since) if version else None,
        int(now - session.seen[seat]) if seat in session.seen else None,
        session.turn(role),
        session.stand_ins(role),
        session.payoffs().get(role) if session.over and session.begun else None,
        person and not session.ended and seat not in session.standing.replaced,
    )


def broadcast(server: ServerState, lobby: Lobby, text: str, session: str = "") -> int:
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
