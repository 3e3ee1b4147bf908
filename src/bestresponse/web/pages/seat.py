"""A person's own page: welcome, waiting room, questions, ending. It shows that seat's view and nothing else."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse

from bestresponse.core.episode import Record
from bestresponse.core.errors import NotAsked, StoreError
from bestresponse.core.player import Decision
from bestresponse.web.pages.forms import read_fields
from bestresponse.web.pages.seat_view import SeatForms, render_seat, work_out
from bestresponse.web.sessions.ending import describe_equilibria
from bestresponse.web.sessions.quiz import find_mistakes, list_questions
from bestresponse.web.sessions.session import Presence
from bestresponse.web.sessions.state import PostedForm, SeatContext, SeatPage, Server, ServerState, check_csrf
from bestresponse.web.sessions.store import AlreadyAnswered
from bestresponse.web.texts import load_texts

__all__ = ["router", "try_ready"]

router = APIRouter(include_in_schema=False)
_LOOK = 0.3
_BEAT = 15.0
_LONGEST_REMARK = 2000
_log = logging.getLogger("bestresponse.web")


@router.get("/seat/{session}/{seat}/{token}")
def show(server: Server, context: SeatPage, note: str = "", after: str = "") -> HTMLResponse:
    """Show the page of the seat."""
    over = after == "equilibrium" and context.session.phase(context.seat) == "over"
    blocks = describe_equilibria(context.session.setup.game, _record(context)) if over else None
    texts = load_texts(context.session.setup.language)
    return render_seat(server, context, SeatForms(note=texts(_NOTES[note]) if note in _NOTES else "", blocks=blocks))


def _record(context: SeatContext) -> Record:
    with context.session.lock:
        return context.session.episode.record({})


_NOTES = {"restarted": "restarted", "twice": "twice", "late": "late", "early": "early", "thanks": "remark_kept"}
"""The name of the text for each note that an address may carry."""


@router.get("/seat/{session}/{seat}/{token}/payoffs")
def payoffs(context: SeatPage, choice: Annotated[list[str] | None, Query()] = None) -> PlainTextResponse:
    """Say what some choices would earn, where the payoff table is too large to be shown."""
    return PlainTextResponse(work_out(context.session, context.role, [one.strip() for one in choice or []]))


@router.post("/seat/{session}/{seat}/{token}/ready")
def ready(server: Server, context: SeatPage, form: PostedForm) -> Response:
    """Note that the person has read the rules, or say what is missing."""
    _check(server, context, form)
    session, seat = context.session, context.seat
    if session.phase(seat) != "welcome":
        return _back(server, context)
    quiz = list_questions(session, seat)
    typed = [form.get(f"quiz.{k}", "") for k in range(len(quiz))]
    wrong = try_ready(server, context, typed, form.get("consent") == "yes")
    if wrong:
        agreed = form.get("consent") == "yes"
        return render_seat(server, context, SeatForms(quiz_typed=typed, wrong=wrong, agreed=agreed), 422)
    return _back(server, context)


def try_ready(server: ServerState, context: SeatContext, typed: list[str], agreed: bool) -> dict[int | str, str]:
    """Make the person ready, or say what is missing: by number of the question, and for the consent."""
    session, seat = context.session, context.seat
    quiz = list_questions(session, seat)
    padded = [*typed, *("" for _ in quiz)][: len(quiz)]
    language = session.setup.language
    wrong: dict[int | str, str] = dict(find_mistakes(quiz, padded, language).items())
    if session.setup.consent and session.table.number == 1 and not agreed:
        wrong["consent"] = load_texts(language)("agree_first")
    if not wrong:
        server.sessions.make_ready(session, seat)
    elif any(isinstance(which, int) for which in wrong):
        server.sessions.note_quiz_failed(session, seat)
    return wrong


@router.post("/seat/{session}/{seat}/{token}/answer")
def answer(server: Server, context: SeatPage, form: PostedForm) -> Response:
    """Take the answer to the open question, or say what is wrong with it."""
    _check(server, context, form)
    session = context.session
    text = form.get("turn", "")
    turn = int(text) if text.isdecimal() and len(text) < 9 else -1
    with session.lock:
        if form.get("attempt", "1") != str(session.attempt):
            return _back(server, context, "restarted")
        if session.phase(context.seat) not in ("turn", "waiting", "over"):
            return _back(server, context, "early")
        ask = session.pending().get(context.role)
        if ask is not None and turn == session.turn(context.role):
            action, errors = read_fields(ask, form, session.setup.language)
            if errors:
                return render_seat(server, context, SeatForms(typed=form, errors=errors), 422)
        else:
            action = None
        decision = Decision(action, form.get("why", "")[:_LONGEST_REMARK])
        try:
            server.sessions.submit(session, context.role, turn, decision, _read_presence(form))
        except AlreadyAnswered:
            given = session.answer(context.role, turn)
            return _back(server, context, "late" if given and given.decision.stand_in else "twice")
        except NotAsked:
            return _back(server, context, "early")
        except StoreError as error:
            _log.error("session %s, %s: %s", session.id, context.role, error)
            session.trouble = f"an answer of {context.role} could not be written to the disk"
            note = load_texts(session.setup.language)("not_stored")
            return render_seat(server, context, SeatForms(note=note, typed=form), 503)
        session.trouble = ""
    return _back(server, context)


def _read_presence(form: dict[str, str]) -> Presence:
    """Read what the page noted: whether the time was up, and how often and how long it was out of sight."""
    times, seconds = (form.get(name, "") for name in ("away_times", "away_seconds"))
    known = times.isdecimal() and seconds.isdecimal() and len(times) < 6 and len(seconds) < 8
    return Presence(form.get("timed_out") == "yes", int(times) if known else None, int(seconds) if known else None)


@router.post("/seat/{session}/{seat}/{token}/remark")
def remark(server: Server, context: SeatPage, form: PostedForm) -> Response:
    """Keep a remark about a game that is over."""
    _check(server, context, form)
    text = form.get("remark", "").strip()[:_LONGEST_REMARK]
    if text and context.session.phase(context.seat) == "over":
        server.sessions.note_remark(context.session, context.seat, text)
    return _back(server, context, "thanks" if text else "")


@router.post("/seat/{session}/{seat}/{token}/questionnaire")
def questionnaire(server: Server, context: SeatPage, form: PostedForm) -> Response:
    """Keep the answers to the questionnaire, or say what is missing."""
    _check(server, context, form)
    session = context.session
    experiment = server.sessions.get_lobby(session.table.lobby).experiment
    if experiment is None or session.phase(context.seat) not in ("over", "closed", "replaced"):
        return _back(server, context, "early")
    texts = load_texts(session.setup.language)
    typed = {item.name: form.get(f"item.{item.name}", "").strip() for item in experiment.questionnaire}
    mistakes = {item.name: item.find_mistake(typed[item.name]) for item in experiment.questionnaire}
    wrong: dict[int | str, str] = {name: texts(why) for name, why in mistakes.items() if why}
    if wrong:
        return render_seat(server, context, SeatForms(typed=typed, wrong=wrong), 422)
    server.sessions.note_questionnaire(session, context.seat, typed)
    return _back(server, context)


@router.get("/seat/{session}/{seat}/{token}/questionnaire")
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
    sent = len(session.list_messages(seat))
    while True:
        for text in session.list_messages(seat)[sent:]:
            sent += 1
            yield f"event: note\ndata: {json.dumps(text)}\n\n"
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
