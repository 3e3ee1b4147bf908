"""What the pages of Play do, as JSON, described by OpenAPI.

The admin's calls carry the admin's token, a person's calls the token of one seat, both as `Authorization: Bearer ...`.
"""

from __future__ import annotations

import secrets

from fastapi import APIRouter
from pydantic import BaseModel, Field
from pydantic.dataclasses import dataclass

from bestresponse.web.access import AdminApi, LobbyDoor, Name, Server
from bestresponse.web.api.common import Closed, describe_errors
from bestresponse.web.services import play
from bestresponse.web.services.play import Action, GameDetails, LobbyLinks, SessionState
from bestresponse.web.sessions.control import begin_without, take_seat
from bestresponse.web.sessions.games import Offer, list_offers
from bestresponse.web.sessions.register import read_labels
from bestresponse.web.sessions.setup import CLOSED, GameChoice, Groups, RoomRules, Seed, Setup

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


class JoinIn(Closed):
    """Labels that tell the participants apart; the same label always gets the same seat."""

    participant_label: str = Field("", max_length=200)
    PROLIFIC_PID: str = Field("", max_length=200)
    STUDY_ID: str = Field("", max_length=200)
    SESSION_ID: str = Field("", max_length=200)


class Seated(BaseModel):
    """The seat that was taken, with its token."""

    session: str
    seat: int
    token: str
    path: str


class ActionIn(Closed):
    """What is done: for one seat, for one session, or without both for the whole lobby."""

    action: Action
    session: str = Field("", max_length=80)
    seat: int | None = Field(None, ge=0, le=100)


class MessageIn(Closed):
    """A message to one session, or without one to the whole lobby."""

    text: str = Field(min_length=1, max_length=1000)
    session: str = Field("", max_length=80)


class ActionOut(BaseModel):
    """How many seats or tables were concerned."""

    count: int


@router.get("/games", dependencies=[AdminApi])
def list_games() -> list[Offer]:
    """Every game that can be chosen by name."""
    return list(list_offers())


@router.post("/games", dependencies=[AdminApi])
def describe_game(game: GameChoice) -> GameDetails:
    """The roles of a game, who can fill them, and what the first role is told."""
    return play.describe_game(game)


@router.get("/models", dependencies=[AdminApi])
def list_models(server: Server) -> list[str]:
    """The models that can be put into seats and asked for help."""
    return list(server.models)


@router.post("/lobbies", status_code=201, dependencies=[AdminApi])
def lay(server: Server, wanted: LobbyIn) -> LobbyLinks:
    """Lay tables; the answer holds the link of every seat."""
    setup = Setup.seeded(wanted, secrets.randbelow(2**31) if wanted.seed is None else wanted.seed)
    return play.list_links(server, play.create_sessions(server, setup, wanted.groups))


@router.post("/experiments", status_code=201, dependencies=[AdminApi])
def create_from_file(server: Server, given: ExperimentIn) -> LobbyLinks:
    """Create the sessions of an experiment file."""
    return play.list_links(server, play.create_experiment(server, given.toml))


@router.get("/lobbies", dependencies=[AdminApi])
def list_lobbies(server: Server) -> list[LobbyLinks]:
    """The newest first."""
    return play.list_lobbies(server)


@router.get("/lobbies/{lobby}", dependencies=[AdminApi])
def show_lobby(server: Server, lobby: Name) -> LobbyLinks:
    """The tables that were laid together, with the link of every seat."""
    return play.list_links(server, server.sessions.get_lobby(lobby))


@router.post("/lobbies/{lobby}/join", status_code=201)
def join(server: Server, lobby: LobbyDoor, given: JoinIn | None = None) -> Seated:
    """Take the next free seat. Needs the token of the lobby."""
    session, seat = take_seat(server.sessions, lobby, read_labels(given.model_dump()) if given else None)
    token, path = server.seat_token(session, seat), server.seat_path(session, seat)
    return Seated(session=session, seat=seat, token=token, path=path)


@router.get("/sessions/{session}", dependencies=[AdminApi])
def show_session(server: Server, session: Name) -> SessionState:
    """Everything that happened at a table."""
    return play.describe_session(server, session)


@router.post("/lobbies/{lobby}/actions", dependencies=[AdminApi])
def post_action(server: Server, lobby: Name, given: ActionIn) -> ActionOut:
    """Begin without the missing, advance, replace by a bot, close, or restart."""
    found = server.sessions.get_lobby(lobby)
    return ActionOut(count=play.act(server, found, given.action, given.session, given.seat))


@router.post("/lobbies/{lobby}/messages", dependencies=[AdminApi])
def post_message(server: Server, lobby: Name, given: MessageIn) -> ActionOut:
    """Show a message to participants, at once and on every later page."""
    return ActionOut(count=play.send_message(server, server.sessions.get_lobby(lobby), given.text, given.session))


@router.post("/sessions/{session}/begin", dependencies=[AdminApi])
def begin_session(server: Server, session: Name) -> SessionState:
    """Begin although people are missing; stand-ins answer for them until they are ready."""
    begin_without(server.sessions, server.sessions.get_session(session))
    return play.describe_session(server, session)
