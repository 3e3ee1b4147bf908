"""A person's own page: welcome, waiting room, questions, ending. It shows that seat's view and nothing else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse

from bestresponse.core.capabilities import Wording
from bestresponse.core.episode import Record
from bestresponse.core.errors import NotAsked
from bestresponse.core.game import Game, View
from bestresponse.core.player import Decision
from bestresponse.games.capabilities import HasStage
from bestresponse.web.pages.forms import make_fields, read_fields
from bestresponse.web.pages.render import render_page
from bestresponse.web.sessions.announcements import announce_stand_ins
from bestresponse.web.sessions.ending import describe_equilibria
from bestresponse.web.sessions.quiz import find_mistakes, make_questions
from bestresponse.web.sessions.state import PostedForm, SeatContext, SeatPage, Server, ServerState, check_csrf
from bestresponse.web.sessions.store import AlreadyAnswered

__all__ = ["router", "try_ready"]

router = APIRouter(include_in_schema=False)
_LOOK = 0.3
_BEAT = 15.0
_LONGEST_REMARK = 2000


@router.get("/seat/{session}/{seat}/{token}")
def show(server: Server, context: SeatPage, note: str = "", after: str = "") -> HTMLResponse:
    over = after == "equilibrium" and context.session.phase(context.seat) == "over"
    blocks = describe_equilibria(context.session.setup.game, _record(context)) if over else None
    return _shown(server, context, note=_NOTES.get(note, ""), blocks=blocks)


def _record(context: SeatContext) -> Record:
    with context.session.lock:
        return context.session.episode.record({})


_NOTES = {
    "twice": "You had answered that already; the first answer counts, and nothing was counted twice.",
    "late": "The time was up: a stand-in had answered for you, and your answer does not count.",
    "early": "That question is not open; this is where the game is now.",
    "thanks": "Thank you, your remark was kept.",
}


@router.post("/seat/{session}/{seat}/{token}/ready")
def ready(server: Server, context: SeatPage, form: PostedForm) -> Response:
    _check(server, context, form)
    session, seat = context.session, context.seat
    if session.phase(seat) != "welcome":
        return _back(server, context)
    quiz = make_questions(session.game, seat, session.seed) if session.setup.quiz else ()
    typed = [form.get(f"quiz.{k}", "") for k in range(len(quiz))]
    wrong = try_ready(server, context, typed, form.get("consent") == "yes")
    if wrong:
        agreed = form.get("consent") == "yes"
        return _shown(server, context, 422, quiz_typed=typed, wrong=wrong, agreed=agreed)
    return _back(server, context)


def try_ready(server: ServerState, context: SeatContext, typed: list[str], agreed: bool) -> dict[int | str, str]:
    """Make the person ready, or say what is missing: by number of the question, and for the consent."""
    session, seat = context.session, context.seat
    quiz = make_questions(session.game, seat, session.seed) if session.setup.quiz else ()
    padded = [*typed, *("" for _ in quiz)][: len(quiz)]
    wrong: dict[int | str, str] = dict(find_mistakes(quiz, padded).items())
    if session.setup.consent and not agreed:
        wrong["consent"] = "Please agree first, or leave this page."
    if not wrong:
        server.sessions.make_ready(session, seat)
    elif any(isinstance(which, int) for which in wrong):
        server.sessions.note_quiz_failed(session, seat)
    return wrong


@router.post("/seat/{session}/{seat}/{token}/answer")
def answer(server: Server, context: SeatPage, form: PostedForm) -> Response:
    _check(server, context, form)
    session = context.session
    text = form.get("turn", "")
    turn = int(text) if text.isdecimal() and len(text) < 9 else -1
    with session.lock:
        if session.phase(context.seat) not in ("turn", "waiting", "over"):
            return _back(server, context, "early")
        ask = session.pending().get(context.role)
        if ask is not None and turn == session.turn(context.role):
            action, errors = read_fields(ask, form)
            if errors:
                return _shown(server, context, 422, typed=form, errors=errors)
        else:
            action = None
        decision = Decision(action, form.get("why", "")[:_LONGEST_REMARK])
        try:
            server.sessions.submit(session, context.role, turn, decision, form.get("timed_out") == "yes")
        except AlreadyAnswered:
            given = session.answer(context.role, turn)
            return _back(server, context, "late" if given and given.decision.stand_in else "twice")
        except NotAsked:
            return _back(server, context, "early")
    return _back(server, context)


@router.post("/seat/{session}/{seat}/{token}/remark")
def remark(server: Server, context: SeatPage, form: PostedForm) -> Response:
    _check(server, context, form)
    text = form.get("remark", "").strip()[:_LONGEST_REMARK]
    if text and context.session.phase(context.seat) == "over":
        server.sessions.journal.append_event("remark", session=context.session.id, seat=context.seat, text=text)
    return _back(server, context, "thanks" if text else "")


@router.get("/seat/{session}/{seat}/{token}/ready")
@router.get("/seat/{session}/{seat}/{token}/answer")
@router.get("/seat/{session}/{seat}/{token}/remark")
def return_to_seat(server: Server, context: SeatPage) -> Response:
    """Whoever loads the address of a form that was refused comes back to the seat."""
    return _back(server, context)


@router.get("/seat/{session}/{seat}/{token}/changes")
async def changes(context: SeatPage) -> StreamingResponse:
    """Server-sent events: the version of the page, whenever it changes."""
    return StreamingResponse(_versions(context), media_type="text/event-stream")


async def _versions(context: SeatContext) -> AsyncIterator[str]:
    session, seat = context.session, context.seat
    told, stamp, quiet = "", -1, 0.0
    while True:
        if session.stamp != stamp or quiet >= _BEAT:
            stamp = session.stamp
            version = session.version(seat)
            if version != told or quiet >= _BEAT:
                told, quiet = version, 0.0
                yield f"data: {json.dumps(version)}\n\n"
        session.touch(seat)
        await asyncio.sleep(_LOOK)
        quiet += _LOOK


def _check(server: ServerState, context: SeatContext, form: dict[str, str]) -> None:
    check_csrf(server, form, "seat", context.session.id, context.seat)


def _back(server: ServerState, context: SeatContext, note: str = "") -> RedirectResponse:
    path = server.seat_path(context.session.id, context.seat)
    return RedirectResponse(f"{path}?note={note}" if note else path, 303)


def _shown(server: ServerState, context: SeatContext, status: int = 200, **more: Any) -> HTMLResponse:
    session, seat = context.session, context.seat
    with session.lock:
        phase = session.phase(seat)
        view = session.episode.view(context.role)
        ask = session.pending().get(context.role) if phase == "turn" else None
        server.sessions.note_shown(session, seat)
        session.note_page(seat)
        places: dict[str, Any] = {
            "phase": phase,
            "role": context.role,
            "view": view,
            "earlier": (story := _story(session.game, view))[0],
            "now": story[1],
            "game": session.game.title if isinstance(session.game, Wording) else session.setup.game.name,
            "question": session.game.word_question(ask) if ask and isinstance(session.game, Wording) else "",
            "unit": session.game.unit if isinstance(session.game, Wording) else "",
            "path": server.seat_path(session.id, seat),
            "csrf": server.csrf("seat", session.id, seat),
            "code": server.code(session.id, seat),
            "turn": session.turn(context.role),
            "version": session.version(seat),
            "left": session.seconds_left(seat),
            "fields": make_fields(ask, more.pop("typed", None), more.pop("errors", None)) if ask else [],
            "missing": session.missing,
            "consent": session.setup.consent,
            "note": more.pop("note", ""),
            "stand_ins": session.stand_ins(context.role),
            "announcements": announce_stand_ins(session, seat),
            "payoffs": session.payoffs() if phase == "over" else {},
            "void": session.episode.void,
        }
    places |= {"quiz": (), "quiz_typed": [], "wrong": {}, "blocks": None, "agreed": False}
    if phase == "welcome" and session.setup.quiz:
        places["quiz"] = make_questions(session.game, seat, session.seed)
        places["quiz_typed"] = ["" for _ in places["quiz"]]
    return render_page("seat.html", status, **(places | more))


def _story(game: Game[Any], view: View) -> tuple[list[str], str]:
    """What happened, part by part, and how things stand now."""
    past, now = view.facts.get("past"), view.facts.get("now")
    if isinstance(past, list) and isinstance(now, str):
        return past, now
    if isinstance(game, HasStage):
        first, *rest = view.situation.split("\n")
        return rest, first
    return [], view.situation
