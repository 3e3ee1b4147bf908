"""Workers in other processes, and their driver.

The driver hands out plays, and answers who asks a model.

A worker opens the models by name, makes plays in threads, and tells the driver everything as it
happens. Whoever plays asks the driver for a reply: the driver has the cache, the budget and the
limits of providers for all workers, and lets the one that asked make the call where one is needed.
Messages go in lists, because each sending costs more than a message. To a worker: ("play", task),
("make", number) of the call it asked for, ("answer", number, reply, error), where no reply means
the one that it made itself, ("call", number, name, request) of somebody else, ("stop",). From it:
("ready",), ("failed", error), ("ask", number, name, request), ("called", number, reply, error),
("kept", spec, lines of calls, line of the answer), ("ended", spec, line, error). What nobody waits
for is sent with the next question, or a moment later. A worker ends when its driver does, because
the pipe between them does.

A lost worker costs what was in flight there: its plays go on elsewhere from their answers, its
calls are tried again as after any error that may pass.
"""

import itertools
import os
import pickle
import queue
import threading
import time
import traceback
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Protocol, cast

from bestresponse.core.errors import (
    BestResponseError,
    ModelUnavailable,
    StoreError,
    Transient,
    UsageError,
)
from bestresponse.models.base import Abilities, Json, Model, Reply, Request
from bestresponse.players.llm.verified import bare_name
from bestresponse.runs.execution import (
    Ended,
    Executor,
    Job,
    Keep,
    PlayOne,
    Task,
    Threads,
    play_task,
)
from bestresponse.runs.models import Opening
from bestresponse.runs.store.folder import decode_answer
from bestresponse.runs.study import AnyStudy

Message = tuple[Any, ...]
"""What is said between a worker and its driver: the kind first."""
_MOMENT = 0.01
"""Seconds after which a worker sends what nobody waits for."""


@dataclass(frozen=True, slots=True)
class AskedModel:
    """A model of the driver, as plays in a worker see it.

    `ask` gets the reply to a request from the driver.
    """

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
    """What a worker is sent first.

    This is the study, its settings, how to open the models, and how many plays at once.

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
    models = tuple(
        (name, model.id, dict(model.identity), model.abilities)
        for name, model in job.models.items()
    )
    work = WorkerJob(job.study, job.config, opening, models, threads)
    try:
        pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise UsageError(
            f"{job.study.name} cannot be sent to other processes ({error}): use threads"
        ) from None
    return work


def run_worker(connection: Connection, job: WorkerJob) -> None:
    """Make plays until the driver says stop or is gone."""
    PlayWorker(connection, job).run()


def make_sendable(error: Exception) -> Exception:
    """Return an error that survives the way to the driver.

    Foreign ones as a RuntimeError with their trace.
    """
    if isinstance(error, BestResponseError):
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # noqa: BLE001 - an error of somebody's own class may fail in any way
            return BestResponseError(str(error))
        return error
    return RuntimeError("".join(traceback.format_exception(error)))


class PlayWorker:
    """The moving parts of one worker."""

    def __init__(self, connection: Connection, job: WorkerJob) -> None:
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
            play_one = job.study.play(
                job.config, {model[0]: AskedModel(*model, self._ask) for model in job.models}
            )
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
                        threading.Thread(
                            target=self._call,
                            args=(number, name, request),
                            daemon=True,
                        ).start()
                    case ("make" | "answer", number, *_):
                        self._waiting[number].put(message)
                    case _:
                        return

    def _play(self, play_one: PlayOne, task: Task) -> None:
        spec = task.spec.id
        ended = play_task(
            play_one,
            task,
            lambda calls, answer: self._post(
                "kept",
                spec,
                calls,
                answer,
            ),
        )
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


_LOOK = 1.0
_LOOK_FOR_TASKS = 0.005
_AHEAD = 0.1
"""Seconds of work that a worker has at hand besides what its threads do."""
_MOST_AHEAD = 1000
_MOST_NEVER_READY = 5
_PATIENCE = 10.0
"""Seconds for a worker to end by itself."""
_BUSY_PATIENCE = 2.0
"""The same for one whose plays nobody waits for."""
_LENDING_PATIENCE = 60.0
"""Seconds for calls that nobody waits for any more; workers end with this process in any case."""
_MOST_LOSSES = 30
"""A play is given up when it was lost so often: with a worker that had ended no play counts 10,
with another 1.

So three fresh workers that it ends are enough, and being there when workers are killed is not held
against it.
"""
_FRESH_LOSS = 10


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


@dataclass(eq=False)
class _Worker:
    """One worker as the driver sees it."""

    link: Link
    ready_at: float | None = None
    sending: threading.Lock = field(default_factory=threading.Lock)
    tasks: dict[str, tuple[Task, list[bytes]]] = field(default_factory=dict)
    """What it has to do, by the id of the spec, and the answers that came since."""
    calls: dict[int, Future[Reply]] = field(default_factory=dict)
    ended: int = 0

    def send(self, *messages: Message) -> None:
        """Send messages.

        Those to a lost worker are dropped, for its end is noticed by its reader.
        """
        try:
            with self.sending:
                self.link.send(list(messages))
        except OSError:
            return

    def count_room(self, threads: int) -> int:
        """Count the tasks it can take.

        This is one per thread, and what it ends in a moment, so that no thread waits for more.
        """
        if self.ready_at is None:
            return 0
        ahead = _AHEAD * self.ended / max(time.monotonic() - self.ready_at, _AHEAD)
        return threads + min(int(ahead), _MOST_AHEAD) - len(self.tasks)


class _SecondInterrupt(KeyboardInterrupt):
    """The user interrupted twice: nothing is waited for."""


class Driver:
    """Hand out tasks to `count` workers with so many `threads`, and replace workers that are lost.

    `connect` starts a worker.
    """

    def __init__(
        self,
        job: Job,
        connect: Callable[[], Link],
        count: int,
        threads: int,
    ) -> None:
        self._job = job
        self._connect = connect
        self._count = count
        self._threads = threads
        self._look = _LOOK
        self._never_ready = 0
        self._events: queue.SimpleQueue[tuple[_Worker, list[Message]]] = queue.SimpleQueue()
        self._messages: deque[tuple[_Worker, Message]] = deque()
        self._losses: dict[str, int] = defaultdict(int)
        self._again: deque[Task] = deque()
        self._workers: list[_Worker] = []
        self._changed = threading.Condition()
        self._wanted = threading.Event()
        self._over = ""
        self._numbers = itertools.count()
        self._asking = threading.local()

    def play(
        self,
        tasks: Iterator[Task | None],
        keep: Keep,
    ) -> Generator[Ended]:
        """Play all tasks.

        An interrupt lets the plays that are under way end, yields them, and is raised again.

        A second interrupt waits for nothing: workers are ended at once. No worker is started before
        there is a task or a call.
        """
        if self._job.shared is not None:
            self._job.shared.call_elsewhere = self.call
        patience = _PATIENCE
        try:
            if not self._wait_for_work(tasks):
                return
            self._workers = [self._start() for _ in range(self._count)]
            yield from self._play_out(tasks, keep)
            if self._job.shared is not None:
                self._job.shared.call_elsewhere = None
        except _SecondInterrupt:
            patience = 0.0
            raise KeyboardInterrupt from None
        except Exception as error:
            self._over = str(error)
            raise
        finally:
            self._over = self._over or "the workers have ended"
            self._end_workers(patience)

    def _wait_for_work(self, tasks: Iterator[Task | None]) -> bool:
        """Wait for the first task or call; say whether there is any."""
        for task in tasks:
            if task is not None:
                self._again.append(task)
                return True
            if self._wanted.wait(_LOOK_FOR_TASKS):
                return True
        return False

    def _play_out(
        self,
        tasks: Iterator[Task | None],
        keep: Keep,
    ) -> Generator[Ended]:
        """Hand out tasks and yield what has ended, until nothing is left or was interrupted."""
        interrupted = False
        while True:
            try:
                more = not interrupted and self._hand_out(tasks)
                if not more and not any(worker.tasks for worker in self._workers):
                    break
                ended = self._take_in(keep)
                if ended is not None:
                    yield ended
            except KeyboardInterrupt:
                if interrupted:
                    raise _SecondInterrupt from None
                interrupted = True
        if interrupted:
            raise KeyboardInterrupt

    def _end_workers(self, patience: float) -> None:
        """Let all workers stop, first those that wait; whoever waits for a call learns of it."""
        for worker in self._workers:
            worker.send(("stop",))
        for worker in self._workers:
            worker.link.close(min(patience, _BUSY_PATIENCE) if worker.tasks else patience)
            self._end_calls(worker)
        with self._changed:
            self._changed.notify_all()

    def call(self, name: str, request: Request) -> Reply:
        """Have the asking worker, or else the least busy one, make its call.

        Waits for the reply.

        Raises:
            Transient: that worker is lost.
            ModelUnavailable: there are no workers any more.
        """
        self._wanted.set()
        reply: Future[Reply] = Future()
        with self._changed:
            self._changed.wait_for(lambda: self._over or self._list_ready())
            if self._over:
                raise ModelUnavailable(f"no more calls are made: {self._over}")
            worker, number = getattr(self._asking, "asked", (None, 0))
            # whoever asked has the request, and keeps the reply: neither is sent twice
            message: Message = ("make", number)
            if worker is None or worker.ready_at is None:
                worker = min(self._list_ready(), key=lambda worker: len(worker.calls))
                number = next(self._numbers)
                message = ("call", number, name, request)
            worker.calls[number] = reply
        worker.send(message)
        self._asking.reply = reply.result()
        return reply.result()

    def _list_ready(self) -> list[_Worker]:
        return [worker for worker in self._workers if worker.ready_at is not None]

    def _end_calls(self, worker: _Worker) -> None:
        """Let no call wait for a worker that is lost or has ended."""
        with self._changed:
            worker.ready_at = None
            calls = list(worker.calls.values())
            worker.calls.clear()
        for reply in calls:
            reply.set_exception(Transient("the worker that made this call was lost"))

    def _hand_out(self, tasks: Iterator[Task | None]) -> bool:
        """Give workers as many tasks as they have room for, those with the most first.

        Say whether some are left.
        """
        if self._messages:
            return True
        self._look = _LOOK
        messages: dict[_Worker, list[Message]] = defaultdict(list)
        room = {worker: worker.count_room(self._threads) for worker in self._workers}
        try:
            while (free := max(room.values())) > 0:
                if self._again:
                    task: Task | None = self._again.popleft()
                else:
                    try:
                        task = next(tasks)
                    except StopIteration:
                        return False
                if task is None:
                    self._look = _LOOK_FOR_TASKS
                    return True
                worker = next(worker for worker in self._workers if room[worker] == free)
                room[worker] -= 1
                worker.tasks[task.spec.id] = task, []
                messages[worker].append(("play", task))
            return True
        finally:
            for worker, plays in messages.items():
                worker.send(*plays)

    def _take_in(self, keep: Keep) -> Ended | None:
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
                with self._changed:
                    worker.ready_at = time.monotonic()
                    self._changed.notify_all()
                self._never_ready = 0
            case ("kept", spec, calls, answer) if spec in worker.tasks:
                try:
                    keep(calls, answer)
                except StoreError as error:
                    return Ended(worker.tasks.pop(spec)[0].spec, error=error)
                worker.tasks[spec][1].append(answer)
            case ("ended", spec, line, error) if spec in worker.tasks:
                worker.ended += 1
                return Ended(worker.tasks.pop(spec)[0].spec, line, error)
            case ("failed", error):
                raise error
            case ("lost", why):
                return self._replace(worker, why)
        return None

    def _replace(self, lost: _Worker, why: str) -> Ended | None:
        """Start a worker in the place of a lost one.

        Its plays go on from their answers, unless one keeps failing.

        Raises:
            ModelUnavailable: workers cannot even be started.
        """
        self._never_ready += lost.ready_at is None
        if self._never_ready >= _MOST_NEVER_READY:
            cause = why or "see their messages above"
            raise ModelUnavailable(
                f"{self._never_ready} workers in a row ended before they could play: {cause}"
            )
        self._end_calls(lost)
        with self._changed:
            self._workers[self._workers.index(lost)] = self._start()
        given_up = None
        for task, answers in lost.tasks.values():
            spec = task.spec
            self._losses[spec.id] += 1 if lost.ended else _FRESH_LOSS
            if given_up is None and self._losses[spec.id] >= _MOST_LOSSES:
                why = f"workers were lost again and again while they played {spec.id}"
                given_up = Ended(spec, error=ModelUnavailable(why))
            else:
                self._again.append(Task(spec, [*task.done, *map(decode_answer, answers)]))
        return given_up

    def _start(self) -> _Worker:
        worker = _Worker(self._connect())
        threading.Thread(target=self._read, args=(worker,), daemon=True).start()
        return worker

    def _read(self, worker: _Worker) -> None:
        """Pass on what a worker says.

        What it asks is answered by a thread of its own, for it may have to wait.
        """
        while True:
            try:
                messages = worker.link.recv()
            except (EOFError, OSError) as error:
                self._events.put((worker, [("lost", str(error))]))
                return
            events = []
            for message in messages:
                match message:
                    case ("ask", number, name, request):
                        threading.Thread(
                            target=self._answer,
                            args=(
                                worker,
                                number,
                                name,
                                request,
                            ),
                            daemon=True,
                        ).start()
                    case ("called", number, reply, error):
                        with self._changed:
                            call = worker.calls.pop(number, Future())
                        if error is None:
                            call.set_result(reply)
                        else:
                            call.set_exception(error)
                    case _:
                        events.append(message)
            if events:
                self._events.put((worker, events))

    def _answer(
        self,
        worker: _Worker,
        number: int,
        name: str,
        request: Request,
    ) -> None:
        """Send a worker the reply of a model, or its error; one that it made itself it has."""
        self._asking.asked = (worker, number)
        self._asking.reply = None
        try:
            reply = self._job.models[name].complete(request)
            worker.send(("answer", number, None if reply is self._asking.reply else reply, None))
        except Exception as error:  # noqa: BLE001 - it is raised again in the worker
            worker.send(("answer", number, None, make_sendable(error)))


@contextmanager
def lend_workers(executor: Executor, job: Job) -> Iterator[None]:
    """Let the workers of an executor make the calls of a job's models.

    This is for work that is not a list of plays.
    """
    if isinstance(executor, Threads) or job.shared is None:
        yield
        return
    over = threading.Event()
    failures: list[Exception] = []

    def wait_for_end() -> Iterator[None]:
        while not over.wait(_LOOK_FOR_TASKS):
            yield None

    def make_calls() -> None:
        try:
            for _ in executor.play(job, wait_for_end(), lambda calls, answer: None):
                pass
        except Exception as error:  # noqa: BLE001
            # The thread that needs the workers raises it again.
            failures.append(error)

    maker = threading.Thread(target=make_calls, daemon=True)
    maker.start()
    while job.shared.call_elsewhere is None and maker.is_alive():
        maker.join(_LOOK_FOR_TASKS)
    if failures:
        raise failures[0]
    try:
        yield
    finally:
        over.set()
        maker.join(_LENDING_PATIENCE)
