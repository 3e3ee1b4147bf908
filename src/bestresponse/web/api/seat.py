"""What a person's own page does, as JSON. Every call needs the token of the seat, and tells that seat's view alone."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from bestresponse.core.errors import NotAsked, UsageError
from bestresponse.core.player import Decision
from bestresponse.web.access import SeatDoor, Server
from bestresponse.web.api.common import BlockOut, Closed, Wait, describe_errors, serialize_blocks
from bestresponse.web.services import seat as service
from bestresponse.web.services.seat import SeatView
from bestresponse.web.sessions.session import Presence

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


class EndingOut(BaseModel):
    """What the equilibrium would have been."""

    blocks: list[BlockOut]


@router.get("")
async def show_seat(
    server: Server, context: SeatDoor, after: Annotated[str, Query(max_length=100)] = "", wait: Wait = 0
) -> SeatView:
    """What the person in that seat may know.

    With `after`, the version known already, the answer waits up to `wait` seconds for another one.
    """
    session, seat = context.session, context.seat
    end = time.monotonic() + wait
    while session.version(seat) == after and time.monotonic() < end:
        await asyncio.sleep(_LOOK)
        session.touch(seat)
    return service.describe_seat(server, context)


@router.post("/ready")
async def make_ready(server: Server, context: SeatDoor, given: ReadyIn) -> SeatView:
    """Say that the rules are understood; the game begins when everybody has."""
    wrong = service.try_ready(server, context, given.quiz, given.agreed)
    if wrong:
        raise UsageError("; ".join(f"{which}: {why}" for which, why in wrong.items()))
    return service.describe_seat(server, context)


@router.post("/answers")
async def answer(server: Server, context: SeatDoor, given: AnswerIn) -> SeatView:
    """Answer the question number `turn`; the same answer twice is refused and changes nothing."""
    if given.attempt != context.session.attempt:
        raise NotAsked("the experimenter has restarted this game; ask for the seat again")
    action: Any = tuple(given.answer) if isinstance(given.answer, list) else given.answer
    service.answer(server, context, given.turn, Decision(action, given.why), Presence())
    return service.describe_seat(server, context)


@router.get("/equilibrium")
def equilibrium(context: SeatDoor) -> EndingOut:
    """What the equilibrium would have been, told when the game is over."""
    return EndingOut(blocks=serialize_blocks(service.describe_equilibrium(context)))


@router.post("/remarks", status_code=201)
def remark(server: Server, context: SeatDoor, given: RemarkIn) -> SeatView:
    """Say something about the game when it is over; kept for the export."""
    service.keep_remark(server, context, given.remark)
    return service.describe_seat(server, context)
