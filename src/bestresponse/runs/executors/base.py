"""What an executor is: it takes plays one at a time, makes them somewhere, and gives back how each ended."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from bestresponse.core.episode import Record, Submission
from bestresponse.core.errors import UsageError
from bestresponse.core.registry import Registry, check_members
from bestresponse.models.base import Model
from bestresponse.runs.spec import Spec

if TYPE_CHECKING:
    from bestresponse.runs.models import SharedCalls
    from bestresponse.runs.study import AnyStudy

A = TypeVar("A")
B = TypeVar("B")
Waiting = TypeVar("Waiting")

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


@dataclass(frozen=True)
class Job:
    """What all plays of a run share; `workers` plays are made at once.

    `shared` says how workers elsewhere open the same models; None: all calls are made in this process.
    """

    study: AnyStudy
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


def map_ahead(
    submit: Callable[[A], Waiting], collect: Callable[[Waiting], B], items: Iterable[A], workers: int
) -> Iterator[B]:
    """Submit items, a few more than there are workers, and collect the results in their order."""
    todo = iter(items)
    ahead = deque(submit(item) for item in islice(todo, 2 * workers))
    while ahead:
        yield collect(ahead.popleft())
        ahead.extend(submit(item) for item in islice(todo, 1))


executors = Registry(
    "bestresponse.executors",
    "executor",
    {
        "threads": "bestresponse.runs.executors.threads:Threads",
        "processes": "bestresponse.runs.executors.processes:Processes",
        "ray": "bestresponse.runs.executors.ray:Ray",
    },
)
"""Classes or functions that return an executor; one that has a parameter `address` is called with that of a cluster."""


def find_executor(name: str, address: str | None = None) -> Executor:
    """Return the executor of that name; UsageError where there is none, or where it takes no address."""
    if address is not None and "address" not in inspect.signature(executors.load(name)).parameters:
        raise UsageError(f"--address {address} is that of a cluster, and --executor {name} uses none: try ray")
    executor: Executor = executors.make(name, *(() if address is None else (address,)))
    check_members(executor, ("play", "map"), executors.describe(name))
    return executor
