"""What executors cost and gain: overhead a play beside a slow server, and the speed-up of work
without models.

    python benchmarks/scale.py [--large]

The server answers on loopback after 200 ms; 64 plays are in flight. Ideal is 64 / 0.2 s = 320 plays
a second; the overhead of a play is the time of the run above its ideal, divided by the plays. The
start of workers is measured on its own, by a run of 64 plays (of 500 water games), and taken off.
Executors take turns, and the best of the rounds counts. With `--large` 100,000 games by a scripted
model are played in two parts and merged; it prints the most memory that took.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.runs.execution import Execution, Executor, Threads
from bestresponse.runs.executors.processes import Processes
from bestresponse.runs.models import ModelLimits, open_models
from bestresponse.runs.run import run_study
from bestresponse.runs.store.folder import Shard
from bestresponse.runs.store.merge import merge_runs
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.study import bench as bench_study
from bestresponse.studies.water.config import WaterConfig
from bestresponse.studies.water.study import water

LATENCY = 0.2
IN_FLIGHT = 64
PLAYS = 1280
ROUNDS = 2
BLOCKS = 500
"""Water games that keep two workers busy for a moment."""
_BODY = json.dumps(
    {
        "id": "x",
        "choices": [
            {
                "message": {"role": "assistant", "content": '{"A": 0.5, "B": 0.5}'},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    }
).encode()
_REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
    len(_BODY),
    _BODY,
)


Times = dict[str, tuple[float, float]]
"""By executor: the seconds of what was measured, and those of the start."""


class _Answer(asyncio.Protocol):
    """Answer every request of a connection with the same reply, after the latency."""

    def __init__(self) -> None:
        self._found = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the connection to write to."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Take in a request and write its reply later."""
        self._found += data
        head, end, body = self._found.partition(b"\r\n\r\n")
        length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        if end and len(body) >= int(length):
            self._found = body[int(length) :]
            asyncio.get_running_loop().call_later(LATENCY, self._transport.write, _REPLY)


async def _listen(ports: Connection) -> None:
    server = await asyncio.get_running_loop().create_server(_Answer, "127.0.0.1", 0, backlog=1024)
    ports.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def serve(ports: Connection) -> None:
    """Serve until killed, in a process of its own."""
    asyncio.run(_listen(ports))


def time_plays(model: str, executor: Executor, plays: int) -> float:
    """Return the seconds of a run of that many plays."""
    config = BenchConfig(model=(model,), num_games=plays, num_rows=2, num_cols=2, seed=plays)
    with (
        tempfile.TemporaryDirectory() as folder,
        open_models((model,), Path(folder), ModelLimits(IN_FLIGHT)) as opened,
    ):
        begun = time.perf_counter()
        run = run_study(
            bench_study,
            config,
            opened.models,
            Path(folder),
            Execution(opened.workers, executor=executor, shared=opened.shared),
        )
        assert run.outcome is not None
        assert run.outcome.played == plays
        return time.perf_counter() - begun


def time_water(executor: Executor, repeats: int) -> float:
    """Return the seconds of a grid of water games among bidders."""
    seats = {
        "Alex": "solver",
        "Bob": "need",
        "Cindy": "share",
        "David": "share:0.5",
        "Eric": "myopic",
    }
    config = WaterConfig(seat=seats, repeats=repeats)
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        run_study(water, config, {}, Path(folder), Execution(executor=executor))
        return time.perf_counter() - begun


def measure(
    executors: Mapping[str, Executor], run: Callable[[Executor, int], float], first: int, more: int
) -> Times:
    """Return for every executor the seconds of `more` plays, without the start of workers, and
    those of the first."""
    start: dict[str, list[float]] = {name: [] for name in executors}
    full: dict[str, list[float]] = {name: [] for name in executors}
    for _ in range(ROUNDS):
        for name, executor in executors.items():
            start[name].append(run(executor, first))
            full[name].append(run(executor, first + more))
    return {name: (min(full[name]) - min(start[name]), min(start[name])) for name in executors}


def measure_large(games: int) -> None:
    """Play that many games in two parts, merge them, and print time and memory."""
    model = ScriptedModel(lambda request: '{"A": 0.5, "B": 0.5}')
    config = BenchConfig(model=("scripted",), num_games=games, num_rows=2, num_cols=2, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        parts = [
            run_study(
                bench_study,
                config,
                {"scripted": model},
                Path(folder) / str(part),
                Execution(shard=Shard(part, 2)),
            )
            for part in (1, 2)
        ]
        played = time.perf_counter() - begun
        merged = merge_runs([part.path for part in parts], Path(folder) / "all")
        taken = time.perf_counter() - begun
        assert merged.complete
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1024 if sys.platform == "linux" else 1024**2
    )
    print(
        f"{games:,} games in two parts: {played:.0f} s, merged in {taken - played:.1f} s, at most"
        f" {peak:.0f} MB"
    )


def main() -> None:
    """Measure all executors and print one line each."""
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--large", action="store_true", help="measure time and memory of 100,000 games instead"
    )
    parser.add_argument("--water", type=int, default=20_000, help="games of the water grid")
    options = parser.parse_args()
    if options.large:
        measure_large(100_000)
        return
    executors: dict[str, Executor] = {"threads": Threads(), "processes": Processes(2)}
    print_plays(measure_plays({"threads": Threads()}))
    print_water(measure(executors, time_water, BLOCKS, options.water), options.water)


def measure_plays(executors: Mapping[str, Executor]) -> Times:
    """Measure plays beside a server in a process of its own."""
    here, there = get_context("spawn").Pipe()
    server = get_context("spawn").Process(target=serve, args=(there,), daemon=True)
    server.start()
    try:
        model = f"http://127.0.0.1:{here.recv()}/v1#slow"
        return measure(executors, partial(time_plays, model), IN_FLIGHT, PLAYS)
    finally:
        server.kill()


def print_plays(times: Times) -> None:
    """Print overhead and share of the ideal."""
    ideal = PLAYS * LATENCY / IN_FLIGHT
    for name, (seconds, first) in times.items():
        print(
            f"{name:10s} {PLAYS} plays, {IN_FLIGHT} in flight: {seconds:.2f} s (ideal {ideal:.2f}),"
            f" overhead {1000 * (seconds - ideal) / PLAYS:.2f} ms a play,"
            f" {100 * ideal / seconds:.0f} % of ideal; the first {IN_FLIGHT}: {first:.2f} s"
        )


def print_water(times: Times, games: int) -> None:
    """Print the speed-up over threads."""
    for name, (seconds, first) in times.items():
        gain = times["threads"][0] / seconds
        print(
            f"{name:10s} {games} water games: {seconds:.2f} s, {gain:.2f}x; the first {BLOCKS}:"
            f" {first:.2f} s"
        )


if __name__ == "__main__":
    main()
