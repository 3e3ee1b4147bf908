"""A local model in several processes: parallel, and every reply still repeats exactly.

Slots inside one engine share its arithmetic and change each other's replies; processes do not. Each holds the model
(its weights are mapped from the file, so the memory is shared) and answers one request at a time. The number of
processes cannot change a reply, so it is no part of the model's identity: replies of a pool and of a single
`LocalModel` have the same cache key.

A process runs this module: `python -m bestresponse.models.providers.pool ORDER`, where the order is JSON. It sends a
JSON line when the model is loaded, or why not, and then one for every JSON line it gets, until its input ends.
"""

import json
import os
import queue
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import IO

from bestresponse.core import errors
from bestresponse.core.errors import BestResponseError, ModelError, ModelUnavailable, Transient, UsageError
from bestresponse.core.json import JsonObject
from bestresponse.models.base import Abilities, Json, Reply, Request
from bestresponse.models.codec import reply_from_json, reply_to_json, request_from_json, request_to_json
from bestresponse.models.providers.local import LocalModel, LocalSettings, identify


class LocalPool:
    """`processes` copies of a GGUF model. Close it when done; its processes end with this one in any case."""

    def __init__(
        self, path: Path, settings: LocalSettings | None = None, *, processes: int, name: str | None = None
    ) -> None:
        settings = settings or LocalSettings()
        if processes < 1:
            raise UsageError(f"processes is {processes}; a pool needs at least 1")
        self.id = name or path.stem
        self.identity: Mapping[str, Json] = identify(path, settings)
        self.abilities = Abilities(schema=True, choices=True, logprobs=1000, seed=True, concurrency=processes)
        self._order = json.dumps({"path": str(path), "settings": asdict(settings), "name": self.id})
        self._idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        self._processes = processes
        self._closed = False
        workers = [_Worker(self._order) for _ in range(processes)]
        for worker in workers:
            worker.receive()
            self._idle.put(worker)

    def complete(self, request: Request) -> Reply:
        """Answer in the next free process; one that died is replaced, and its call may be tried again."""
        worker = self._idle.get()
        try:
            if self._closed:
                raise ModelUnavailable(f"{self.id} was closed")
            worker.send(request_to_json(request))
            return reply_from_json(worker.receive())
        except Transient:
            worker.end()
            worker = _Worker(self._order)
            worker.receive()
            raise
        finally:
            self._idle.put(worker)

    def close(self) -> None:
        """End all processes; calls under way are waited for."""
        self._closed = True
        for worker in [self._idle.get() for _ in range(self._processes)]:
            worker.end()
            self._idle.put(worker)


class _Worker:
    """The process and the two pipes to it; used by one thread at a time."""

    def __init__(self, order: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bestresponse.models.providers.pool", order],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            encoding="utf-8",
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin, self._process.stdout

    def send(self, data: JsonObject) -> None:
        """Send a request; Transient where the process is gone."""
        try:
            _write_line(self._to, data)
        except OSError as error:
            raise self._explain_end() from error

    def receive(self) -> JsonObject:
        """Wait for what the process has to say; raise the error that it sends, or Transient where it is gone."""
        line = self._from.readline()
        if not line.endswith("\n"):
            raise self._explain_end()
        answer: JsonObject = json.loads(line)
        if "error" in answer:
            raise getattr(errors, answer["error"], ModelError)(answer["why"])
        return answer

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def _explain_end(self) -> Transient:
        self._process.kill()
        return Transient(f"a process of the local model ended unexpectedly (exit code {self._process.wait()})")


def _serve(order: str, lines: IO[str], out: IO[str]) -> None:
    """Load the model of the order, and answer every line."""
    given = json.loads(order)
    try:
        model = LocalModel(Path(given["path"]), LocalSettings(**given["settings"]), name=given["name"])
    except BestResponseError as error:
        _write_line(out, {"error": type(error).__name__, "why": str(error)})
        return
    _write_line(out, {"ready": True})
    for line in lines:
        try:
            answer = reply_to_json(model.complete(request_from_json(json.loads(line))))
        except BestResponseError as error:
            answer = {"error": type(error).__name__, "why": str(error)}
        _write_line(out, answer)


def _write_line(out: IO[str], data: JsonObject) -> None:
    out.write(json.dumps(data) + "\n")
    out.flush()


if __name__ == "__main__":
    # The engine writes to standard output by itself, which must not come between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    _serve(sys.argv[1], sys.stdin, answers)
