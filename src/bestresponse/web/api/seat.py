"""What a person's own page does, as JSON. Every call needs the token of the seat, and tells that seat's view alone."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from bestresponse.core.codec import ask_to_json
from bestresponse.core.errors import NotAsked, UsageError
from bestresponse.core.player import Decision
from bestresponse.web.api.common import BlockOut, Closed, Wait, blocks_out, problems
from bestresponse.web.pages.seat import try_ready
from bestresponse.web.sessions.ending import describe_equilibria
from bestresponse.web.sessions.quiz import make_questions
from bestresponse.web.sessions.state import Desk, Here, SeatApi, Sitting

__all__ = ["router"]

router = APIRouter(prefix="/api/seats/{session}/{seat}", responses=problems(), tags=["seat"])
Answer = str | float | list[float] | dict[str, str | float | list[float]]
_LOOK = 0.2


class ReadyIn(Closed):
    """The answers to the quiz and whether the consent text is agreed to."""

    agreed: bool = False
    quiz: list[Annotated[str, Field(max_length=100)]] = Field(default_factory=list, max_length=20)


class AnswerIn(Closed):
    """An answer to the question number `turn`."""

    turn: int = Field(ge=0, le=10**6)
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
    ask: dict[str, Any] | None
    seconds_left: float | None
    consent: str
    quiz: list[str]
    missing: int
    stand_ins: int
    payoffs: dict[str, float] | None


class EndingOut(BaseModel):
    """What the equilibrium would have been."""

    blocks: list[BlockOut]


@router.get("")
async def show_seat(
    desk: Here, sitting: SeatApi, after: Annotated[str, Query(max_length=100)] = "", wait: Wait = 0
) -> SeatOut:
    """What the person in that seat may know.

    With `after`, the version known already, the answer waits up to `wait` seconds for another one.
    """
    session, seat = sitting.session, sitting.seat
    end = time.monotonic() + wait
    while session.version(seat) == after and time.monotonic() < end:
        await asyncio.sleep(_LOOK)
        session.touch(seat)
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
            quiz=[question.text for question in make_questions(session.game, seat, session.seed)] if asked else [],
            missing=len(session.setup.persons) - len(session.ready),
            stand_ins=session.stand_ins(sitting.role),
            payoffs=dict(session.game.payoffs(session.episode.state)) if phase == "over" else None,
        )


@router.post("/ready")
async def make_ready(desk: Here, sitting: SeatApi, given: ReadyIn) -> SeatOut:
    """Say that the rules are understood; the game begins when everybody has."""
    tries = sitting.session.quiz_tries
    wrong = try_ready(desk, sitting, given.quiz, given.agreed, tries.get(sitting.seat, 0))
    if wrong:
        tries[sitting.seat] = tries.get(sitting.seat, 0) + 1
        raise UsageError("; ".join(f"{which}: {why}" for which, why in wrong.items()))
    return _seat(desk, sitting)


@router.post("/answers")
async def answer(desk: Here, sitting: SeatApi, given: AnswerIn) -> SeatOut:
    """Answer the question number `turn`; the same answer twice is refused and changes nothing."""
    action: Any = tuple(given.answer) if isinstance(given.answer, list) else given.answer
    desk.house.submit(sitting.session, sitting.role, given.turn, Decision(action, given.why))
    return _seat(desk, sitting)


@router.get("/equilibrium")
def equilibrium(sitting: SeatApi) -> EndingOut:
    """What the equilibrium would have been, told when the game is over."""
    _check_over(sitting)
    with sitting.session.lock:
        record = sitting.session.episode.record({})
    return EndingOut(blocks=blocks_out(describe_equilibria(sitting.session.setup.game, record)))


@router.post("/remarks", status_code=201)
def remark(desk: Here, sitting: SeatApi, given: RemarkIn) -> SeatOut:
    """Say something about the game when it is over; kept for the export."""
    _check_over(sitting)
    desk.house.journal.tell("remark", session=sitting.session.id, seat=sitting.seat, text=given.remark.strip())
    return _seat(desk, sitting)


def _check_over(sitting: Sitting) -> None:
    if sitting.session.phase(sitting.seat) != "over":
        raise NotAsked("the game is not over yet")
