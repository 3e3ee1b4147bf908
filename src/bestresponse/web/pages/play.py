"""Play, from the admin's side: choose a game and fill the seats; the monitor of a lobby."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from bestresponse.core.capabilities import AdjustableRounds, word_rules
from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.core.game import AnyGame
from bestresponse.core.json import JsonObject
from bestresponse.games.capabilities import find_stage_form
from bestresponse.players.lookup import list_strategies
from bestresponse.web.access import AdminPage, PostedForm, Server, ServerState
from bestresponse.web.render import render_page
from bestresponse.web.services import play
from bestresponse.web.services.formalizing import list_saved_games, load_program
from bestresponse.web.sessions.games import list_offers, list_parameters, list_referees, make_game
from bestresponse.web.sessions.lobby import Lobby
from bestresponse.web.sessions.session import Table
from bestresponse.web.sessions.setup import PERSON, GameChoice, Parameter, Setup, read_checked
from bestresponse.web.sessions.store import BrokenSession
from bestresponse.web.texts import list_languages

__all__ = ["router"]

router = APIRouter(include_in_schema=False, dependencies=[AdminPage])
_SAVED = "saved:"
_LOBBIES = 100
_TABLES = 50
"""How many a page shows."""
Page = Annotated[int, Query(ge=1, le=10**6)]


@router.get("/")
def home(server: Server, page: Page = 1) -> HTMLResponse:
    """Show the lobbies, a page at a time, and what can be played."""
    return _show_home(server, page=page)


def _show_home(server: ServerState, error: str = "", typed: str = "", page: int = 1) -> HTMLResponse:
    lobbies = server.sessions.list_lobbies()
    pages = max(1, -(-len(lobbies) // _LOBBIES))
    page = min(page, pages)
    return render_page(
        "play.html",
        422 if error else 200,
        error=error,
        typed=typed,
        csrf=server.csrf(),
        offers=list_offers(),
        saved=list_saved_games(server.output),
        lobbies=[_count_lobby(server, lobby) for lobby in lobbies[(page - 1) * _LOBBIES :][:_LOBBIES]],
        page=page,
        pages=pages,
    )


def _count_lobby(server: ServerState, lobby: Lobby) -> JsonObject:
    over = sum(server.sessions.is_finished(table.id) for table in lobby.last_tables)
    groups = len(lobby.first_tables)
    people = len(lobby.setup.persons) * groups
    return {"id": lobby.id, "game": lobby.title, "at": lobby.created, "groups": groups, "people": people, "over": over}


@router.post("/experiments")
def begin_experiment(server: Server, form: PostedForm) -> Response:
    """Create the sessions of an experiment file that was handed in."""
    text = (form.get("file") or form.get("toml", "")).replace("\r\n", "\n")
    try:
        lobby = play.create_experiment(server, text)
    except BestResponseError as error:
        return _show_home(server, f"The experiment file: {error}", text)
    return RedirectResponse(f"/lobby/{lobby.id}", 303)


@router.get("/play/new")
def new(server: Server, game: str, rounds: int = 0, mixed: bool = False) -> HTMLResponse:
    """Show the form for new tables of a game."""
    return _show_form(server, _choose(server, game, rounds or None, mixed), {}, "")


def _choose(server: ServerState, name: str, rounds: int | None, mixed: bool) -> GameChoice:
    """Return the game of that name, which may be a saved one; without a number of rounds it has its usual ones."""
    program = load_program(server.output, name.removeprefix(_SAVED)) if name.startswith(_SAVED) else ""
    choice = GameChoice(name.removeprefix(_SAVED) if program else name, program)
    if rounds is None:
        game = make_game(choice)
        rounds = game.usual_rounds if isinstance(game, AdjustableRounds) else 1
    return read_checked(GameChoice, {**vars(choice), "rounds": rounds, "mixed": mixed})


def _show_form(server: ServerState, choice: GameChoice, typed: dict[str, str], error: str) -> HTMLResponse:
    game = make_game(choice)
    adjustable = isinstance(game, AdjustableRounds)
    is_table = find_stage_form(game) is not None
    return render_page(
        "play_new.html",
        422 if error else 200,
        choice=choice,
        key=_SAVED + choice.name if choice.program else choice.name,
        roles=game.roles,
        is_table=is_table,
        has_rounds=is_table or adjustable,
        rounds_word=game.rounds_word if isinstance(game, AdjustableRounds) else "rounds",
        strategies=list_strategies(game),
        referees=list_referees(game, server.models),
        parameters={} if adjustable else _show_parameters(game),
        models=server.models,
        briefing=word_rules(game, game.view(game.start(), game.roles[0])),
        languages=list_languages(),
        typed=typed,
        error=error,
        csrf=server.csrf(),
    )


def _show_parameters(game: AnyGame) -> dict[str, str]:
    """List the numbers that can be set in the rules, as they stand in the form."""
    values = list_parameters(game).items()
    return {name: f"{value:g}" for name, value in values if isinstance(value, int | float) and type(value) is not bool}


@router.post("/play")
def create(server: Server, form: PostedForm) -> Response:
    """Create the tables that the form describes."""
    name = form.get("game", "")
    try:
        choice = _choose(server, name, _read_whole(form, "rounds", 1), form.get("mixed") == "yes")
        choice = replace(choice, parameters=_read_parameters(make_game(choice), form))
        lobby = play.create_sessions(server, _read_setup(choice, form), _read_whole(form, "groups", 1))
    except BestResponseError as error:
        return _show_form(server, _choose(server, name, None, False), form, str(error))
    return RedirectResponse(f"/lobby/{lobby.id}", 303)


def _read_whole(form: dict[str, str], name: str, missing: int) -> int:
    text = form.get(name, "").strip()
    try:
        return int(text) if text else missing
    except ValueError:
        raise UsageError(f"{name}: {text[:40]!r} is not a whole number") from None


def _read_parameters(game: AnyGame, form: dict[str, str]) -> dict[str, Parameter]:
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
            raise UsageError(f"{name}: {text[:40]!r} is not a number that the game can have") from None
    return changed


def _read_setup(choice: GameChoice, form: dict[str, str]) -> Setup:
    numbers = {name: _read_whole(form, name, 0) for name in ("seconds", "waiting", "hold") if form.get(name)}
    words = {name: form[name].strip() for name in ("stand_in", "consent", "referee", "language") if form.get(name)}
    seats = [form.get(f"seat.{number}", PERSON) for number in range(len(make_game(choice).roles))]
    drawn = {"seed": secrets.randbelow(2**31), "quiz": form.get("quiz") == "yes"}
    return read_checked(Setup, {"game": choice, "seats": seats, **numbers, **words, **drawn})


@router.get("/lobby/{lobby}")
def show_lobby(request: Request, server: Server, lobby: str, page: Page = 1, note: str = "") -> HTMLResponse:
    """Show some groups of the lobby with every seat: who is where since when."""
    found = server.sessions.get_lobby(lobby)
    base = str(request.base_url).rstrip("/")
    pages = -(-len(found.tables) // _TABLES)
    page = min(page, pages)
    return render_page(
        "lobby.html",
        lobby=found,
        tables=[_describe_table(server, table) for table in found.tables[(page - 1) * _TABLES : page * _TABLES]],
        base=base,
        join=base + server.join_path(found.id) if found.setup.persons else "",
        open=any(not server.sessions.is_finished(table.id) for table in found.tables),
        page=page,
        pages=pages,
        note=note[:300],
        csrf=server.csrf(),
    )


def _describe_table(server: ServerState, table: Table) -> JsonObject:
    part = f", part {table.number}: {table.part.name}" if table.part else ""
    about = {"id": table.id, "name": f"Group {table.group}{part}", "treatment": table.treatment}
    try:
        session = server.sessions.get_session(table.id)
    except BrokenSession as error:
        return about | {"seats": [], "status": "broken", "trouble": str(error), "restarts": 0}
    with session.lock:
        status = "in play" if session.begun else "gathering"
        if session.ended:
            status = "finished" if session.over else "closed"
        trouble, seats = "" if session.ended else session.trouble, play.monitor_seats(server, session)
        return about | {"seats": seats, "status": status, "trouble": trouble, "restarts": session.attempt - 1}


_DONE = {"advance": "Advanced", "replace": "Replaced by a bot:"}


@router.post("/lobby/{lobby}/act")
def post_action(server: Server, lobby: str, form: PostedForm) -> Response:
    """Begin, advance, replace, close or restart: for one seat, one table, or the whole lobby."""
    action, _, target = form.get("do", "").partition(" ")
    session, _, seat = target.partition(" ")
    chosen = int(seat) if seat.isdecimal() and len(seat) < 4 else None
    count = play.act(server, server.sessions.get_lobby(lobby), action, session, chosen)
    said = f"{_DONE[action]} {count} {'seat' if count == 1 else 'seats'}" if action in _DONE else f"Tables: {count}"
    page = form.get("page", "1")
    return RedirectResponse(f"/lobby/{lobby}?page={page if page.isdecimal() else 1}&note={quote(said)}", 303)


@router.post("/lobby/{lobby}/message")
def post_message(server: Server, lobby: str, form: PostedForm) -> Response:
    """Send a message to everybody, or to one group's tables."""
    count = play.send_message(server, server.sessions.get_lobby(lobby), form.get("text", ""), form.get("to", ""))
    return RedirectResponse(f"/lobby/{lobby}?note={quote(f'Sent to {count} tables')}", 303)
