"""A server with a folder of its own, where the extra `web` is installed."""

import pytest

pytest.importorskip("fastapi", reason="the extra `web` is not installed")

from web_server import Server


@pytest.fixture
def server(tmp_path):
    found = Server(tmp_path, lambda request: "cooperate")
    yield found
    found.stop()
