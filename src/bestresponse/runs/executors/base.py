"""What an executor is: it takes plays one at a time, makes them somewhere, and gives back how each ended."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from bestresponse.core.episode import Record, Submission
from bestresponse.models.base import Model
from bestresponse.runs.spec import Spec

if TYPE_CHECKING:
    from bestresponse.runs.models import SharedCalls

__all__ = ["Ended", "Executor", "Job", "Keep", "PlayMaker", "PlayOne", "Task"]

A = TypeVar("A")
B = TypeVar("B")

PlayOne = Callable[[Spec, list[Submission], Callable[[Submission], None]], Record]
"""Plays one spec from the submissions it already has; calls back with every new one."""

Keep = Callable[[bytes, bytes], None]
"""Stores one answer, as the lines of `encode_answer`. May be called from any thread of the driver."""


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


class PlayMaker(Protocol):
    """What a job needs of a study."""

    @property
    def name(self) -> str:
        """What kind of plays these are."""
        ...

    def make_player(self, config: Any, models: Mapping[str, Model]) -> PlayOne:
        """Return the function that plays one spec."""
        ...


@dataclass(frozen=True)
class Job:
    """What all plays of a run share. `shared` is what workers in other processes use models by; None: no such models.

    `workers` plays are made at once.
    """

    study: PlayMaker
    config: Any
    models: Mapping[str, Model]
    workers: int = 1
    shared: SharedCalls | None = None


@runtime_checkable
class Executor(Protocol):
    """Makes plays. A new engine implements these two methods."""

    def play(self, job: Job, tasks: Iterator[Task | None], keep: Keep) -> Generator[Ended]:
        """Take tasks as there is room for them, make the plays, and yield how each ended, in any order.

        A task that is None says that there is none at the moment. Every answer goes to `keep` as soon as it is there.
        The iterator of tasks may end early: what is under way is then still brought to its end.
        """
        ...

    def map(self, function: Callable[[A], B], items: Iterable[A], workers: int | None) -> Iterator[B]:
        """Apply a function to every item, several at a time, and yield the results in order.

        For work without models; `function` must be importable, and `workers` None means as many as are of use.
        """
        ...
