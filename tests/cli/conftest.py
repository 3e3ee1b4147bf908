"""The command line in this process, a command of its own that can be killed, and a model server for
every test."""

import io
import subprocess
import sys
from typing import NamedTuple

import pytest
from model_server import ModelServer
from outlines import outlined_figures  # noqa: F401 - for all tests below

from bestresponse.cli.app import main


class Done(NamedTuple):
    """How a command ended, and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def bestresponse(monkeypatch, capfd):
    """Type a command, errors and exit codes included; `typed` is what a person types while it
    runs."""

    def run(*words, typed=""):
        monkeypatch.setattr(sys, "argv", ["bestresponse", *map(str, words)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        with pytest.raises(SystemExit) as ended:
            main()
        return Done(int(ended.value.code or 0), *capfd.readouterr())

    return run


@pytest.fixture
def start():
    """Start a command as a process of its own."""
    started = []

    def run(*words):
        started.append(
            subprocess.Popen(
                [sys.executable, "-m", "bestresponse", *map(str, words)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        return started[-1]

    yield run
    for process in started:
        process.kill()
        process.communicate(timeout=120)


@pytest.fixture
def serve():
    """Start a model server."""
    opened = []

    def start(*args, **kwargs):
        opened.append(ModelServer(*args, **kwargs))
        return opened[-1]

    yield start
    for server in opened:
        server.close()
