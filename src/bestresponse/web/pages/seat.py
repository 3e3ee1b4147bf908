"""A person's own page: welcome, waiting room, questions, ending. It shows that seat's view and nothing else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse

from bestresponse.core.capabilities import Wording
from bestresponse.core.episode import Record
from bestresponse.core.errors import NotAsked
from bestresponse.core.game import Game, View
from bestresponse.core.player import Decision
from bestresponse.games.capabilities import HasStage
from bestresponse.web.pages.forms import fields_of, read_fields
from bestresponse.web.pages.render import page
from bestresponse.web.sessions.ending import describe_equilibria
from bestresponse.web.sessions.quiz import find_mistakes, make_questions
from bestresponse.web.sessions.state import Desk, Here, Posted, SeatPage, Sitting, check_csrf
from bestresponse.web.sessions.store import AlreadyAnswered, NoSuchTable

__all__ = ["router", "try_ready"]

router = APIRouter(include_in_schema=False)
_LOOK = 0.3
_BEAT = 15.0
_LONGEST_REMARK = 2000


@router.get("/join/{lobby}/{token}")
def join(request: Request, desk: Here, lobby: str, token: str) -> Response:
    """Take the next free seat; whoever comes back gets the same seat again."""
    if not desk.keys.opens(token, "lobby", lobby):
        raise NoSuchTable("this link leads to no table")
    session, seat = _kept_seat(request, desk, lobby) or desk.house.take_seat(lobby)
    answer = RedirectResponse(desk.seat_path(session, seat), 303)
    path = desk.join_path(lobby)
    kept = f"{session}.{seat}.{desk.keys.token('seat', session, seat)}"
    answer.set_cookie("seat", kept, path=path, httponly=True, samesite="strict", max_age=30 * 24 * 3600)
    return answer


def _kept_seat(request: Request, desk: Desk, lobby: str) -> tuple[str, int] | None:
    session, _, rest = request.cookies.get("seat", "").partition(".")
    number, _, token = rest.partition(".")
    if not number.isdecimal() or not desk.keys.opens(token, "seat", session, int(number)):
        return None
    return (session, int(number)) if session.startswith(f"{lobby}-") else None


@router.get("/seat/{session}/{seat}/{token}")
def show(desk: Here, sitting: SeatPage, note: str = "", after: str = "") -> HTMLResponse:
    over = after == "equilibrium" and sitting.session.phase(sitting.seat) == "over"
    blocks = describe_equilibria(sitting.session.setup.game, _record(sitting)) if over else None
    return _shown(desk, sitting, note=_NOTES.get(note, ""), blocks=blocks)


def _record(sitting: Sitting) -> Record:
    with sitting.session.lock:
        return sitting.session.episode.record({})


_NOTES = {
    "twice": "You had answered that already; the first answer counts, and nothing was counted twice.",
    "late": "The time was up: a stand-in had answered for you, and your answer does not count.",
    "early": "That question is not open; this is where the game is now.",
    "thanks": "Thank you, your remark was kept.",
}


@router.post("/seat/{session}/{seat}/{token}/ready")
def ready(desk: Here, sitting: SeatPage, form: Posted) -> Response:
    _check(desk, sitting, form)
    session, seat = sitting.session, sitting.seat
    if session.phase(seat) != "welcome":
        return _back(desk, sitting)
    quiz = make_questions(session.game, seat, session.seed) if session.setup.quiz else ()
    typed = [form.get(f"quiz.{k}", "") for k in range(len(quiz))]
    tries = int(form["tries"]) if form.get("tries", "").isdecimal() and len(form["tries"]) < 6 else 0
    wrong = try_ready(desk, sitting, typed, form.get("consent") == "yes", tries)
    if wrong:
        agreed = form.get("consent") == "yes"
        return _shown(desk, sitting, 422, quiz_typed=typed, wrong=wrong, tries=tries + 1, agreed=agreed)
    return _back(desk, sitting)


def try_ready(desk: Desk, sitting: Sitting, typed: list[str], agreed: bool, tries: int = 0) -> dict[int | str, str]:
    """Make the person ready, or say what is missing: by number of the question, and for the consent."""
    session, seat = sitting.session, sitting.seat
    quiz = make_questions(session.game, seat, session.seed) if session.setup.quiz else ()
    padded = [*typed, *("" for _ in quiz)][: len(quiz)]
    wrong: dict[int | str, str] = dict(find_mistakes(quiz, padded).items())
    if session.setup.consent and not agreed:
        wrong["consent"] = "Please agree first, or leave this page."
    if not wrong:
        desk.house.make_ready(session, seat, tries + 1)
    return wrong


@router.post("/seat/{session}/{seat}/{token}/answer")
def answer(desk: Here, sitting: SeatPage, form: Posted) -> Response:
    _check(desk, sitting, form)
    session = sitting.session
    text = form.get("turn", "")
    turn = int(text) if text.isdecimal() and len(text) < 9 else -1
    with session.lock:
        ask = session.pending().get(sitting.role)
        if ask is not None and turn == session.turn(sitting.role):
            action, errors = read_fields(ask, form)
            if errors:
                return _shown(desk, sitting, 422, typed=form, errors=errors)
        else:
            action = None
        try:
            desk.house.submit(session, sitting.role, turn, Decision(action, form.get("why", "")[:_LONGEST_REMARK]))
        except AlreadyAnswered:
            given = session.answer(sitting.role, turn)
            return _back(desk, sitting, "late" if given and given.decision.stand_in else "twice")
        except NotAsked:
            return _back(desk, sitting, "early")
    return _back(desk, sitting)


@router.post("/seat/{session}/{seat}/{token}/remark")
def remark(desk: Here, sitting: SeatPage, form: Posted) -> Response:
    _check(desk, sitting, form)
    text = form.get("remark", "").strip()[:_LONGEST_REMARK]
    if text and sitting.session.phase(sitting.seat) == "over":
        desk.house.journal.tell("remark", session=sitting.session.id, seat=sitting.seat, text=text)
    return _back(desk, sitting, "thanks" if text else "")


@router.get("/seat/{session}/{seat}/{token}/ready")
@router.get("/seat/{session}/{seat}/{token}/answer")
@router.get("/seat/{session}/{seat}/{token}/remark")
def return_to_seat(desk: Here, sitting: SeatPage) -> Response:
    """Whoever loads the address of a form that was refused comes back to the seat."""
    return _back(desk, sitting)


@router.get("/seat/{session}/{seat}/{token}/changes")
async def changes(sitting: SeatPage) -> StreamingResponse:
    """Server-sent events: the version of the page, whenever it changes."""
    return StreamingResponse(_versions(sitting), media_type="text/event-stream")


async def _versions(sitting: Sitting) -> AsyncIterator[str]:
    session, seat = sitting.session, sitting.seat
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


def _check(desk: Desk, sitting: Sitting, form: dict[str, str]) -> None:
    check_csrf(desk, form, "seat", sitting.session.id, sitting.seat)


def _back(desk: Desk, sitting: Sitting, note: str = "") -> RedirectResponse:
    path = desk.seat_path(sitting.session.id, sitting.seat)
    return RedirectResponse(f"{path}?note={note}" if note else path, 303)


def _shown(desk: Desk, sitting: Sitting, status: int = 200, **more: Any) -> HTMLResponse:
    session, seat = sitting.session, sitting.seat
    with session.lock:
        phase = session.phase(seat)
        view = session.episode.view(sitting.role)
        ask = session.pending().get(sitting.role)
        places: dict[str, Any] = {
            "phase": phase,
            "role": sitting.role,
            "view": view,
            "earlier": (story := _story(session.game, view))[0],
            "now": story[1],
            "game": session.game.title if isinstance(session.game, Wording) else session.setup.game.name,
            "question": session.game.word_question(ask) if ask and isinstance(session.game, Wording) else "",
            "unit": session.game.unit if isinstance(session.game, Wording) else "",
            "path": desk.seat_path(session.id, seat),
            "csrf": desk.csrf("seat", session.id, seat),
            "code": desk.code(session.id, seat),
            "turn": session.turn(sitting.role),
            "version": session.version(seat),
            "left": session.seconds_left(seat),
            "fields": fields_of(ask, more.pop("typed", None), more.pop("errors", None)) if ask else [],
            "missing": len(session.setup.persons) - len(session.ready),
            "consent": session.setup.consent,
            "note": more.pop("note", ""),
            "stand_ins": _stand_ins(sitting),
            "payoffs": session.game.payoffs(session.episode.state) if phase == "over" else {},
            "void": session.episode.void,
        }
    places |= {"quiz": (), "quiz_typed": [], "wrong": {}, "tries": 0, "blocks": None, "agreed": False}
    if phase == "welcome" and session.setup.quiz:
        places["quiz"] = make_questions(session.game, seat, session.seed)
        places["quiz_typed"] = ["" for _ in places["quiz"]]
    return page("seat.html", status, **(places | more))


def _story(game: Game[Any], view: View) -> tuple[list[str], str]:
    """What happened, part by part, and how things stand now."""
    past, now = view.facts.get("past"), view.facts.get("now")
    if isinstance(past, list) and isinstance(now, str):
        return past, now
    if isinstance(game, HasStage):
        first, *rest = view.situation.split("\n")
        return rest, first
    return [], view.situation


def _stand_ins(sitting: Sitting) -> int:
    """How often somebody stood in for this person."""
    answers = sitting.session.episode.submissions
    return sum(bool(s.decision.stand_in) for s in answers if s.role == sitting.role)
