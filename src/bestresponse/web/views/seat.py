"""A person's own seat, as pages and as calls for programs.

A seat is shown its own view and nothing else.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from pydantic import Field

from bestresponse.core import Decision
from bestresponse.core.capabilities import Wording
from bestresponse.core.errors import NotAsked, StoreError, UsageError
from bestresponse.games.capabilities import find_stage_form
from bestresponse.report.document import Document
from bestresponse.web.access import (
    AdminPage,
    Bearer,
    PostedForm,
    SeatContext,
    SeatDoor,
    Server,
    hold_stream,
)
from bestresponse.web.pages import SeatForms, SeatPage, ShownGame
from bestresponse.web.render import Closed, Wait, describe_errors, render_page, serialize_report
from bestresponse.web.services import chat, seat as service
from bestresponse.web.services.chat import ChatLine, name_roles
from bestresponse.web.services.fields import make_fields, read_fields
from bestresponse.web.services.seat import SeatView
from bestresponse.web.services.situation import show_situation, tell_settled
from bestresponse.web.sessions.errors import AlreadyAnswered, NotFound, StoodIn
from bestresponse.web.sessions.session import Presence
from bestresponse.web.texts import Cause, FieldMistake
from bestresponse.web.views.join import say_goodbye

pages = APIRouter(include_in_schema=False)
_LOOK = 0.2
_BEAT = 15.0
_EARLY = 1.0
"""Seconds by which the clock of a page may be ahead of the server's."""
Known = Annotated[int, Query(ge=0, le=10_000)]
Version = Annotated[str, Query(max_length=100)]
_LONGEST_KEY = 40
_NOTES = ("restarted", "twice", "late", "early")
"""The names of texts that an address may carry as its note."""
_log = logging.getLogger("bestresponse.web")


@pages.get("/seat/{session}/{seat}/{token}")
def show_seat_page(context: SeatDoor, note: str = "", after: str = "") -> HTMLResponse:
    """Show the page of the seat."""
    sessions = context.server.sessions
    holder = sessions.register.get(context.session.id, context.seat)
    if holder.released:
        lobby = context.session.table.lobby
        place = (context.session.id, context.seat, holder.number)
        places = [left.place for left in sessions.departed[lobby]]
        if place not in places:  # whoever was here is in another group
            raise NotFound(Cause("cause_no_seat"))
        return say_goodbye(context.server, lobby, places.index(place))
    if context.session.table.part.again and context.session.phase(context.seat) == "welcome":
        # The rules are known from the part before, so that nobody is asked to read them again.
        sessions.make_ready(context.session, context.seat)
    over = after == "equilibrium" and context.session.phase(context.seat) == "over"
    blocks = service.describe_equilibrium(context) if over else None
    texts = context.session.table.texts
    return _render(context, SeatForms(texts(note) if note in _NOTES else "", blocks))


@pages.get("/seat/{session}/{seat}/{token}/payoffs")
def payoffs(
    context: SeatDoor, choice: Annotated[list[str] | None, Query()] = None
) -> PlainTextResponse:
    """Say what everybody gets for some choices, one for each seat.

    This is for a payoff table that is too large to be shown.
    """
    session = context.session
    choices = [typed.strip() for typed in choice or []]
    form = find_stage_form(session.game)
    texts = session.table.texts
    if form is None or len(choices) != form.num_players:
        return PlainTextResponse("")
    for typed, actions in zip(choices, form.actions, strict=True):
        if typed not in actions:
            return PlainTextResponse(texts("not_option", text=typed[:40] or "?"))
    cell = tuple(actions.index(typed) for typed, actions in zip(choices, form.actions, strict=True))
    earned = [texts.figure(float(form.payoffs[(seat, *cell)])) for seat in range(form.num_players)]
    own = earned[context.seat]
    others = []
    for role, amount in zip(session.roles, earned, strict=True):
        if role != context.role:
            others.append(f"{texts.word(role)}: {amount}")
    listed = texts.language.messages["list-mark"].join(others)
    return PlainTextResponse(texts("would_get", own=own, others=listed))


@dataclass(frozen=True)
class PageNews:
    """What a page has not shown yet.

    This is the version it should have, messages of the experimenter and of the group, whether it
    should send what is typed, and how many have answered meanwhile.
    """

    version: str
    notes: list[str] = field(default_factory=list)
    advance: bool = False
    chat: list[ChatLine] = field(default_factory=list)
    answered: str = ""


@pages.post("/seat/{session}/{seat}/{token}/ready")
def ready(context: SeatDoor, form: PostedForm) -> Response:
    """Note that the person has read the rules, or say what is missing."""
    context = context.follow()
    register = context.server.sessions.register
    if (
        context.session.phase(context.seat) != "welcome"
        or register.get(context.session.id, context.seat).released
    ):
        return _go_back(context)
    if service.find_page(context) is not None:
        return _go_back(context, "early")
    count = len(service.list_quiz_questions(context.session, context.seat))
    quiz = [form.get(f"quiz.{k}", "") for k in range(count)]
    wrong = service.try_ready(context, quiz, form.get("consent") == "yes")
    if wrong and not register.get(context.session.id, context.seat).released:
        return _render(context, SeatForms(typed=form, wrong=wrong), 422)
    return _go_back(context)


@pages.post("/seat/{session}/{seat}/{token}/answer")
def send_answer(context: SeatDoor, form: PostedForm) -> Response:
    """Take the answer to the open question, or say what is wrong with it."""
    session = context.session
    text = form.get("turn", "")
    turn = int(text) if text.isdecimal() and len(text) < 9 else -1
    with session.lock:
        if form.get("attempt", "1") != str(session.attempt):
            return _go_back(context, "restarted")
        ask = session.pending().get(context.role)
        action = None
        if (
            ask is not None
            and turn == session.turn(context.role)
            and session.phase(context.seat) == "turn"
        ):
            action, errors = read_fields(ask, form, session.table.texts)
            if errors:
                return _render(context, SeatForms(typed=form, wrong=errors), 422)
            language = session.table.texts.language
            view = session.episode.view(context.role)
            settles = tell_settled(session.game, view, action, language)
            if settles and form.get("confirmed") != settles:
                return _render(context, SeatForms(typed=form, settles=settles))
        try:
            presence = _read_presence(form, session.seconds_left(context.seat))
            service.submit_answer(context, turn, Decision(action, form.get("why", "")), presence)
        except StoodIn:
            return _go_back(context, "late")
        except AlreadyAnswered:
            is_same_click = session.find_key(context.role, turn) == form.get("key")
            return _go_back(context, "" if is_same_click else "twice")
        except NotAsked:
            return _go_back(context, "early")
        except StoreError as error:
            _log.error("session %s, %s: %s", session.id, context.role, error)
            session.trouble = f"an answer of {context.role} could not be written to the disk"
            note = session.table.texts("not_stored")
            return _render(context, SeatForms(note=note, typed=form), 503)
        session.trouble = ""
    return _go_back(context)


def _read_presence(form: dict[str, str], left: float | None) -> Presence:
    """Read what the page noted about the person's presence.

    This is whether the time was up, and how often and how long it was out of sight.

    Whether the time was up goes by the server's clock; a page may only be a little ahead of it.
    """
    early = _EARLY if form.get("timed_out") == "yes" else 0.0
    timed_out = left is not None and left <= early
    times, seconds = (form.get(name, "") for name in ("away_times", "away_seconds"))
    known = times.isdecimal() and seconds.isdecimal() and len(times) < 6 and len(seconds) < 8
    return Presence(
        timed_out,
        int(times) if known else None,
        int(seconds) if known else None,
        form.get("key", "")[:_LONGEST_KEY],
    )


@pages.post("/seat/{session}/{seat}/{token}/questionnaire")
def questionnaire(context: SeatDoor, form: PostedForm) -> Response:
    """Keep the answers to the questionnaire, or say what is missing."""
    context = context.follow()
    place = (context.session.id, context.seat, form.get("page", ""))
    if place in context.server.sessions.answered_pages:
        return _go_back(context)
    try:
        wrong = service.keep_questionnaire(context, form)
    except NotAsked:
        return _go_back(context, "early")
    return _render(context, SeatForms(typed=form, wrong=wrong), 422) if wrong else _go_back(context)


@pages.post("/seat/{session}/{seat}/{token}/chat")
def write_to_group(context: SeatDoor, form: PostedForm) -> Response:
    """Send a message to the group, or say what is wrong with it."""
    try:
        chat.send_chat(context, form.get("text", ""))
    except FieldMistake as mistake:
        return _render(context, SeatForms(typed=form, wrong={"text": str(mistake)}), 422)
    except NotAsked:
        return _go_back(context)
    except StoreError as error:
        _log.error("session %s, %s: %s", context.session.id, context.role, error)
        note = context.session.table.texts("not_stored")
        return _render(context, SeatForms(note=note, typed=form), 503)
    return _go_back(context)


@pages.get("/seat/{session}/{seat}/{token}/changes")
async def changes(
    context: SeatDoor,
    after: Version = "",
    known: Known = 0,
    chatted: Known | None = None,
    answered: Version | None = None,
) -> dict[str, object]:
    """Wait until something on the page changes, and say what.

    It changes if it is another than that of version `after`, the experimenter did something or
    somebody wrote to the group.

    `known` messages of the experimenter, `chatted` ones of the group and the words `answered` are
    on the page already; without `after` the answer comes at once. Whoever does not say `chatted` or
    `answered` does not show such things, and is not told of them.
    """

    def tell() -> PageNews:
        here = context.follow()
        session = here.session
        seat = here.seat
        asked = session.asked.get(here.role, (-1, 0.0))[0]
        return PageNews(
            version=session.version(seat),
            notes=session.standing.messages[known:],
            advance=(here.role, asked) in session.advanced,
            chat=[] if chatted is None else chat.list_chat(session, seat)[chatted:],
            answered="" if answered is None else service.count_answered(session, seat),
        )

    shown = PageNews(after, answered=answered or "")
    await _wait_until(context, lambda: tell() != shown, _BEAT)
    return asdict(tell())


async def _wait_until(context: SeatContext, happened: Callable[[], bool], seconds: float) -> None:
    """Wait until it has happened, at most so many seconds; the person is there meanwhile."""
    stamp = -1
    end = time.monotonic() + seconds
    with hold_stream(context):
        while time.monotonic() < end and not context.server.is_ending():
            context = context.follow()
            if context.session.stamp != stamp:
                stamp = context.session.stamp
                if happened():
                    return
            await asyncio.sleep(_LOOK)
            context.session.touch(context.seat)


@pages.get("/seat/{session}/{seat}/{token}/{form}")
def return_to_seat(context: SeatDoor) -> Response:
    """Whoever loads the address of a form that was refused comes back to the seat."""
    return _go_back(context)


def _go_back(context: SeatContext, note: str = "") -> RedirectResponse:
    here = context.follow()
    path = here.server.seat_path(here.session.id, here.seat, here.number)
    return RedirectResponse(f"{path}?note={note}" if note else path, 303)


@pages.get("/look/{session}/{seat}", dependencies=[AdminPage])
def look_at_seat(server: Server, session: str, seat: int) -> HTMLResponse:
    """Show the experimenter what the person in a seat sees; nothing is taken, noted or sent."""
    table = server.sessions.get_session(session)
    if seat not in table.setup.persons:
        raise NotFound("nobody sits there who has a page")
    return _render(SeatContext(server, table, seat), SeatForms(), looking=True)


def _render(
    context: SeatContext, forms: SeatForms, status: int = 200, looking: bool = False
) -> HTMLResponse:
    """Render the page of the seat as it is now.

    Whoever only looks has not seen it in the person's place.
    """
    session = context.session
    seat = context.seat
    server = context.server
    table = session.table
    lobby = server.sessions.get_lobby(table.lobby)
    with session.lock:
        view = service.describe_own_seat(context, looking)
        game = _show_game(context, forms)
    stage = service.describe_stage(context)
    parts = len(server.sessions.list_seats(session.id, seat))
    rounds = game.told.progress
    played = 0.0
    if view.phase in ("over", "closed", "replaced"):
        played = 1.0
    elif rounds and rounds.now and rounds.of:
        played = (rounds.now - 1) / rounds.of
    quiz = service.list_quiz_questions(session, seat) if view.quiz else ()
    token = server.seat_token(session.id, seat, context.number)
    page = SeatPage(
        brand=lobby.experiment.brand,
        logo=lobby.experiment.logo,
        t=table.texts,
        view=view,
        game=game,
        forms=forms,
        stage=stage,
        table=table,
        experiment=lobby.experiment,
        from_file=bool(lobby.source),
        parts=parts,
        studied=(table.number - 1 + played) / parts,
        page=service.find_page(context),
        others=_list_others(context),
        quiz_options=[getattr(question, "options", ()) for question in quiz],
        messages=session.standing.messages,
        chat=chat.list_chat(session, seat),
        chat_open=chat.is_chat_open(session),
        answered=service.count_answered(session, seat),
        looking=looking,
        path=f"/seat/{session.id}/{seat}/{token}",
        csrf=server.csrf(token),
        key=secrets.token_hex(8),
    )
    return render_page(page, status)


def _list_others(context: SeatContext) -> dict[str, float]:
    """Return what the others got, by their names, once the game is over."""
    session = context.session
    if session.phase(context.seat) != "over":
        return {}
    names = name_roles(session.game)
    others = {}
    for role, amount in session.payoffs().items():
        if role != context.role:
            others[names.get(role, role)] = amount
    return others


def _show_game(context: SeatContext, forms: SeatForms) -> ShownGame:
    """Show the game as it is now, with what was typed into the fields of its question."""
    session = context.session
    role = context.role
    ask = session.pending().get(role) if session.phase(context.seat) == "turn" else None
    state = session.episode.state
    return ShownGame(
        title=_find_title(context),
        told=show_situation(session.game, state, role, ask, session.table.texts),
        calculator=service.list_calculator(session, role),
        fields=make_fields(ask, forms.typed, forms.wrong) if ask else [],
        void=session.episode.void,
    )


def _find_title(context: SeatContext) -> str:
    """Return the title of the game in the experiment, that of the experiment, or its own."""
    session = context.session
    table = session.table
    lobby = context.server.sessions.get_lobby(table.lobby)
    if table.part.game.title:
        return table.part.game.title
    if lobby.source:
        return lobby.experiment.title
    titled = session.game.title if isinstance(session.game, Wording) else session.setup.game.name
    return table.texts.word(titled)


_SEAT = "/api/seats/{session}/{seat}"
calls = APIRouter(prefix=_SEAT, responses=describe_errors(), tags=["seat"], dependencies=[Bearer])
Answer = str | float | list[float] | dict[str, str | float | list[float]]


class ReadyIn(Closed):
    """The answers to the quiz and whether the consent text is agreed to."""

    agreed: bool = False
    quiz: list[Annotated[str, Field(max_length=100)]] = Field(default_factory=list, max_length=20)


class ChatIn(Closed):
    """A message to the group."""

    text: str = Field(min_length=1, max_length=2000)


class AnswerIn(Closed):
    """An answer to the question number `turn`, of that attempt where the game was restarted."""

    turn: int = Field(ge=0, le=10**6)
    attempt: int = Field(1, ge=1, le=10**6)
    answer: Answer
    why: str = Field("", max_length=2000)


@calls.get("")
async def show_seat(context: SeatDoor, after: Version = "", wait: Wait = 0) -> SeatView:
    """What the person in that seat may know.

    With `after`, the version known already, the answer waits up to `wait` seconds for another one.
    """
    await _wait_until(context, lambda: context.session.version(context.seat) != after, wait)
    return service.describe_own_seat(context)


@calls.post("/ready")
async def make_ready(context: SeatDoor, body: ReadyIn) -> SeatView:
    """Say that the rules are understood; the game begins when everybody has."""
    wrong = service.try_ready(context, body.quiz, body.agreed)
    if wrong:
        mistakes = [f"{which}: {why}" for which, why in wrong.items()]
        raise UsageError("; ".join(mistakes))
    return service.describe_own_seat(context.follow())


@calls.post("/answers")
async def post_answer(context: SeatDoor, body: AnswerIn) -> SeatView:
    """Answer the question number `turn`; the same answer twice is refused and changes nothing."""
    if body.attempt != context.session.attempt:
        raise NotAsked("the experimenter has restarted this game; ask for the seat again")
    action: Any = tuple(body.answer) if isinstance(body.answer, list) else body.answer
    service.submit_answer(context, body.turn, Decision(action, body.why), Presence())
    return service.describe_own_seat(context)


@calls.get("/chat")
async def read_chat(context: SeatDoor) -> list[ChatLine]:
    """The messages that the people of the group have written beside the game."""
    return chat.list_chat(context.session, context.seat)


@calls.post("/chat")
def post_chat(context: SeatDoor, body: ChatIn) -> list[ChatLine]:
    """Write to the group, where the experiment offers it."""
    try:
        chat.send_chat(context, body.text)
    except FieldMistake as mistake:
        raise UsageError(str(mistake)) from None
    return chat.list_chat(context.session, context.seat)


@calls.get("/equilibrium")
def show_equilibrium(context: SeatDoor) -> dict[str, object]:
    """What the equilibrium would have been, told in `blocks` when the game is over."""
    report = serialize_report(Document("", opening=service.describe_equilibrium(context)))
    return {"blocks": report["opening"]}
