"""What people do, as pages and as calls for programs: the invitation, and a person's own seat.

Opening the shared link of a lobby shows a page, and only the form on it takes a seat: previews of chats, scanners of
mail and browsers that load links ahead send GET, so GET changes nothing. A seat is shown its own view and nothing else.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from pydantic import Field

from bestresponse.core import Choice, Decision
from bestresponse.core.capabilities import PrivateInformation, RoundHistory, Wording
from bestresponse.core.errors import NotAsked, StoreError, UsageError
from bestresponse.core.game import AnyGame, View
from bestresponse.core.json import JsonObject
from bestresponse.games.capabilities import HasSpeakers, HasStage, find_stage_form
from bestresponse.report.document import Block
from bestresponse.web.access import AdminPage, LobbyDoor, PostedForm, SeatContext, SeatDoor, Server, ServerState
from bestresponse.web.experiments.model import Outcome
from bestresponse.web.render import BlockOut, Closed, Wait, describe_errors, render_page, serialize_blocks
from bestresponse.web.services import seat as service
from bestresponse.web.services.seat import SeatView
from bestresponse.web.sessions.control import take_seat
from bestresponse.web.sessions.register import Holder, read_labels
from bestresponse.web.sessions.session import Presence
from bestresponse.web.sessions.store import AlreadyAnswered, NotFound, StoodIn
from bestresponse.web.views import fields

pages = APIRouter(include_in_schema=False)
_COOKIE = "seat"
_DAYS = 30 * 24 * 3600
_LOOK = 0.3
_BEAT = 15.0
Known = Annotated[int | None, Query(ge=0, le=10_000)]
_NOTES = {"restarted": "restarted", "twice": "twice", "late": "late", "early": "early", "thanks": "remark_kept"}
"""The name of the text for each note that an address may carry."""
_log = logging.getLogger("bestresponse.web")


@pages.get("/join/{lobby}/{token}")
async def invite(request: Request, server: Server, lobby: LobbyDoor) -> Response:
    """Show the invitation; whoever holds a seat goes back to it."""
    kept = _find_seat(request, server, lobby, request.query_params)
    if kept is not None:
        return _lead_to_seat(request, server, lobby, kept)
    return _show_invitation(server, lobby, request.query_params)


def _show_invitation(server: ServerState, lobby: str, given: Mapping[str, str], error: str = "") -> HTMLResponse:
    found, labels = server.sessions.get_lobby(lobby), read_labels(given)
    return render_page(
        "join.html",
        422 if error else 200,
        t=found.texts,
        experiment=found.experiment,
        title=found.title if found.source else "",
        consent=found.setup.consent,
        path=server.join_path(lobby),
        labels=labels | {"key": given.get("key", "")},
        csrf=server.csrf(server.keys.token("lobby", lobby)),
        name=Holder(0, labels=labels).label,
        error=error,
    )


@pages.post("/join/{lobby}/{token}")
async def take_part(request: Request, server: Server, lobby: LobbyDoor, form: PostedForm) -> Response:
    """Take the next free seat, or none where the person does not agree; whoever holds one gets it again."""
    kept = _find_seat(request, server, lobby, form)
    if kept is not None:
        return _lead_to_seat(request, server, lobby, kept)
    found, labels, choice = server.sessions.get_lobby(lobby), read_labels(form), form.get("do", "")
    if found.setup.consent and choice == "decline":
        server.sessions.note_declined(lobby, labels)
        return _say_goodbye(server, lobby, "no consent", Holder(0, labels=labels).label)
    if found.setup.consent and choice != "agree":
        return _show_invitation(server, lobby, form, found.texts("agree_first"))
    return _lead_to_seat(request, server, lobby, take_seat(server.sessions, lobby, labels, choice == "agree"))


def _say_goodbye(server: ServerState, lobby: str, why: Outcome, label: str) -> HTMLResponse:
    """Show the last page of a person who takes no part, with the code for that."""
    found = server.sessions.get_lobby(lobby)
    code = found.experiment.completion.find_code(why)
    places = {"why": why.replace(" ", "_"), "completion": code, "experiment": found.experiment, "title": found.title}
    back = service.fill_link(found.experiment, code, label=label) if code else ""
    return render_page("goodbye.html", t=found.texts, back=back, **places)


def _find_seat(request: Request, server: ServerState, lobby: str, given: Mapping[str, str]) -> tuple[str, int] | None:
    """Find the seat of a personal link, or the one that this browser took."""
    session, number, token = (*request.cookies.get(_COOKIE, "").split(".", 2), "", "", "")[:3]
    known = session.startswith(f"{lobby}-") and number.isdecimal() and len(number) <= 4
    kept = (session, int(number)) if known and server.opens_seat(token, session, int(number)) else None
    return service.find_seat(server, lobby, read_labels(given), given.get("key", ""), kept)


def _lead_to_seat(request: Request, server: ServerState, lobby: str, seat: tuple[str, int]) -> Response:
    """Lead to the seat; a cookie remembers it, also for a click on another site (SameSite=Lax)."""
    answer = RedirectResponse(server.seat_path(*server.sessions.find_current(*seat)), 303)
    kept = f"{seat[0]}.{seat[1]}.{server.seat_token(*seat)}"
    secure = request.url.scheme == "https"
    path = server.join_path(lobby)
    answer.set_cookie(_COOKIE, kept, path=path, httponly=True, samesite="lax", secure=secure, max_age=_DAYS)
    return answer


@dataclass(frozen=True)
class SeatForms:
    """What was typed into the forms of the page and what is wrong with it; a note, and what theory says."""

    note: str = ""
    blocks: tuple[Block, ...] | None = None
    typed: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    quiz_typed: Sequence[str] = ()
    wrong: Mapping[int | str, str] = field(default_factory=dict)
    agreed: bool = False


@pages.get("/seat/{session}/{seat}/{token}")
def show_seat_page(server: Server, context: SeatDoor, note: str = "", after: str = "") -> HTMLResponse:
    """Show the page of the seat."""
    holder = server.sessions.register.get(context.session.id, context.seat)
    if holder is not None and holder.released:
        return _say_goodbye(server, context.session.table.lobby, "screened out", holder.label)
    if context.session.table.part.again and context.session.phase(context.seat) == "welcome":
        # The rules are known from the part before, so that nobody is asked to read them again.
        server.sessions.make_ready(context.session, context.seat)
    over = after == "equilibrium" and context.session.phase(context.seat) == "over"
    blocks = service.describe_equilibrium(context) if over else None
    texts = context.session.table.texts
    return _render(server, context, SeatForms(texts(_NOTES[note]) if note in _NOTES else "", blocks))


@pages.get("/seat/{session}/{seat}/{token}/payoffs")
def payoffs(context: SeatDoor, choice: Annotated[list[str] | None, Query()] = None) -> PlainTextResponse:
    """Say what everybody gets for some choices, one for each seat, where the payoff table is too large to be shown."""
    session, choices = context.session, [typed.strip() for typed in choice or []]
    form, texts = find_stage_form(session.game), session.table.texts
    if form is None or len(choices) != form.num_players:
        return PlainTextResponse("")
    for typed, actions in zip(choices, form.actions, strict=True):
        if typed not in actions:
            return PlainTextResponse(texts("not_option", text=typed[:40] or "?"))
    cell = tuple(actions.index(typed) for typed, actions in zip(choices, form.actions, strict=True))
    earned = [f"{float(form.payoffs[(seat, *cell)]):g}" for seat in range(form.num_players)]
    others = ", ".join(f"{role} {earned[seat]}" for seat, role in enumerate(session.roles) if seat != context.seat)
    return PlainTextResponse(texts("would_get", own=earned[context.seat], others=others))


@pages.post("/seat/{session}/{seat}/{token}/ready")
def ready(server: Server, context: SeatDoor, form: PostedForm) -> Response:
    """Note that the person has read the rules, or say what is missing."""
    if context.session.phase(context.seat) != "welcome":
        return _go_back(server, context)
    count = len(service.list_quiz_questions(context.session, context.seat))
    typed, agreed = [form.get(f"quiz.{k}", "") for k in range(count)], form.get("consent") == "yes"
    wrong = service.try_ready(server, context, typed, agreed)
    holder = server.sessions.register.get(context.session.id, context.seat)
    if wrong and not (holder and holder.released):
        return _render(server, context, SeatForms(quiz_typed=typed, wrong=wrong, agreed=agreed), 422)
    return _go_back(server, context)


@pages.post("/seat/{session}/{seat}/{token}/answer")
def send_answer(server: Server, context: SeatDoor, form: PostedForm) -> Response:
    """Take the answer to the open question, or say what is wrong with it."""
    session, text = context.session, form.get("turn", "")
    turn = int(text) if text.isdecimal() and len(text) < 9 else -1
    with session.lock:
        if form.get("attempt", "1") != str(session.attempt):
            return _go_back(server, context, "restarted")
        ask, action = session.pending().get(context.role), None
        if ask is not None and turn == session.turn(context.role) and session.phase(context.seat) == "turn":
            action, errors = fields.read_fields(ask, form, session.table.texts)
            if errors:
                return _render(server, context, SeatForms(typed=form, errors=errors), 422)
        try:
            service.submit_answer(server, context, turn, Decision(action, form.get("why", "")), _read_presence(form))
        except NotAsked as error:
            note = "twice" if isinstance(error, AlreadyAnswered) else "early"
            return _go_back(server, context, "late" if isinstance(error, StoodIn) else note)
        except StoreError as error:
            _log.error("session %s, %s: %s", session.id, context.role, error)
            session.trouble = f"an answer of {context.role} could not be written to the disk"
            note = session.table.texts("not_stored")
            return _render(server, context, SeatForms(note=note, typed=form), 503)
        session.trouble = ""
    return _go_back(server, context)


def _read_presence(form: dict[str, str]) -> Presence:
    """Read what the page noted: whether the time was up, and how often and how long it was out of sight."""
    times, seconds = (form.get(name, "") for name in ("away_times", "away_seconds"))
    known = times.isdecimal() and seconds.isdecimal() and len(times) < 6 and len(seconds) < 8
    return Presence(form.get("timed_out") == "yes", int(times) if known else None, int(seconds) if known else None)


@pages.post("/seat/{session}/{seat}/{token}/remark")
def send_remark(server: Server, context: SeatDoor, form: PostedForm) -> Response:
    """Keep a remark about a game that is over."""
    if not form.get("remark", "").strip():
        return _go_back(server, context)
    service.keep_remark(server, context, form["remark"])
    return _go_back(server, context, "thanks")


@pages.post("/seat/{session}/{seat}/{token}/questionnaire")
def questionnaire(server: Server, context: SeatDoor, form: PostedForm) -> Response:
    """Keep the answers to the questionnaire, or say what is missing."""
    typed = {name.removeprefix("item."): text for name, text in form.items() if name.startswith("item.")}
    try:
        wrong = service.keep_questionnaire(server, context, typed)
    except NotAsked:
        return _go_back(server, context, "early")
    if wrong:
        return _render(server, context, SeatForms(typed=typed, wrong=wrong), 422)
    return _go_back(server, context)


@pages.get("/seat/{session}/{seat}/{token}/questionnaire")
@pages.get("/seat/{session}/{seat}/{token}/ready")
@pages.get("/seat/{session}/{seat}/{token}/answer")
@pages.get("/seat/{session}/{seat}/{token}/remark")
def return_to_seat(server: Server, context: SeatDoor) -> Response:
    """Whoever loads the address of a form that was refused comes back to the seat."""
    return _go_back(server, context)


@pages.get("/seat/{session}/{seat}/{token}/changes")
async def changes(context: SeatDoor, once: bool = False, known: Known = None) -> Response:
    """Server-sent events: the version of the page, whenever it changes, or only `once`; `known` messages are there."""
    if once:
        return Response(json.dumps(context.session.version(context.seat)), media_type="application/json")
    return StreamingResponse(_follow(context, known), media_type="text/event-stream")


async def _follow(context: SeatContext, known: int | None) -> AsyncIterator[str]:
    session, seat = context.session, context.seat
    told, stamp, quiet = "", -1, 0.0
    sent = len(session.list_messages(seat)) if known is None else known
    pushed = False
    while True:
        asked = session.asked.get(context.role)
        if asked is not None and (context.role, asked[0]) in session.advanced and not pushed:
            pushed = True
            yield "event: advance\ndata: 1\n\n"
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


def _go_back(server: ServerState, context: SeatContext, note: str = "") -> RedirectResponse:
    path = server.seat_path(context.session.id, context.seat)
    return RedirectResponse(f"{path}?note={note}" if note else path, 303)


@pages.get("/look/{session}/{seat}", dependencies=[AdminPage])
def look_at_seat(server: Server, session: str, seat: int) -> HTMLResponse:
    """Show the experimenter what the person in a seat sees; nothing is taken, noted or sent."""
    table = server.sessions.get_session(session)
    if seat not in table.setup.persons:
        raise NotFound("nobody sits there who has a page")
    return _render(server, SeatContext(table, seat), SeatForms(), looking=True)


def _render(
    server: ServerState, context: SeatContext, forms: SeatForms, status: int = 200, looking: bool = False
) -> HTMLResponse:
    """Render the page of the seat as it is now; whoever only looks has not seen it in the person's place."""
    session, seat = context.session, context.seat
    table = session.table
    lobby = server.sessions.get_lobby(table.lobby)
    worded = session.game.title if isinstance(session.game, Wording) else session.setup.game.name
    with session.lock:
        view = service.describe_own_seat(server, context, looking)
        places = asdict(view) | _describe_game(context, forms)
    rounds, parts = places["progress"], len(server.sessions.list_seats(session.id, seat))
    played = (rounds.now - 1) / rounds.of if rounds and rounds.now and rounds.of else 0.0
    ended = view.phase in ("over", "closed", "replaced")
    places |= _describe_ending(server, context, forms)
    return render_page(
        "seat.html",
        status,
        **places,
        t=table.texts,
        experiment=lobby.experiment,
        game=table.part.game.title or (lobby.title if lobby.source else worded),
        markdown=bool(lobby.source),
        instructed=bool(table.part.game.instructions),
        number=table.number,
        parts=parts,
        studied=(table.number - 1 + (1.0 if ended else played)) / parts,
        path=server.seat_path(session.id, seat),
        csrf=server.csrf(server.seat_token(session.id, seat)),
        messages=session.list_messages(seat),
        note=forms.note,
        quiz_options=[getattr(question, "options", ()) for question in service.list_quiz_questions(session, seat)],
        quiz_typed=forms.quiz_typed or ["" for _ in view.quiz],
        wrong=forms.wrong,
        blocks=forms.blocks,
        agreed=forms.agreed,
        looking=looking,
    )


def _describe_game(context: SeatContext, forms: SeatForms) -> JsonObject:
    session, role, game = context.session, context.role, context.session.game
    state, view = session.episode.state, session.episode.view(role)
    ask = session.pending().get(role) if session.phase(context.seat) == "turn" else None
    earlier, now = _tell_story(game, view)
    return {
        "private": game.word_private(state, role) if isinstance(game, PrivateInformation) else "",
        "bubbles": _list_messages(game, view),
        "hand": fields.read_hand(game.name, view.facts["infoset"], game.roles) if "infoset" in view.facts else None,
        "progress": game.list_rounds(state, role) if isinstance(game, RoundHistory) else None,
        "calculator": service.list_calculator(session, role),
        "earlier": earlier,
        "now": now,
        "question": game.word_question(ask) if ask and isinstance(game, Wording) else "",
        "plain_question": isinstance(ask, Choice),
        "unit": game.unit if isinstance(game, Wording) else "",
        "fields": fields.make_fields(ask, forms.typed, forms.errors) if ask else [],
        "void": session.episode.void,
    }


def _describe_ending(server: ServerState, context: SeatContext, forms: SeatForms) -> JsonObject:
    """Describe the result, and what comes after the game."""
    session, stage = context.session, service.describe_stage(server, context)
    names = name_roles(session.game)
    payoffs = session.payoffs() if session.phase(context.seat) == "over" else {}
    page = service.find_page(server, context)
    items = page.items if page else ()
    return asdict(stage) | {
        "earnings": stage.earnings,
        "others": {names.get(role, role): amount for role, amount in payoffs.items() if role != context.role},
        "page": page,
        "items": [(item, forms.typed.get(item.name, ""), str(forms.wrong.get(item.name, ""))) for item in items],
    }


def _list_messages(game: AnyGame, view: View) -> list[JsonObject]:
    """List the messages of a dialogue, who wrote each, and whether it is one's own."""
    if not isinstance(game, HasSpeakers):
        return []
    names, own = list(name_roles(game).values()), view.facts.get("seat")
    return [{"who": names[seat], "own": seat == own, "text": text} for seat, _, text in view.facts.get("said", [])]


def name_roles(game: AnyGame) -> dict[str, str]:
    """Return the name by which people know each role: a dialogue's speakers are called after their parts."""
    return dict(zip(game.roles, getattr(game, "names", game.roles), strict=True))


def _tell_story(game: AnyGame, view: View) -> tuple[list[str], str]:
    """Return what happened, part by part, and how things stand now."""
    if isinstance(game, HasSpeakers | RoundHistory):
        return [], ""
    past, now = view.facts.get("past"), view.facts.get("now")
    if isinstance(past, list) and isinstance(now, str):
        return past, now
    if isinstance(game, HasStage):
        first, *rest = view.situation.split("\n")
        return rest, first
    return [], view.situation


calls = APIRouter(prefix="/api/seats/{session}/{seat}", responses=describe_errors(), tags=["seat"])
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


@calls.get("")
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
    return service.describe_own_seat(server, context)


@calls.post("/ready")
async def make_ready(server: Server, context: SeatDoor, given: ReadyIn) -> SeatView:
    """Say that the rules are understood; the game begins when everybody has."""
    wrong = service.try_ready(server, context, given.quiz, given.agreed)
    if wrong:
        raise UsageError("; ".join(f"{which}: {why}" for which, why in wrong.items()))
    return service.describe_own_seat(server, context)


@calls.post("/answers")
async def post_answer(server: Server, context: SeatDoor, given: AnswerIn) -> SeatView:
    """Answer the question number `turn`; the same answer twice is refused and changes nothing."""
    if given.attempt != context.session.attempt:
        raise NotAsked("the experimenter has restarted this game; ask for the seat again")
    action: Any = tuple(given.answer) if isinstance(given.answer, list) else given.answer
    service.submit_answer(server, context, given.turn, Decision(action, given.why), Presence())
    return service.describe_own_seat(server, context)


@calls.get("/equilibrium")
def show_equilibrium(context: SeatDoor) -> dict[str, list[BlockOut]]:
    """What the equilibrium would have been, told in `blocks` when the game is over."""
    return {"blocks": serialize_blocks(service.describe_equilibrium(context))}


@calls.post("/remarks", status_code=201)
def post_remark(
    server: Server, context: SeatDoor, remark: Annotated[str, Body(embed=True, min_length=1, max_length=2000)]
) -> SeatView:
    """Say something about the game when it is over; kept for the export."""
    service.keep_remark(server, context, remark)
    return service.describe_own_seat(server, context)
