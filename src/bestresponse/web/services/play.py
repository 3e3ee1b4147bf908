"""What Play does, for pages and programs: games, tables, seats, and their control.

Control is what the experimenter does about them.
"""

import re
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

from bestresponse.core.codec import submission_to_json
from bestresponse.core.errors import UsageError
from bestresponse.games.logic.game import read_program_text
from bestresponse.players.lookup import list_strategies
from bestresponse.telling.render import write_rules
from bestresponse.web.access import Name, Server, ServerState
from bestresponse.web.experiments.reading import parse_experiment
from bestresponse.web.services.earnings import compute_earnings
from bestresponse.web.sessions.errors import BrokenSession, NotFound
from bestresponse.web.sessions.lobbies import Lobby
from bestresponse.web.sessions.session import PHASES, Session, SessionTable, find_label
from bestresponse.web.sessions.setup import PERSON, GameChoice, Setup, list_named_models, make_game

_OWN_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
Action = Literal["begin", "advance", "replace", "close", "restart"]
_LONGEST_MESSAGE = 1000


def list_own_games(output: Path) -> tuple[str, ...]:
    """List the names of the programs in the folder `games` of the output, in their order."""
    programs = sorted(output.glob("games/*.pl"))
    return tuple(path.stem for path in programs if _OWN_NAME.fullmatch(path.stem))


def read_own_game(output: Path, name: str) -> str:
    """Read the program of that name, which is looked up among those that are there."""
    if name not in list_own_games(output):
        raise UsageError(f"there is no saved game named {name!r}")
    return read_program_text(output / "games" / f"{name}.pl")


@dataclass(frozen=True, slots=True)
class LobbySummary:
    """A lobby at a glance: its seats for people, and how many groups have finished."""

    lobby: str
    game: str
    created: str
    groups: int
    people: int
    finished: int


@dataclass(frozen=True, slots=True)
class SeatState:
    """A seat with its link, how far it is, and what its person sees.

    A seat that no person takes has no link.

    `on_page` are the seconds since the page was first shown, `seen` those since it was last heard
    of.
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


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class LobbyState:
    """`join` is the path, `join_token` the token by which the next free seat is taken.

    Of `people` seats so many are `seated`, `ready` and `finished`; `money` is due to those who have
    finished.
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


def describe_choice(choice: GameChoice) -> dict[str, object]:
    """Describe the roles of a game, who can fill them, and what the first role is told."""
    game = make_game(choice)
    briefing = write_rules(game.view(game.start(), game.roles[0]))
    return {"roles": game.roles, "strategies": list_strategies(game), "briefing": briefing}


def create_sessions(server: ServerState, setup: Setup, groups: int) -> Lobby:
    """Create sessions; refuse a model that cannot be opened before anybody sits down."""
    _open_models(server, [setup])
    return server.sessions.create_sessions(setup, groups)


def create_experiment(server: ServerState, text: str, speed: int = 1) -> Lobby:
    """Create the sessions of an experiment file; refuse a model that cannot be opened."""
    _open_models(
        server, (part.setup for parts in parse_experiment(text)[1].values() for part in parts)
    )
    return server.sessions.create_experiment(text, speed)


def _open_models(server: ServerState, setups: Iterable[Setup]) -> None:
    for name in dict.fromkeys(name for setup in setups for name in list_named_models(setup)):
        server.model(name)


def summarize_lobby(server: ServerState, lobby: Lobby) -> LobbySummary:
    """Summarize a lobby without opening its tables."""
    last = lobby.tables[-1].number
    groups = len(lobby.first_tables)
    over = sum(
        server.sessions.is_finished(table.id) for table in lobby.tables if table.number == last
    )
    people = len(lobby.setup.persons) * groups
    return LobbySummary(
        lobby.id,
        lobby.experiment.title,
        created=lobby.created,
        groups=groups,
        people=people,
        finished=over,
    )


def describe_lobby(server: ServerState, lobby: Lobby, tables: slice = slice(None)) -> LobbyState:
    """Describe some or all tables of a lobby with every seat."""
    sessions = server.sessions
    people = lobby.setup.persons
    seats = [(table.id, seat) for table in lobby.first_tables for seat in people]
    holders = [
        holder
        for holder in (sessions.register.get(*address) for address in seats)
        if holder.is_here
    ]
    finished = [address for address in seats if address in sessions.finished]
    experiment = lobby.experiment
    paid = [
        compute_earnings(server, experiment, *address).total
        for address in finished
        if experiment.payment
    ]
    ready = sum(holder.confirmed for holder in holders)
    money = float(sum(paid)) if experiment.payment else None
    join, token = (
        (server.join_path(lobby.id), server.keys.token("lobby", lobby.id))
        if people
        else (None, None)
    )
    shown = [_describe_table(server, table) for table in lobby.tables[tables]]
    return LobbyState(
        lobby=lobby.id,
        game=experiment.title,
        created=lobby.created,
        people=len(seats),
        seated=len(holders),
        ready=ready,
        finished=len(finished),
        money=money,
        join=join,
        join_token=token,
        sessions=shown,
    )


def describe_session(server: Server, session: Name) -> dict[str, object]:
    """Describe a table with every answer."""
    opened = server.sessions.get_session(session)
    with opened.lock:
        answers = [submission_to_json(submission) for submission in opened.episode.submissions]
        payoffs = opened.payoffs() if opened.begun and opened.over else None
        course = {"waiting_for": list(opened.pending()), "submissions": answers, "payoffs": payoffs}
        return asdict(_describe_table(server, opened.table)) | {
            "game": opened.setup.game.name,
            **course,
        }


def _describe_table(server: ServerState, table: SessionTable) -> TableState:
    part = f", part {table.number}: {table.part.name}" if table.part.name else ""
    name = f"Group {table.group}{part}"
    about = TableState(
        table.id,
        table.group,
        part=table.number,
        name=name,
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
        trouble = "" if session.ended else session.trouble
        seats = [_describe_seat(server, session, seat) for seat in range(len(session.roles))]
        return replace(
            about, status=status, trouble=trouble, restarts=session.attempt - 1, seats=seats
        )


def _describe_seat(server: ServerState, session: Session, seat: int) -> SeatState:
    role = session.roles[seat]
    occupant = session.setup.seats[seat]
    now = time.monotonic()
    address = (session.id, seat)
    person = occupant == PERSON
    holder = server.sessions.register.get(*server.sessions.find_participant(*address))
    state = session.state(seat)
    if state == "not here yet" and holder.is_here:
        state = "seated, not confirmed"
    version, since = session.pages.get(seat, ("", now))
    page = next((page for phase, (_, page) in PHASES.items() if version.split(".")[0] == phase), "")
    on_page = int(now - since) if version else None
    seen = int(now - session.seen[seat]) if seat in session.seen else None
    token, path = (
        (server.seat_token(*address), server.seat_path(*address)) if person else (None, None)
    )
    payoff = session.payoffs().get(role) if session.over and session.begun else None
    active = person and not session.ended and seat not in session.standing.replaced
    return SeatState(
        number=seat,
        role=role,
        seat=occupant,
        token=token,
        path=path,
        participant=server.code(*address) if person else None,
        label="" if holder.released else find_label(holder.labels),
        state=state,
        page=page,
        on_page=on_page,
        seen=seen,
        answers=session.turn(role),
        stand_ins=session.stand_ins(role),
        payoff=payoff,
        active=active,
    )


def broadcast(server: ServerState, lobby: Lobby, text: str, session: str = "") -> int:
    """Send a message to the people of one session or of all that are not over.

    Returns how many tables got it.
    """
    words = text.strip()
    if not words or len(words) > _LONGEST_MESSAGE:
        raise UsageError(
            f"the message has {len(words):,} characters; expected 1 to {_LONGEST_MESSAGE:,}"
        )
    tables = _open_tables(server, lobby, session)
    for table in tables:
        server.sessions.send_message(table, words)
    return len(tables)


def _open_tables(server: ServerState, lobby: Lobby, session: str) -> list[Session]:
    """Open one session or all of a lobby that are not over.

    One that cannot be rebuilt is left out.
    """
    opened: list[Session] = []
    for table in lobby.tables:
        found = server.sessions.find_session(table.id) if session in ("", table.id) else None
        if found is not None and not found.ended:
            opened.append(found)
    return opened


def act(
    server: ServerState, lobby: Lobby, action: str, session: str = "", seat: int | None = None
) -> int:
    """Do it for one seat, for all people at one table, or for the whole lobby.

    Returns how many were concerned.

    A session that cannot be rebuilt is left as it is, unless it is restarted.
    """
    if action not in get_args(Action):
        raise UsageError(f"{action[:40]!r} cannot be done; expected {', '.join(get_args(Action))}")
    if session and session not in [table.id for table in lobby.tables]:
        raise NotFound("there is no such session in this lobby")
    tables = _open_tables(server, lobby, session)
    if action in ("advance", "replace"):
        return _act_on_people(server, action, tables, session, seat)
    return _act_on_tables(server, action, tables, session)


def _act_on_tables(server: ServerState, action: str, tables: list[Session], session: str) -> int:
    match action:
        case "close":
            for table in tables:
                server.sessions.close_table(table)
            return len(tables)
        case "begin":
            waiting = [table for table in _leave_out_empty(tables, session) if not table.begun]
            for table in waiting:
                server.sessions.begin_without(table)
            return len(waiting)
        case _:
            names = [session] if session else [table.id for table in tables if table.begun]
            for name in names:
                server.sessions.restart_table(name)
            return len(names)


def _act_on_people(
    server: ServerState, action: str, tables: list[Session], session: str, seat: int | None
) -> int:
    if action == "replace":
        people = _list_people(tables, seat)
        for table, person in people:
            server.sessions.replace_person(table, person)
        return len(people)
    late = [
        (table, person)
        for table, person in _list_people(_leave_out_empty(tables, session), seat)
        if not table.begun or table.roles[person] in table.pending()
    ]
    for table, person in late:
        server.sessions.advance_person(table, person)
    return len(late)


def _leave_out_empty(tables: list[Session], session: str) -> list[Session]:
    """Keep the tables somebody has come to, unless one table was named.

    Otherwise stand-ins would play out empty groups and later games before anybody has come to them.
    """
    if session:
        return tables
    return [table for table in tables if table.begun or table.standing.ready]


def _list_people(tables: list[Session], seat: int | None) -> list[tuple[Session, int]]:
    """List the seats that people hold, or the one seat that was named, at each table."""
    return [
        (table, person)
        for table in tables
        for person in table.setup.persons
        if seat in (None, person) and person not in table.standing.replaced
    ]
