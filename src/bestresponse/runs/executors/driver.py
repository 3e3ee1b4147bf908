"""The driver of workers in other processes, here or on a cluster: hands out plays, answers what workers ask for.

A worker is reached by a link; what is said over it is in `worker`. A lost worker costs what was in flight there: its
plays go on elsewhere from their answers.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Protocol

from bestresponse.core.errors import StoreError
from bestresponse.core.json import JsonObject
from bestresponse.runs.executors.base import Ended, Job, Keep, Task
from bestresponse.runs.executors.losses import Losses
from bestresponse.runs.executors.services import BudgetService, GateService, ReplyService
from bestresponse.runs.executors.worker import Message, make_sendable

__all__ = ["Driver", "Link"]

_WAITING = {"reserve", "enter", "claim"}
"""The methods of services that may wait for other workers."""
_LOOK = 1.0


class Link(Protocol):
    """The way to one worker."""

    def send(self, message: Message) -> None:
        """Send a message; OSError where the worker is known to be lost."""
        ...

    def recv(self) -> Message:
        """Wait for the next message; EOFError or OSError once the worker is lost."""
        ...

    def close(self, patience: float) -> None:
        """Wait that many seconds for the worker to end, and end it then."""
        ...


@dataclass(eq=False)
class _Worker:
    """One worker as the driver sees it."""

    holder: str
    link: Link
    ready: bool = False
    sending: threading.Lock = field(default_factory=threading.Lock)
    tasks: dict[str, Task] = field(default_factory=dict)
    ended: int = 0

    def send(self, *message: object) -> None:
        """Send a message; one to a lost worker is dropped, for its end is noticed by its reader."""
        try:
            with self.sending:
                self.link.send(message)
        except OSError:
            return


class Driver:
    """Hand out tasks to `count` workers with so many `threads`, and replace workers that are lost."""

    def __init__(self, job: Job, connect: Callable[[], Link], count: int, threads: int) -> None:
        self._connect = connect
        self._count, self._threads = count, threads
        self._started = 0
        self._events: queue.SimpleQueue[tuple[_Worker, Message]] = queue.SimpleQueue()
        self._losses = Losses()
        self._again: deque[Task] = deque()
        self._waiters = ThreadPoolExecutor(1024, thread_name_prefix="service")
        self._services: JsonObject = {}
        if job.shared is not None:
            self._services = {"budget": BudgetService(job.shared.meter), "gates": GateService(job.shared.gates)}
            if job.shared.cache is not None:
                self._services["replies"] = ReplyService(job.shared.cache)

    def play(self, tasks: Iterator[Task], keep: Keep, check: Callable[[float], None] | None = None) -> Iterator[Ended]:
        """Play all tasks; an interrupt lets the plays that are under way end, yields them, and is raised again.

        Without a task no worker is started. `check` is told for how many seconds there has been no worker that can
        play; it may raise.
        """
        self._again.extend(islice(tasks, 1))
        if not self._again:
            return
        workers = [self._start() for _ in range(self._count)]
        last_seen = time.monotonic()
        interrupted = False
        try:
            while True:
                more = not interrupted and self._hand_out(workers, tasks)
                if not more and not any(worker.tasks for worker in workers):
                    break
                try:
                    ended = self._next(workers, keep)
                except KeyboardInterrupt:
                    interrupted = True
                    continue
                if ended is not None:
                    yield ended
                if any(worker.ready for worker in workers):
                    last_seen = time.monotonic()
                elif check is not None:
                    check(time.monotonic() - last_seen)
            if interrupted:
                raise KeyboardInterrupt
        finally:
            self._stop(workers)

    def _hand_out(self, workers: list[_Worker], tasks: Iterator[Task]) -> bool:
        """Give workers as many tasks as they have threads, those with the fewest first; say whether some are left."""
        while True:
            ready = [worker for worker in workers if worker.ready and len(worker.tasks) < self._threads]
            if not ready:
                return True
            task = self._again.popleft() if self._again else next(tasks, None)
            if task is None:
                return False
            worker = min(ready, key=lambda one: len(one.tasks))
            worker.tasks[task.spec.id] = task
            worker.send("play", Task(task.spec, list(task.done)))

    def _next(self, workers: list[_Worker], keep: Keep) -> Ended | None:
        """Take in one event of a worker; returns how a play ended where one did."""
        try:
            worker, message = self._events.get(timeout=_LOOK)
        except queue.Empty:
            return None
        match message:
            case ("ready",):
                worker.ready = True
            case ("kept", spec, submission) if spec in worker.tasks:
                task = worker.tasks[spec]
                try:
                    keep(spec, submission)
                except StoreError as error:
                    del worker.tasks[spec]
                    return Ended(task.spec, error=error)
                task.done.append(submission)
            case ("ended", spec, record, error) if spec in worker.tasks:
                worker.ended += 1
                return Ended(worker.tasks.pop(spec).spec, record, error)
            case ("failed", error):
                raise error
            case ("lost",):
                return self._replace(workers, worker)
        return None

    def _replace(self, workers: list[_Worker], lost: _Worker) -> Ended | None:
        """Start a worker in the place of a lost one; its plays go on from their answers, unless they keep failing."""
        for service in self._services.values():
            service.release(lost.holder)
        workers[workers.index(lost)] = self._start()
        given_up = None
        for task in lost.tasks.values():
            given_up = given_up or self._losses.count(task.spec, lost.ended)
            if given_up is None or given_up.spec is not task.spec:
                self._again.append(task)
        return given_up

    def _start(self) -> _Worker:
        self._started += 1
        worker = _Worker(f"worker-{self._started}", self._connect())
        threading.Thread(target=self._read, args=(worker,), daemon=True).start()
        return worker

    def _read(self, worker: _Worker) -> None:
        """Pass on what a worker says, and answer what it asks; what may wait is answered by a thread of its own."""
        while True:
            try:
                message = worker.link.recv()
            except (EOFError, OSError):
                self._events.put((worker, ("lost",)))
                return
            if message[0] == "tell":
                self._note(worker, *message[1:])
            elif message[0] != "ask":
                self._events.put((worker, message))
            elif message[3] in _WAITING:
                self._waiters.submit(self._answer, worker, *message[1:])
            else:
                self._answer(worker, *message[1:])

    def _note(self, worker: _Worker, service: str, method: str, arguments: tuple[Any, ...]) -> None:
        """Do what a worker tells and waits for no answer to; an error ends the run."""
        try:
            getattr(self._services[service], method)(worker.holder, *arguments)
        except Exception as error:  # noqa: BLE001 - it is raised again by the driver's own thread
            self._events.put((worker, ("failed", error)))

    def _answer(self, worker: _Worker, number: int, service: str, method: str, arguments: tuple[Any, ...]) -> None:
        try:
            value = getattr(self._services[service], method)(worker.holder, *arguments)
        except Exception as error:  # noqa: BLE001 - it is raised again in the worker
            worker.send("answer", number, None, make_sendable(error))
        else:
            worker.send("answer", number, value, None)

    def _stop(self, workers: list[_Worker]) -> None:
        for worker in workers:
            worker.send("stop")
        for worker in workers:
            worker.link.close(2 if worker.tasks else 10)
            for service in self._services.values():
                service.release(worker.holder)
        self._waiters.shutdown(wait=False, cancel_futures=True)
