"""Execute a plan: play every spec that has no record yet, several at a time, and keep each answer as it comes.

A play that fails because its model could not be used leaves no record: the next run of the same plan tries it again.
Failures do not stop the other plays, except where going on makes no sense: the budget is spent, the disk is full, or
`patience` plays in a row have failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

from bestresponse.core.episode import Record, Submission
from bestresponse.core.errors import ModelError, OverBudget, StoreError
from bestresponse.runs.folder import RunFolder
from bestresponse.runs.shard import Shard
from bestresponse.runs.spec import Spec

__all__ = ["Execution", "Outcome", "PlayOne", "Progress", "execute"]

_T = TypeVar("_T")

PlayOne = Callable[[Spec, list[Submission], Callable[[Submission], None]], Record]
"""Plays one spec from the submissions it already has; calls back with every new one."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run is. `found` plays were there before it began."""

    total: int | None
    found: int
    played: int
    failed: int


@dataclass(frozen=True, slots=True)
class Execution:
    """How a run is made: how many plays at once, which part of them (None: all), and who is told how far it is."""

    workers: int = 1
    shard: Shard | None = None
    on_progress: Callable[[Progress], None] = lambda progress: None

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
        return not self.failed and not self.stopped


@dataclass(slots=True)
class _Run:
    """The moving parts of one execution."""

    folder: RunFolder
    play_one: PlayOne
    begun: dict[str, list[Submission]]
    outcome: Outcome
    in_a_row: int = 0

    def play(self, spec: Spec) -> Record:
        record = self.play_one(spec, self.begun.pop(spec.id, []), lambda s: self.folder.submit(spec.id, s))
        self.folder.finish(spec.id, spec.data, record)
        return record

    def settle(self, done: Future[Record], patience: int) -> Record | None:
        """Count one finished play; returns its record, or None where it failed."""
        try:
            record = done.result()
        except (OverBudget, StoreError) as error:
            self.outcome.stopped = self.outcome.stopped or str(error)
            return None
        except ModelError as error:
            self.outcome.failed += 1
            self.in_a_row += 1
            if str(error) not in self.outcome.failures:
                self.outcome.failures.append(str(error))
            if self.in_a_row >= patience:
                self.outcome.stopped = self.outcome.stopped or f"{self.in_a_row} plays in a row failed: {error}"
            return None
        self.outcome.played += 1
        self.in_a_row = 0
        return record


def execute(
    specs: Iterable[Spec],
    play_one: PlayOne,
    folder: RunFolder,
    *,
    workers: int = 1,
    total: int | None = None,
    patience: int = 10,
    on_progress: Callable[[Progress], None] = lambda progress: None,
    enough: Callable[[Spec, Record], bool] = lambda spec, record: False,
) -> Outcome:
    """Play what is missing. `enough` is told every new record and may end the run early by returning True.

    An interrupt (Ctrl-C) lets the plays that are under way end, keeps them, and is raised again.
    """
    finished = folder.finished()
    outcome = Outcome()
    run = _Run(folder, play_one, folder.begun(finished), outcome)
    missing = _missing(specs, finished, outcome)
    pool = ThreadPoolExecutor(workers, thread_name_prefix="play") if workers > 1 else _Inline()
    try:
        under_way = {pool.submit(run.play, spec): spec for spec in islice(missing, workers)}
        while under_way:
            done = set(under_way) if workers == 1 else wait(under_way, return_when=FIRST_COMPLETED).done
            for future in done:
                spec = under_way.pop(future)
                record = run.settle(future, patience)
                if record is not None and enough(spec, record):
                    outcome.stopped = outcome.stopped or "enough"
            on_progress(Progress(total, outcome.found, outcome.played, outcome.failed))
            if not outcome.stopped:
                under_way |= {pool.submit(run.play, spec): spec for spec in islice(missing, len(done))}
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    if outcome.stopped == "enough":
        outcome.stopped = ""
    return outcome


class _Inline(Executor):
    """One play at a time in the calling thread: no thread to hand over to, and an interrupt ends the play at once."""

    def submit(self, play: Callable[..., _T], /, *args: Any, **kwargs: Any) -> Future[_T]:
        done: Future[_T] = Future()
        try:
            done.set_result(play(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - it is raised again by whoever asks for the result
            done.set_exception(error)
        return done


def _missing(specs: Iterable[Spec], finished: set[str], outcome: Outcome) -> Iterator[Spec]:
    """The specs without a record, each once."""
    seen: set[str] = set()
    for spec in specs:
        if spec.id in seen:
            continue
        seen.add(spec.id)
        if spec.id in finished:
            outcome.found += 1
        else:
            yield spec
