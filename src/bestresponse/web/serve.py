"""A server from its settings: opens the sessions folder, makes the keys, refuses to be public without a token."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fastapi import FastAPI

from bestresponse.core.errors import UsageError
from bestresponse.web.app import create_app
from bestresponse.web.desk import Desk
from bestresponse.web.games import offers
from bestresponse.web.house import House
from bestresponse.web.journal import Journal
from bestresponse.web.keys import Keys, kept_secret
from bestresponse.web.render import load_templates
from bestresponse.web.seats import OpenModel

__all__ = ["Place", "is_loopback", "load", "opened"]

_SHORTEST_TOKEN = 16
_FOLDER = "sessions"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server listens and keeps its sessions; `admin` is the admin's token, None for one made here."""

    output: Path
    host: str = "127.0.0.1"
    port: int = 8642
    admin: str | None = None

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


def load() -> None:
    """Load what a server otherwise loads when it is first asked for: the list of games and all pages."""
    offers()
    load_templates()


Opened = tuple[FastAPI, Desk, Callable[[], None]]


def opened(place: Place, open_model: OpenModel, models: tuple[str, ...] = ()) -> Opened:
    """The application, its desk, and what closes its folder; only the models named can be put into seats."""
    journal = Journal(place.output / _FOLDER)
    keys = Keys(kept_secret(place.output / _FOLDER / "secret"), place.admin)
    desk = Desk(House(journal), keys, place.output, open_model, models)
    return create_app(desk), desk, journal.close
