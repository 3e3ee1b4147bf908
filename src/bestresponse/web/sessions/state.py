"""The state that every page needs (sessions, keys, models), and who may come in."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.models.base import Model
from bestresponse.web.security import Keys, RateLimit
from bestresponse.web.services.formalizing import ProgramHelper
from bestresponse.web.services.judging import JudgingStore
from bestresponse.web.sessions.seat_worker import OpenModel
from bestresponse.web.sessions.session import Session
from bestresponse.web.sessions.store import NotFound, SessionStore
from bestresponse.web.watching.runs import Runs

__all__ = [
    "ADMIN_COOKIE",
    "AdminApi",
    "AdminForm",
    "AdminPage",
    "Credentials",
    "NotAllowed",
    "PostedForm",
    "SeatApi",
    "SeatContext",
    "SeatPage",
    "Server",
    "ServerState",
    "TooFast",
    "check_csrf",
    "refuse",
]

ADMIN_COOKIE = "bestresponse_admin"
_MOST_FIELDS = 400


class NotAllowed(BestResponseError):
    """Whoever asks has no key, or the key of another door."""


class TooFast(BestResponseError):
    """More requests than anybody needs."""


@dataclass
class ServerState:
    """The state of a server."""

    sessions: SessionStore
    keys: Keys
    output: Path
    open_model: OpenModel
    models: tuple[str, ...] = ()
    runs: Runs = field(init=False)
    helper: ProgramHelper = field(init=False)
    judging: JudgingStore = field(init=False)
    strangers: RateLimit = field(default_factory=lambda: RateLimit(1, 60))
    seats: RateLimit = field(default_factory=lambda: RateLimit(10, 60))

    def __post_init__(self) -> None:
        self.runs = Runs(self.output)
        self.helper = ProgramHelper(self.model)
        self.judging = JudgingStore(self.sessions.journal)

    def model(self, name: str) -> Model:
        """Open one of the models that the server was started with; a request opens no other."""
        if name not in self.models:
            known = ", ".join(self.models) or "none; start `bestresponse serve` with --model"
            raise UsageError(f"there is no model named {name!r} here; known: {known}")
        return self.open_model(name)

    def csrf(self, *door: str | int) -> str:
        """Make the token that a form behind `door` carries."""
        return self.keys.token("csrf", *door)

    def _number_holder(self, session: str, seat: int) -> tuple[int, ...]:
        """Tell the holders of a seat apart, so that a released seat has another link and another code."""
        holder = self.sessions.register.get(*self.sessions.find_participant(session, seat))
        return (holder.number,) if holder and holder.number else ()

    def seat_token(self, session: str, seat: int) -> str:
        """Make the token of the person who holds the seat."""
        return self.keys.token("seat", session, seat, *self._number_holder(session, seat))

    def opens_seat(self, token: str, session: str, seat: int) -> bool:
        """Tell whether `token` is that of the person who holds the seat."""
        return self.keys.opens(token, "seat", session, seat, *self._number_holder(session, seat))

    def seat_path(self, session: str, seat: int) -> str:
        """Return the path of the page of a seat."""
        return f"/seat/{session}/{seat}/{self.seat_token(session, seat)}"

    def join_path(self, lobby: str) -> str:
        """Return the path by which the next free seat of a lobby is taken."""
        return f"/join/{lobby}/{self.keys.token('lobby', lobby)}"

    def code(self, session: str, seat: int) -> str:
        """Make the participant's code, which tells people apart and says nothing about them."""
        person = self.sessions.find_participant(session, seat)
        token = self.keys.token("code", *person, *self._number_holder(*person))
        return "P-" + token[:8].translate(str.maketrans("-_", "xy")).upper()


@dataclass(frozen=True, slots=True)
class SeatContext:
    """A seat and its session, once the link was found to be right."""

    session: Session
    seat: int

    @property
    def role(self) -> str:
        """The role that the seat plays."""
        return self.session.roles[self.seat]


async def get_server(request: Request) -> ServerState:
    """Return the state of the server that a request came to."""
    server: ServerState = request.app.state.server
    return server


Server = Annotated[ServerState, Depends(get_server)]


def refuse(request: Request, server: ServerState) -> BestResponseError:
    """The answer to a wrong key, slower for whoever keeps trying."""
    address = request.client.host if request.client else "?"
    if not server.strangers.take(address):
        return TooFast("too many wrong keys; wait a minute")
    return NotAllowed("this needs the admin's link: open the one that `bestresponse serve` printed")


async def check_admin_page(request: Request, server: Server) -> None:
    """Refuse a page to whoever is not the admin."""
    if not server.keys.is_admin(request.cookies.get(ADMIN_COOKIE, "")):
        raise refuse(request, server)


AdminPage = Depends(check_admin_page)

_bearer = HTTPBearer(auto_error=False, description="The admin's token, or the token of one seat.")
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]


async def check_admin_api(request: Request, server: Server, credentials: Credentials) -> None:
    """Refuse a call without the admin's token."""
    if credentials is None or not server.keys.is_admin(credentials.credentials):
        raise refuse(request, server)


AdminApi = Depends(check_admin_api)


async def _open_seat(request: Request, server: ServerState, session: str, seat: int, token: str) -> SeatContext:
    if not server.opens_seat(token, session, seat):
        refused = refuse(request, server)
        raise (
            refused
            if isinstance(refused, TooFast)
            else NotFound("this link leads to no seat, or the seat was given to somebody else meanwhile")
        )
    if not server.seats.take(f"{session}.{seat}"):
        raise TooFast("that was very fast; wait a moment and try again")
    found = server.sessions.get_cached(session)
    if found is None:
        found = await run_in_threadpool(server.sessions.get_session, session)
    found.touch(seat)
    return SeatContext(found, seat)


async def open_seat_page(request: Request, server: Server, session: str, seat: int, token: str) -> SeatContext:
    """Find the seat whose link was opened."""
    return await _open_seat(request, server, session, seat, token)


async def open_seat_api(
    request: Request, server: Server, session: str, seat: int, credentials: Credentials
) -> SeatContext:
    """Find the seat whose token was sent."""
    return await _open_seat(request, server, session, seat, credentials.credentials if credentials else "")


SeatPage = Annotated[SeatContext, Depends(open_seat_page)]
SeatApi = Annotated[SeatContext, Depends(open_seat_api)]


async def read_form(request: Request) -> dict[str, str]:
    """Read the fields of a form, and a file in it, as text."""
    async with request.form(max_files=1, max_fields=_MOST_FIELDS) as form:
        return {
            name: value if isinstance(value, str) else (await value.read()).decode("utf-8", "replace")
            for name, value in form.items()
        }


PostedForm = Annotated[dict[str, str], Depends(read_form)]


def check_csrf(server: ServerState, form: dict[str, str], *door: str | int) -> None:
    """Raise NotAllowed where the form does not come from our own page."""
    if not server.keys.opens(form.get("csrf", ""), "csrf", *door):
        raise NotAllowed("this form is not from this page any more; load the page again")


async def read_admin_form(server: Server, form: PostedForm) -> dict[str, str]:
    """Read a form of the admin's pages; NotAllowed where it does not come from one of them."""
    check_csrf(server, form, "admin")
    return form


AdminForm = Annotated[dict[str, str], Depends(read_admin_form)]
