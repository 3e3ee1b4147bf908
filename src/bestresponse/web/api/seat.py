"""What a person's own page does, as JSON. Every call needs the token of the seat, and tells that seat's view alone."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from bestresponse.core.codec import ask_to_json
from bestresponse.core.errors import NotAsked, UsageError
from bestresponse.core.json import JsonObject
from bestresponse.core.player import Decision
from bestresponse.web.api.common import BlockOut, Closed, Wait, describe_errors, serialize_blocks
from bestresponse.web.pages.seat import try_ready
from bestresponse.web.pages.seat_view import describe_rules
from bestresponse.web.sessions.announcements import list_announcements
from bestresponse.web.sessions.ending import describe_equilibria
from bestresponse.web.sessions.quiz import list_questions
from bestresponse.web.sessions.state import SeatApi, SeatContext, Server, ServerState

__all__ = ["router"]

router = APIRouter(prefix="/api/seats/{session}/{seat}", responses=describe_errors(), tags=["seat"])
Answer = str | float | list[float] | dict[str, str | float | list[float]]
_LOOK = 0.2


class ReadyIn(Closed):
    """The answers to the quiz and whether the consent text is agreed to."""

    agreed: bool = False
    quiz: list[Annotated[str, Field(max_length=100)]] = Field(default_factory=list, max_length=20)


class AnswerIn(Closed):
    """An answer to the question number `turn`, of that attempt where the game was restarted."""

    turn: int = Field(ge=0, le=10**6)
    attempt: int = Field(1, ge=1, le=10**6)
    answer: Answer
    why: str = Field("", max_length=2000)


class RemarkIn(Closed):
    """What the person wants to say when the game is over."""

    remark: str = Field(min_length=1, max_length=2000)


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
    attempt: int
    ask: JsonObject | None
    seconds_left: float | None
    consent: str
    quiz: list[str]
    missing: int
    stand_ins: int
    announcements: list[str]
    payoffs: dict[str, float] | None


class EndingOut(BaseModel):
    """What the equilibrium would have been."""

    blocks: list[BlockOut]


@router.get("")
async def show_seat(
    server: Server, context: SeatApi, after: Annotated[str, Query(max_length=100)] = "", wait: Wait = 0
) -> SeatOut:
    """What the person in that seat may know.

    With `after`, the version known already, the answer waits up to `wait` seconds for another one.
    """
    session, seat = context.session, context.seat
    end = time.monotonic() + wait
    while session.version(seat) == after and time.monotonic() < end:
        await asyncio.sleep(_LOOK)
        session.touch(seat)
    return _seat(server, context)


def _seat(server: ServerState, context: SeatContext) -> SeatOut:
    session, seat = context.session, context.seat
    with session.lock:
        phase = session.phase(seat)
        view = session.episode.view(context.role)
        ask = session.pending().get(context.role) if phase == "turn" else None
        server.sessions.note_shown(session, seat)
        session.note_page(seat)
        quiz = list_questions(session, seat) if phase == "welcome" else ()
        return SeatOut(
            role=context.role,
            participant=server.code(session.id, seat),
            version=session.version(seat),
            phase=phase,
            briefing=describe_rules(session, view).text,
            situation=view.situation,
            notes=list(view.notes),
            turn=session.turn(context.role),
            attempt=session.attempt,
            ask=ask_to_json(ask) if ask else None,
            seconds_left=session.seconds_left(seat),
            consent=session.setup.consent if session.table.number == 1 else "",
            quiz=[question.text for question in quiz],
            missing=session.missing,
            stand_ins=session.stand_ins(context.role),
            announcements=list_announcements(session, seat),
            payoffs=session.payoffs() if phase == "over" else None,
        )


@router.post("/ready")
async def make_ready(server: Server, context: SeatApi, given: ReadyIn) -> SeatOut:
    """Say that the rules are understood; the game begins when everybody has."""
    wrong = try_ready(server, context, given.quiz, given.agreed)
    if wrong:
        raise UsageError("; ".join(f"{which}: {why}" for which, why in wrong.items()))
    return _seat(server, context)


@router.post("/answers")
async def answer(server: Server, context: SeatApi, given: AnswerIn) -> SeatOut:
    """Answer the question number `turn`; the same answer twice is refused and changes nothing."""
    if context.session.phase(context.seat) in ("welcome", "replaced"):
        raise NotAsked("nobody is asked here: the seat is not confirmed, or a bot plays it now")
    if given.attempt != context.session.attempt:
        raise NotAsked("the experimenter has restarted this game; ask for the seat again")
    action: Any = tuple(given.answer) if isinstance(given.answer, list) else given.answer
    server.sessions.submit(context.session, context.role, given.turn, Decision(action, given.why))
    return _seat(server, context)


@router.get("/equilibrium")
def equilibrium(context: SeatApi) -> EndingOut:
    """What the equilibrium would have been, told when the game is over."""
    _check_over(context)
    with context.session.lock:
        record = context.session.episode.record({})
    return EndingOut(blocks=serialize_blocks(describe_equilibria(context.session.setup.game, record)))


@router.post("/remarks", status_code=201)
def remark(server: Server, context: SeatApi, given: RemarkIn) -> SeatOut:
    """Say something about the game when it is over; kept for the export."""
    _check_over(context)
    server.sessions.note_remark(context.session, context.seat, given.remark.strip())
    return _seat(server, context)


def _check_over(context: SeatContext) -> None:
    if context.session.phase(context.seat) != "over":
        raise NotAsked("the game is not over yet")
