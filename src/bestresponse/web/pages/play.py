"""Play, from the admin's side: choose a game, fill the seats, share the links, see how the tables go on."""

from __future__ import annotations

import secrets
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from bestresponse.core.capabilities import AdjustableRounds
from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.games.capabilities import find_stage_form
from bestresponse.players.lookup import list_strategies
from bestresponse.web.formalizing.library import list_saved_games, load_program
from bestresponse.web.pages.render import render_page
from bestresponse.web.sessions.games import list_offers, make_game
from bestresponse.web.sessions.session import Session
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
        _whole(form, "seconds", 0),
        form.get("stand_in") or "random",
        form.get("consent", "").strip(),
        form.get("quiz") == "yes",
        secrets.randbelow(2**31),
    )


@router.post("/lobby/{lobby}/begin", dependencies=[AdminPage])
def begin(server: Server, lobby: str, form: PostedForm) -> Response:
    """Go on without the people of one table who have not come."""
    check_csrf(server, form, "admin")
    table = form.get("session", "")
    if table in {one.id for one in server.sessions.get_lobby(lobby).tables}:
        server.sessions.begin_without(server.sessions.get_session(table))
    return RedirectResponse(f"/lobby/{lobby}", 303)


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


@router.get("/lobby/{lobby}", dependencies=[AdminPage])
def show_lobby(request: Request, server: Server, lobby: str) -> HTMLResponse:
    found = server.sessions.get_lobby(lobby)
    base = str(request.base_url).rstrip("/")
    tables = [_table(server, base, server.sessions.get_session(table.id)) for table in found.tables[:_SHOWN]]
    join = base + server.join_path(found.id) if found.setup.persons else ""
    return render_page(
        "lobby.html",
        lobby=found,
        tables=tables,
        join=join,
        more=len(found.tables) - len(tables),
        csrf=server.csrf("admin"),
    )


def _table(server: ServerState, base: str, session: Session) -> dict[str, Any]:
    with session.lock:
        seats = [
            {
                "role": role,
                "who": who,
                "link": base + server.seat_path(session.id, seat) if who == PERSON else "",
                "code": server.code(session.id, seat) if who == PERSON else "",
                "state": session.state(seat),
                "answers": session.turn(role),
                "payoff": session.game.payoffs(session.episode.state).get(role) if session.over else None,
            }
            for seat, (role, who) in enumerate(zip(session.roles, session.setup.seats, strict=True))
        ]
        return {"id": session.id, "group": session.table.group, "seats": seats, "over": session.over and session.begun,
                "begun": session.begun, "trouble": session.trouble}  # fmt: skip
