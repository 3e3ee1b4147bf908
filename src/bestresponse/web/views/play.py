"""Play, as pages for the experimenter and as calls for programs.

This covers games, tables, and the monitor of a lobby.

The admin's calls carry the admin's token, a person's calls the token of one seat, as
`Authorization: Bearer ...`.
"""

import secrets
from dataclasses import field, fields, replace
from decimal import Decimal
from functools import partial
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Body, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import Field
from pydantic.dataclasses import dataclass

from bestresponse.core.capabilities import AdjustableRounds, Parameter
from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.core.game import Game, S
from bestresponse.games.capabilities import find_stage_form
from bestresponse.games.parameters import list_parameters
from bestresponse.players.lookup import list_strategies
from bestresponse.telling.language import list_languages
from bestresponse.telling.render import word_rules
from bestresponse.web.access import (
    AdminApi,
    AdminPage,
    Bearer,
    LobbyDoor,
    Name,
    PostedForm,
    Server,
    ServerState,
)
from bestresponse.web.experiments.reading import check_experiment
from bestresponse.web.pages import (
    LobbyPage,
    NewExperimentPage,
    NewTablePage,
    PaymentsPage,
    PlayPage,
    SessionReportPage,
)
from bestresponse.web.render import Closed, describe_errors, render_form, render_page
from bestresponse.web.security import REPORT_POLICY
from bestresponse.web.services import play
from bestresponse.web.services.export import list_participants
from bestresponse.web.services.people import STAGES, PersonState, count_stages, list_people
from bestresponse.web.services.play import Action, LobbyState, LobbySummary
from bestresponse.web.services.seat import find_seat
from bestresponse.web.services.session_report import RoundSummary, summarize_session
from bestresponse.web.sessions import setup
from bestresponse.web.sessions.session import read_labels

pages = APIRouter(include_in_schema=False, dependencies=[AdminPage])
_SAVED = "saved:"
_LOBBIES = 100
_TABLES = 50
_PEOPLE = 100
"""How many a page shows."""
Find = Annotated[str, Query(max_length=200)]
_MOST_BOTS = 200
"""As many as take about a minute; the command line takes more."""
Page = Annotated[int, Query(ge=1, le=10**6)]


@pages.get("/")
def home(server: Server, page: Page = 1) -> HTMLResponse:
    """Show the lobbies, a page at a time, and what can be played."""
    lobbies = server.sessions.list_lobbies()
    pages = max(1, -(-len(lobbies) // _LOBBIES))
    page = min(page, pages)
    first = (page - 1) * _LOBBIES
    listed = lobbies[first : first + _LOBBIES]
    shown = PlayPage(
        lobbies=[play.summarize_lobby(server, lobby) for lobby in listed],
        page=page,
        pages=pages,
        rooms={name: server.room_path(name) for name in server.sessions.rooms},
        opened=server.sessions.rooms,
        offers=setup.list_offers(),
        saved=play.list_own_games(server.output),
    )
    return render_page(shown)


@pages.get("/experiments/new")
def new_experiment(server: Server) -> HTMLResponse:
    """Show the form for an experiment file."""
    return _show_experiment_form(server)


def _show_experiment_form(
    server: ServerState, error: str = "", typed: str = "", note: str = ""
) -> HTMLResponse:
    return render_form(NewExperimentPage(csrf=server.csrf(), error=error, typed=typed, note=note))


@pages.post("/experiments")
def begin_experiment(server: Server, form: PostedForm) -> Response:
    """Create the sessions of an experiment file that was handed in, or try it."""
    text = (form.get("file") or form.get("toml", "")).replace("\r\n", "\n")
    action = form.get("do", "")
    try:
        if action in ("check", "preview", "bots"):
            return _try_experiment(server, text, action, _read_whole(form, "people", 8))
        lobby = play.create_experiment(server, text)
    except BestResponseError as error:
        return _show_experiment_form(server, f"The experiment file: {error}", text)
    return RedirectResponse(f"/lobby/{lobby.id}", 303)


def _try_experiment(server: ServerState, text: str, action: str, people: int) -> HTMLResponse:
    """Check the file, show every page of it, or let programs take part.

    They take part in a folder that is thrown away.
    """
    # The trial opens an application of its own, which has this view.
    from bestresponse.web.trial import TrialSettings, count_people, render_preview, try_experiment

    title = check_experiment(text).title
    needed = count_people(text)
    if action == "check":
        note = f"This file is right. People who fill one group of every treatment: {needed}."
        return _show_experiment_form(server, typed=text, note=note)
    if action == "bots":
        needed = min(max(people, 1), _MOST_BOTS)
    settings = TrialSettings(needed, models=server.models)
    trial = try_experiment(text, settings, server.model)
    if action == "preview":
        return HTMLResponse(
            render_preview(title, trial.pages), headers={"content-security-policy": REPORT_POLICY}
        )
    return _show_experiment_form(server, typed=text, note=" ".join(trial.list_findings()))


@pages.get("/play/new")
def new(server: Server, game: str, rounds: int = 0, mixed: bool = False) -> HTMLResponse:
    """Show the form for new tables of a game."""
    return _show_form(server, _choose(server, game, rounds or None, mixed), {}, "")


def _choose(server: ServerState, name: str, rounds: int | None, mixed: bool) -> setup.GameChoice:
    """Return the game of that name, which may be one of the user's own.

    Without a number of rounds it has its usual ones.
    """
    program = (
        play.read_own_game(server.output, name.removeprefix(_SAVED))
        if name.startswith(_SAVED)
        else ""
    )
    choice = setup.GameChoice(name.removeprefix(_SAVED) if program else name, program)
    if rounds is None:
        rounds = setup.count_rounds(choice)
    return setup.read_checked(setup.GameChoice, {**vars(choice), "rounds": rounds, "mixed": mixed})


def _show_form(
    server: ServerState, choice: setup.GameChoice, typed: dict[str, str], error: str
) -> HTMLResponse:
    game = setup.make_game(choice)
    is_table = find_stage_form(game) is not None
    rounds_word = "rounds" if is_table else ""
    if isinstance(game, AdjustableRounds):
        rounds_word = game.rounds_word
    shown = NewTablePage(
        csrf=server.csrf(),
        error=error,
        choice=choice,
        key=_SAVED + choice.name if choice.program else choice.name,
        roles=game.roles,
        is_table=is_table,
        parameters=_show_parameters(game),
        rounds_word=rounds_word,
        briefing=word_rules(game, game.view(game.start(), game.roles[0])),
        strategies=list_strategies(game),
        referees=setup.list_referees(game, server.models),
        models=server.models,
        languages=list_languages(),
        typed=typed,
    )
    return render_form(shown)


def _show_parameters(game: Game[S]) -> dict[str, str]:
    """List the numbers that can be set in the rules; the rounds have a field of their own."""
    length = game.rounds_word if isinstance(game, AdjustableRounds) else ""
    values = [(name, value) for name, value in list_parameters(game).items() if name != length]
    return {
        name: f"{value:g}"
        for name, value in values
        if isinstance(value, int | float) and type(value) is not bool
    }


@pages.post("/play")
def create(server: Server, form: PostedForm) -> Response:
    """Create the tables that the form describes; whoever wants to play at once is seated."""
    name = form.get("game", "")
    at_once = form.get("do") == "play"
    try:
        choice = _choose(
            server, name, _read_whole(form, "rounds", 0) or None, form.get("mixed") == "yes"
        )
        choice = replace(choice, parameters=_read_parameters(setup.make_game(choice), form))
        described = _read_setup(choice, form)
        if at_once:
            described = replace(described, quiz=False, seconds=0)
        lobby = play.create_sessions(server, described, _read_whole(form, "groups", 1))
    except BestResponseError as error:
        return _show_form(server, _choose(server, name, None, False), form, str(error))
    if at_once and described.persons:
        seat = server.seat_path(lobby.tables[0].id, described.persons[0])
        return RedirectResponse(seat, 303)
    return RedirectResponse(f"/lobby/{lobby.id}", 303)


def _read_whole(form: dict[str, str], name: str, missing: int) -> int:
    text = form.get(name, "").strip()
    try:
        return int(text) if text else missing
    except ValueError:
        raise UsageError(f"{name}: {text[:40]!r} is not a whole number") from None


def _read_parameters(game: Game[S], form: dict[str, str]) -> dict[str, Parameter]:
    """Read the parameters that differ from those of the game."""
    known = list_parameters(game)
    changed: dict[str, Parameter] = {}
    for name, usual in _show_parameters(game).items():
        text = form.get(f"parameter.{name}", usual).strip().replace(",", ".")
        if text == usual or not text:
            continue
        try:
            changed[name] = int(text) if isinstance(known[name], int) else float(text)
        except ValueError:
            raise UsageError(
                f"{name}: {text[:40]!r} is not a number that the game can have"
            ) from None
    return changed


def _read_setup(choice: setup.GameChoice, form: dict[str, str]) -> setup.Setup:
    numbers = {
        name: _read_whole(form, name, 0)
        for name in ("seconds", "waiting", "hold")
        if form.get(name)
    }
    words = {
        name: form[name].strip()
        for name in ("stand_in", "consent", "referee", "language")
        if form.get(name)
    }
    seats = []
    for number in range(len(setup.make_game(choice).roles)):
        seats.append(form.get(f"seat.{number}", setup.PERSON))
    drawn = {"seed": secrets.randbelow(2**31), "quiz": form.get("quiz") == "yes"}
    return setup.read_checked(
        setup.Setup, {"game": choice, "seats": seats, **numbers, **words, **drawn}
    )


@pages.get("/lobby/{lobby}")
def watch_lobby(
    request: Request,
    server: Server,
    lobby: str,
    page: Page = 1,
    note: str = "",
    stage: Find = "",
    find: Find = "",
) -> HTMLResponse:
    """Show one row for each person of the lobby, those at a `stage` or all, and its tables."""
    watched = server.sessions.get_lobby(lobby)
    base = str(request.base_url).rstrip("/")
    everybody = list_people(server, watched)
    fitting = list_people(server, watched, stage, find) if stage or find else everybody
    pages = max(-(-len(watched.tables) // _TABLES), -(-len(fitting) // _PEOPLE))
    page = min(page, pages)
    state = play.describe_lobby(server, watched, slice((page - 1) * _TABLES, page * _TABLES))
    labels = watched.experiment.assignment.labels
    over = all(server.sessions.is_finished(table.id) for table in watched.tables)
    people = fitting[(page - 1) * _PEOPLE : page * _PEOPLE]
    rooms = server.sessions.rooms
    leading = [name for name, room in rooms.items() if room.is_open and room.lobby == lobby]
    seats = [(person.session, person.seat) for person in people]
    paths = {seat: server.seat_path(*seat) for seat in seats}
    shown = LobbyPage(
        csrf=server.csrf(),
        lobby=watched,
        state=state,
        open=not over,
        page=page,
        pages=pages,
        note=note[:300],
        people=people,
        paths=paths,
        counts=count_stages(everybody),
        stages=STAGES,
        stage=stage,
        find=find,
        rooms={name: base + server.room_path(name) for name in leading},
        known_rooms=list(rooms),
        links=[base + server.personal_path(lobby, label) for label in labels],
        join=base + server.join_path(lobby) if watched.setup.persons else "",
        base=base,
    )
    return render_page(shown)


@pages.get("/lobby/{lobby}/payments")
def show_payments(server: Server, lobby: str) -> HTMLResponse:
    """Show what everybody is paid, as a list to be printed and signed."""
    watched = server.sessions.get_lobby(lobby)
    rows = [row for row in list_participants(server, lobby) if row["money"] is not None]
    total = sum((Decimal(str(row["money"])) for row in rows), Decimal())
    return render_page(PaymentsPage(lobby=watched, rows=rows, total=total))


@pages.get("/lobby/{lobby}/report")
def show_session_report(server: Server, lobby: str) -> HTMLResponse:
    """Show what people have answered so far, as the data come in."""
    watched = server.sessions.get_lobby(lobby)
    rows = summarize_session(server, lobby)
    return render_page(SessionReportPage(lobby=watched, rows=rows))


_DONE = {"advance": "Advanced", "replace": "Replaced by a bot:"}


@pages.post("/lobby/{lobby}/act")
def send_action(server: Server, lobby: str, form: PostedForm) -> Response:
    """Begin, advance, replace, close or restart: for one seat, one table, or the whole lobby."""
    action, _, target = form.get("do", "").partition(" ")
    session, _, seat = target.partition(" ")
    chosen = int(seat) if seat.isdecimal() and len(seat) < 4 else None
    count = play.act(server, server.sessions.get_lobby(lobby), action, session, chosen)
    note = (
        f"{_DONE[action]} {count} {'seat' if count == 1 else 'seats'}"
        if action in _DONE
        else f"Tables: {count}"
    )
    page = form.get("page", "1")
    return RedirectResponse(
        f"/lobby/{lobby}?page={page if page.isdecimal() else 1}&note={quote(note)}", 303
    )


@pages.post("/lobby/{lobby}/message")
def send_words(server: Server, lobby: str, form: PostedForm) -> Response:
    """Send a message to everybody, or to one group's tables."""
    count = play.broadcast(
        server, server.sessions.get_lobby(lobby), form.get("text", ""), form.get("to", "")
    )
    return RedirectResponse(f"/lobby/{lobby}?note={quote(f'Sent to {count} tables')}", 303)


calls = APIRouter(prefix="/api", responses=describe_errors(), tags=["play"], dependencies=[Bearer])


@dataclass(frozen=True, config=setup.CLOSED)
class LobbyIn(setup.Setup):
    """Tables to be laid; seats in the order of the game's roles. Without a seed one is drawn."""

    seed: setup.Seed = field(default_factory=partial(secrets.randbelow, 2**31))
    groups: setup.Groups = 1


Brief = Annotated[str, Field(max_length=200)]


class JoinIn(Closed):
    """Labels that tell the participants apart, and whether consent is given.

    With the labels comes the key of a personal link.
    """

    participant_label: Brief = ""
    PROLIFIC_PID: Brief = ""
    STUDY_ID: Brief = ""
    SESSION_ID: Brief = ""
    agreed: bool = False
    key: Brief = ""


class ActionIn(Closed):
    """What is done: for one seat, for one session, or without both for the whole lobby."""

    action: Action
    session: Brief = ""
    seat: int | None = Field(None, ge=0, le=100)


class MessageIn(Closed):
    """A message to one session, or without one to the whole lobby."""

    text: str = Field(min_length=1, max_length=1000)
    session: Brief = ""


calls.get("/games", dependencies=[AdminApi])(setup.list_offers)
calls.post("/games", dependencies=[AdminApi])(play.describe_choice)
calls.get("/sessions/{session}", dependencies=[AdminApi])(play.describe_session)


@calls.get("/models", dependencies=[AdminApi])
def list_seatable_models(server: Server) -> tuple[str, ...]:
    """The models that can be put into seats and asked for help."""
    return server.models


@calls.post("/lobbies", status_code=201, dependencies=[AdminApi])
def lay(server: Server, wanted: LobbyIn) -> LobbyState:
    """Lay tables; the answer holds the link of every seat."""
    rules = setup.Setup(
        **{known.name: getattr(wanted, known.name) for known in fields(setup.Setup)}
    )
    return play.describe_lobby(server, play.create_sessions(server, rules, wanted.groups))


@calls.post("/experiments", status_code=201, dependencies=[AdminApi])
def create_from_file(
    server: Server, toml: Annotated[str, Body(embed=True, max_length=500_000)]
) -> LobbyState:
    """Create the sessions of an experiment file, of which `toml` is the text."""
    return play.describe_lobby(server, play.create_experiment(server, toml))


@calls.get("/lobbies", dependencies=[AdminApi])
def list_lobbies(server: Server) -> list[LobbySummary]:
    """The newest first."""
    return [play.summarize_lobby(server, lobby) for lobby in server.sessions.list_lobbies()]


@calls.get("/lobbies/{lobby}", dependencies=[AdminApi])
def show_lobby(server: Server, lobby: Name) -> LobbyState:
    """The tables that were laid together, with the link of every seat."""
    return play.describe_lobby(server, server.sessions.get_lobby(lobby))


@calls.get("/lobbies/{lobby}/people", dependencies=[AdminApi])
def list_lobby_people(
    server: Server, lobby: Name, stage: Find = "", find: Find = ""
) -> list[PersonState]:
    """One row for each person: where they are, since when, their last answer, their earnings."""
    return list_people(server, server.sessions.get_lobby(lobby), stage, find)


@calls.get("/lobbies/{lobby}/report", dependencies=[AdminApi])
def report_lobby(server: Server, lobby: Name) -> list[RoundSummary]:
    """What people have answered so far, by game, treatment, round and stage."""
    return summarize_session(server, server.sessions.get_lobby(lobby).id)


@calls.post("/lobbies/{lobby}/join", status_code=201)
def join_lobby(
    server: Server, lobby: LobbyDoor, body: JoinIn | None = None
) -> dict[str, str | int]:
    """Take the next free seat; the answer holds its token and its path.

    Needs the token of the lobby.
    """
    wanted = body or JoinIn.model_validate({})
    labels = read_labels(wanted.model_dump(exclude={"agreed"}))
    held = find_seat(server, lobby, labels, wanted.key)
    if not held and server.sessions.get_lobby(lobby).setup.consent and not wanted.agreed:
        raise UsageError(
            "agreed: this study begins with a consent text; take a seat only with `agreed`"
        )
    session, seat = held or server.sessions.take_seat(lobby, labels, wanted.agreed)
    token = server.seat_token(session, seat)
    path = server.seat_path(session, seat)
    return {"session": session, "seat": seat, "token": token, "path": path}


@calls.post("/lobbies/{lobby}/actions", dependencies=[AdminApi])
def post_action(server: Server, lobby: Name, body: ActionIn) -> dict[str, int]:
    """Begin without the missing, advance, replace by a bot, close, or restart.

    Returns how many it concerned.
    """
    return {
        "count": play.act(
            server, server.sessions.get_lobby(lobby), body.action, body.session, body.seat
        )
    }


@calls.post("/lobbies/{lobby}/messages", dependencies=[AdminApi])
def post_message(server: Server, lobby: Name, body: MessageIn) -> dict[str, int]:
    """Show a message to participants, at once and on every later page."""
    return {
        "count": play.broadcast(server, server.sessions.get_lobby(lobby), body.text, body.session)
    }
