"""Plays in threads of this process."""

import queue
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from bestresponse.runs.executors.base import Ended, Job, Keep, PlayOne, Task
from bestresponse.runs.store.folder import StoredPlay, encode_answer, encode_plays

_PAUSE = 0.005
_LOOK = 0.05

A = TypeVar("A")
B = TypeVar("B")


@dataclass(frozen=True, slots=True)
class Threads:
    """Make plays in threads: right for models that are waited for."""

    def play(self, job: Job, tasks: Iterator[Task | None], keep: Keep) -> Generator[Ended]:
        """Make the plays with the job's own models."""
        return play_in_threads(job.study.play(job.config, job.models), job.workers, tasks, keep)

    def map(self, function: Callable[[A], B], items: Iterable[A], workers: int | None) -> Iterator[B]:
        """Apply the function here, one item at a time: threads do not speed up work of this kind."""
        return map(function, items)


def play_in_threads(play_one: PlayOne, workers: int, tasks: Iterator[Task | None], keep: Keep) -> Generator[Ended]:
    """Play tasks in that many threads; one worker plays in the calling thread, where an interrupt ends it at once.

    With several, an interrupt lets the plays that are under way end, yields them, and is raised again; a second one
    waits for nothing. Threads are daemons, and not those of `concurrent.futures`: Python joins the latter at its end,
    so that a server that never answers would hold the process.
    """
    plays = _wait_for_tasks(tasks)
    if workers == 1:
        for task in plays:
            yield play_task(play_one, task, keep)
        return
    results: queue.SimpleQueue[Ended] = queue.SimpleQueue()

    def put(task: Task) -> None:
        results.put(play_task(play_one, task, keep))

    threads: list[threading.Thread] = []
    free = workers
    try:
        while True:
            threads = [thread for thread in threads if thread.is_alive()]
            for task in islice(plays, free):
                threads.append(threading.Thread(target=put, args=(task,), daemon=True))
                threads[-1].start()
                free -= 1
            if free == workers:
                return
            yield results.get()
            free += 1
    except KeyboardInterrupt:
        while not results.empty() or any(thread.is_alive() for thread in threads):
            with suppress(queue.Empty):
                yield results.get(timeout=_LOOK)
        raise
    except BaseException:
        for thread in threads:
            thread.join()
        raise


def play_task(play_one: PlayOne, task: Task, keep: Keep) -> Ended:
    """Make one play and encode what is kept of it; every error is part of how it ended."""
    spec = task.spec
    try:
        record = play_one(spec, task.done, lambda submission: keep(*encode_answer(spec.id, submission)))
        return Ended(spec, encode_plays([StoredPlay(spec.id, spec.data, record)]))
    except Exception as error:  # noqa: BLE001 - whoever counts the plays decides what it means
        return Ended(spec, error=error)


def _wait_for_tasks(tasks: Iterator[Task | None]) -> Iterator[Task]:
    for task in tasks:
        if task is None:
            time.sleep(_PAUSE)
        else:
            yield task
