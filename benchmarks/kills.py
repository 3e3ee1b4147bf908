"""A benchmark run killed twenty times at random moments, against an unbroken one.

    python benchmarks/kills.py [--kills 20] [--games 300]

A server on loopback answers with 20 ms latency and counts the replies it delivered. At the end
every game must be there once, the figures must equal those of the unbroken run, and no call may
have been repeated except those that were under way at the very moment of a kill (at most one per
worker and kill: nobody can know that they were answered).
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

WORKERS = 4
LATENCY = 0.02


class Server:
    """Delivers a fixed mix and keeps the bodies of all calls whose reply was written in full."""

    def __init__(self) -> None:
        self.delivered: list[str] = []
        lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                time.sleep(LATENCY)
                message = {"role": "assistant", "content": '{"A": 0.5, "B": 0.3, "C": 0.2}'}
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


def command(server: Server, games: int, folder: Path) -> list[str]:
    return [
        sys.executable,
        "-m",
        "bestresponse",
        "bench",
        "--model",
        server.model,
        "--num-games",
        str(games),
        "--seed",
        "7",
        "--workers",
        str(WORKERS),
        "--output-dir",
        str(folder),
    ]


def summary(folder: Path) -> list[dict[str, Any]]:
    """The figures of the run in a folder; what calls took differs from run to run."""
    figures: list[dict[str, Any]] = json.loads(
        next(folder.glob("bench-*/summary.json")).read_text()
    )["figures"]
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--games", type=int, default=600)
    options = parser.parse_args()
    server, rng = Server(), random.Random(11)
    with tempfile.TemporaryDirectory() as top:
        broken, whole = Path(top) / "broken", Path(top) / "whole"
        kills = 0
        while kills < options.kills:
            process = subprocess.Popen(
                command(server, options.games, broken),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            target = len(server.delivered) + rng.randint(0, max(1, options.games // options.kills))
            while len(server.delivered) <= target and process.poll() is None:
                time.sleep(rng.random() * 0.01)
            if process.poll() is not None:
                break
            process.kill()
            process.wait()
            kills += 1
        subprocess.run(command(server, options.games, broken), check=True, capture_output=True)
        repeated = sum(count - 1 for count in Counter(server.delivered).values())
        subprocess.run(command(server, options.games, whole), check=True, capture_output=True)
        (run,) = broken.glob("bench-*")
        specs = [
            json.loads(line)["spec"] for line in (run / "records.jsonl").read_text().splitlines()
        ]
        same = summary(broken) == summary(whole)
    once = len(specs) == len(set(specs)) == options.games
    print(
        f"{kills} kills; every game once: {once}; same summary as unbroken: {same}; calls repeated:"
        f" {repeated} (at most {WORKERS * kills} were under way at a kill)"
    )
    if not (once and same and repeated <= WORKERS * kills):
        sys.exit(1)


if __name__ == "__main__":
    main()
