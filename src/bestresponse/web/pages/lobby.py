"""The monitor of a lobby: who is where since when, and what the experimenter can do about it."""

from __future__ import annotations

import time
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonObject
from bestresponse.web.pages.render import render_page
from bestresponse.web.sessions import control
from bestresponse.web.sessions.lobby import Lobby
from bestresponse.web.sessions.session import Session, Table
from bestresponse.web.sessions.setup import PERSON
from bestresponse.web.sessions.state import AdminForm, AdminPage, Server, ServerState
from bestresponse.web.sessions.store import BrokenSession, NotFound

__all__ = ["ACTIONS", "act", "router", "send_message"]

router = APIRouter(prefix="/lobby/{lobby}", include_in_schema=False, dependencies=[AdminPage])
ACTIONS = ("begin", "advance", "replace", "close", "restart")
_PAGE = 50
_LONGEST_MESSAGE = 1000
_PHASES = {
    "welcome": "reads the rules",
    "gathering": "waiting room",
    "turn": "question",
    "waiting": "waits for others",
    "over": "result",
    "closed": "closed",
    "replaced": "replaced",
}


@router.get("")
def show(
    request: Request, server: Server, lobby: str, page: Annotated[int, Query(ge=1, le=10**6)] = 1, note: str = ""
) -> HTMLResponse:
    """Show some groups of the lobby with every seat."""
    found = server.sessions.get_lobby(lobby)
    base = str(request.base_url).rstrip("/")
    pages = -(-len(found.tables) // _PAGE)
    page = min(page, pages)
    tables = [_describe_table(server, base, table) for table in found.tables[(page - 1) * _PAGE : page * _PAGE]]
    return render_page(
        "lobby.html",
        lobby=found,
        tables=tables,
        join=base + server.join_path(found.id) if found.setup.persons else "",
        open=any(not server.sessions.is_finished(table.id) for table in found.tables),
        page=page,
        pages=pages,
        note=note[:300],
        csrf=server.csrf("admin"),
    )


@router.post("/act")
def post_action(server: Server, lobby: str, form: AdminForm) -> Response:
    """Begin, advance, replace, close or restart: for one seat, one table, or the whole lobby."""
    found = server.sessions.get_lobby(lobby)
    action, _, target = form.get("do", "").partition(" ")
    session, _, seat = target.partition(" ")
    count = act(server, found, action, session, int(seat) if seat.isdecimal() and len(seat) < 4 else None)
    said = f"{_DONE[action]} {count} {'seat' if count == 1 else 'seats'}" if action in _DONE else f"Tables: {count}"
    page = form.get("page", "1")
    return RedirectResponse(f"/lobby/{lobby}?page={page if page.isdecimal() else 1}&note={quote(said)}", 303)


@router.post("/message")
def post_message(server: Server, lobby: str, form: AdminForm) -> Response:
    """Send a message to everybody, to one group's tables, or to one seat."""
    count = send_message(server, server.sessions.get_lobby(lobby), form.get("text", ""), form.get("to", ""))
    return RedirectResponse(f"/lobby/{lobby}?note={quote(f'Sent to {count} tables')}", 303)


def send_message(server: ServerState, lobby: Lobby, text: str, session: str = "", seat: int | None = None) -> int:
    """Send a message to the people of one session or of all that are not over; returns how many tables got it."""
    words = text.strip()
    if not words or len(words) > _LONGEST_MESSAGE:
        raise UsageError(f"the message has {len(words):,} characters; expected 1 to {_LONGEST_MESSAGE:,}")
    count = 0
    for table in [table for table in lobby.tables if session in ("", table.id)]:
        try:
            found = server.sessions.get_session(table.id)
        except BrokenSession:
            continue
        if not found.ended:
            control.send_message(server.sessions, found, seat, words)
            count += 1
    return count


_DONE = {"advance": "Advanced", "replace": "Replaced by a bot:"}


def act(server: ServerState, lobby: Lobby, action: str, session: str = "", seat: int | None = None) -> int:
    """Do it for one seat, for all people at one table, or for the whole lobby; returns how many were concerned.

    A session that cannot be rebuilt is left as it is, unless it is restarted.
    """
    if action not in ACTIONS:
        raise UsageError(f"{action[:40]!r} cannot be done; expected {', '.join(ACTIONS)}")
    tables = [table for table in lobby.tables if session in ("", table.id)]
    if not tables:
        raise NotFound("there is no such session in this lobby")
    if action == "restart":
        chosen = [table.id for table in tables if session or _is_under_way(server, table)]
        return len([control.restart(server.sessions, name) for name in chosen])
    count = 0
    for table in tables:
        try:
            found = server.sessions.get_session(table.id)
        except BrokenSession:
            continue
        if not found.ended:
            count += _act_on(server, found, action, seat)
    return count


def _is_under_way(server: ServerState, table: Table) -> bool:
    """Tell whether the game of the table has begun and is not over."""
    try:
        session = server.sessions.get_session(table.id)
    except BrokenSession:
        return False
    return session.begun and not session.ended


def _act_on(server: ServerState, session: Session, action: str, seat: int | None) -> int:
    if action == "close":
        control.close(server.sessions, session)
        return 1
    if action == "begin":
        waited = not session.begun
        control.begin_without(server.sessions, session)
        return int(waited)
    people = [one for one in session.setup.persons if seat in (None, one) and one not in session.standing.replaced]
    if action == "advance":
        people = [one for one in people if not session.begun or session.roles[one] in session.pending()]
    for one in people:
        (control.advance if action == "advance" else control.replace)(server.sessions, session, one)
    return len(people)


def _describe_table(server: ServerState, base: str, table: Table) -> JsonObject:
    try:
        session = server.sessions.get_session(table.id)
    except BrokenSession as error:
        return _name_table(table) | {"seats": [], "status": "broken", "trouble": str(error), "restarts": 0}
    with session.lock:
        seats = [_describe_seat(server, base, session, seat) for seat in range(len(session.roles))]
        status = "in play" if session.begun else "gathering"
        if session.ended:
            status = "finished" if session.over else "closed"
        trouble = "" if session.ended else session.trouble
        restarts = session.attempt - 1
        return _name_table(table) | {"seats": seats, "status": status, "trouble": trouble, "restarts": restarts}


def _name_table(table: Table) -> JsonObject:
    part = f", part {table.number}: {table.part.name}" if table.part else ""
    return {"id": table.id, "name": f"Group {table.group}{part}", "group": table.group, "treatment": table.treatment}


def _describe_seat(server: ServerState, base: str, session: Session, seat: int) -> JsonObject:
    role, who = session.roles[seat], session.setup.seats[seat]
    person = who == PERSON
    holder = server.sessions.register.get(*server.sessions.find_participant(session.id, seat))
    labels = holder.labels if holder else {}
    state = session.state(seat)
    if state == "not here yet" and holder is not None:
        state = "seated, not confirmed"
    return {
        "number": seat,
        "role": role,
        "who": who,
        "person": person,
        "link": base + server.seat_path(session.id, seat) if person else "",
        "code": server.code(session.id, seat) if person else "",
        "label": labels.get("participant_label") or labels.get("PROLIFIC_PID", ""),
        "state": state,
        "answers": session.turn(role),
        "stand_ins": session.stand_ins(role),
        "payoff": session.payoffs().get(role) if session.over and session.begun else None,
        **_describe_presence(session, seat),
    }


def _describe_presence(session: Session, seat: int) -> JsonObject:
    """Tell what the person sees, for how long, and when their page was last heard of."""
    now = time.monotonic()
    seen = session.seen.get(seat)
    version, since = session.pages.get(seat, ("", now))
    return {
        "page": _PHASES.get(version.partition(".")[0], ""),
        "on_page": int(now - since) if version else None,
        "seen": None if seen is None else int(now - seen),
        "active": not session.ended and seat not in session.standing.replaced,
    }
