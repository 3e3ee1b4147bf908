"""The state that every request needs (sessions, keys, models), and who may come in.

A link carries its key in the address, a call of the interface for programs as a bearer token; the
admin's pages are opened by a cookie, which opens nothing in that interface, so no other site can
make a browser call it.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Depends, Path as PathParameter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.security import HTTPBearer

from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.core.json import canonical
from bestresponse.models.base import Model
from bestresponse.players.lookup import OpenModel
from bestresponse.web.experiments.model import Experiment
from bestresponse.web.security import Keys, RateLimit
from bestresponse.web.sessions.errors import NotFound
from bestresponse.web.sessions.session import Session
from bestresponse.web.sessions.store import SessionStore
from bestresponse.web.texts import Cause
from bestresponse.web.watching.runs import Runs

ADMIN_COOKIE = "bestresponse_admin"
_MOST_FIELDS = 400


class NotAllowed(BestResponseError):
    """Whoever asks has no key, or the key of another door."""


class TooFast(BestResponseError):
    """More requests than anybody needs."""


@dataclass
class ServerState:
    """The state of a server; `codes` are those of participants by the seat they had.

    It answers under the names in `hosts`, under any where there are none. `streams` counts the
    requests of each seat that wait for something to happen; they are answered at once where the
    server `is_ending`.
    """

    sessions: SessionStore
    keys: Keys
    output: Path
    open_model: OpenModel
    models: tuple[str, ...] = ()
    pictures: Path = Path("pictures")
    codes: dict[str, str] = field(default_factory=dict)
    hosts: frozenset[str] = frozenset()
    streams: Counter[str] = field(default_factory=Counter)
    is_ending: Callable[[], bool] = lambda: False
    runs: Runs = field(init=False)
    strangers: RateLimit = field(default_factory=lambda: RateLimit(1, 60))
    seats: RateLimit = field(default_factory=lambda: RateLimit(10, 60))

    def __post_init__(self) -> None:
        self.runs = Runs(self.output)

    def model(self, name: str) -> Model:
        """Open one of the models that the server was started with; a request opens no other."""
        if name not in self.models:
            known = ", ".join(self.models) or "none; start `bestresponse serve` with --model"
            raise UsageError(f"there is no model named {name!r} here; known: {known}")
        return self.open_model(name)

    def csrf(self, key: str = "admin") -> str:
        """Make the token that the forms carry on a page with that key in its address.

        The admin's pages carry one too.
        """
        return self.keys.token("csrf", key)

    def find_number(self, session: str, seat: int) -> int:
        """Return the number of the person who holds the seat."""
        return self.sessions.register.get(*self.sessions.find_participant(session, seat)).number

    def seat_token(self, session: str, seat: int, number: int | None = None) -> str:
        """Make the token of the person who holds the seat, or held it under that number."""
        held = self.find_number(session, seat) if number is None else number
        return self.keys.token("seat", *_name_door(session, seat, held))

    def find_place(self, token: str, session: str, seat: int) -> tuple[str, int] | None:
        """Find the seat of the person who has that token.

        This works also after they were put into another group. Returns None if nobody has it.
        """
        held = self.find_number(session, seat)
        if self.keys.opens(token, "seat", *_name_door(session, seat, held)):
            return session, seat
        register = self.sessions.register
        for number in register.list_moved(session, seat):
            if self.keys.opens(token, "seat", *_name_door(session, seat, number)):
                return register.follow(session, seat, number)
        return None

    def seat_path(self, session: str, seat: int, number: int | None = None) -> str:
        """Return the path of the page of a seat."""
        return f"/seat/{session}/{seat}/{self.seat_token(session, seat, number)}"

    def join_path(self, lobby: str) -> str:
        """Return the path by which the next free seat of a lobby is taken."""
        return f"/join/{lobby}/{self.keys.token('lobby', lobby)}"

    def room_path(self, room: str) -> str:
        """Return the path that leads to the lobby that is open in a room."""
        return f"/room/{room}/{self.keys.token('room', room)}"

    def personal_path(self, lobby: str, label: str) -> str:
        """Return the path by which the person with that label takes part and comes back.

        It works from any browser.
        """
        named = urlencode(
            {"participant_label": label, "key": self.keys.token("label", lobby, label)}
        )
        return f"{self.join_path(lobby)}?{named}"

    def code(self, session: str, seat: int) -> str:
        """Make the participant's code, which tells people apart and says nothing about them."""
        person = self.sessions.find_participant(session, seat)
        holder = self.sessions.register.get(*person)
        return self._make_code(*_name_door(*(holder.origin or (*person, holder.number))))

    def departed_code(self, lobby: str, number: int) -> str:
        """Make the code of the person of that number among those who take no part any more.

        It is that of the seat they had.
        """
        left = self.sessions.departed[lobby][number]
        place = left.origin or left.place
        if place is None:
            return self._make_code(lobby, "without a seat", number)
        return self._make_code(*_name_door(*place))

    def _make_code(self, *door: str | int) -> str:
        name = canonical(list(door))
        if name not in self.codes:
            token = self.keys.token("code", *door)
            self.codes[name] = "P-" + token[:8].translate(str.maketrans("-_", "xy")).upper()
        return self.codes[name]


def _name_door(session: str, seat: int, number: int) -> tuple[str | int, ...]:
    """Name the door of a seat.

    A seat that was released and taken again has another link and another code.
    """
    return (session, seat, number) if number > 0 else (session, seat)


@dataclass(frozen=True, slots=True)
class SeatContext:
    """A seat, its session and the server, once the link was found to be right.

    `number` is that of the person who came by the link.
    """

    server: ServerState
    session: Session
    seat: int
    number: int | None = None

    @property
    def role(self) -> str:
        """The role that the seat plays."""
        return self.session.roles[self.seat]

    @property
    def experiment(self) -> Experiment:
        """The experiment of the seat's lobby."""
        return self.server.sessions.get_lobby(self.session.table.lobby).experiment

    def follow(self) -> "SeatContext":
        """Return where the person is now, who may have been put into another group meanwhile."""
        if self.number is None or self.session.table.number > 1:
            return self
        sessions = self.server.sessions
        place = sessions.register.follow(self.session.id, self.seat, self.number)
        if place == (self.session.id, self.seat):
            return self
        session = sessions.get_session(place[0])
        return SeatContext(self.server, session, place[1], self.server.find_number(*place))


async def get_server(request: Request) -> ServerState:
    """Return the state of the server that a request came to."""
    server: ServerState = request.app.state.server
    return server


Server = Annotated[ServerState, Depends(get_server)]


def refuse_key(
    request: Request, server: ServerState, error: BestResponseError | None = None
) -> BestResponseError:
    """Return the answer to a wrong key, another one for whoever keeps trying."""
    if not server.strangers.take(request.client.host if request.client else "?"):
        return TooFast(Cause("cause_wrong_keys"))
    return error or NotAllowed(
        "this needs the admin's link: open the one that `bestresponse serve` printed"
    )


Bearer = Depends(
    HTTPBearer(auto_error=False, description="The admin's token, or the token of one seat.")
)
"""Says in the description of a call that it needs a token; the doors read it."""


def read_key(request: Request) -> str:
    """Read the key of a door: from the address of a page, or as sent with a call."""
    kind, _, sent = request.headers.get("authorization", "").partition(" ")
    key: str = request.path_params.get("token", sent if kind.lower() == "bearer" else "")
    return key


async def check_admin_page(request: Request, server: Server) -> None:
    """Refuse a page to whoever is not the admin."""
    if not server.keys.is_session(request.cookies.get(ADMIN_COOKIE, "")):
        raise refuse_key(request, server)


async def check_admin_api(request: Request, server: Server) -> None:
    """Refuse a call without the admin's token."""
    if not server.keys.is_admin(read_key(request)):
        raise refuse_key(request, server)


AdminPage = Depends(check_admin_page)
AdminApi = Depends(check_admin_api)


Name = Annotated[str, PathParameter(max_length=80)]


async def open_seat(request: Request, session: str, seat: int) -> SeatContext:
    """Find the seat whose key was given.

    It needs nothing else solved before, as every answer comes through here.
    """
    server: ServerState = request.app.state.server
    place = server.find_place(read_key(request), session, seat)
    if place is None:
        gone = NotFound(Cause("cause_no_seat"))
        raise refuse_key(request, server, gone)
    session, seat = place
    if not server.seats.take(f"{session}.{seat}"):
        raise TooFast(Cause("cause_fast"))
    opened = server.sessions.live.get(session)
    if opened is None:
        opened = await run_in_threadpool(server.sessions.get_session, session)
    opened.touch(seat)
    return SeatContext(server, opened, seat, server.find_number(session, seat))


async def open_lobby(request: Request, server: Server, lobby: Name) -> str:
    """Return the lobby whose key was given."""
    if not server.keys.opens(read_key(request), "lobby", lobby):
        raise refuse_key(request, server, NotFound(Cause("cause_no_table")))
    return lobby


_MOST_STREAMS = 12
"""As many pages of one seat may wait at once: a person has one, and some have many tabs."""


@contextmanager
def hold_stream(context: SeatContext) -> Iterator[None]:
    """Be one of the few requests of a seat that wait; TooFast where there are many."""
    streams = context.server.streams
    seat = f"{context.session.id}.{context.seat}"
    if streams[seat] >= _MOST_STREAMS:
        raise TooFast(Cause("cause_fast"))
    streams[seat] += 1
    try:
        yield
    finally:
        streams[seat] -= 1
        if not streams[seat]:
            del streams[seat]


SeatDoor = Annotated[SeatContext, Depends(open_seat)]
LobbyDoor = Annotated[str, Depends(open_lobby)]


async def read_form(request: Request, server: Server) -> dict[str, str]:
    """Read the fields of a form, and a file in it, as text.

    NotAllowed where it does not come from our own page.
    """
    async with request.form(max_files=1, max_fields=_MOST_FIELDS) as form:
        fields = {}
        for name, value in form.items():
            fields[name] = (
                value if isinstance(value, str) else (await value.read()).decode("utf-8", "replace")
            )
    if not server.keys.opens(
        fields.get("csrf", ""), "csrf", request.path_params.get("token", "admin")
    ):
        raise NotAllowed(Cause("cause_old_form"))
    return fields


PostedForm = Annotated[dict[str, str], Depends(read_form)]
