"""How the web server bears many people at once, and being killed meanwhile.

    python benchmarks/web.py [--sessions 50] [--days 6] [--think 2.0] [--kills 3] [--joins 1000] [--whole]

Scripted people take four of the five seats of water games, a strategy the fifth, and play by the
JSON API on loopback; each thinks a random while before an answer. Meanwhile the process that serves
is killed (SIGKILL) a few times and replaced by its parent; with --whole the parent is killed too
and the command started again on the same folder. Whoever gets no answer asks again. At the end
every session must be over, and the answers on disk must be exactly those that were meant: none
lost, none doubled. The server and all the people share this machine. The time of a submit counts
from the first try to the answer; submits that overlap with a restart are told apart from the
others.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import httpx

PEOPLE = 4
PORT = 8755
RETRY = 0.05
BASE = f"http://127.0.0.1:{PORT}"


class Server:
    """The real command, started and killed."""

    def __init__(self, folder: Path, whole: bool) -> None:
        self._command = [
            sys.executable,
            "-m",
            "bestresponse",
            "serve",
            "--port",
            str(PORT),
            "--output-dir",
            str(folder),
        ]
        self._whole = whole
        self._process: subprocess.Popen[str] | None = None
        self.restarts: list[tuple[float, float]] = []
        self._spent = 0.0

    def start(self) -> str:
        """The admin's token, once the server listens."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip().rsplit("/", 1)[1]

    def restart(self) -> float:
        """Kill, have it started again, and wait for an answer; gives the seconds without one."""
        begun = time.monotonic()
        if self._whole:
            self._spent = self.count_processor_seconds()
            self.kill()
            self.start()
        else:
            self._spent = self.count_processor_seconds()
            os.kill(self._worker(), signal.SIGKILL)
        while not answers():
            time.sleep(0.01)
        self.restarts.append((begun, time.monotonic()))
        return time.monotonic() - begun

    def count_processor_seconds(self) -> float:
        """Processor time of the workers so far, those that were killed too; it depends little on
        other programs."""
        fields = Path(f"/proc/{self._worker()}/stat").read_text().rpartition(")")[2].split()
        return self._spent + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _worker(self) -> int:
        assert self._process is not None
        pid = self._process.pid
        return int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])

    def kill(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()


def answers() -> bool:
    """Whether there is an answer to a small question; one that has to wait for its answer does."""
    asked = HTTPConnection("127.0.0.1", PORT, timeout=30)
    try:
        asked.request("GET", "/static/icon.svg")
        return asked.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        asked.close()


class Person:
    """Plays one seat and remembers what was meant as the answer to which question."""

    def __init__(self, session: str, seat: int, token: str, think: float) -> None:
        self.session, self.role = session, ""
        self._place, self._think = f"{BASE}/api/seats/{session}/{seat}", think
        self._changes = f"{BASE}/seat/{session}/{seat}/{token}/changes"
        self._headers = {"authorization": f"Bearer {token}"}
        self._rng = random.Random(f"{session} {seat}")
        self.meant: dict[int, float] = {}
        self.submits: list[tuple[float, float]] = []

    async def play(self) -> None:
        """With a client of one's own, as people have; a pool of hundreds of connections is slow by
        itself."""
        async with httpx.AsyncClient(timeout=30, verify=False, trust_env=False) as client:
            await self._play(client)

    async def _play(self, client: httpx.AsyncClient) -> None:
        state = await self._call(client, "/ready", {})
        while state["phase"] != "over":
            self.role = state["role"]
            if state["phase"] == "turn":
                await asyncio.sleep(self._rng.uniform(0.2, 1.8) * self._think)
                bid = round(self._rng.uniform(0, state["ask"]["high"] / 2), 2)
                self.meant.setdefault(state["turn"], bid)
                answer = {"turn": state["turn"], "answer": self.meant[state["turn"]]}
                state = await self._call(client, "/answers", answer)
            else:
                await self._wait(client, state["version"])
                state = await self._call(client, "", None)

    async def _wait(self, client: httpx.AsyncClient, version: str) -> None:
        """Until the page would change, asked for as a browser does."""
        latest = version
        while latest == version:
            try:
                latest = (await client.get(self._changes, params={"after": version})).json()[
                    "version"
                ]
            except httpx.TransportError:
                await asyncio.sleep(0.2)

    async def _call(self, client: httpx.AsyncClient, what: str, body: object) -> Any:
        """Ask until there is an answer; an answer that was taken already (409) is taken."""
        method = "GET" if body is None else "POST"
        begun, wanted = time.monotonic(), what
        while True:
            try:
                reply = await client.request(
                    method, self._place + what, json=body, headers=self._headers
                )
            except httpx.TransportError:
                await asyncio.sleep(RETRY)
                continue
            if reply.status_code == 409:
                body, what, method = None, "", "GET"
                continue
            if reply.status_code == 429:
                await asyncio.sleep(0.5)
                continue
            assert reply.status_code == 200, f"{what}: {reply.status_code} {reply.text}"
            if wanted == "/answers":
                self.submits.append((begun, time.monotonic()))
            return reply.json()


def create_sessions(token: str, sessions: int, days: int, think: float) -> list[Person]:
    wanted = {
        "game": {"name": "water", "rounds": days},
        "seats": ["person"] * PEOPLE + ["strategy:need"],
        "groups": sessions,
        "stand_in": "need",
        "quiz": False,
    }
    reply = httpx.post(
        f"{BASE}/api/lobbies", json=wanted, headers={"authorization": f"Bearer {token}"}, timeout=60
    )
    assert reply.status_code == 201, reply.text
    return [
        Person(session["session"], seat, session["seats"][seat]["token"], think)
        for session in reply.json()["sessions"]
        for seat in range(PEOPLE)
    ]


async def everybody(people: Sequence[Person], server: Server, kills: int, pause: float) -> None:
    playing = asyncio.gather(*(person.play() for person in people))
    for number in range(kills):
        await asyncio.sleep(pause)
        if playing.done():
            break
        away = await asyncio.to_thread(server.restart)
        print(f"killed ({number + 1} of {kills}), no answer for {1000 * away:.0f} ms", flush=True)
    await playing


def compare(folder: Path, people: Sequence[Person]) -> tuple[int, int, int]:
    """Answers kept, answers that differ from what was meant, and finished sessions."""
    kept: dict[tuple[str, str], list[float]] = {}
    for line in (folder / "sessions" / "submissions.jsonl").read_text().splitlines():
        row = json.loads(line)
        kept.setdefault((row["spec"], row["role"]), []).append(row["action"])
    wrong = 0
    for person in people:
        meant = [person.meant[turn] for turn in sorted(person.meant)]
        given = kept.get((person.session, person.role), [])
        wrong += meant != given
    finished = len((folder / "sessions" / "records.jsonl").read_text().splitlines())
    return sum(len(answers) for answers in kept.values()), wrong, finished


def first_page(token: str) -> tuple[int, float]:
    """Bytes and median milliseconds of the first page."""
    with httpx.Client(base_url=BASE, follow_redirects=True) as client:
        client.get(f"/enter/{token}")
        times = []
        for _ in range(20):
            begun = time.monotonic()
            page = client.get("/")
            times.append(time.monotonic() - begun)
        return len(page.content), 1000 * statistics.median(times)


async def join_all(token: str, count: int) -> float:
    """Seconds that it takes `count` people to open the shared link and to take a seat, fifty at a
    time."""
    headers = {"authorization": f"Bearer {token}"}
    seats = ["person"] * 4 + ["strategy:need"]
    wanted = {
        "game": {"name": "water", "rounds": 1},
        "seats": seats,
        "groups": -(-count // 4),
        "stand_in": "need",
    }
    gate = asyncio.Semaphore(50)
    taken: set[str] = set()
    async with httpx.AsyncClient(base_url=BASE, timeout=60) as client:
        lobby = (await client.post("/api/lobbies", json=wanted, headers=headers)).json()

        async def join(number: int) -> None:
            # Each has a browser of their own: its cookie leads back to the seat that it took.
            async with gate, httpx.AsyncClient(base_url=BASE, timeout=60) as browser:
                page = (
                    await browser.get(lobby["join"], params={"participant_label": f"p{number}"})
                ).text
                csrf = page.split('name="csrf" value="')[1].split('"')[0]
                form = {"csrf": csrf, "participant_label": f"p{number}"}
                taken.add((await browser.post(lobby["join"], data=form)).headers["location"])

        begun = time.monotonic()
        await asyncio.gather(*(join(number) for number in range(count)))
        took = time.monotonic() - begun
    if len(taken) != count:
        raise SystemExit(f"{count} people got {len(taken)} seats")
    return took


def tell(what: str, submits: Sequence[tuple[float, float]]) -> None:
    """Percentiles of the time between a submit and its answer."""
    times = sorted(end - begun for begun, end in submits)
    shares = (0.5, 0.95, 0.99, 1.0)
    shown = (
        f"p{100 * share:.0f} {1000 * times[int(share * (len(times) - 1))]:.0f} ms"
        for share in shares
    )
    print(f"{len(times)} {what}: {', '.join(shown)}")


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--sessions", type=int, default=50)
    options.add_argument("--days", type=int, default=6)
    options.add_argument("--think", type=float, default=2.0)
    options.add_argument("--kills", type=int, default=3)
    options.add_argument("--pause", type=float, default=6.0)
    options.add_argument(
        "--joins", type=int, default=0, help="people who join by the shared link before the games"
    )
    options.add_argument(
        "--whole", action="store_true", help="kill the parent too and start the command again"
    )
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        server = Server(Path(name), given.whole)
        token = server.start()
        try:
            size, quick = first_page(token)
            print(f"first page: {size / 1000:.1f} kB, median {quick:.1f} ms")
            if given.joins:
                before = server.count_processor_seconds()
                print(
                    f"{given.joins} people joined in"
                    f" {asyncio.run(join_all(token, given.joins)):.1f} s"
                )
                spent = server.count_processor_seconds() - before
                print(
                    f"processor time of the server: {1000 * spent / given.joins:.1f} ms for a"
                    " person who joins"
                )
            people = create_sessions(token, given.sessions, given.days, given.think)
            begun, before = time.monotonic(), server.count_processor_seconds()
            asyncio.run(everybody(people, server, given.kills, given.pause))
            took = time.monotonic() - begun
            spent = server.count_processor_seconds() - before
        finally:
            server.kill()
        kept, wrong, finished = compare(Path(name), people)
    print(f"{len(people)} seats in {given.sessions} sessions, {took:.0f} s, {given.kills} kills")
    submits = [submit for person in people for submit in person.submits]
    quiet = [
        s for s in submits if not any(s[0] < end and s[1] > begun for begun, end in server.restarts)
    ]
    each = 1000 * spent / len(submits)
    print(
        f"processor time of the server: {each:.1f} ms for an answer, all pages that wait for it"
        " included"
    )
    tell("all submits", submits)
    tell("submits that met no restart", quiet)
    print(f"{len(submits) - len(quiet)} submits met a restart")
    print(
        f"{kept} answers kept, {wrong} seats differ from what was meant, {finished} sessions"
        " finished"
    )


if __name__ == "__main__":
    main()
