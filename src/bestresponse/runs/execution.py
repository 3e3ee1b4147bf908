"""Execute a plan: play every spec that has no record yet.

Several are played at a time, and each answer is kept as it comes.

An executor takes plays one at a time, makes them somewhere, and gives back how each ended;
`Threads` is the usual one.

A play that fails because its model could not be used leaves no record: the next run of the same
plan tries it again. Failures do not stop the other plays, except where going on makes no sense: the
budget is spent, the disk is full, or `patience` plays in a row have failed.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from bestresponse.core.episode import Record, Submission
from bestresponse.core.errors import ModelError, OverBudget, StoreError
from bestresponse.models.base import ModelsByName
from bestresponse.runs.store.folder import (
    RunFolder,
    Shard,
    Spec,
    StoredPlay,
    decode_play,
    encode_answer,
    encode_plays,
)

if TYPE_CHECKING:
    from bestresponse.runs.executors.processes import Processes
    from bestresponse.runs.models import SharedCalls
    from bestresponse.runs.study import AnyStudy


_LOOK = 0.05  # seconds after which an interrupted run looks whether its threads have ended
A = TypeVar("A")
B = TypeVar("B")

KeepAnswer = Callable[[Submission], None]
"""Stores one new answer of a play."""
PlayOne = Callable[[Spec, list[Submission], KeepAnswer], Record]
"""Plays one spec from the submissions it already has; calls back with every new one."""

Keep = Callable[[bytes, bytes], None]
"""Stores one answer, as the lines of `encode_answer`. May be called from any thread of the
driver."""


@dataclass(frozen=True, slots=True)
class Task:
    """One play to be made, from the submissions it already has."""

    spec: Spec
    done: list[Submission]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a play ended: with a record, as the line of `encode_plays`, or with an error."""

    spec: Spec
    line: bytes | None = None
    error: Exception | None = None


@dataclass(frozen=True)
class Job:
    """What all plays of a run share; `workers` plays are made at once.

    `shared` says how workers elsewhere open the same models; None: all calls are made in this
    process.
    """

    study: AnyStudy
    config: Any
    models: ModelsByName
    workers: int = 1
    shared: SharedCalls | None = None


Executor: TypeAlias = "Threads | Processes"
"""Makes plays somewhere, and yields how each ended, in any order.

Every answer goes to `keep`. The iterator of tasks may end early: what is under way is then still
brought to its end.
"""


@dataclass(frozen=True, slots=True)
class Threads:
    """Make plays in threads: right for models that are waited for."""

    def play(
        self,
        job: Job,
        tasks: Iterator[Task],
        keep: Keep,
    ) -> Generator[Ended]:
        """Make the plays with the job's own models."""
        return play_in_threads(
            partial(play_task, job.study.play(job.config, job.models)),
            job.workers,
            tasks,
            keep,
        )

    def map(
        self,
        function: Callable[[A], B],
        items: Iterable[A],
        workers: int | None,
    ) -> Iterator[B]:
        """Apply the function here, one item at a time.

        Threads do not speed up work of this kind.
        """
        return map(function, items)


def play_in_threads(
    make: Callable[[Task, Keep], Ended],
    workers: int,
    tasks: Iterator[Task],
    keep: Keep,
) -> Generator[Ended]:
    """Make plays in that many threads.

    One worker plays in the calling thread, where an interrupt ends it at once.

    With several, an interrupt lets the plays that are under way end, yields them, and is raised
    again; a second one waits for nothing. Threads are daemons, and not those of
    `concurrent.futures`: Python joins the latter at its end, so that a server that never answers
    would hold the process.
    """
    if workers == 1:
        for task in tasks:
            yield make(task, keep)
        return
    results: queue.SimpleQueue[Ended] = queue.SimpleQueue()

    def put(task: Task) -> None:
        results.put(make(task, keep))

    threads: list[threading.Thread] = []
    free = workers
    try:
        while True:
            threads = [thread for thread in threads if thread.is_alive()]
            for task in islice(tasks, free):
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
        record = play_one(
            spec,
            task.done,
            lambda submission: keep(*encode_answer(spec.id, submission)),
        )
        return Ended(spec, encode_plays([StoredPlay(spec.id, spec.data, record)]))
    except Exception as error:  # noqa: BLE001 - whoever counts the plays decides what it means
        return Ended(spec, error=error)


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run is. `found` plays were there before it began."""

    total: int | None
    found: int
    played: int
    failed: int


@dataclass(frozen=True, slots=True)
class Execution:
    """How a run is made: how many plays at once, which part of them (None: all), and where.

    `shared` is what workers in other processes use models by; None where models were given as
    objects.
    """

    workers: int = 1
    shard: Shard | None = None
    on_progress: Callable[[Progress], None] = lambda progress: None
    executor: Executor = field(default_factory=Threads)
    shared: SharedCalls | None = None

    def choose(self, specs: Iterable[Spec]) -> Iterator[Spec]:
        """Yield the specs that belong to this part."""
        shard = self.shard
        return iter(specs) if shard is None else (spec for spec in specs if shard.holds(spec.id))


@dataclass(slots=True)
class Outcome:
    """How a run ended. `stopped` says why it did not play everything, empty when it did."""

    found: int = 0
    played: int = 0
    failed: int = 0
    stopped: str = ""
    failures: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether everything was played."""
        return not self.failed and not self.stopped


@dataclass(slots=True)
class _Run:
    """The moving parts of one execution."""

    folder: RunFolder
    outcome: Outcome
    patience: int
    in_a_row: int = 0

    def list_missing(self, specs: Iterable[Spec]) -> Iterator[Task]:
        """Yield the specs without a record, each once, until the run is stopped."""
        finished = self.folder.finished()
        begun = self.folder.begun(finished)
        seen: set[str] = set()
        for spec in specs:
            if self.outcome.stopped:
                return
            if spec.id in seen:
                continue
            seen.add(spec.id)
            if spec.id in finished:
                self.outcome.found += 1
            else:
                yield Task(spec, begun.pop(spec.id, []))

    def settle(self, ended: Ended) -> None:
        """Store and count one play."""
        try:
            if ended.line is None:
                raise ended.error or RuntimeError(
                    "the play ended with neither a record nor an error"
                )
            self.folder.finish_encoded(ended.line)
        except (OverBudget, StoreError) as error:
            self.outcome.stopped = self.outcome.stopped or str(error)
        except ModelError as error:
            self.outcome.failed += 1
            self.in_a_row += 1
            if str(error) not in self.outcome.failures:
                self.outcome.failures.append(str(error))
            if self.in_a_row >= self.patience:
                self.outcome.stopped = (
                    self.outcome.stopped or f"{self.in_a_row} plays in a row failed: {error}"
                )
        else:
            self.outcome.played += 1
            self.in_a_row = 0


Start = Callable[[Iterator[Task], Keep], Generator[Ended]]
"""Makes plays: takes tasks as there is room, hands every answer to `Keep`, and yields how each play
ended."""


def execute(
    specs: Iterable[Spec],
    start: Start,
    folder: RunFolder,
    *,
    total: int | None = None,
    patience: int = 10,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    enough: Callable[[Spec, Record], bool] | None = None,
) -> Outcome:
    """Play what is missing.

    `enough` is told every new record and may end the run early by returning True.

    An interrupt (Ctrl-C) lets the plays that are under way end, keeps them, and is raised again.
    """
    outcome = Outcome()
    run = _Run(folder, outcome, patience)
    with closing(start(run.list_missing(specs), folder.submit_encoded)) as plays:
        for ended in plays:
            run.settle(ended)
            if (
                enough is not None
                and ended.line is not None
                and enough(ended.spec, decode_play(ended.line).record)
            ):
                outcome.stopped = outcome.stopped or "enough"
            on_progress(Progress(total, outcome.found, outcome.played, outcome.failed))
    if outcome.stopped == "enough":
        outcome.stopped = ""
    return outcome
