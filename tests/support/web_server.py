"""What the tests of the web share: a server that can be restarted, and how people behave."""

import json
import re
import time
from html import unescape

from fastapi.testclient import TestClient
from waiting import wait_until

from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.web.app import ServerSettings, open_web_server

MODEL = "scripted"
APPS = []
"""Applications that no server uses at present. They hold nothing of a server; their routes take a
while to build."""


def take_app():
    """Take an application for a server; it is given back by `APPS.append`."""
    return APPS.pop() if APPS else None


class Server:
    """A running application that can be stopped and started on the same folder."""

    def __init__(self, folder, answer):
        self.folder, self.answer = folder, answer
        self.start()

    @property
    def portal(self):
        """The way into the event loop; None while the server is stopped."""
        return self._running.portal

    def start(self):
        place = ServerSettings(self.folder)
        self.app, self.state, self._close = open_web_server(
            place,
            lambda name: ScriptedModel(lambda request: self.answer(request)),
            (MODEL,),
            take_app(),
        )
        self._running = TestClient(self.app)
        self._running.__enter__()

    def stop(self):
        self._running.__exit__(None, None, None)
        self._close()
        APPS.append(self.app)

    def restart(self):
        self.stop()
        self.start()

    def client(self):
        """Make a visitor with cookies of their own; all share the event loop of the server, as in a
        real one."""
        return Visitor(self)

    @property
    def admin(self):
        client = self.client()
        client.get(f"/enter/{self.state.keys.admin}")
        return client

    def api(self, token=None):
        client = self.client()
        client.headers["authorization"] = f"Bearer {token or self.state.keys.admin}"
        return client

    def wait_for(self, condition):
        wait_until(condition, pause=0.01)


class Visitor(TestClient):
    """A client whose requests run in the event loop of its server, after a restart too; others
    start one a request."""

    def __init__(self, server):
        super().__init__(server.app, base_url="http://localhost", follow_redirects=True)
        self._server = server

    @property
    def portal(self):
        return self._server.portal


class Clock:
    """Stand for the module `time` where time limits are kept: real time, and what a test has let
    pass."""

    def __init__(self):
        self._passed = 0.0

    def monotonic(self):
        return time.monotonic() + self._passed

    def advance(self, seconds):
        """Let that much time pass at once."""
        self._passed += seconds


def flatten(page):
    """The text of a page, however its template breaks lines: no space stands between two tags."""
    return re.sub(r">\s+<", "><", " ".join(page.text.split()))


def hidden(page, name):
    """The value of a hidden field."""
    return re.search(rf'name="{name}"\s+value="([^"]*)"', page.text)[1]


def sit_down(server, setup):
    """Everybody at a new table, ready to play: (client, link) of each person."""
    lobby = server.state.sessions.create_sessions(setup)
    people = [
        (server.client(), server.state.seat_path(lobby.tables[0].id, seat))
        for seat in setup.persons
    ]
    for client, link in people:
        client.post(f"{link}/ready", data={"csrf": hidden(client.get(link), "csrf")})
    return people


def take(client, link, **answer):
    """Answer the question that is on the page, and confirm what cannot be taken back."""
    page = client.get(link)
    asked = {name: hidden(page, name) for name in ("csrf", "turn", "attempt")}
    answered = client.post(f"{link}/answer", data=asked | answer)
    if 'name="confirmed"' in answered.text:
        confirmed = {"confirmed": unescape(hidden(answered, "confirmed"))}
        answered = client.post(f"{link}/answer", data=asked | answer | confirmed)
    return answered


def join(server, lobby, client, **labels):
    """Open the shared link of a lobby and take part."""
    link = server.state.join_path(lobby.id)
    page = client.get(link, params=labels)
    if "/join/" not in str(page.url):
        return page
    return client.post(link, data={"csrf": hidden(page, "csrf"), "do": "agree", **labels})


def seat(server, lobby, **labels):
    """Somebody who takes part by the shared link of a lobby: (client, link)."""
    client = server.client()
    page = join(server, lobby, client, **labels)
    return client, page.url.path


def make_ready(client, link, *answers, consent="yes"):
    """Send the page of a seat with consent and the answers to the quiz."""
    quiz = {f"quiz.{number}": answer for number, answer in enumerate(answers)}
    return client.post(
        f"{link}/ready", data={"csrf": hidden(client.get(link), "csrf"), "consent": consent, **quiz}
    )


def export(server, table, lobby):
    """The rows of an exported table of a lobby."""
    return json.loads(server.admin.get(f"/export/{table}.json?lobby={lobby.id}").text)
