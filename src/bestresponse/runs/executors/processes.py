"""Processes of this machine, for work that keeps the processor busy.

Plays that ask no model are made in worker processes. Plays that ask one are made in threads; each
worker opens its own copy of a model that runs on this machine, and makes the calls.

Workers are spawned, so a script that uses them guards its own start by `if __name__ ==
"__main__":`. A worker ends when the process that started it does.
"""

import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from multiprocessing import current_process, get_context, parent_process
from typing import Any, TypeVar

from bestresponse.core.errors import ModelUnavailable, UsageError
from bestresponse.models.base import Model, Reply, Request
from bestresponse.runs.execution import (
    Ended,
    Executor,
    Job,
    Keep,
    PlayOne,
    Task,
    Threads,
    play_in_threads,
    play_task,
)
from bestresponse.runs.models import Opening
from bestresponse.runs.study import find_study, studies

_NO_WORKERS = (
    "a worker process ended before its work was done. A script that starts workers has to be a"
    ' file, and calls of bestresponse in it have to be below `if __name__ == "__main__":`;'
    " `workers=1` does without workers. If that is so already, this machine may have run out of"
    " memory"
)
_TRIES = 3
"""Workers that one piece of work may end."""
_AHEAD = 4
"""Plays per worker that are handed out, so that none waits for the next."""
A = TypeVar("A")
B = TypeVar("B")


@dataclass(frozen=True, slots=True)
class Processes:
    """Work in `count` processes (None: one a core, but no more than plays at once)."""

    count: int | None = None

    def __post_init__(self) -> None:
        if self.count is not None and self.count < 1:
            raise UsageError(f"{self.count} processes play nothing: expected at least 1")

    def play(
        self,
        job: Job,
        tasks: Iterator[Task],
        keep: Keep,
    ) -> Generator[Ended]:
        """Make the plays in workers, or the calls of its models where it has some."""
        if job.models:
            with lend_workers(self, job):
                yield from Threads().play(job, tasks, keep)
            return
        check_sendable(job)
        count = self.count or os.cpu_count() or 1
        with _Workers(count, (job.study.name, job.config)) as workers:
            make = partial(_play_elsewhere, workers)
            yield from play_in_threads(make, _AHEAD * count, tasks, keep)

    def map(
        self,
        function: Callable[[A], B],
        items: Iterable[A],
        workers: int | None,
    ) -> Iterator[B]:
        """Apply the function in processes, with a few items ahead."""
        count = self.count or workers or os.cpu_count() or 1
        with _Workers(count) as started:
            begun = map(partial(started.submit, function), items)
            try:
                ahead = deque(islice(begun, 2 * count))
                while ahead:
                    yield ahead.popleft().result()
                    ahead.extend(islice(begun, 1))
            except BrokenProcessPool:
                raise UsageError(_NO_WORKERS) from None


@contextmanager
def lend_workers(executor: Executor, job: Job) -> Iterator[None]:
    """Let workers make the calls of a job's models that run on this machine."""
    shared = job.shared
    if shared is None or not isinstance(executor, Processes):
        yield
        return
    count = executor.count or max(1, min(os.cpu_count() or 1, job.workers))
    with _Workers(count) as workers:

        def call(name: str, request: Request) -> Reply:
            bare = replace(request, facts=None)
            return workers.run(call_copy, shared.opening, name, bare)

        shared.call_elsewhere = call
        try:
            yield
        finally:
            shared.call_elsewhere = None


def check_sendable(job: Job) -> None:
    """Raise UsageError where a study or its settings exist in this process only."""
    problem = "it is not registered"
    if job.study.name in studies.names():
        try:
            pickle.dumps(job.config)
            return
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            problem = str(error)
    raise UsageError(f"{job.study.name} cannot be sent to other processes ({problem}): use threads")


class _Workers:
    """Worker processes, which know what they are `given`; all are started anew where one was
    lost."""

    def __init__(self, count: int, *given: tuple[str, Any]) -> None:
        if getattr(current_process(), "_inheriting", False):
            # A worker is importing a script without a guard, which would start workers of its own.
            raise SystemExit(1)
        self._start = partial(
            ProcessPoolExecutor,
            count,
            mp_context=get_context("spawn"),
            initializer=_begin_worker,
            initargs=given,
        )
        self._lock = threading.Lock()
        self.pool = self._start()

    def __enter__(self) -> "_Workers":
        return self

    def __exit__(self, *raised: object) -> None:
        self.pool.shutdown(wait=True, cancel_futures=True)

    def submit(self, function: Callable[..., B], *arguments: object) -> Future[B]:
        """Hand work to the pool, which may start a worker for it.

        A process is begun with the signals blocked that its thread blocks: Ctrl-C does not reach a
        worker that has not come to ignoring it.
        """
        heard = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            return self.pool.submit(function, *arguments)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, heard)

    def run(self, function: Callable[..., B], *arguments: object) -> B:
        """Run a function in a worker, and in another where that one is lost.

        Raises ModelUnavailable where workers are lost again and again.
        """
        for _ in range(_TRIES):
            pool = self.pool
            try:
                return self.submit(function, *arguments).result()
            except BrokenProcessPool:
                with self._lock:
                    if self.pool is pool:
                        self.pool = self._start()
        raise ModelUnavailable(f"{_TRIES} worker processes were lost in a row: {_NO_WORKERS}")


def _begin_worker(*given: tuple[str, Any]) -> None:
    """Leave Ctrl-C, which a terminal sends to all processes, to the first; end when that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _given.extend(given)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


@cache
def open_all(opening: Opening) -> dict[str, Model]:
    """Open this worker's copies of models, each once."""
    return opening.open_copies()


def call_copy(opening: Opening, name: str, request: Request) -> Reply:
    """Make a call in this worker."""
    return open_all(opening)[name].complete(request)


_given: list[tuple[str, Any]] = []
"""The study whose plays this worker makes, and its settings."""


@cache
def begin_plays() -> PlayOne:
    """Set up what all plays of this worker share, once."""
    ((study, config),) = _given
    return find_study(study).play(config, {})


def _make_play(task: Task) -> tuple[Ended, list[tuple[bytes, bytes]]]:
    """Make a play; return how it ended and the answers to be kept."""
    kept: list[tuple[bytes, bytes]] = []
    ended = play_task(begin_plays(), task, lambda *lines: kept.append(lines))
    return ended, kept


def _play_elsewhere(workers: _Workers, task: Task, keep: Keep) -> Ended:
    try:
        ended, kept = workers.run(_make_play, task)
        for calls, answer in kept:
            keep(calls, answer)
    except Exception as error:  # noqa: BLE001 - whoever counts the plays decides what it means
        return Ended(task.spec, error=error)
    return ended
