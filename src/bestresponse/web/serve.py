"""Open a server from its settings: the sessions folder, the keys, and no public address without a token."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

from bestresponse.core.errors import UsageError
from bestresponse.web.access import ServerState
from bestresponse.web.app import create_app
from bestresponse.web.render import load_templates
from bestresponse.web.security import Keys, load_secret
from bestresponse.web.services.play import create_experiment
from bestresponse.web.sessions.games import list_offers
from bestresponse.web.sessions.journal import Journal
from bestresponse.web.sessions.seat_worker import OpenModel
from bestresponse.web.sessions.store import SessionStore

__all__ = ["ServerSettings", "is_loopback", "open_server", "preload"]

_SHORTEST_TOKEN = 16
_FOLDER = "sessions"


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where a server listens and keeps its sessions; `admin` is the admin's token, None for one made here.

    `experiment` is the text of an experiment file; its sessions are created once.
    """

    output: Path
    host: str = "127.0.0.1"
    port: int = 8642
    admin: str | None = None
    experiment: str = ""

    def __post_init__(self) -> None:
        if not is_loopback(self.host) and self.admin is None:
            raise UsageError(
                f"listening on {self.host} lets others in; give an admin token of your own with --admin-token "
                f"(at least {_SHORTEST_TOKEN} characters), or listen on 127.0.0.1"
            )
        if self.admin is not None and len(self.admin) < _SHORTEST_TOKEN:
            raise UsageError(f"the admin token is too short to be safe; expected at least {_SHORTEST_TOKEN} characters")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host`.

    >>> is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def preload(app: FastAPI) -> None:
    """Load what is otherwise loaded when somebody first asks: the list of games, all pages, what answers and how."""
    list_offers()
    load_templates()
    uvicorn.Config(app, log_level="warning").load()
    asyncio.run(_ask_for_nothing(app))


async def _ask_for_nothing(app: FastAPI) -> None:
    """A request that no page answers, so that every page has been considered."""
    nowhere = {"path": "/nothing", "raw_path": b"/nothing", "root_path": "", "query_string": b"", "headers": []}
    scope = {"type": "http", "method": "GET", "scheme": "http", "http_version": "1.1", "client": None, **nowhere}

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        return

    await app(scope, receive, send)


OpenedServer = tuple[FastAPI, ServerState, Callable[[], None]]


def open_server(
    settings: ServerSettings, open_model: OpenModel, models: tuple[str, ...] = (), app: FastAPI | None = None
) -> OpenedServer:
    """The application, its server, and what closes its folder; only the models named can be put into seats."""
    journal = Journal(settings.output / _FOLDER)
    keys = Keys(load_secret(settings.output / _FOLDER / "secret"), settings.admin)
    server = ServerState(SessionStore(journal), keys, settings.output, open_model, models)
    if settings.experiment and server.sessions.find_experiment(settings.experiment) is None:
        create_experiment(server, settings.experiment)
    app = app or create_app()
    app.state.server = server
    return app, server, journal.close
