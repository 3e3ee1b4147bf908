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
from bestresponse.web.formalizing.library import saved_games, saved_program
from bestresponse.web.pages.render import page
from bestresponse.web.sessions.games import game_of, offers
from bestresponse.web.sessions.session import Session
from bestresponse.web.sessions.setup import PERSON, GameChoice, Setup
from bestresponse.web.sessions.state import AdminPage, Desk, Here, Posted, check_csrf
from bestresponse.web.sessions.store import Lobby

__all__ = ["lay_tables", "router"]

router = APIRouter(include_in_schema=False)
_SAVED = "saved:"
_SHOWN = 100


@router.get("/", dependencies=[AdminPage])
def home(desk: Here) -> HTMLResponse:
    lobbies = desk.house.lobbies()[:_SHOWN]
    return page("play.html", offers=offers(), saved=saved_games(desk.output), lobbies=[_row(desk, x) for x in lobbies])


def _row(desk: Desk, lobby: Lobby) -> dict[str, Any]:
    over = sum(desk.house.finished(table.id) for table in lobby.tables)
    people = len(lobby.setup.persons) * len(lobby.tables)
    return {"id": lobby.id, "game": lobby.setup.game.name, "at": lobby.created, "groups": len(lobby.tables),
            "people": people, "over": over}  # fmt: skip


@router.get("/play/new", dependencies=[AdminPage])
def new(desk: Here, game: str, rounds: int = 0, mixed: bool = False) -> HTMLResponse:
    return _form(desk, _choice(desk, game, rounds or _usual_rounds(desk, game), mixed), {}, "")


def _usual_rounds(desk: Desk, name: str) -> int:
    game = game_of(_choice(desk, name, 1, False))
    return game.usual_rounds if isinstance(game, AdjustableRounds) else 1


def _choice(desk: Desk, name: str, rounds: int, mixed: bool) -> GameChoice:
    if name.startswith(_SAVED):
        plain = name.removeprefix(_SAVED)
        return GameChoice(plain, saved_program(desk.output, plain), rounds, mixed)
    return GameChoice(name, "", rounds, mixed)


def _form(desk: Desk, choice: GameChoice, typed: dict[str, str], error: str) -> HTMLResponse:
    game = game_of(choice)
    return page(
        "play_new.html",
        422 if error else 200,
        choice=choice,
        key=_SAVED + choice.name if choice.program else choice.name,
        roles=game.roles,
        is_table=find_stage_form(game) is not None,
        has_rounds=find_stage_form(game) is not None or isinstance(game, AdjustableRounds),
        rounds_word=game.rounds_word if isinstance(game, AdjustableRounds) else "rounds",
        strategies=list_strategies(game),
        models=desk.models,
        briefing=game.view(game.start(), game.roles[0]).briefing,
        typed=typed,
        error=error,
        csrf=desk.csrf("admin"),
    )


@router.post("/play", dependencies=[AdminPage])
def create(desk: Here, form: Posted) -> Response:
    check_csrf(desk, form, "admin")
    name = form.get("game", "")
    try:
        choice = _choice(desk, name, _whole(form, "rounds", 1), form.get("mixed") == "yes")
        lobby = lay_tables(desk, _setup(choice, form), _whole(form, "groups", 1))
    except BestResponseError as error:
        return _form(desk, _choice(desk, name, _usual_rounds(desk, name), False), form, str(error))
    return RedirectResponse(f"/lobby/{lobby.id}", 303)


def _setup(choice: GameChoice, form: dict[str, str]) -> Setup:
    return Setup(
        choice,
        tuple(form.get(f"seat.{number}", PERSON) for number in range(len(game_of(choice).roles))),
        _whole(form, "seconds", 0),
        form.get("stand_in") or "random",
        form.get("consent", "").strip(),
        form.get("quiz") == "yes",
        secrets.randbelow(2**31),
    )


@router.post("/lobby/{lobby}/begin", dependencies=[AdminPage])
def begin(desk: Here, lobby: str, form: Posted) -> Response:
    """Go on without the people of one table who have not come."""
    check_csrf(desk, form, "admin")
    table = form.get("session", "")
    if table in {one.id for one in desk.house.lobby(lobby).tables}:
        desk.house.begin_without(desk.house.session(table))
    return RedirectResponse(f"/lobby/{lobby}", 303)


def lay_tables(desk: Desk, setup: Setup, groups: int) -> Lobby:
    """New tables; a model that cannot be opened is refused before anybody sits down."""
    for seat in dict.fromkeys(setup.seats):
        if seat.startswith("model:"):
            desk.model(seat.removeprefix("model:"))
    return desk.house.set_up(setup, groups)


def _whole(form: dict[str, str], name: str, missing: int) -> int:
    text = form.get(name, "").strip()
    if not text:
        return missing
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"{name}: {text[:40]!r} is not a whole number") from None


@router.get("/lobby/{lobby}", dependencies=[AdminPage])
def show_lobby(request: Request, desk: Here, lobby: str) -> HTMLResponse:
    found = desk.house.lobby(lobby)
    base = str(request.base_url).rstrip("/")
    tables = [_table(desk, base, desk.house.session(table.id)) for table in found.tables[:_SHOWN]]
    join = base + desk.join_path(found.id) if found.setup.persons else ""
    return page(
        "lobby.html",
        lobby=found,
        tables=tables,
        join=join,
        more=len(found.tables) - len(tables),
        csrf=desk.csrf("admin"),
    )


def _table(desk: Desk, base: str, session: Session) -> dict[str, Any]:
    with session.lock:
        seats = [
            {
                "role": role,
                "who": who,
                "link": base + desk.seat_path(session.id, seat) if who == PERSON else "",
                "code": desk.code(session.id, seat) if who == PERSON else "",
                "state": session.state(seat),
                "answers": session.turn(role),
                "payoff": session.game.payoffs(session.episode.state).get(role) if session.over else None,
            }
            for seat, (role, who) in enumerate(zip(session.roles, session.setup.seats, strict=True))
        ]
        return {"id": session.id, "group": session.table.group, "seats": seats, "over": session.over and session.begun,
                "begun": session.begun, "trouble": session.trouble}  # fmt: skip
