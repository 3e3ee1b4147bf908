"""Plays in processes of this machine, for work that keeps the processor busy.

Workers are spawned, so a script that uses them guards its own start by `if __name__ == "__main__":`.
"""

from __future__ import annotations

import os
import pickle
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing import get_context
from typing import Any, TypeVar

from bestresponse.core.errors import StoreError, UsageError
from bestresponse.core.json import JsonObject
from bestresponse.runs.executors.base import Ended, Job, Keep, Task
from bestresponse.runs.executors.losses import Losses
from bestresponse.runs.executors.services import BudgetService, GateService, ReplyService
from bestresponse.runs.executors.worker import WorkerJob, make_sendable, run_worker

__all__ = ["Processes", "describe_job"]

A = TypeVar("A")
B = TypeVar("B")

_WAITING = {"reserve", "enter", "claim"}
"""The methods of services that may wait for other workers."""


@dataclass(frozen=True, slots=True)
class Processes:
    """Make plays in `count` processes (None: one a core, but no more than plays at once)."""

    count: int | None = None

    def __post_init__(self) -> None:
        if self.count is not None and self.count < 1:
            raise UsageError(f"{self.count} processes play nothing: expected at least 1")

    def play(self, job: Job, tasks: Iterator[Task], keep: Keep) -> Iterator[Ended]:
        """Make the plays in workers that open the job's models by name."""
        wanted = job.workers if job.config.models or job.workers > 1 else os.cpu_count() or 1
        count = self.count or max(1, min(os.cpu_count() or 1, wanted))
        work = describe_job(job, -(-max(wanted, count) // count))
        return _Driver(work, job, count).play(tasks, keep)

    def map(self, function: Callable[[A], B], items: Iterable[A], workers: int | None) -> Iterator[B]:
        """Apply the function in processes, with a few items ahead."""
        count = self.count or workers or os.cpu_count() or 1
        todo = iter(items)
        ahead: deque[Future[B]] = deque()
        with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
            try:
                ahead.extend(pool.submit(function, item) for item in islice(todo, 2 * count))
                while ahead:
                    yield ahead.popleft().result()
                    ahead.extend(pool.submit(function, item) for item in islice(todo, 1))
            finally:
                pool.shutdown(wait=True, cancel_futures=True)


def describe_job(job: Job, threads: int) -> WorkerJob:
    """Return what a worker is sent; UsageError where a model or the study exists in this process only."""
    opening = None
    if job.config.models:
        if job.shared is None or job.shared.given:
            names = ", ".join(sorted(job.shared.given)) if job.shared is not None else "the models"
            raise UsageError(f"workers open models by name, and {names} exists in this process only: use threads")
        opening = job.shared.opening
    work = WorkerJob(job.study, job.config, opening, threads)
    try:
        pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise UsageError(f"{job.study.name} cannot be sent to other processes ({error}): use threads") from None
    return work


@dataclass(eq=False)
class _Process:
    """One worker as the driver sees it."""

    holder: str
    process: Any
    connection: Any
    sending: threading.Lock = field(default_factory=threading.Lock)
    tasks: dict[str, Task] = field(default_factory=dict)
    ended: int = 0

    def send(self, *message: object) -> None:
        """Send a message; one to a lost worker is dropped, for its end is noticed by its reader."""
        try:
            with self.sending:
                self.connection.send(message)
        except OSError:
            return


class _Driver:
    """Hands out tasks, answers what workers ask, and replaces workers that are lost."""

    def __init__(self, work: WorkerJob, job: Job, count: int) -> None:
        self._work = work
        self._count = count
        self._started = 0
        self._events: queue.SimpleQueue[tuple[_Process, tuple[Any, ...]]] = queue.SimpleQueue()
        self._losses = Losses()
        self._again: deque[Task] = deque()
        self._waiters = ThreadPoolExecutor(1024, thread_name_prefix="service")
        self._services: JsonObject = {}
        if job.shared is not None:
            self._services = {"budget": BudgetService(job.shared.meter), "gates": GateService(job.shared.gates)}
            if job.shared.cache is not None:
                self._services["replies"] = ReplyService(job.shared.cache)

    def play(self, tasks: Iterator[Task], keep: Keep) -> Iterator[Ended]:
        """Play all tasks; an interrupt lets the plays that are under way end, yields them, and is raised again."""
        workers = [self._start() for _ in range(self._count)]
        interrupted = False
        try:
            while True:
                if not interrupted:
                    self._hand_out(workers, tasks)
                if not any(worker.tasks for worker in workers):
                    break
                try:
                    ended = self._next(workers, keep)
                except KeyboardInterrupt:
                    interrupted = True
                    continue
                if ended is not None:
                    yield ended
            if interrupted:
                raise KeyboardInterrupt
        finally:
            self._stop(workers)

    def _hand_out(self, workers: list[_Process], tasks: Iterator[Task]) -> None:
        """Give every worker as many tasks as it has threads, those with the fewest first."""
        while True:
            worker = min(workers, key=lambda one: len(one.tasks))
            if len(worker.tasks) >= self._work.threads:
                return
            task = self._again.popleft() if self._again else next(tasks, None)
            if task is None:
                return
            worker.tasks[task.spec.id] = task
            worker.send("play", Task(task.spec, list(task.done)))

    def _next(self, workers: list[_Process], keep: Keep) -> Ended | None:
        """Take in one event of a worker; returns how a play ended where one did."""
        worker, message = self._events.get()
        match message:
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

    def _replace(self, workers: list[_Process], lost: _Process) -> Ended | None:
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

    def _start(self) -> _Process:
        context = get_context("spawn")
        here, there = context.Pipe()
        process = context.Process(target=run_worker, args=(there, self._work), daemon=True)
        process.start()
        there.close()
        self._started += 1
        worker = _Process(f"{os.getpid()}-{self._started}", process, here)
        threading.Thread(target=self._read, args=(worker,), daemon=True).start()
        return worker

    def _read(self, worker: _Process) -> None:
        """Pass on what a worker says, and answer what it asks; what may wait is answered by a thread of its own."""
        while True:
            try:
                message = worker.connection.recv()
            except (EOFError, OSError):
                self._events.put((worker, ("lost",)))
                return
            if message[0] != "ask":
                self._events.put((worker, message))
            elif message[3] in _WAITING:
                self._waiters.submit(self._answer, worker, *message[1:])
            else:
                self._answer(worker, *message[1:])

    def _answer(self, worker: _Process, number: int, service: str, method: str, arguments: tuple[Any, ...]) -> None:
        try:
            value = getattr(self._services[service], method)(worker.holder, *arguments)
        except Exception as error:  # noqa: BLE001 - it is raised again in the worker
            worker.send("answer", number, None, make_sendable(error))
        else:
            worker.send("answer", number, value, None)

    def _stop(self, workers: list[_Process]) -> None:
        for worker in workers:
            worker.send("stop")
        for worker in workers:
            worker.process.join(2 if worker.tasks else 10)
            if worker.process.is_alive():
                worker.process.terminate()
            for service in self._services.values():
                service.release(worker.holder)
        self._waiters.shutdown(wait=False, cancel_futures=True)
