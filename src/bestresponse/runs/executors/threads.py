"""Plays in threads of this process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from bestresponse.runs.executors.base import Ended, Job, Keep, PlayOne, Task
from bestresponse.runs.store.folder import StoredPlay, encode_answer, encode_plays

__all__ = ["Threads", "play_in_threads", "play_task"]

_PAUSE = 0.005

A = TypeVar("A")
B = TypeVar("B")


@dataclass(frozen=True, slots=True)
class Threads:
    """Make plays in threads: right for models that are waited for, and the only way for models given as objects."""

    def play(self, job: Job, tasks: Iterator[Task | None], keep: Keep) -> Iterator[Ended]:
        """Make the plays with the job's own models."""
        return play_in_threads(job.study.make_player(job.config, job.models), job.workers, tasks, keep)

    def map(self, function: Callable[[A], B], items: Iterable[A], workers: int | None) -> Iterator[B]:
        """Apply the function here, one item at a time: threads do not speed up work of this kind."""
        return map(function, items)


def play_in_threads(play_one: PlayOne, workers: int, tasks: Iterator[Task | None], keep: Keep) -> Iterator[Ended]:
    """Play tasks in that many threads; one worker plays in the calling thread, where an interrupt ends it at once.

    With several, an interrupt lets the plays that are under way end, yields them, and is raised again.
    """
    plays = _wait_for_tasks(tasks)
    if workers == 1:
        for task in plays:
            yield play_task(play_one, task, keep)
        return
    under_way: set[Future[Ended]] = set()
    with ThreadPoolExecutor(workers, thread_name_prefix="play") as pool:
        try:
            under_way |= {pool.submit(play_task, play_one, task, keep) for task in islice(plays, workers)}
            while under_way:
                done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
                under_way |= {pool.submit(play_task, play_one, task, keep) for task in islice(plays, len(done))}
        except KeyboardInterrupt:
            pool.shutdown(wait=True, cancel_futures=True)
            for future in under_way:
                if not future.cancelled():
                    yield future.result()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


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
