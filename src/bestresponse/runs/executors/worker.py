"""A worker process: opens the models by name, makes plays in threads, and tells the driver everything as it happens.

Messages go in lists, because each sending costs more than a message. To a worker: ("play", task), ("answer", number,
value, error), ("stop",). From it: ("ready",), ("failed", error), ("ask", number, service, method, arguments), ("tell",
service, method, arguments), ("kept", spec, lines of calls, line of the answer), ("ended", spec, line, error). What
nobody waits for is sent with the next question, or a moment later. A worker ends when its driver does, because the pipe
between them does.
"""

from __future__ import annotations

import itertools
import os
import pickle
import queue
import threading
import time
import traceback
from collections import deque
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from typing import Any, Protocol

from bestresponse.core.errors import BestResponseError
from bestresponse.runs.executors.base import PlayMaker, PlayOne, Task
from bestresponse.runs.executors.remote_models import open_remote_models
from bestresponse.runs.executors.threads import play_task
from bestresponse.runs.models import LOCAL, Opening, Provider

__all__ = ["Channel", "Message", "Worker", "WorkerJob", "make_sendable", "run_worker"]


Message = tuple[Any, ...]
"""What is said between a worker and its driver: the kind first."""
_MOMENT = 0.01
"""Seconds after which a worker sends what nobody waits for."""


@dataclass(frozen=True, slots=True)
class WorkerJob:
    """What a worker is sent first: the study, its settings, how to open the models, and how many plays at once.

    `places` are the calls that it may make at once at every provider; at those that are missing it asks for each.
    """

    study: PlayMaker
    config: Any
    opening: Opening | None
    threads: int
    places: Mapping[Provider, int] = field(default_factory=dict)

    def share_places(self, index: int, count: int) -> WorkerJob:
        """Return the job of one of `count` workers with its part of all places.

        A model that runs in the worker has all its places in each. Too few places for all workers are not shared out.
        """
        places = {
            provider: number if provider[0] == LOCAL else (number + index) // count
            for provider, number in self.places.items()
            if provider[0] == LOCAL or number >= count
        }
        return replace(self, places=places)


class Channel(Protocol):
    """The worker's end of the way to its driver: a pipe, or what stands for one."""

    def send(self, messages: list[Message], /) -> None:
        """Send messages; OSError where the driver is gone."""
        ...

    def recv(self) -> Any:
        """Wait for messages; EOFError or OSError where the driver is gone."""
        ...


def run_worker(connection: Connection, job: WorkerJob) -> None:
    """Make plays until the driver says stop or is gone."""
    Worker(connection, job).run()


def make_sendable(error: Exception) -> Exception:
    """Return an error that survives the way to the driver; foreign ones as a RuntimeError with their trace."""
    if isinstance(error, BestResponseError):
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # noqa: BLE001 - an error of somebody's own class may fail in any way
            return BestResponseError(str(error))
        return error
    return RuntimeError("".join(traceback.format_exception(error)))


class Worker:
    """The moving parts of one worker."""

    def __init__(self, connection: Channel, job: WorkerJob) -> None:
        self._connection = connection
        self._job = job
        self._outbox: deque[Message] = deque()
        self._sending = threading.Lock()
        self._soon = threading.Event()
        self._numbers = itertools.count()
        self._waiting: dict[int, queue.SimpleQueue[tuple[Any, Exception | None]]] = {}

    def run(self) -> None:
        """Open the models and then play what comes; opening may ask for nothing yet."""
        job = self._job
        try:
            models = open_remote_models(job.opening, job.places, self._ask, self._tell) if job.opening else {}
            play_one = job.study.make_player(job.config, models)
        except Exception as error:  # noqa: BLE001 - it is raised again by the driver
            self._send("failed", make_sendable(error))
            return
        self._send("ready")
        threading.Thread(target=self._send_soon, daemon=True).start()
        with ThreadPoolExecutor(job.threads, thread_name_prefix="play") as pool:
            self._listen(pool, play_one)
        self._flush()

    def _listen(self, pool: ThreadPoolExecutor, play_one: PlayOne) -> None:
        while True:
            try:
                messages = self._connection.recv()
            except (EOFError, OSError):
                os._exit(1)
            for message in messages:
                match message:
                    case ("play", Task() as task):
                        pool.submit(self._play, play_one, task)
                    case ("answer", number, value, error):
                        self._waiting.pop(number).put((value, error))
                    case _:
                        return

    def _play(self, play_one: PlayOne, task: Task) -> None:
        spec = task.spec.id
        ended = play_task(play_one, task, lambda calls, answer: self._post("kept", spec, calls, answer))
        error = None if ended.error is None else make_sendable(ended.error)
        self._post("ended", spec, ended.line, error)

    def _ask(self, service: str, method: str, *arguments: object) -> Any:
        number = next(self._numbers)
        answer: queue.SimpleQueue[tuple[Any, Exception | None]] = queue.SimpleQueue()
        self._waiting[number] = answer
        self._send("ask", number, service, method, arguments)
        value, error = answer.get()
        if error is not None:
            raise error
        return value

    def _tell(self, service: str, method: str, *arguments: object) -> None:
        """Have something done before whatever is sent later, without waiting for it."""
        self._post("tell", service, method, arguments)

    def _post(self, *message: object) -> None:
        """Send a message soon, with whatever else there is then."""
        self._outbox.append(message)
        self._soon.set()

    def _send(self, *message: object) -> None:
        """Send a message now, after all that were posted."""
        self._outbox.append(message)
        self._flush()

    def _send_soon(self) -> None:
        while True:
            self._soon.wait()
            time.sleep(_MOMENT)
            self._soon.clear()
            self._flush()

    def _flush(self) -> None:
        with self._sending:
            messages = [self._outbox.popleft() for _ in range(len(self._outbox))]
            try:
                if messages:
                    self._connection.send(messages)
            except OSError:
                os._exit(1)
