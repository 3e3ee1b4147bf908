"""Play, from the admin's side: choose a game and fill the seats."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from bestresponse.core.capabilities import AdjustableRounds, word_rules
from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.core.game import AnyGame
from bestresponse.core.json import JsonObject
from bestresponse.games.capabilities import find_stage_form
from bestresponse.players.lookup import list_strategies
from bestresponse.web.experiments.reading import check_experiment, parse_experiment
from bestresponse.web.pages.render import render_page
from bestresponse.web.services.formalizing import list_saved_games, load_program
from bestresponse.web.sessions.games import list_models, list_offers, list_parameters, list_referees, make_game
from bestresponse.web.sessions.lobby import Lobby
from bestresponse.web.sessions.setup import PERSON, GameChoice, Parameter, Setup, read_checked
from bestresponse.web.sessions.state import AdminForm, AdminPage, Server, ServerState
from bestresponse.web.texts import list_languages

__all__ = ["create_experiment", "create_sessions", "router"]

router = APIRouter(include_in_schema=False)
_SAVED = "saved:"
_SHOWN = 100


@router.get("/", dependencies=[AdminPage])
def home(server: Server, page: Annotated[int, Query(ge=1, le=10**6)] = 1) -> HTMLResponse:
    """Show the lobbies, a page at a time, and what can be played."""
    return _show_home(server, page=page)


def _show_home(server: ServerState, error: str = "", typed: str = "", page: int = 1) -> HTMLResponse:
    every = server.sessions.list_lobbies()
    pages = max(1, -(-len(every) // _SHOWN))
    lobbies = every[(min(page, pages) - 1) * _SHOWN :][:_SHOWN]
    return render_page(
        "play.html",
        422 if error else 200,
        error=error,
        typed=typed,
        csrf=server.csrf("admin"),
        offers=list_offers(),
        saved=list_saved_games(server.output),
        lobbies=[_row(server, x) for x in lobbies],
        page=min(page, pages),
        pages=pages,
    )


def _row(server: ServerState, lobby: Lobby) -> JsonObject:
    over = sum(server.sessions.is_finished(table.id) for table in lobby.last_tables)
    groups = len(lobby.first_tables)
    people = len(lobby.setup.persons) * groups
    return {"id": lobby.id, "game": lobby.title, "at": lobby.created, "groups": groups, "people": people, "over": over}


@router.post("/experiments", dependencies=[AdminPage])
def begin_experiment(server: Server, form: AdminForm) -> Response:
    """Create the sessions of an experiment file that was handed in."""
    text = form.get("file", "").replace("\r\n", "\n") or form.get("toml", "").replace("\r\n", "\n")
    try:
        lobby = create_experiment(server, text)
    except BestResponseError as error:
        return _show_home(server, f"The experiment file: {error}", text)
    return RedirectResponse(f"/lobby/{lobby.id}", 303)


@router.get("/play/new", dependencies=[AdminPage])
def new(server: Server, game: str, rounds: int = 0, mixed: bool = False) -> HTMLResponse:
    """Show the form for new tables of a game."""
    return _form(server, _choice(server, game, rounds or _usual_rounds(server, game), mixed), {}, "")


def _usual_rounds(server: ServerState, name: str) -> int:
    game = make_game(_choice(server, name, 1, False))
    return game.usual_rounds if isinstance(game, AdjustableRounds) else 1


def _choice(server: ServerState, name: str, rounds: int, mixed: bool) -> GameChoice:
    if name.startswith(_SAVED):
        plain = name.removeprefix(_SAVED)
        return GameChoice(plain, load_program(server.output, plain), rounds, mixed)
    return GameChoice(name, "", rounds, mixed)


def _form(server: ServerState, choice: GameChoice, typed: dict[str, str], error: str) -> HTMLResponse:
    game = make_game(choice)
    return render_page(
        "play_new.html",
        422 if error else 200,
        choice=choice,
        key=_SAVED + choice.name if choice.program else choice.name,
        roles=game.roles,
        is_table=find_stage_form(game) is not None,
        has_rounds=find_stage_form(game) is not None or isinstance(game, AdjustableRounds),
        rounds_word=game.rounds_word if isinstance(game, AdjustableRounds) else "rounds",
        strategies=list_strategies(game),
        referees=list_referees(game, server.models),
        parameters={} if isinstance(game, AdjustableRounds) else _show_parameters(game),
        models=server.models,
        briefing=word_rules(game, game.view(game.start(), game.roles[0])),
        languages=list_languages(),
        typed=typed,
        error=error,
        csrf=server.csrf("admin"),
    )


def _show_parameters(game: AnyGame) -> dict[str, str]:
    """List the numbers that can be set in the rules, as they stand in the form."""
    found = list_parameters(game).items()
    return {
        name: f"{value:g}" for name, value in found if type(value) in (int, float) and isinstance(value, int | float)
    }


def _read_parameters(game: AnyGame, form: dict[str, str]) -> dict[str, Parameter]:
    """Read the parameters that differ from those of the game."""
    own = list_parameters(game)
    found: dict[str, Parameter] = {}
    for name, usual in _show_parameters(game).items():
        text = form.get(f"parameter.{name}", usual).strip().replace(",", ".")
        if text == usual or not text:
            continue
        try:
            found[name] = int(text) if isinstance(own[name], int) else float(text)
        except ValueError:
            raise UsageError(f"{name}: {text[:40]!r} is not a number that the game can have") from None
    return found


@router.post("/play", dependencies=[AdminPage])
def create(server: Server, form: AdminForm) -> Response:
    """Create the tables that the form describes."""
    name = form.get("game", "")
    try:
        choice = _choice(server, name, _whole(form, "rounds", 1), form.get("mixed") == "yes")
        choice = replace(choice, parameters=_read_parameters(make_game(choice), form))
        lobby = create_sessions(server, _setup(choice, form), _whole(form, "groups", 1))
    except BestResponseError as error:
        return _form(server, _choice(server, name, _usual_rounds(server, name), False), form, str(error))
    return RedirectResponse(f"/lobby/{lobby.id}", 303)


def _setup(choice: GameChoice, form: dict[str, str]) -> Setup:
    numbers = {name: _whole(form, name, 0) for name in ("seconds", "waiting", "hold") if form.get(name, "").strip()}
    words = {name: form[name].strip() for name in ("stand_in", "consent", "referee", "language") if form.get(name)}
    seats = [form.get(f"seat.{number}", PERSON) for number in range(len(make_game(choice).roles))]
    drawn = {"seed": secrets.randbelow(2**31), "quiz": form.get("quiz") == "yes"}
    return read_checked(Setup, {"game": choice, "seats": seats, **numbers, **words, **drawn})


def create_sessions(server: ServerState, setup: Setup, groups: int) -> Lobby:
    """Create sessions; refuse a model that cannot be opened before anybody sits down."""
    _open_models(server, setup)
    return server.sessions.create_sessions(setup, groups)


def create_experiment(server: ServerState, text: str) -> Lobby:
    """Create the sessions of an experiment file; refuse a model that cannot be opened."""
    check_experiment(text)
    _open_models(server, *(part.setup for parts in parse_experiment(text)[1].values() for part in parts))
    return server.sessions.create_experiment(text)


def _open_models(server: ServerState, *setups: Setup) -> None:
    for name in dict.fromkeys(name for setup in setups for name in list_models(setup)):
        server.model(name)


def _whole(form: dict[str, str], name: str, missing: int) -> int:
    text = form.get(name, "").strip()
    if not text:
        return missing
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"{name}: {text[:40]!r} is not a whole number") from None
