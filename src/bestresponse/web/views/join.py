"""The invitation to a study, and the last page of those who take no part.

Opening the shared link of a lobby shows a page, and only the form on it takes a seat: previews of
chats, scanners of mail and browsers that load links ahead send GET, so GET changes nothing.
"""

from collections.abc import Mapping

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from bestresponse.web.access import LobbyDoor, PostedForm, Server, ServerState
from bestresponse.web.pages import GoodbyePage, JoinPage
from bestresponse.web.render import render_page
from bestresponse.web.services import seat as service
from bestresponse.web.sessions.errors import NoSeatLeft
from bestresponse.web.sessions.session import find_label, read_labels

pages = APIRouter(include_in_schema=False)
_COOKIE = "seat"
_DAYS = 30 * 24 * 3600  # so long a browser that comes back finds its seat


@pages.get("/join/{lobby}/{token}")
async def invite(request: Request, server: Server, lobby: LobbyDoor) -> Response:
    """Show the invitation; whoever holds a seat goes back to it."""
    kept = _find_seat(request, server, lobby, request.query_params)
    if kept is not None:
        return _lead_to_seat(request, server, lobby, kept)
    return _show_invitation(server, lobby, request.query_params)


def _show_invitation(
    server: ServerState, lobby: str, fields: Mapping[str, str], error: str = ""
) -> HTMLResponse:
    study = server.sessions.get_lobby(lobby)
    experiment = study.experiment
    labels = read_labels(fields)
    page = JoinPage(
        brand=experiment.brand,
        logo=experiment.logo,
        t=study.texts,
        title=experiment.title if study.source else "",
        welcome=experiment.welcome,
        consent=study.setup.consent,
        labels=labels | {"key": fields.get("key", "")},
        name=find_label(labels),
        error=error,
        path=server.join_path(lobby),
        csrf=server.csrf(server.keys.token("lobby", lobby)),
    )
    return render_page(page, 422 if error else 200)


@pages.post("/join/{lobby}/{token}")
async def take_part(
    request: Request, server: Server, lobby: LobbyDoor, form: PostedForm
) -> Response:
    """Take the next free seat, or none where the person does not agree.

    Whoever holds one gets it again.
    """
    kept = _find_seat(request, server, lobby, form)
    if kept is not None:
        return _lead_to_seat(request, server, lobby, kept)
    study = server.sessions.get_lobby(lobby)
    labels = read_labels(form)
    choice = form.get("do", "")
    if study.setup.consent and choice == "decline":
        number = server.sessions.note_declined(lobby, labels, "no consent")
        return say_goodbye(server, lobby, number)
    if study.setup.consent and choice != "agree":
        return _show_invitation(server, lobby, form, study.texts("agree_first"))
    agreed = choice == "agree"
    try:
        taken = server.sessions.take_seat(lobby, labels, agreed)
    except NoSeatLeft:
        number = server.sessions.note_declined(lobby, labels, "full", agreed)
        return say_goodbye(server, lobby, number)
    return _lead_to_seat(request, server, lobby, taken)


def say_goodbye(server: ServerState, lobby: str, number: int) -> HTMLResponse:
    """Show the last page of a person who takes no part, with the code for that.

    `number` is theirs among those who left.
    """
    study = server.sessions.get_lobby(lobby)
    experiment = study.experiment
    left = server.sessions.departed[lobby][number]
    code = experiment.completion.find_code(left.why)
    participant = server.departed_code(lobby, number)
    back = ""
    if code:
        back = service.fill_link(experiment, code, participant, find_label(left.labels))
    page = GoodbyePage(
        brand=experiment.brand,
        logo=experiment.logo,
        t=study.texts,
        title=experiment.title,
        why=left.why.replace(" ", "_"),
        participant=participant,
        completion=code,
        back=back,
    )
    return render_page(page)


def _find_seat(
    request: Request, server: ServerState, lobby: str, fields: Mapping[str, str]
) -> tuple[str, int] | None:
    """Find the seat of a personal link, or the one that this browser took."""
    session, number, token = (*request.cookies.get(_COOKIE, "").split(".", 2), "", "", "")[:3]
    known = session.startswith(f"{lobby}-") and number.isdecimal() and len(number) <= 4
    kept = server.find_place(token, session, int(number)) if known else None
    return service.find_seat(server, lobby, read_labels(fields), fields.get("key", ""), kept)


def _lead_to_seat(
    request: Request, server: ServerState, lobby: str, seat: tuple[str, int]
) -> Response:
    """Lead to the seat; a cookie remembers it, also for a click on another site (SameSite=Lax)."""
    answer = RedirectResponse(server.seat_path(*server.sessions.find_current(*seat)), 303)
    kept = f"{seat[0]}.{seat[1]}.{server.seat_token(*seat)}"
    secure = request.url.scheme == "https"
    path = server.join_path(lobby)
    answer.set_cookie(
        _COOKIE, kept, path=path, httponly=True, samesite="lax", secure=secure, max_age=_DAYS
    )
    return answer
