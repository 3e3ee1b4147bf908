"""A run killed twenty times at random moments, against an unbroken one.

    python benchmarks/kills.py [--study bench|steer] [--kills 20] [--games 300]

A server on loopback answers with 20 ms latency and counts the replies it delivered. At the end
every play of `bench` must be there once, the figures must equal those of the unbroken run, and no
call may have been repeated except those that were under way at the very moment of a kill (at most
one per worker and kill: nobody can know that they were answered). Dialogues of `steer` are spoken
by the simulated speaker.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from bestresponse.models.base import Message, Model, Request
from bestresponse.players.dialogue.simulated import SimulatedSpeaker

WORKERS = 4
LATENCY = 0.02


class Server:
    """Delivers a fixed mix, or what a model says, and keeps the bodies of all calls whose reply was
    written in full."""

    def __init__(self, model: Model | None = None) -> None:
        self.delivered: list[str] = []
        lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                time.sleep(LATENCY)
                content = '{"A": 0.5, "B": 0.3, "C": 0.2}'
                if model is not None:
                    content = model.complete(read_request(body)).text
                message = {"role": "assistant", "content": content}
                data = json.dumps(
                    {"choices": [{"message": message, "finish_reason": "stop"}]}
                ).encode()
                try:
                    self.send_response(200)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                    self.wfile.flush()
                except OSError:
                    return
                with lock:
                    server.delivered.append(body.decode())

            def log_message(self, *args: Any) -> None:
                pass

        class Quiet(ThreadingHTTPServer):
            def handle_error(self, request: Any, client_address: Any) -> None:
                """A client that was killed leaves broken connections behind: that is the point."""

        self.http = Quiet(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    @property
    def model(self) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}/v1#fake"


def read_request(body: bytes) -> Request:
    """Return what was asked of the server."""
    messages = json.loads(body)["messages"]
    return Request(tuple(Message(one["role"], one["content"]) for one in messages))


def command(study: str, server: Server, games: int, folder: Path) -> list[str]:
    """Return the command of a run that asks the server."""
    what = ["bench", "--num-games", str(games), "--seed", "7"]
    if study == "steer":
        what = ["steer", "meeting", "--games", str(games), "--iterations", "20", "--fresh", "1"]
    how = ["--model", server.model, "--workers", str(WORKERS), "--output-dir", str(folder)]
    return [sys.executable, "-m", "bestresponse", *what, *how]


def summary(study: str, folder: Path) -> list[dict[str, Any]]:
    """The figures of the run in a folder; what calls took differs from run to run."""
    figures: list[dict[str, Any]] = json.loads(
        next(folder.glob(f"{study}-*/summary.json")).read_text()
    )["figures"]
    return figures


def main() -> None:
    """Kill a run again and again, let it end, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", choices=("bench", "steer"), default="bench")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--games", type=int, default=600)
    options = parser.parse_args()
    study = options.study
    server = Server(SimulatedSpeaker(0) if study == "steer" else None)
    rng = random.Random(11)
    with tempfile.TemporaryDirectory() as top:
        broken, whole = Path(top) / "broken", Path(top) / "whole"
        unbroken = command(study, server, options.games, whole)
        subprocess.run(unbroken, check=True, capture_output=True)
        expected = Counter(server.delivered)
        server.delivered.clear()
        kills = 0
        while kills < options.kills:
            process = subprocess.Popen(
                command(study, server, options.games, broken),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            apart = max(1, sum(expected.values()) // options.kills)
            target = len(server.delivered) + rng.randint(0, apart)
            while len(server.delivered) <= target and process.poll() is None:
                time.sleep(rng.random() * 0.01)
            if process.poll() is not None:
                break
            process.kill()
            process.wait()
            kills += 1
        resumed = command(study, server, options.games, broken)
        subprocess.run(resumed, check=True, capture_output=True)
        repeated = (Counter(server.delivered) - expected).total()
        once = True
        if study == "bench":
            (run,) = broken.glob("bench-*")
            lines = (run / "records.jsonl").read_text().splitlines()
            specs = [json.loads(line)["spec"] for line in lines]
            once = len(specs) == len(set(specs)) == options.games
        same = summary(study, broken) == summary(study, whole)
    print(
        f"{kills} kills of {study}; every play once: {once}; same summary as unbroken: {same};"
        f" calls repeated: {repeated} of {sum(expected.values())}"
        f" (at most {WORKERS * kills} were under way at a kill)"
    )
    if not (once and same and repeated <= WORKERS * kills):
        sys.exit(1)


if __name__ == "__main__":
    main()
