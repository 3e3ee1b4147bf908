"""What every page needs at hand: the house, the keys, the templates; and who may come in."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.models.base import Model
from bestresponse.web.formalizing.editor import Helper
from bestresponse.web.judging.store import Panel
from bestresponse.web.security.keys import Keys
from bestresponse.web.security.limits import RateLimit
from bestresponse.web.sessions.seats import OpenModel
from bestresponse.web.sessions.session import Session
from bestresponse.web.sessions.store import House, NoSuchTable
from bestresponse.web.watching.runs import Runs

__all__ = [
    "ADMIN_COOKIE",
    "AdminApi",
    "AdminPage",
    "Credentials",
    "Desk",
    "Here",
    "NotAllowed",
    "Posted",
    "SeatApi",
    "SeatPage",
    "Sitting",
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
class Desk:
    """The state of a server."""

    house: House
    keys: Keys
    output: Path
    open_model: OpenModel
    models: tuple[str, ...] = ()
    runs: Runs = field(init=False)
    helper: Helper = field(init=False)
    panel: Panel = field(init=False)
    strangers: RateLimit = field(default_factory=lambda: RateLimit(1, 60))
    seats: RateLimit = field(default_factory=lambda: RateLimit(10, 60))

    def __post_init__(self) -> None:
        self.runs = Runs(self.output)
        self.helper = Helper(self.model)
        self.panel = Panel(self.house.journal)

    def model(self, name: str) -> Model:
        """One of the models that the server was started with; a request opens no other."""
        if name not in self.models:
            known = ", ".join(self.models) or "none; start `bestresponse serve` with --model"
            raise UsageError(f"there is no model named {name!r} here; known: {known}")
        return self.open_model(name)

    def csrf(self, *door: str | int) -> str:
        """The token that a form behind `door` carries."""
        return self.keys.token("csrf", *door)

    def seat_path(self, session: str, seat: int) -> str:
        return f"/seat/{session}/{seat}/{self.keys.token('seat', session, seat)}"

    def join_path(self, lobby: str) -> str:
        return f"/join/{lobby}/{self.keys.token('lobby', lobby)}"

    def code(self, session: str, seat: int) -> str:
        """The participant's code: tells people apart and says nothing about them."""
        return "P-" + self.keys.token("code", session, seat)[:8].translate(str.maketrans("-_", "xy")).upper()


@dataclass(frozen=True, slots=True)
class Sitting:
    """A person's place at a table, once the link was found to be right."""

    session: Session
    seat: int

    @property
    def role(self) -> str:
        return self.session.roles[self.seat]


async def desk_of(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


Here = Annotated[Desk, Depends(desk_of)]


def refuse(request: Request, desk: Desk) -> BestResponseError:
    """The answer to a wrong key, slower for whoever keeps trying."""
    address = request.client.host if request.client else "?"
    if not desk.strangers.take(address):
        return TooFast("too many wrong keys; wait a minute")
    return NotAllowed("this needs the admin's link: open the one that `bestresponse serve` printed")


async def admin_page(request: Request, desk: Here) -> None:
    if not desk.keys.opens_desk(request.cookies.get(ADMIN_COOKIE, "")):
        raise refuse(request, desk)


AdminPage = Depends(admin_page)

_bearer = HTTPBearer(auto_error=False, description="The admin's token, or the token of one seat.")
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]


async def admin_api(request: Request, desk: Here, credentials: Credentials) -> None:
    if credentials is None or not desk.keys.opens_desk(credentials.credentials):
        raise refuse(request, desk)


AdminApi = Depends(admin_api)


async def _sitting(request: Request, desk: Desk, session: str, seat: int, token: str) -> Sitting:
    if not desk.keys.opens(token, "seat", session, seat):
        refused = refuse(request, desk)
        raise refused if isinstance(refused, TooFast) else NoSuchTable("this link leads to no seat")
    if not desk.seats.take(f"{session}.{seat}"):
        raise TooFast("that was very fast; wait a moment and try again")
    found = desk.house.at_hand(session)
    if found is None:
        found = await run_in_threadpool(desk.house.session, session)
    found.touch(seat)
    return Sitting(found, seat)


async def seat_page(request: Request, desk: Here, session: str, seat: int, token: str) -> Sitting:
    return await _sitting(request, desk, session, seat, token)


async def seat_api(request: Request, desk: Here, session: str, seat: int, credentials: Credentials) -> Sitting:
    return await _sitting(request, desk, session, seat, credentials.credentials if credentials else "")


SeatPage = Annotated[Sitting, Depends(seat_page)]
SeatApi = Annotated[Sitting, Depends(seat_api)]


async def posted(request: Request) -> dict[str, str]:
    """The fields of a form, and a file in it, as text."""
    async with request.form(max_files=1, max_fields=_MOST_FIELDS) as form:
        return {
            name: value if isinstance(value, str) else (await value.read()).decode("utf-8", "replace")
            for name, value in form.items()
        }


Posted = Annotated[dict[str, str], Depends(posted)]


def check_csrf(desk: Desk, form: dict[str, str], *door: str | int) -> None:
    """NotAllowed where the form does not come from our own page."""
    if not desk.keys.opens(form.get("csrf", ""), "csrf", *door):
        raise NotAllowed("this form is not from this page any more; load the page again")
