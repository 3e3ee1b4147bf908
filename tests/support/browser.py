"""What the tests in a real browser share: a server on a port of its own, and what people do on
every page."""

import socket
import threading

import uvicorn
from waiting import join_threads, wait_until
from web_server import APPS, MODEL, take_app

from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.runs.store.folder import RunFolder
from bestresponse.web.app import ServerSettings, open_web_server

PATIENCE = 120_000


class Site:
    """A server on a port of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.app, self.state, self._close = open_web_server(
            ServerSettings(folder),
            lambda name: ScriptedModel(lambda r: '{"answer": 20}'),
            (MODEL,),
            take_app(),
        )
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        self.base = f"http://127.0.0.1:{listener.getsockname()[1]}"
        config = uvicorn.Config(self.app, log_level="error", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listener]}, daemon=True
        )
        self._thread.start()
        wait_until(lambda: self._server.started, pause=0.02)

    def stop(self):
        self._server.should_exit = True
        join_threads(self._thread, seconds=120)
        self._close()
        APPS.append(self.app)

    def lay(self, setup):
        """The links of the people at a new table."""
        (table,) = self.state.sessions.create_sessions(setup).tables
        return table.id, [
            self.base + self.state.seat_path(table.id, seat) for seat in setup.persons
        ]

    def records(self):
        return list(RunFolder.read(self.folder / "sessions").plays())


def ready(page):
    page.get_by_role("button", name="I am ready").click()


def shows(page, heading):
    page.get_by_role("heading", name=heading).wait_for()
