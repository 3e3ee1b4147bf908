"""Plays in processes of this machine, for work that keeps the processor busy.

Workers are spawned, so a script that uses them guards its own start by `if __name__ ==
"__main__":`.
"""

import os
import signal
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import current_process, get_context, resource_tracker
from typing import TypeVar

from bestresponse.core.errors import UsageError
from bestresponse.runs.execution import Ended, Job, Keep, Task, map_ahead
from bestresponse.runs.executors.driver import Driver, Message, WorkerJob, describe_job, run_worker

_NO_WORKERS = (
    "a worker process ended before its work was done. A script that starts workers has to be a"
    ' file, and calls of bestresponse in it have to be below `if __name__ == "__main__":`;'
    " `workers=1` does without workers. If that is so already, this machine may have run out of"
    " memory"
)
A = TypeVar("A")
B = TypeVar("B")


@dataclass(frozen=True, slots=True)
class Processes:
    """Make plays in `count` processes (None: one a core, but no more than plays at once)."""

    count: int | None = None

    def __post_init__(self) -> None:
        if self.count is not None and self.count < 1:
            raise UsageError(f"{self.count} processes play nothing: expected at least 1")

    def play(
        self,
        job: Job,
        tasks: Iterator[Task | None],
        keep: Keep,
    ) -> Generator[Ended]:
        """Make the plays in workers that open the job's models by name."""
        wanted = job.workers if job.config.models or job.workers > 1 else os.cpu_count() or 1
        count = self.count or max(1, min(os.cpu_count() or 1, wanted))
        work = describe_job(job, -(-max(wanted, count) // count))
        return Driver(
            job,
            lambda: _ProcessLink(work),
            count,
            work.threads,
        ).play(tasks, keep)

    def map(
        self,
        function: Callable[[A], B],
        items: Iterable[A],
        workers: int | None,
    ) -> Iterator[B]:
        """Apply the function in processes, with a few items ahead."""
        if getattr(current_process(), "_inheriting", False):
            # A worker is importing a script without a guard, which would start workers of its own.
            raise SystemExit(1)
        count = self.count or workers or os.cpu_count() or 1
        with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
            try:
                yield from map_ahead(
                    lambda item: pool.submit(function, item),
                    Future.result,
                    items,
                    count,
                )
            except BrokenProcessPool:
                raise UsageError(_NO_WORKERS) from None
            finally:
                pool.shutdown(wait=True, cancel_futures=True)


class _ProcessLink:
    """A worker process and the pipe to it."""

    def __init__(self, work: WorkerJob) -> None:
        context = get_context("spawn")
        self._pipe, there = context.Pipe()
        self._process = context.Process(target=run_worker, args=(there, work), daemon=True)
        # A terminal sends Ctrl-C to all processes of a command; a worker is told by its driver when
        # to end. The first process starts the tracker of resources, which unblocks the signal
        # again, so it is started before.
        resource_tracker.ensure_running()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        there.close()

    def send(self, messages: list[Message]) -> None:
        """Send messages to the worker."""
        self._pipe.send(messages)

    def recv(self) -> list[Message]:
        """Wait for messages of the worker."""
        messages: list[Message] = self._pipe.recv()
        return messages

    def close(self, patience: float) -> None:
        """Wait for the end of the process, and end it then."""
        self._process.join(patience)
        if self._process.is_alive():
            self._process.terminate()
