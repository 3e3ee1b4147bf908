"""What the pages do, as JSON, described by OpenAPI.

The admin's calls carry the admin's token, a person's calls the token of one seat, both as `Authorization: Bearer ...`;
cookies open nothing here, so no other page can make a browser call it.
"""

from __future__ import annotations

import secrets
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from bestresponse.core.codec import ask_to_json, submission_to_json
from bestresponse.core.errors import UsageError
from bestresponse.core.player import Decision
from bestresponse.web.desk import AdminApi, Desk, Here, SeatApi, Sitting
from bestresponse.web.games import game_of, offers
from bestresponse.web.house import Lobby
from bestresponse.web.pages_export import file_of
from bestresponse.web.pages_play import lay_tables
from bestresponse.web.pages_seat import try_ready
from bestresponse.web.quiz import questions
from bestresponse.web.seats import strategies_for
from bestresponse.web.setup import GameChoice, Setup

__all__ = ["Closed", "Name", "problems", "router"]


def problems() -> dict[int | str, dict[str, Any]]:
    """What a call answers where it does not work: a sentence."""
    schema = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
    told = {"description": "A sentence that says what is wrong", "content": {"application/json": {"schema": schema}}}
    return dict.fromkeys((400, 403, 404, 409, 413, 422, 429, 503), told)


router = APIRouter(prefix="/api", responses=problems())

Name = Annotated[str, Path(max_length=80)]
SeatNumber = Annotated[int, Path(ge=0, le=999)]
Answer = str | float | list[float] | dict[str, str | float | list[float]]


class Closed(BaseModel):
    """What is sent to us has these fields and no others."""

    model_config = ConfigDict(extra="forbid")


class GameIn(Closed):
    """A game by name, or the text of a logic program."""

    name: str = Field(max_length=80)
    program: str = Field("", max_length=100_000)
    rounds: int = Field(1, ge=1, le=200)
    mixed: bool = False

    def choice(self) -> GameChoice:
        return GameChoice(self.name, self.program, self.rounds, self.mixed)


class LobbyIn(Closed):
    """Tables to be laid; seats in the order of the game's roles."""

    game: GameIn
    seats: list[Annotated[str, Field(max_length=200)]] = Field(max_length=100)
    groups: int = Field(1, ge=1, le=500)
    seconds: int = Field(0, ge=0, le=86_400)
    stand_in: str = Field("random", max_length=80)
    consent: str = Field("", max_length=20_000)
    quiz: bool = True
    seed: int | None = Field(None, ge=0, lt=2**31)


class ReadyIn(Closed):
    """The answers to the quiz and whether the consent text is agreed to."""

    agreed: bool = False
    quiz: list[Annotated[str, Field(max_length=100)]] = Field(default_factory=list, max_length=20)


class AnswerIn(Closed):
    """An answer to the question number `turn`."""

    turn: int = Field(ge=0, le=10**6)
    answer: Answer
    why: str = Field("", max_length=2000)


class GameOut(BaseModel):
    name: str
    kind: str
    description: str


class GameDetails(BaseModel):
    roles: list[str]
    strategies: list[str]
    briefing: str


class SeatLink(BaseModel):
    role: str
    seat: str
    token: str | None
    path: str | None
    participant: str | None


class SessionLinks(BaseModel):
    session: str
    group: int
    seats: list[SeatLink]


class LobbyOut(BaseModel):
    lobby: str
    game: str
    created: str
    join: str | None
    sessions: list[SessionLinks]


class SessionOut(BaseModel):
    session: str
    game: str
    begun: bool
    over: bool
    trouble: str
    waiting_for: list[str]
    submissions: list[dict[str, Any]]
    payoffs: dict[str, float] | None


class SeatOut(BaseModel):
    """What the person in a seat may know, and what is asked; `version` changes whenever any of it does."""

    role: str
    participant: str
    version: str
    phase: str
    briefing: str
    situation: str
    notes: list[str]
    turn: int
    ask: dict[str, Any] | None
    seconds_left: float | None
    consent: str
    quiz: list[str]
    payoffs: dict[str, float] | None


@router.get("/games", dependencies=[AdminApi])
def list_games() -> list[GameOut]:
    """Every game that can be chosen by name."""
    return [GameOut(name=offer.name, kind=offer.kind, description=offer.description) for offer in offers()]


@router.post("/games", dependencies=[AdminApi])
def describe_game(game: GameIn) -> GameDetails:
    """The roles of a game, who can fill them, and what the first role is told."""
    found = game_of(game.choice())
    briefing = found.view(found.start(), found.roles[0]).briefing
    return GameDetails(roles=list(found.roles), strategies=list(strategies_for(found)), briefing=briefing)


@router.post("/lobbies", status_code=201, dependencies=[AdminApi])
def lay(desk: Here, wanted: LobbyIn) -> LobbyOut:
    """Lay tables; the answer holds the link of every seat."""
    seed = secrets.randbelow(2**31) if wanted.seed is None else wanted.seed
    setup = Setup(
        wanted.game.choice(), tuple(wanted.seats), wanted.seconds, wanted.stand_in, wanted.consent, wanted.quiz, seed
    )
    return _lobby(desk, lay_tables(desk, setup, wanted.groups))


@router.get("/lobbies", dependencies=[AdminApi])
def list_lobbies(desk: Here) -> list[LobbyOut]:
    """The newest first."""
    return [_lobby(desk, lobby) for lobby in desk.house.lobbies()]


@router.get("/lobbies/{lobby}", dependencies=[AdminApi])
def show_lobby(desk: Here, lobby: Name) -> LobbyOut:
    return _lobby(desk, desk.house.lobby(lobby))


def _lobby(desk: Desk, lobby: Lobby) -> LobbyOut:
    roles = game_of(lobby.setup.game).roles
    people = lobby.setup.persons

    def links(session: str) -> list[SeatLink]:
        return [
            SeatLink(
                role=role,
                seat=lobby.setup.seats[seat],
                token=desk.keys.token("seat", session, seat) if seat in people else None,
                path=desk.seat_path(session, seat) if seat in people else None,
                participant=desk.code(session, seat) if seat in people else None,
            )
            for seat, role in enumerate(roles)
        ]

    sessions = [SessionLinks(session=table.id, group=table.group, seats=links(table.id)) for table in lobby.tables]
    join = desk.join_path(lobby.id) if people else None
    return LobbyOut(
        lobby=lobby.id, game=lobby.setup.game.name, created=lobby.created, join=join, sessions=sessions
    )  # fmt: skip


@router.get("/sessions/{session}", dependencies=[AdminApi])
def show_session(desk: Here, session: Name) -> SessionOut:
    """Everything that happened at a table."""
    found = desk.house.session(session)
    with found.lock:
        over = found.begun and found.over
        return SessionOut(
            session=found.id,
            game=found.setup.game.name,
            begun=found.begun,
            over=over,
            trouble=found.trouble,
            waiting_for=list(found.pending()),
            submissions=[submission_to_json(submission) for submission in found.episode.submissions],
            payoffs=dict(found.game.payoffs(found.episode.state)) if over else None,
        )


@router.post("/sessions/{session}/begin", dependencies=[AdminApi])
def begin_without(desk: Here, session: Name) -> SessionOut:
    """Begin although people are missing; stand-ins answer for them until they come."""
    desk.house.begin_without(desk.house.session(session))
    return show_session(desk, session)


@router.get("/seats/{session}/{seat}")
async def show_seat(desk: Here, sitting: SeatApi) -> SeatOut:
    """What the person in that seat may know. Needs the token of the seat."""
    return _seat(desk, sitting)


def _seat(desk: Desk, sitting: Sitting) -> SeatOut:
    session, seat = sitting.session, sitting.seat
    with session.lock:
        phase = session.phase(seat)
        view = session.episode.view(sitting.role)
        ask = session.pending().get(sitting.role)
        asked = phase == "welcome" and session.setup.quiz
        return SeatOut(
            role=sitting.role,
            participant=desk.code(session.id, seat),
            version=session.version(seat),
            phase=phase,
            briefing=view.briefing,
            situation=view.situation,
            notes=list(view.notes),
            turn=session.turn(sitting.role),
            ask=ask_to_json(ask) if ask else None,
            seconds_left=session.seconds_left(seat),
            consent=session.setup.consent,
            quiz=[question.text for question in questions(session.game, seat, session.seed)] if asked else [],
            payoffs=dict(session.game.payoffs(session.episode.state)) if phase == "over" else None,
        )


@router.post("/seats/{session}/{seat}/ready")
async def make_ready(desk: Here, sitting: SeatApi, given: ReadyIn) -> SeatOut:
    """Say that the rules are understood; the game begins when everybody has."""
    wrong = try_ready(desk, sitting, given.quiz, given.agreed)
    if wrong:
        raise UsageError("; ".join(f"{which}: {why}" for which, why in wrong.items()))
    return _seat(desk, sitting)


@router.post("/seats/{session}/{seat}/answers")
async def answer(desk: Here, sitting: SeatApi, given: AnswerIn) -> SeatOut:
    """Answer the question number `turn`; the same answer twice is refused and changes nothing."""
    action: Any = tuple(given.answer) if isinstance(given.answer, list) else given.answer
    desk.house.submit(sitting.session, sitting.role, given.turn, Decision(action, given.why))
    return _seat(desk, sitting)


@router.get("/runs", dependencies=[AdminApi])
def list_runs(desk: Here) -> list[dict[str, Any]]:
    """All runs with their progress and cost."""
    return [asdict(run) for run in desk.runs.all()]


@router.get("/runs/{run}", dependencies=[AdminApi])
def show_run(desk: Here, run: Name) -> dict[str, Any]:
    """The progress of a run and its manifest."""
    return {**asdict(desk.runs.progress(run)), "manifest": desk.runs.folder(run).manifest.to_json()}


@router.get("/export/{table}.{form}", dependencies=[AdminApi], response_class=Response)
def export(desk: Here, table: Name, form: Name) -> Response:
    """`decisions` or `participants` as csv, json or parquet."""
    return file_of(desk, table, form)
