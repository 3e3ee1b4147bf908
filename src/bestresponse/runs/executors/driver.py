"""The driver of workers in other processes, here or on a cluster: hands out plays, answers what workers ask for.

A worker is reached by a link; what is said over it is in `worker`. A lost worker costs what was in flight there: its
plays go on elsewhere from their answers.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from bestresponse.core.errors import ModelUnavailable, StoreError
from bestresponse.core.json import JsonObject
from bestresponse.runs.executors.base import Ended, Job, Keep, Task
from bestresponse.runs.executors.losses import Losses
from bestresponse.runs.executors.services import BudgetService, Claim, GateService, ReplyService
from bestresponse.runs.executors.worker import Message, make_sendable
from bestresponse.runs.store.folder import decode_answer

__all__ = ["Driver", "Link"]

_WAITING = {"reserve", "enter", "claim"}
"""The methods of services that may wait for other workers."""
_LOOK = 1.0
_LOOK_FOR_TASKS = 0.005
_END = "no more"
_AHEAD = 0.1
"""Seconds of work that a worker has at hand besides what its threads do."""
_MOST_AHEAD = 1000
_MOST_NEVER_READY = 5
_PATIENCE = 10.0
"""Seconds for a worker to end by itself."""
_BUSY_PATIENCE = 2.0
"""The same for one whose plays nobody waits for."""


class Link(Protocol):
    """The way to one worker."""

    def send(self, messages: list[Message]) -> None:
        """Send messages; OSError where the worker is known to be lost."""
        ...

    def recv(self) -> list[Message]:
        """Wait for the next messages; EOFError or OSError once the worker is lost."""
        ...

    def close(self, patience: float) -> None:
        """Wait that many seconds for the worker to end, and end it then."""
        ...


@dataclass(slots=True)
class _Held:
    """A task that a worker has, and the answers that came since."""

    task: Task
    answers: list[bytes] = field(default_factory=list)

    def resume(self) -> Task:
        """Return the task with all answers, for another worker."""
        return Task(self.task.spec, [*self.task.done, *map(decode_answer, self.answers)])


@dataclass(eq=False)
class _Worker:
    """One worker as the driver sees it."""

    holder: str
    link: Link
    ready_at: float | None = None
    sending: threading.Lock = field(default_factory=threading.Lock)
    tasks: dict[str, _Held] = field(default_factory=dict)
    ended: int = 0

    def send(self, *messages: Message) -> None:
        """Send messages; those to a lost worker are dropped, for its end is noticed by its reader."""
        try:
            with self.sending:
                self.link.send(list(messages))
        except OSError:
            return

    def count_room(self, threads: int) -> int:
        """Count the tasks it can take: one a thread, and what it ends in a moment, so that no thread waits for more."""
        if self.ready_at is None:
            return 0
        ahead = _AHEAD * self.ended / max(time.monotonic() - self.ready_at, _AHEAD)
        return threads + min(int(ahead), _MOST_AHEAD) - len(self.tasks)


class Driver:
    """Hand out tasks to `count` workers with so many `threads`, and replace workers that are lost.

    `connect` starts the worker of that index.
    """

    def __init__(self, job: Job, connect: Callable[[int], Link], count: int, threads: int) -> None:
        self._connect = connect
        self._count, self._threads = count, threads
        self._started = 0
        self._look = _LOOK
        self._never_ready = 0
        self._events: queue.SimpleQueue[tuple[_Worker, list[Message]]] = queue.SimpleQueue()
        self._messages: deque[tuple[_Worker, Message]] = deque()
        self._losses = Losses()
        self._again: deque[Task] = deque()
        self._services: JsonObject = {}
        if job.shared is not None:
            self._services = {"budget": BudgetService(job.shared.meter), "gates": GateService(job.shared.gates)}
            if job.shared.cache is not None:
                self._services["replies"] = ReplyService(job.shared.cache)

    def play(
        self, tasks: Iterator[Task | None], keep: Keep, check: Callable[[float], None] | None = None
    ) -> Generator[Ended]:
        """Play all tasks; an interrupt lets the plays that are under way end, yields them, and is raised again.

        A second interrupt waits for nothing: workers are ended at once. Without a task no worker is started. `check`
        is told for how many seconds there has been no worker that can play; it may raise.
        """
        for task in tasks:
            self._again.extend([task] if task is not None else [])
            break
        else:
            return
        workers = [self._start(index) for index in range(self._count)]
        last_seen = time.monotonic()
        interrupted = False
        patience = _PATIENCE
        try:
            while True:
                try:
                    more = not interrupted and self._hand_out(workers, tasks)
                    if not more and not any(worker.tasks for worker in workers):
                        break
                    if (ended := self._take_in(workers, keep)) is not None:
                        yield ended
                except KeyboardInterrupt:
                    if interrupted:
                        patience = 0.0
                        raise
                    interrupted = True
                    continue
                if any(worker.ready_at is not None for worker in workers):
                    last_seen = time.monotonic()
                elif check is not None:
                    check(time.monotonic() - last_seen)
            if interrupted:
                raise KeyboardInterrupt
        finally:
            for worker in workers:
                worker.send(("stop",))
            for worker in workers:
                worker.link.close(min(patience, _BUSY_PATIENCE) if worker.tasks else patience)
                for service in self._services.values():
                    service.release(worker.holder)

    def _hand_out(self, workers: list[_Worker], tasks: Iterator[Task | None]) -> bool:
        """Give workers as many tasks as they have room for, those with the most first; say whether some are left."""
        if self._messages:
            return True
        self._look = _LOOK
        given: dict[_Worker, list[Message]] = defaultdict(list)
        room = {worker: worker.count_room(self._threads) for worker in workers}
        try:
            while (free := max(room.values())) > 0:
                task = self._again.popleft() if self._again else next(tasks, _END)
                if isinstance(task, str):
                    return False
                if task is None:
                    self._look = _LOOK_FOR_TASKS
                    return True
                worker = next(one for one in workers if room[one] == free)
                room[worker] -= 1
                worker.tasks[task.spec.id] = _Held(task)
                given[worker].append(("play", task))
            return True
        finally:
            for worker, messages in given.items():
                worker.send(*messages)

    def _take_in(self, workers: list[_Worker], keep: Keep) -> Ended | None:
        """Take in one message of a worker; returns how a play ended where one did."""
        if not self._messages:
            try:
                worker, messages = self._events.get(timeout=self._look)
            except queue.Empty:
                return None
            self._messages.extend((worker, message) for message in messages)
        worker, message = self._messages.popleft()
        match message:
            case ("ready",):
                worker.ready_at = time.monotonic()
                self._never_ready = 0
            case ("kept", spec, calls, answer) if spec in worker.tasks:
                try:
                    keep(calls, answer)
                except StoreError as error:
                    return Ended(worker.tasks.pop(spec).task.spec, error=error)
                worker.tasks[spec].answers.append(answer)
            case ("ended", spec, line, error) if spec in worker.tasks:
                worker.ended += 1
                return Ended(worker.tasks.pop(spec).task.spec, line, error)
            case ("failed", StoreError() as error) if worker.tasks:
                return Ended(worker.tasks.popitem()[1].task.spec, error=error)
            case ("failed", error):
                raise error
            case ("lost", why):
                self._count_loss(worker, why)
                return self._replace(workers, worker)
        return None

    def _count_loss(self, lost: _Worker, why: str) -> None:
        """Raise ModelUnavailable where workers cannot even be started."""
        self._never_ready += lost.ready_at is None
        if self._never_ready >= _MOST_NEVER_READY:
            cause = why or "see their messages above"
            raise ModelUnavailable(f"{self._never_ready} workers in a row ended before they could play: {cause}")

    def _replace(self, workers: list[_Worker], lost: _Worker) -> Ended | None:
        """Start a worker in the place of a lost one; its plays go on from their answers, unless one keeps failing."""
        for service in self._services.values():
            service.release(lost.holder)
        index = workers.index(lost)
        workers[index] = self._start(index)
        given_up = None
        for held in lost.tasks.values():
            given_up = given_up or self._losses.count(held.task.spec, lost.ended)
            if given_up is None or given_up.spec is not held.task.spec:
                self._again.append(held.resume())
        return given_up

    def _start(self, index: int) -> _Worker:
        self._started += 1
        worker = _Worker(f"worker-{self._started}", self._connect(index))
        threading.Thread(target=self._read, args=(worker,), daemon=True).start()
        return worker

    def _read(self, worker: _Worker) -> None:
        """Pass on what a worker says, and answer what it asks; what may wait is answered by a thread of its own."""
        while True:
            try:
                messages = worker.link.recv()
            except (EOFError, OSError) as error:
                self._events.put((worker, [("lost", str(error))]))
                return
            answers, events = [], []
            for message in messages:
                match message:
                    case ("tell", *what):
                        self._note(worker, *what)
                    case ("ask", number, "replies", "claim", (key,)) if claim := self._claim(worker, key):
                        answers.append(("answer", number, claim, None))
                    case ("ask", *what) if what[2] in _WAITING:
                        threading.Thread(target=self._send_answer, args=(worker, *what), daemon=True).start()
                    case ("ask", *what):
                        answers.append(self._answer(worker, *what))
                    case _:
                        events.append(message)
            if answers:
                worker.send(*answers)
            if events:
                self._events.put((worker, events))

    def _claim(self, worker: _Worker, key: str) -> Claim | None:
        """Answer a claim at once where nobody makes that call; None where it must wait or fails."""
        with suppress(StoreError):
            claim = self._services["replies"].claim_now(worker.holder, key)
            return claim if isinstance(claim, Claim) else None
        return None

    def _note(self, worker: _Worker, service: str, method: str, arguments: tuple[Any, ...]) -> None:
        """Do what a worker tells and waits for no answer to; an error ends the run."""
        try:
            getattr(self._services[service], method)(worker.holder, *arguments)
        except Exception as error:  # noqa: BLE001 - it is raised again by the driver's own thread
            self._events.put((worker, [("failed", error)]))

    def _send_answer(self, worker: _Worker, *question: Any) -> None:
        worker.send(self._answer(worker, *question))

    def _answer(self, worker: _Worker, number: int, service: str, method: str, arguments: tuple[Any, ...]) -> Message:
        try:
            value = getattr(self._services[service], method)(worker.holder, *arguments)
        except Exception as error:  # noqa: BLE001 - it is raised again in the worker
            return ("answer", number, None, make_sendable(error))
        return ("answer", number, value, None)
