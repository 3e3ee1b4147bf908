"""The web application: pages, API and error pages, and a server opened from its settings.

No address that others can reach is served without a token of the admin.
"""

import logging
import mimetypes
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException
from starlette.testclient import TestClient

from bestresponse import __version__
from bestresponse.core.errors import BestResponseError, ModelError, StoreError, UsageError
from bestresponse.players.lookup import OpenModel
from bestresponse.report.text import visible
from bestresponse.web.access import (
    ADMIN_COOKIE,
    AdminPage,
    NotAllowed,
    PostedForm,
    Server,
    ServerState,
    TooFast,
    refuse_key,
)
from bestresponse.web.pages import ErrorPage, LeavePage, LeftPage
from bestresponse.web.render import load_asset, load_templates, render_page
from bestresponse.web.security import SAFE_HEADERS, Guard, Keys, OriginGuard, load_secret
from bestresponse.web.services.play import create_experiment
from bestresponse.web.sessions.errors import AlreadyAnswered, BrokenSession, NotFound
from bestresponse.web.sessions.journal import SESSIONS, Journal
from bestresponse.web.sessions.seat_worker import SeatWorker
from bestresponse.web.sessions.setup import list_offers
from bestresponse.web.sessions.store import SessionStore
from bestresponse.web.texts import Cause
from bestresponse.web.views import join, play, rooms, seat, watch

_log = logging.getLogger("bestresponse.web")
_STATIC = {"app.css": "text/css", "app.js": "text/javascript", "icon.svg": "image/svg+xml"}
_STATUSES: dict[tuple[type[Exception], ...], int] = {
    (NotAllowed,): 403,
    (NotFound,): 404,
    (AlreadyAnswered,): 409,
    (TooFast,): 429,
    (StoreError, ModelError, BrokenSession): 503,
}
"""How an error is answered; any other that is no fault of ours by 422."""
_VIEWS = (seat, rooms, play, watch)
"""Paths are tried in this order, so what participants ask for comes first."""


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Run a seat worker as long as the application runs."""
    server: ServerState = app.state.server
    with closing(SeatWorker(server.sessions, server.model)) as worker:
        worker.start()
        yield


def create_app() -> FastAPI:
    """Create the application; the caller puts a ServerState into `app.state.server`."""
    app = FastAPI(
        title="bestresponse",
        version=__version__,
        description="What the pages do, as JSON.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
        telemetry={
            "tracing": False,
            "metrics": False,
            "logs": False,
        },  # else looked up at every request
    )
    app.add_middleware(OriginGuard)
    app.add_middleware(Guard)
    for kind in (BestResponseError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _answer_error)
    app.add_exception_handler(Exception, _answer_fault)
    app.include_router(join.pages)
    for view in _VIEWS:
        app.include_router(view.calls)
        app.include_router(view.pages)
    app.add_api_route("/enter/{token}", enter, include_in_schema=False)
    app.add_api_route("/leave", ask_to_leave, include_in_schema=False, dependencies=[AdminPage])
    app.add_api_route(
        "/leave", leave, methods=["POST"], include_in_schema=False, dependencies=[AdminPage]
    )
    app.add_api_route("/static/{name}", static, include_in_schema=False)
    app.add_api_route("/pictures/{name}", show_picture, include_in_schema=False)
    return app


def enter(request: Request, server: Server, token: str) -> Response:
    """The admin's link: begins a session, in a cookie that no script reads.

    It goes on without the token in the address. Only on this machine the cookie travels without
    https.
    """
    if not server.keys.is_admin(token):
        raise refuse_key(request, server)
    encrypted = request.url.scheme == "https"
    if not encrypted and request.url.hostname not in LOOPBACK:
        raise NotAllowed(
            "the admin's pages open over https, or on the machine of the server under"
            " http://localhost: what is sent without https can be read on the way"
        )
    answer = RedirectResponse("/", 303)
    answer.set_cookie(
        ADMIN_COOKIE,
        server.keys.begin_session(),
        httponly=True,
        samesite="lax",
        secure=encrypted,
        max_age=7 * 24 * 3600,
    )
    return answer


def ask_to_leave(server: Server) -> Response:
    """The page with the form that logs out."""
    return render_page(LeavePage(csrf=server.csrf()))


def leave(request: Request, server: Server, form: PostedForm) -> Response:
    """End the admin's session; the form carries a token, as every other does."""
    server.keys.end_session(request.cookies.get(ADMIN_COOKIE, ""))
    answer = render_page(LeftPage())
    answer.delete_cookie(ADMIN_COOKIE)
    return answer


def static(name: str) -> Response:
    """One of the few files of the package."""
    if name not in _STATIC:
        raise NotFound("there is no such file")
    return Response(
        load_asset(name), media_type=_STATIC[name], headers={"cache-control": "max-age=3600"}
    )


def show_picture(server: Server, name: str) -> Response:
    """Send a picture of the experimenter, looked up among those that are there."""
    known = (
        {path.name: path for path in server.pictures.iterdir()} if server.pictures.is_dir() else {}
    )
    kind = mimetypes.guess_type(name)[0] or ""
    if name not in known or not kind.startswith("image/") or not known[name].is_file():
        raise NotFound("there is no such picture")
    # A preview shows pages in frames that count as another site.
    headers = {"cache-control": "max-age=3600", "cross-origin-resource-policy": "cross-origin"}
    return FileResponse(known[name], media_type=kind, headers=headers)


def _say(
    request: Request, status: int, sentence: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Answer with a sentence, as a page or as JSON."""
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": sentence}, status, headers)
    server: ServerState = request.app.state.server
    page, name = (*request.url.path.split("/"), "", "")[1:3]
    texts = server.sessions.find_texts(name if page in ("seat", "join") else "")
    # A cause that participants never meet is known in English only; in another language the page
    # says what kind of mistake it is.
    kind = status if status in (403, 404, 429, 503) else "other"
    sentence = texts.explain(sentence, otherwise=f"error_{kind}")
    return render_page(ErrorPage(sentence=sentence, status=status, t=texts, brand=""), status)


async def _answer_error(request: Request, error: Exception) -> Response:
    """Answer an error with its sentence.

    A file that cannot be read or written is told in the log.
    """
    match error:
        case RequestValidationError():
            # Which fields are wrong and why, without giving back what was sent.
            wrong = []
            for mistake in error.errors()[:5]:
                wrong.append(f"{'.'.join(map(str, mistake['loc']))}: {mistake['msg']}")
            return _say(request, 422, visible("; ".join(wrong)))
        case HTTPException():
            return _say(request, error.status_code, str(error.detail), error.headers)
        case StoreError():
            _log.error("%s %s: %s", request.method, request.url.path, error)
    status = next((status for kinds, status in _STATUSES.items() if isinstance(error, kinds)), 422)
    is_sentence = len(error.args) == 1 and isinstance(error.args[0], str)
    sentence = error.args[0] if is_sentence else str(error)
    if isinstance(error, StoreError):
        sentence = Cause("cause_not_stored")
    headers = {}
    if isinstance(error, TooFast):
        headers["retry-after"] = "30"
    return _say(request, status, sentence, headers)


async def _answer_fault(request: Request, error: Exception) -> Response:
    """A fault of ours: the log tells which, the answer only that.

    Nothing outside of this adds the headers to it.
    """
    answer = _say(request, 500, Cause("cause_fault"))
    answer.headers.update({name.decode(): value.decode() for name, value in SAFE_HEADERS.items()})
    return answer


LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Addresses that only this machine can reach."""
_SHORTEST_TOKEN = 16


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where a server listens and keeps its sessions.

    `admin` is the admin's token, None for one made here.

    `experiment` is the text of an experiment file; its sessions are created once. `pictures` is the
    folder that its pictures are in, without one that of the name below `output`. `hosts` are the
    names under which the server answers, besides those of this machine; without any a server that
    others can reach answers under every name.
    """

    output: Path
    host: str = "127.0.0.1"
    port: int = 8642
    admin: str | None = None
    experiment: str = ""
    pictures: Path | None = None
    hosts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.host not in LOOPBACK and self.admin is None:
            raise UsageError(
                f"listening on {self.host} lets others in; give an admin token of your own (at"
                f" least {_SHORTEST_TOKEN} characters) in BESTRESPONSE_ADMIN_TOKEN or by"
                " --admin-token-file, or listen on 127.0.0.1"
            )
        if self.admin is not None and len(self.admin) < _SHORTEST_TOKEN:
            raise UsageError(
                f"the admin token is too short to be safe; expected at least {_SHORTEST_TOKEN}"
                " characters"
            )


def preload(app: FastAPI) -> None:
    """Load what is otherwise loaded when somebody first asks.

    This includes the list of games, all pages, what answers and how.
    """
    list_offers()
    load_templates()
    uvicorn.Config(app, log_level="warning").load()
    TestClient(app).get(
        "/api/nothing"
    )  # no page answers that, so every page has been considered then


def open_web_server(
    settings: ServerSettings,
    open_model: OpenModel,
    models: tuple[str, ...] = (),
    app: FastAPI | None = None,
) -> tuple[FastAPI, ServerState, Callable[[], None]]:
    """The application, its server, and what closes its folder.

    Only the models named can be put into seats.
    """
    folder = settings.output / SESSIONS
    journal = Journal(folder)
    keys = Keys(load_secret(folder / "secret"), settings.admin, folder / "admin")
    pictures = settings.pictures or settings.output / "pictures"
    hosts = settings.hosts
    if hosts or settings.host in LOOPBACK:
        hosts = (*LOOPBACK, *hosts)
    known_hosts = frozenset(host.lower() for host in hosts)
    server = ServerState(
        SessionStore(journal),
        keys,
        output=settings.output,
        open_model=open_model,
        models=models,
        pictures=pictures,
        hosts=known_hosts,
    )
    if settings.experiment and server.sessions.find_experiment(settings.experiment) is None:
        create_experiment(server, settings.experiment)
    app = app or create_app()
    app.state.server = server
    return app, server, journal.close
