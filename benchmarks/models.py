"""How much the model layer costs: concurrency, the local engine, the cache. Contestants take turns
in one run.

python benchmarks/models.py [concurrency] [local] [cache]
"""

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from bestresponse.models import (
    Cache,
    Cached,
    HttpClients,
    Meter,
    Model,
    OpenAIModel,
    ScriptedModel,
    Secret,
    ask,
)
from bestresponse.models.providers.local import LocalModel
from bestresponse.models.providers.weights import default_folder, pull
from bestresponse.models.wrappers.cached import assemble
from bestresponse.models.wrappers.limits import Gate

LATENCY = 0.2
IN_FLIGHT = 64
CALLS = 1920
ANSWER = (
    b'{"id":"1","choices":[{"message":{"role":"assistant","content":"A"},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":9,"completion_tokens":1}}'
)
PROMPTS = (
    (
        "Rows A and B. If you play A you get 3, if you play B you get 5. Which row? Answer with one"
        " letter."
    ),
    "Name three primary colours.",
    (
        "You and another player choose a number from 0 to 10. The higher wins. What do you choose,"
        " and why?"
    ),
)


def main() -> None:
    wanted = sys.argv[1:] or ["concurrency", "cache", "local"]
    for name in wanted:
        {"concurrency": concurrency, "cache": cache, "local": local}[name]()


def concurrency() -> None:
    """Calls a second with 64 in flight against a loopback server that takes 200 ms, as a share of
    64 / 0.2 s."""
    parent, child = get_context("spawn").Pipe()
    server = get_context("spawn").Process(target=_serve, args=(child,), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{parent.recv()}/v1"
    ideal = IN_FLIGHT / LATENCY
    with HttpClients() as client, tempfile.TemporaryDirectory() as folder:
        bare = OpenAIModel("m", client, Secret("key"), base_url=url)
        layers = {
            "meter": Meter(),
            "gate": Gate(IN_FLIGHT),
            "cache": Cache(Path(folder) / "replies.sqlite"),
        }
        full = assemble(OpenAIModel("m", client, Secret("key"), base_url=url), **layers)
        _throughput(bare, "warm up")
        shares: dict[str, list[float]] = {
            "adapter alone": [],
            "with cache, retries, limits and meter": [],
        }
        for turn in range(3):
            shares["adapter alone"].append(_throughput(bare, f"bare {turn}") / ideal)
            shares["with cache, retries, limits and meter"].append(
                _throughput(full, f"full {turn}") / ideal
            )
    server.terminate()
    for name, found in shares.items():
        print(
            f"{IN_FLIGHT} in flight, {LATENCY * 1000:.0f} ms, {name}:"
            f" {statistics.median(found):.1%} of ideal"
        )


def _throughput(model: Model, mark: str) -> float:
    requests = [ask(f"{mark}: question {number}") for number in range(CALLS)]
    with ThreadPoolExecutor(IN_FLIGHT) as threads:
        began = time.perf_counter()
        list(threads.map(model.complete, requests))
        return CALLS / (time.perf_counter() - began)


def _serve(pipe: Connection) -> None:
    """An HTTP server in a process of its own that does nothing but wait."""
    head = (
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length:"
        f" {len(ANSWER)}\r\n\r\n".encode()
    )

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                request = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    line
                    for line in request.lower().split(b"\r\n")
                    if line.startswith(b"content-length")
                )
                await reader.readexactly(int(length.split(b":")[1]))
                await asyncio.sleep(LATENCY)
                writer.write(head + ANSWER)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def run() -> None:
        server = await asyncio.start_server(talk, "127.0.0.1", 0, backlog=256)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


def cache() -> None:
    """Microseconds of a call that is answered from the cache."""
    with tempfile.TemporaryDirectory() as folder:
        model = Cached(ScriptedModel(lambda request: "A"), Cache(Path(folder) / "replies.sqlite"))
        requests = [
            ask(f"A prompt of ordinary length, number {number}. " * 20) for number in range(2000)
        ]
        for request in requests:
            model.complete(request)
        times = []
        for request in requests * 3:
            began = time.perf_counter()
            model.complete(request)
            times.append(time.perf_counter() - began)
    ordered = sorted(times)
    middle, late = ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]
    print(f"cached call: median {middle * 1e6:.0f} us, 99 % under {late * 1e6:.0f} us")


def local() -> None:
    """Reply tokens a second of our local model and of bare xllamacpp with the same settings, prompt
    by prompt."""
    try:
        import xllamacpp
    except ImportError:
        print("local: skipped, xllamacpp is not installed")
        return
    path = pull("smollm2", default_folder(os.environ, Path.home()))
    ours = LocalModel(path)
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_parallel, params.n_ctx, params.n_gpu_layers = 1, 4096, 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup, params.verbosity, params.cache_ram_mib = False, -1, 0
    bare = xllamacpp.Server(params)
    contestants = {"ours": partial(_ours, ours), "bare": partial(_bare, bare)}
    wall: list[float] = []
    work: list[float] = []
    for turn in range(5):
        for prompt in PROMPTS:
            order = ("ours", "bare") if turn % 2 else ("bare", "ours")
            speeds = {name: _speeds(contestants[name], prompt) for name in order}
            if turn:
                wall.append(speeds["ours"][0] / speeds["bare"][0])
                work.append(speeds["ours"][1] / speeds["bare"][1])
    print(
        f"local model, of bare xllamacpp: {statistics.median(wall):.1%} of the tokens a second, "
        f"{statistics.median(work):.1%} of the tokens a second of processor time"
    )


def _speeds(complete: Callable[[str], int], prompt: str) -> tuple[float, float]:
    """Reply tokens per second on the clock, and per second of processor time (which a busy machine
    does not change)."""
    began, worked = time.perf_counter(), time.process_time()
    tokens = complete(prompt)
    return tokens / (time.perf_counter() - began), tokens / (time.process_time() - worked)


def _ours(model: LocalModel, prompt: str) -> int:
    return model.complete(ask(prompt, max_tokens=48)).usage.completion or 0


def _bare(server: Any, prompt: str) -> int:
    body = {
        "messages": [{"role": "user", "content": prompt}],
        "max_tokens": 48,
        "temperature": 0.0,
        "seed": 0,
        "cache_prompt": False,
    }
    return int(server.handle_chat_completions(body)["usage"]["completion_tokens"])


if __name__ == "__main__":
    main()
