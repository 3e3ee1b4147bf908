"""A server with a folder of its own, where the extra `web` is installed."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra `web` is not installed")
sys.path.insert(0, str(Path(__file__).parent))

from conftest_web import Server


@pytest.fixture
def server(tmp_path):
    found = Server(tmp_path, lambda request: "cooperate")
    yield found
    found.stop()
