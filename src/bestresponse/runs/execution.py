"""Execute a plan: play every spec that has no record yet, several at a time, and keep each answer as it comes.

A play that fails because its model could not be used leaves no record: the next run of the same plan tries it again.
Failures do not stop the other plays, except where going on makes no sense: the budget is spent, the disk is full, or
`patience` plays in a row have failed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bestresponse.core.episode import Record
from bestresponse.core.errors import ModelError, OverBudget, StoreError
from bestresponse.runs.executors.base import Ended, Executor, Keep, PlayOne, Task, Threads
from bestresponse.runs.spec import Shard, Spec
from bestresponse.runs.store.folder import RunFolder, decode_play

if TYPE_CHECKING:
    from bestresponse.runs.models import SharedCalls

__all__ = ["Execution", "Outcome", "PlayOne", "Progress", "Start", "execute"]


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

    `shared` is what workers in other processes use models by; None where models were given as objects.
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
                raise ended.error or RuntimeError("the play ended with neither a record nor an error")
            self.folder.finish_encoded(ended.line)
        except (OverBudget, StoreError) as error:
            self.outcome.stopped = self.outcome.stopped or str(error)
        except ModelError as error:
            self.outcome.failed += 1
            self.in_a_row += 1
            if str(error) not in self.outcome.failures:
                self.outcome.failures.append(str(error))
            if self.in_a_row >= self.patience:
                self.outcome.stopped = self.outcome.stopped or f"{self.in_a_row} plays in a row failed: {error}"
        else:
            self.outcome.played += 1
            self.in_a_row = 0


Start = Callable[[Iterator[Task], Keep], Generator[Ended]]
"""Makes plays: takes tasks as there is room, hands every answer to `Keep`, and yields how each play ended."""


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
    """Play what is missing. `enough` is told every new record and may end the run early by returning True.

    An interrupt (Ctrl-C) lets the plays that are under way end, keeps them, and is raised again.
    """
    outcome = Outcome()
    run = _Run(folder, outcome, patience)
    with closing(start(run.list_missing(specs), folder.submit_encoded)) as plays:
        for ended in plays:
            run.settle(ended)
            if enough is not None and ended.line is not None and enough(ended.spec, decode_play(ended.line).record):
                outcome.stopped = outcome.stopped or "enough"
            on_progress(Progress(total, outcome.found, outcome.played, outcome.failed))
    if outcome.stopped == "enough":
        outcome.stopped = ""
    return outcome
