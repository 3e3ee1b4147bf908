"""Models that are asked by the workers of an executor, for work that is not a list of plays.

Every call is a play of one answer: whoever makes plays makes these too, with the same budget, limits and cache.
"""

from __future__ import annotations

import itertools
import json
import queue
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace

from bestresponse.core.episode import Record, Submission
from bestresponse.core.errors import ModelUnavailable
from bestresponse.core.player import Call, Decision
from bestresponse.models.base import Model, Reply, Request, Wrapper
from bestresponse.models.codec import reply_from_json, reply_to_json, request_from_json, request_to_json
from bestresponse.runs.executors.base import Executor, Job, PlayOne, Task
from bestresponse.runs.executors.threads import Threads
from bestresponse.runs.spec import Spec

__all__ = ["lend_models"]

_ROLE = "model"
_PATIENCE = 60.0
"""Seconds for calls that nobody waits for any more; workers end with this process in any case."""


class _Calling:
    """Plays that are one call each."""

    name = "call"

    def make_player(self, config: object, models: Mapping[str, Model]) -> PlayOne:
        """Return the function that makes the call of a spec."""

        def make_call(spec: Spec, done: list[Submission], keep: Callable[[Submission], None]) -> Record:
            name, request = spec.data["model"], spec.data["request"]
            if not done:
                reply = models[name].complete(request_from_json(request))
                keep(Submission(_ROLE, Decision(None, calls=(Call(name, request, reply_to_json(reply)),))))
            return Record(self.name, 1, {}, (), {})

        return make_call


@contextmanager
def lend_models(executor: Executor, job: Job) -> Iterator[Mapping[str, Model]]:
    """Give the models of a job, asked where the executor makes plays; with threads these are the models themselves."""
    if isinstance(executor, Threads):
        yield job.models
        return
    calls = _Calls()
    maker = threading.Thread(target=calls.make, args=(executor, replace(job, study=_Calling())), daemon=True)
    maker.start()
    try:
        yield {name: _Lent(model, name, calls) for name, model in job.models.items()}
    finally:
        calls.close()
        maker.join(_PATIENCE)


class _Calls:
    """Calls on their way to workers, and the replies on their way back."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._waiting: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._replies: dict[str, Future[Reply]] = {}
        self._lock = threading.Lock()
        self._over: BaseException | None = None

    def ask(self, name: str, request: Request) -> Reply:
        """Have a call made and wait for its reply."""
        spec = Spec(f"call-{next(self._numbers)}", {"model": name, "request": request_to_json(request)})
        with self._lock:
            if self._over is not None:
                raise self._over
            reply = self._replies[spec.id] = Future()
        self._waiting.put(Task(spec, []))
        return reply.result()

    def close(self) -> None:
        """Take no more calls."""
        self._waiting.put(None)

    def make(self, executor: Executor, job: Job) -> None:
        """Make calls until there are no more; what ends this early is raised by everybody who waits."""
        over: BaseException = ModelUnavailable("no more calls are made")
        try:
            first = self._waiting.get()
            tasks = () if first is None else itertools.chain([first], self._take())
            for ended in executor.play(job, iter(tasks), self._keep):
                if ended.error is not None:
                    self._replies.pop(ended.spec.id).set_exception(ended.error)
        except BaseException as error:  # noqa: BLE001 - it is raised again by those who wait
            over = error
        with self._lock:
            self._over = over
        for reply in self._replies.values():
            reply.set_exception(over)

    def _take(self) -> Iterator[Task | None]:
        while True:
            try:
                task = self._waiting.get_nowait()
            except queue.Empty:
                yield None
                continue
            if task is None:
                return
            yield task

    def _keep(self, calls: bytes, answer: bytes) -> None:
        row = json.loads(calls)
        self._replies.pop(row["spec"]).set_result(reply_from_json(row["reply"]))


class _Lent(Wrapper):
    """A model whose calls are made by workers."""

    def __init__(self, model: Model, name: str, calls: _Calls) -> None:
        super().__init__(model)
        self._name, self._calls = name, calls

    def complete(self, request: Request) -> Reply:
        """Have the call made by a worker."""
        return self._calls.ask(self._name, request)
