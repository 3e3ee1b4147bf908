"""A worker process: opens the models by name, makes plays in threads, and tells the driver everything as it happens.

Whoever plays asks the driver for a reply: the driver has the cache, the budget and the limits of providers for all
workers, and lets the one that asked make the call where one is needed. Messages go in lists, because each sending costs
more than a message. To a worker: ("play", task), ("make", number) of the call it asked for, ("answer", number, reply,
error), where no reply means the one that it made itself, ("call", number, name, request) of somebody else, ("stop",).
From it: ("ready",), ("failed", error), ("ask", number, name, request), ("called", number, reply, error), ("kept", spec,
lines of calls, line of the answer), ("ended", spec, line, error). What nobody waits for is sent with the next question,
or a moment later. A worker ends when its driver does, because the pipe between them does.
"""

import itertools
import os
import pickle
import queue
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Protocol, cast

from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.models.base import Abilities, Json, Model, Reply, Request
from bestresponse.players.llm.verified import bare_name
from bestresponse.runs.executors.base import Job, PlayOne, Task, play_task
from bestresponse.runs.models import Opening
from bestresponse.runs.study import AnyStudy

Message = tuple[Any, ...]
"""What is said between a worker and its driver: the kind first."""
_MOMENT = 0.01
"""Seconds after which a worker sends what nobody waits for."""


@dataclass(frozen=True, slots=True)
class AskedModel:
    """A model of the driver, as plays in a worker see it; `ask` gets the reply to a request from the driver."""

    name: str
    id: str
    identity: Mapping[str, Json]
    abilities: Abilities
    ask: Callable[[str, Request], Reply]

    def complete(self, request: Request) -> Reply:
        """Have the driver answer."""
        return self.ask(self.name, request)


@dataclass(frozen=True, slots=True)
class WorkerJob:
    """What a worker is sent first: the study, its settings, how to open the models, and how many plays at once.

    `models` are the first four fields of each `AskedModel`.
    """

    study: AnyStudy
    config: Any
    opening: Opening
    models: tuple[tuple[str, str, Mapping[str, Json], Abilities], ...]
    threads: int


def describe_job(job: Job, threads: int) -> WorkerJob:
    """Return what a worker is sent; UsageError where the study exists in this process only."""
    opening = Opening() if job.shared is None else job.shared.opening
    models = tuple((name, model.id, dict(model.identity), model.abilities) for name, model in job.models.items())
    work = WorkerJob(job.study, job.config, opening, models, threads)
    try:
        pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise UsageError(f"{job.study.name} cannot be sent to other processes ({error}): use threads") from None
    return work


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
        self._numbers = itertools.count(-1, -1)  # negative: those of the driver are not
        self._waiting: dict[int, queue.SimpleQueue[Message]] = {}
        self._opened: Mapping[str, Model] = {}

    def run(self) -> None:
        """Open the models, and then play and call what comes."""
        job = self._job
        try:
            self._opened = job.opening.open_copies()
            play_one = job.study.play(job.config, {model[0]: AskedModel(*model, self._ask) for model in job.models})
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
                    case ("call", number, name, request):
                        # not in the pool, whose threads may all be plays that wait for calls
                        threading.Thread(target=self._call, args=(number, name, request), daemon=True).start()
                    case ("make" | "answer", number, *_):
                        self._waiting[number].put(message)
                    case _:
                        return

    def _play(self, play_one: PlayOne, task: Task) -> None:
        spec = task.spec.id
        ended = play_task(play_one, task, lambda calls, answer: self._post("kept", spec, calls, answer))
        error = None if ended.error is None else make_sendable(ended.error)
        self._post("ended", spec, ended.line, error)

    def _call(self, number: int, name: str, request: Request) -> Reply | None:
        try:
            reply = self._opened[bare_name(name)].complete(request)
        except Exception as error:  # noqa: BLE001 - it is raised again by whoever asked
            self._send("called", number, None, make_sendable(error))
            return None
        self._send("called", number, reply, None)
        return reply

    def _ask(self, name: str, request: Request) -> Reply:
        number = next(self._numbers)
        orders = self._waiting[number] = queue.SimpleQueue()
        self._send("ask", number, name, request)
        made: Reply | None = None
        while (order := orders.get())[0] == "make":
            made = self._call(number, name, request)
        del self._waiting[number]
        _, _, reply, error = order
        if error is not None:
            raise error
        return cast(Reply, reply or made)

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
