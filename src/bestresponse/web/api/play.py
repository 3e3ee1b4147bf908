"""What the pages of Play do, as JSON, described by OpenAPI; the other pages' calls are in the modules `api_*`.

The admin's calls carry the admin's token, a person's calls the token of one seat, both as `Authorization: Bearer ...`;
cookies open nothing here, so no other page can make a browser call it.
"""

from __future__ import annotations

import secrets
from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from pydantic.dataclasses import dataclass

from bestresponse.core.codec import submission_to_json
from bestresponse.core.errors import BestResponseError
from bestresponse.core.json import JsonObject
from bestresponse.players.lookup import list_strategies
from bestresponse.web.api.common import Closed, Name, describe_errors
from bestresponse.web.pages.lobby import act, send_message
from bestresponse.web.pages.play import create_experiment, create_sessions
from bestresponse.web.sessions.control import begin_without, take_seat
from bestresponse.web.sessions.games import list_offers, make_game
from bestresponse.web.sessions.lobby import Lobby
from bestresponse.web.sessions.register import read_labels
from bestresponse.web.sessions.session import Session, Table
from bestresponse.web.sessions.setup import CLOSED, PERSON, GameChoice, Groups, RoomRules, Seed, Setup
from bestresponse.web.sessions.state import AdminApi, Credentials, Server, ServerState, TooFast, refuse
from bestresponse.web.sessions.store import NotFound

__all__ = ["router"]

router = APIRouter(prefix="/api", responses=describe_errors(), tags=["play"])


@dataclass(frozen=True, config=CLOSED)
class LobbyIn(RoomRules):
    """Tables to be laid; seats in the order of the game's roles."""

    groups: Groups = 1
    seed: Seed | None = None


class ExperimentIn(Closed):
    """The text of an experiment file."""

    toml: str = Field(max_length=500_000)


class GameOut(BaseModel):
    """A game that can be chosen."""

    name: str
    kind: str
    description: str
    repeats: bool


class GameDetails(BaseModel):
    """Who can play a game, and what the first role reads."""

    roles: list[str]
    strategies: list[str]
    briefing: str


class JoinIn(Closed):
    """Labels that tell the participants apart; the same label always gets the same seat."""

    participant_label: str = Field("", max_length=200)
    PROLIFIC_PID: str = Field("", max_length=200)
    STUDY_ID: str = Field("", max_length=200)
    SESSION_ID: str = Field("", max_length=200)


class SeatLink(BaseModel):
    """A seat with its link; a seat that no person takes has none."""

    role: str
    seat: str
    token: str | None
    path: str | None
    participant: str | None


class SessionLinks(BaseModel):
    """A table with the links of its seats."""

    session: str
    group: int
    part: int
    treatment: str
    finished: bool
    seats: list[SeatLink]


class LobbyOut(BaseModel):
    """`join` is the path, `join_token` the token by which the next free seat is taken."""

    lobby: str
    game: str
    created: str
    join: str | None
    join_token: str | None
    sessions: list[SessionLinks]


class SeatState(BaseModel):
    """How far a seat is, as whoever laid the table may see it."""

    role: str
    seat: str
    participant: str | None
    state: str
    answers: int
    stand_ins: int
    payoff: float | None


class SessionOut(BaseModel):
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


class Seated(BaseModel):
    """The seat that was taken, with its token."""

    session: str
    seat: int
    token: str
    path: str


@router.get("/games", dependencies=[AdminApi])
def list_games() -> list[GameOut]:
    """Every game that can be chosen by name."""
    return [GameOut(name=o.name, kind=o.kind, description=o.description, repeats=o.repeats) for o in list_offers()]


@router.post("/games", dependencies=[AdminApi])
def describe_game(game: GameChoice) -> GameDetails:
    """The roles of a game, who can fill them, and what the first role is told."""
    found = make_game(game)
    briefing = found.view(found.start(), found.roles[0]).briefing
    return GameDetails(roles=list(found.roles), strategies=list(list_strategies(found)), briefing=briefing)


@router.get("/models", dependencies=[AdminApi])
def list_models(server: Server) -> list[str]:
    """The models that can be put into seats and asked for help."""
    return list(server.models)


@router.post("/lobbies", status_code=201, dependencies=[AdminApi])
def lay(server: Server, wanted: LobbyIn) -> LobbyOut:
    """Lay tables; the answer holds the link of every seat."""
    seed = secrets.randbelow(2**31) if wanted.seed is None else wanted.seed
    setup = Setup.seeded(wanted, seed)
    return _lobby(server, create_sessions(server, setup, wanted.groups))


@router.post("/experiments", status_code=201, dependencies=[AdminApi])
def create_from_file(server: Server, given: ExperimentIn) -> LobbyOut:
    """Create the sessions of an experiment file."""
    return _lobby(server, create_experiment(server, given.toml))


@router.get("/lobbies", dependencies=[AdminApi])
def list_lobbies(server: Server) -> list[LobbyOut]:
    """The newest first."""
    return [_lobby(server, lobby) for lobby in server.sessions.list_lobbies() if _is_known(lobby)]


@router.get("/lobbies/{lobby}", dependencies=[AdminApi])
def show_lobby(server: Server, lobby: Name) -> LobbyOut:
    """The tables that were laid together, with the link of every seat."""
    return _lobby(server, server.sessions.get_lobby(lobby))


@router.post("/lobbies/{lobby}/join", status_code=201)
def join(
    request: Request, server: Server, lobby: Name, credentials: Credentials, given: JoinIn | None = None
) -> Seated:
    """Take the next free seat. Needs the token of the lobby."""
    if not server.keys.opens(credentials.credentials if credentials else "", "lobby", lobby):
        refused = refuse(request, server)
        raise refused if isinstance(refused, TooFast) else NotFound("this link leads to no table")
    session, seat = take_seat(server.sessions, lobby, read_labels(given.model_dump()) if given else None)
    token = server.seat_token(session, seat)
    return Seated(session=session, seat=seat, token=token, path=server.seat_path(session, seat))


def _is_known(lobby: Lobby) -> bool:
    """Tell whether the game of the lobby is still there; a plug-in can be gone."""
    try:
        for table in lobby.tables:
            make_game(table.setup.game)
    except BestResponseError:
        return False
    return True


def _list_links(server: ServerState, table: Table) -> list[SeatLink]:
    people = table.setup.persons
    return [
        SeatLink(
            role=role,
            seat=table.setup.seats[seat],
            token=server.seat_token(table.id, seat) if seat in people else None,
            path=server.seat_path(table.id, seat) if seat in people else None,
            participant=server.code(table.id, seat) if seat in people else None,
        )
        for seat, role in enumerate(make_game(table.setup.game).roles)
    ]


def _lobby(server: ServerState, lobby: Lobby) -> LobbyOut:
    people = lobby.setup.persons
    return LobbyOut(
        lobby=lobby.id,
        game=lobby.title,
        created=lobby.created,
        join=server.join_path(lobby.id) if people else None,
        join_token=server.keys.token("lobby", lobby.id) if people else None,
        sessions=[
            SessionLinks(
                session=table.id,
                group=table.group,
                part=table.number,
                treatment=table.treatment,
                finished=server.sessions.is_finished(table.id),
                seats=_list_links(server, table),
            )
            for table in lobby.tables
        ],
    )


@router.get("/sessions/{session}", dependencies=[AdminApi])
def show_session(server: Server, session: Name) -> SessionOut:
    """Everything that happened at a table."""
    found = server.sessions.get_session(session)
    with found.lock:
        over = found.begun and found.over
        return SessionOut(
            session=found.id,
            game=found.setup.game.name,
            begun=found.begun,
            over=over,
            trouble=found.trouble,
            waiting_for=list(found.pending()),
            seats=[_state(server, found, seat, over) for seat in range(len(found.roles))],
            submissions=[submission_to_json(submission) for submission in found.episode.submissions],
            payoffs=found.payoffs() if over else None,
        )


def _state(server: ServerState, session: Session, seat: int, over: bool) -> SeatState:
    role, who = session.roles[seat], session.setup.seats[seat]
    return SeatState(
        role=role,
        seat=who,
        participant=server.code(session.id, seat) if who == PERSON else None,
        state=session.state(seat),
        answers=session.turn(role),
        stand_ins=session.stand_ins(role),
        payoff=session.payoffs().get(role) if over else None,
    )


class ActionIn(Closed):
    """What is done: for one seat, for one session, or without both for the whole lobby."""

    action: Literal["begin", "advance", "replace", "close", "restart"]
    session: str = Field("", max_length=80)
    seat: int | None = Field(None, ge=0, le=100)


class ActionOut(BaseModel):
    """How many seats or tables were concerned."""

    count: int


@router.post("/lobbies/{lobby}/actions", dependencies=[AdminApi])
def post_action(server: Server, lobby: Name, given: ActionIn) -> ActionOut:
    """Begin without the missing, advance, replace by a bot, close, or restart."""
    found = server.sessions.get_lobby(lobby)
    return ActionOut(count=act(server, found, given.action, given.session, given.seat))


class MessageIn(Closed):
    """A message to one session, or without one to the whole lobby."""

    text: str = Field(min_length=1, max_length=1000)
    session: str = Field("", max_length=80)


@router.post("/lobbies/{lobby}/messages", dependencies=[AdminApi])
def post_message(server: Server, lobby: Name, given: MessageIn) -> ActionOut:
    """Show a message to participants, at once and on every later page."""
    return ActionOut(count=send_message(server, server.sessions.get_lobby(lobby), given.text, given.session))


@router.post("/sessions/{session}/begin", dependencies=[AdminApi])
def begin_session(server: Server, session: Name) -> SessionOut:
    """Begin although people are missing; stand-ins answer for them until they are ready."""
    begin_without(server.sessions, server.sessions.get_session(session))
    return show_session(server, session)
