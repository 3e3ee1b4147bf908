"""The shared link of a lobby: opening it shows a page, and only the form on it takes a seat.

Previews of chats, scanners of mail and browsers that load links ahead send GET, so GET changes nothing.
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from bestresponse.web.pages.render import render_page
from bestresponse.web.sessions.control import take_seat
from bestresponse.web.sessions.register import read_labels
from bestresponse.web.sessions.state import PostedForm, Server, ServerState, TooFast, check_csrf, refuse
from bestresponse.web.sessions.store import NotFound
from bestresponse.web.texts import load_texts

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
_COOKIE = "seat"
_DAYS = 30 * 24 * 3600


@router.get("/join/{lobby}/{token}")
async def show(request: Request, server: Server, lobby: str, token: str) -> Response:
    """Show the invitation; whoever holds a seat goes back to it."""
    _check_link(request, server, lobby, token)
    labels = read_labels(request.query_params)
    kept = _find_seat(request, server, lobby, labels)
    if kept is not None:
        return _seat(request, server, lobby, kept)
    found = server.sessions.get_lobby(lobby)
    return render_page(
        "join.html",
        t=load_texts(found.setup.language),
        title=found.experiment.title if found.experiment else "",
        path=server.join_path(lobby),
        labels=labels,
        csrf=server.csrf("join", lobby),
        name=_label(labels),
    )


@router.post("/join/{lobby}/{token}")
async def join(request: Request, server: Server, lobby: str, token: str, form: PostedForm) -> Response:
    """Take the next free seat; whoever holds one gets it again."""
    _check_link(request, server, lobby, token)
    check_csrf(server, form, "join", lobby)
    labels = read_labels(form)
    kept = _find_seat(request, server, lobby, labels)
    return _seat(request, server, lobby, kept or take_seat(server.sessions, lobby, labels))


def _check_link(request: Request, server: ServerState, lobby: str, token: str) -> None:
    if not server.keys.opens(token, "lobby", lobby):
        refused = refuse(request, server)
        raise refused if isinstance(refused, TooFast) else NotFound("this link leads to no table")


def _label(labels: dict[str, str]) -> str:
    return labels.get("participant_label") or labels.get("PROLIFIC_PID", "")


def _find_seat(request: Request, server: ServerState, lobby: str, labels: dict[str, str]) -> tuple[str, int] | None:
    """Find the seat of that label, or without a label the one that this browser took."""
    if _label(labels):
        return server.sessions.register.find(lobby, labels)
    session, _, rest = request.cookies.get(_COOKIE, "").partition(".")
    number, _, token = rest.partition(".")
    if not number.isdecimal() or len(number) > 4 or not server.opens_seat(token, session, int(number)):
        return None
    return (session, int(number)) if session.startswith(f"{lobby}-") else None


def _seat(request: Request, server: ServerState, lobby: str, seat: tuple[str, int]) -> Response:
    """Lead to the seat; a cookie remembers it, also for a click on another site (SameSite=Lax)."""
    answer = RedirectResponse(server.seat_path(*server.sessions.find_current(*seat)), 303)
    kept = f"{seat[0]}.{seat[1]}.{server.seat_token(*seat)}"
    secure = request.url.scheme == "https"
    path = server.join_path(lobby)
    answer.set_cookie(_COOKIE, kept, path=path, httponly=True, samesite="lax", secure=secure, max_age=_DAYS)
    return answer
