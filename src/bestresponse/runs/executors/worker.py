"""A worker process: opens the models by name, makes plays in threads, and tells the driver everything as it happens.

Messages to a worker: ("play", task), ("answer", number, value, error), ("stop",). From it: ("ready",),
("failed", error), ("ask", number, service, method, arguments), ("tell", service, method, arguments), ("kept", spec,
submission), ("ended", spec, record, error). A worker ends when its driver does, because the pipe between them does.
"""

from __future__ import annotations

import itertools
import os
import pickle
import queue
import signal
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Protocol

from bestresponse.core.episode import Submission
from bestresponse.core.errors import BestResponseError
from bestresponse.runs.executors.base import PlayOne, Task
from bestresponse.runs.executors.remote_models import open_remote_models
from bestresponse.runs.executors.threads import play_task
from bestresponse.runs.models import Opening

__all__ = ["Channel", "Message", "Worker", "WorkerJob", "make_sendable", "run_worker"]


Message = tuple[Any, ...]
"""What is said between a worker and its driver: the kind first."""


@dataclass(frozen=True, slots=True)
class WorkerJob:
    """What a worker is sent first: the study, its settings, how to open the models, and how many plays at once."""

    study: Any
    config: Any
    opening: Opening | None
    threads: int


class Channel(Protocol):
    """The worker's end of the way to its driver: a pipe, or what stands for one."""

    def send(self, message: Message, /) -> None:
        """Send a message; OSError where the driver is gone."""
        ...

    def recv(self) -> Any:
        """Wait for a message; EOFError or OSError where the driver is gone."""
        ...


def run_worker(connection: Connection, job: WorkerJob) -> None:
    """Make plays until the driver says stop or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
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
        self._sending = threading.Lock()
        self._numbers = itertools.count()
        self._waiting: dict[int, queue.SimpleQueue[tuple[Any, Exception | None]]] = {}

    def run(self) -> None:
        """Open the models and then play what comes; opening may ask for nothing yet."""
        job = self._job
        try:
            models = open_remote_models(job.opening, self._ask, self._tell) if job.opening is not None else {}
            play_one = job.study.make_player(job.config, models)
        except Exception as error:  # noqa: BLE001 - it is raised again by the driver
            self._send("failed", make_sendable(error))
            return
        self._send("ready")
        with ThreadPoolExecutor(job.threads, thread_name_prefix="play") as pool:
            self._listen(pool, play_one)

    def _listen(self, pool: ThreadPoolExecutor, play_one: PlayOne) -> None:
        while True:
            try:
                message = self._connection.recv()
            except (EOFError, OSError):
                os._exit(1)
            match message:
                case ("play", Task() as task):
                    pool.submit(self._play, play_one, task)
                case ("answer", number, value, error):
                    self._waiting.pop(number).put((value, error))
                case _:
                    return

    def _play(self, play_one: PlayOne, task: Task) -> None:
        ended = play_task(play_one, task, self._keep)
        error = None if ended.error is None else make_sendable(ended.error)
        self._send("ended", task.spec.id, ended.record, error)

    def _keep(self, spec: str, submission: Submission) -> None:
        self._send("kept", spec, submission)

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
        self._send("tell", service, method, arguments)

    def _send(self, *message: object) -> None:
        try:
            with self._sending:
                self._connection.send(message)
        except OSError:
            os._exit(1)
