"""A server with a folder of its own, where the extra `web` is installed."""

import pytest

pytest.importorskip("fastapi", reason="the extra `web` is not installed")

from outlines import outlined_figures  # noqa: F401 - for all tests below
from web_server import Clock, Server

from bestresponse.web.sessions import session


@pytest.fixture
def server(tmp_path):
    found = Server(tmp_path, lambda request: "cooperate")
    yield found
    found.stop()


@pytest.fixture
def clock(monkeypatch):
    """The clock of time limits and waiting rooms, which a test can put forward."""
    found = Clock()
    monkeypatch.setattr(session, "time", found)
    return found
