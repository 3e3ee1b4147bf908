"""Play, from the admin's side: choose a game and fill the seats."""

from __future__ import annotations

import secrets
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from bestresponse.core.capabilities import AdjustableRounds
from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.games.capabilities import find_stage_form
from bestresponse.players.lookup import list_strategies
from bestresponse.web.formalizing.library import list_saved_games, load_program
from bestresponse.web.pages.render import render_page
from bestresponse.web.sessions.games import list_offers, make_game
from bestresponse.web.sessions.setup import PERSON, GameChoice, Setup
from bestresponse.web.sessions.state import AdminPage, PostedForm, Server, ServerState, check_csrf
from bestresponse.web.sessions.store import Lobby

__all__ = ["create_sessions", "router"]

router = APIRouter(include_in_schema=False)
_SAVED = "saved:"
_SHOWN = 100


@router.get("/", dependencies=[AdminPage])
def home(server: Server) -> HTMLResponse:
    lobbies = server.sessions.list_lobbies()[:_SHOWN]
    return render_page(
        "play.html",
        offers=list_offers(),
        saved=list_saved_games(server.output),
        lobbies=[_row(server, x) for x in lobbies],
    )


def _row(server: ServerState, lobby: Lobby) -> dict[str, Any]:
    over = sum(server.sessions.is_finished(table.id) for table in lobby.tables)
    people = len(lobby.setup.persons) * len(lobby.tables)
    return {"id": lobby.id, "game": lobby.setup.game.name, "at": lobby.created, "groups": len(lobby.tables),
            "people": people, "over": over}  # fmt: skip


@router.get("/play/new", dependencies=[AdminPage])
def new(server: Server, game: str, rounds: int = 0, mixed: bool = False) -> HTMLResponse:
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
        models=server.models,
        briefing=game.view(game.start(), game.roles[0]).briefing,
        typed=typed,
        error=error,
        csrf=server.csrf("admin"),
    )


@router.post("/play", dependencies=[AdminPage])
def create(server: Server, form: PostedForm) -> Response:
    check_csrf(server, form, "admin")
    name = form.get("game", "")
    try:
        choice = _choice(server, name, _whole(form, "rounds", 1), form.get("mixed") == "yes")
        lobby = create_sessions(server, _setup(choice, form), _whole(form, "groups", 1))
    except BestResponseError as error:
        return _form(server, _choice(server, name, _usual_rounds(server, name), False), form, str(error))
    return RedirectResponse(f"/lobby/{lobby.id}", 303)


def _setup(choice: GameChoice, form: dict[str, str]) -> Setup:
    return Setup(
        choice,
        tuple(form.get(f"seat.{number}", PERSON) for number in range(len(make_game(choice).roles))),
        _whole(form, "seconds", 300),
        form.get("stand_in") or "random",
        form.get("consent", "").strip(),
        form.get("quiz") == "yes",
        secrets.randbelow(2**31),
        _whole(form, "waiting", 1800),
        _whole(form, "hold", 900),
    )


def create_sessions(server: ServerState, setup: Setup, groups: int) -> Lobby:
    """Create sessions; refuse a model that cannot be opened before anybody sits down."""
    for seat in dict.fromkeys(setup.seats):
        if seat.startswith("model:"):
            server.model(seat.removeprefix("model:"))
    return server.sessions.create_sessions(setup, groups)


def _whole(form: dict[str, str], name: str, missing: int) -> int:
    text = form.get(name, "").strip()
    if not text:
        return missing
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"{name}: {text[:40]!r} is not a whole number") from None
