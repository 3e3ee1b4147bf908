"""A local model in several processes: parallel, and every reply still repeats exactly.

Slots inside one engine share its arithmetic and change each other's replies; processes do not. Each holds the model
(its weights are mapped from the file, so the memory is shared) and answers one request at a time. The number of
processes cannot change a reply, so it is no part of the model's identity: replies of a pool and of a single
`LocalModel` have the same cache key.
"""

import json
import queue
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bestresponse.core import errors
from bestresponse.core.errors import ModelError, ModelUnavailable, Transient, UsageError
from bestresponse.core.json import JsonMapping
from bestresponse.models.base import Abilities, Json, Reply, Request
from bestresponse.models.codec import reply_from_json, request_to_json
from bestresponse.models.providers.gguf import check_gguf
from bestresponse.models.providers.local import LocalSettings, identify

__all__ = ["LocalPool"]


class LocalPool:
    """`processes` copies of a GGUF model. Close it when done; its processes end with this one in any case."""

    def __init__(
        self, path: Path, settings: LocalSettings | None = None, *, processes: int, name: str | None = None
    ) -> None:
        settings = settings or LocalSettings()
        if processes < 1:
            raise UsageError(f"processes is {processes}; a pool needs at least 1")
        check_gguf(path)
        self.id = name or path.stem
        self.identity: Mapping[str, Json] = identify(path, settings)
        self.abilities = Abilities(schema=True, choices=True, logprobs=1000, seed=True, concurrency=processes)
        self._order = json.dumps({"path": str(path), "settings": asdict(settings), "name": self.id})
        self._workers = [_Worker(self._order) for _ in range(processes)]
        self._idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        self._closed = False
        for worker in self._workers:
            worker.wait_until_ready()
            self._idle.put(worker)

    def complete(self, request: Request) -> Reply:
        """Answer in the next free process; one that died is replaced, and its call may be tried again."""
        worker = self._idle.get()
        try:
            if self._closed:
                raise ModelUnavailable(f"{self.id} was closed")
            answer = worker.ask(request)
        except Transient:
            worker = self._replace(worker)
            raise
        finally:
            self._idle.put(worker)
        return reply_from_json(answer)

    def close(self) -> None:
        """End all processes; calls under way are waited for."""
        self._closed = True
        for worker in [self._idle.get() for _ in self._workers]:
            worker.end()
            self._idle.put(worker)

    def _replace(self, dead: "_Worker") -> "_Worker":
        dead.end()
        fresh = _Worker(self._order)
        self._workers[self._workers.index(dead)] = fresh
        fresh.wait_until_ready()
        return fresh


class _Worker:
    """The process and the two pipes to it; used by one thread at a time."""

    def __init__(self, order: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bestresponse.models.providers.pool_worker", order],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            encoding="utf-8",
        )

    def wait_until_ready(self) -> None:
        self._receive()

    def ask(self, request: Request) -> JsonMapping:
        line = json.dumps(request_to_json(request))
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise self._death() from error
        answer: JsonMapping = self._receive()["reply"]
        return answer

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _receive(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.endswith("\n"):
            raise self._death()
        answer = json.loads(line)
        if "error" in answer:
            raise getattr(errors, answer["error"], ModelError)(answer["why"])
        return answer

    def _death(self) -> Transient:
        self._process.kill()
        return Transient(f"a process of the local model ended unexpectedly (exit code {self._process.wait()})")
