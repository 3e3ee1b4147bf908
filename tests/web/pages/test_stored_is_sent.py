"""In a real browser: what is stored is what was sent, however the line breaks, the field is edited
or the page is closed, or the server is killed."""

import json
import signal
import socket
import subprocess
import sys
from random import Random

import httpx
import pytest

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("uvicorn", reason="the extra `web` is not installed")

from browser import ready  # noqa: E402
from waiting import wait_until  # noqa: E402

from bestresponse.web.sessions.setup import GameChoice, Setup  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.drawn]
TROUBLES = ("none", "offline", "lost request", "lost reply", "closed", "closed at once")
LOW, HIGH = 2, 100


class Person:
    """Somebody who answers with a number, whatever happens to the line and to the page."""

    def __init__(self, table, link, open_page, rng):
        self.table, self.link, self.open_page, self.rng = table, link, open_page, rng
        self.page = open_page(link)
        ready(self.page)

    def turn(self):
        return self.table.turn(self.table.roles[0])

    def answer(self, trouble):
        """Type and send a number; return what may be stored: the last number that was sent, or the
        first one where the page says that it came first."""
        number = self.turn()
        first = self.send(number, trouble)
        if trouble.startswith("closed"):
            self.page = self.open_page(self.link)
            self.page.locator("[data-phase]").wait_for()
            if (
                self.turn() == number
                and self.page.locator(f"[data-version='turn.{number}']").count()
            ):
                second = self.send(number, "none")
                wait_until(lambda: self.page.wait_for_timeout(20) or self.turn() > number)
                self.page.wait_for_timeout(100)
                note = self.page.get_by_text("already answered").count()
                return first if note else second
        wait_until(lambda: self.page.wait_for_timeout(20) or self.turn() > number)
        return first

    def send(self, number, trouble):
        page, rng = self.page, self.rng
        page.locator(f"[data-version='turn.{number}'] form[data-answer]").wait_for()
        field = page.locator("input[name=answer]")
        field.fill(str(rng.randint(LOW, HIGH)))
        sent = rng.randint(LOW, HIGH)
        if trouble == "offline" and rng.random() < 0.5:
            page.context.set_offline(True)
        field.fill(str(sent))
        if trouble == "offline":
            page.context.set_offline(True)
        if trouble.startswith("lost"):
            self.lose(is_stored=trouble == "lost reply")
        page.get_by_role("button", name="Send").click(no_wait_after=True)
        if trouble == "killed":
            page.wait_for_timeout(rng.randint(0, 60))
            self.table.restart()
        if trouble in ("closed", "closed at once"):
            page.wait_for_timeout(0 if trouble == "closed at once" else rng.randint(1, 80))
            page.context.close()
            return sent
        for _ in range(rng.randint(0, 2)):
            self.edit(rng.randint(LOW, HIGH))
        if trouble == "offline":
            page.wait_for_timeout(rng.randint(0, 400))
            page.context.set_offline(False)
        return sent

    def edit(self, typed):
        """Write into the field, although it is closed."""
        code = "typed => { const f = document.querySelector('input[name=answer]');"
        code += " if (f && f.disabled) { f.value = typed; f.form.requestSubmit(); } }"
        self.page.evaluate(code, str(typed))

    def lose(self, *, is_stored):
        """Lose the next request, or its reply only."""

        def cut(route):
            if is_stored:
                route.fetch(max_redirects=0)
            route.abort()

        self.page.route("**/answer", cut, times=1)


ROUNDS = 20
"""So many answers are given at one table."""


@pytest.mark.parametrize(
    ("seed", "tables"),
    [(0, 1), *(pytest.param(seed, 5, marks=pytest.mark.soak) for seed in range(1, 6))],
)
def test_what_is_stored_is_what_was_sent(site, people, seed, tables):
    rng = Random(seed)
    setup = Setup(
        GameChoice("travelers-dilemma", rounds=ROUNDS),
        ("person", "strategy:random"),
        quiz=False,
    )
    for _ in range(tables):
        session, (link,) = site.lay(setup)
        person = Person(site.state.sessions.get_session(session), link, people, rng)
        troubles = [*TROUBLES * 3, *rng.choices(TROUBLES, k=ROUNDS - 3 * len(TROUBLES))]
        rng.shuffle(troubles)
        for number, trouble in enumerate(troubles):
            sent = person.answer(trouble)
            stored = person.table.answer(person.table.roles[0], number).decision.action
            assert (number, trouble, str(stored)) == (number, trouble, str(sent))
        person.page.context.close()


class KilledTable:
    """One table of a server that is a process of its own, and what it has on disk."""

    roles = ("row", "col")

    def __init__(self, folder):
        self.folder = folder
        with socket.socket() as held:
            held.bind(("127.0.0.1", 0))
            self.port = held.getsockname()[1]
        self.base = f"http://127.0.0.1:{self.port}"
        self.start()

    def start(self):
        command = [sys.executable, "-m", "bestresponse", "serve", "--port", str(self.port)]
        command += ["--output", str(self.folder)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.token = self.process.stdout.readline().strip().rsplit("/", 1)[1]

    def restart(self):
        self.kill()
        self.start()

    def kill(self):
        """Give the server, and the worker that goes with it, no time to put anything in order."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def lay(self):
        """Open a table for one person, and return the link."""
        wanted = {
            "game": {"name": "travelers-dilemma", "rounds": ROUNDS},
            "seats": ["person", "strategy:random"],
            "quiz": False,
        }
        headers = {"authorization": f"Bearer {self.token}"}
        reply = httpx.post(f"{self.base}/api/lobbies", json=wanted, headers=headers, timeout=60)
        (made,) = reply.json()["sessions"]
        self.session = made["session"]
        return f"{self.base}/seat/{self.session}/0/{made['seats'][0]['token']}"

    def list_stored(self):
        file = self.folder / "sessions" / "submissions.jsonl"
        lines = file.read_text("utf-8").splitlines(keepends=True) if file.exists() else []
        rows = [json.loads(line) for line in lines if line.endswith("\n")]
        return [r["action"] for r in rows if (r["spec"], r["role"]) == (self.session, "row")]

    def turn(self, role):
        return len(self.list_stored())


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(5))
def test_what_is_stored_is_what_was_sent_to_a_server_that_is_killed(tmp_path, people, seed):
    rng = Random(seed)
    table = KilledTable(tmp_path)
    try:
        for _ in range(5):
            person = Person(table, table.lay(), people, rng)
            troubles = [*TROUBLES * 3, *["killed"] * (ROUNDS - 3 * len(TROUBLES))]
            rng.shuffle(troubles)
            for number, trouble in enumerate(troubles):
                sent = person.answer(trouble)
                stored = str(table.list_stored()[number])
                assert (number, trouble, stored) == (number, trouble, str(sent))
            person.page.context.close()
    finally:
        table.kill()
