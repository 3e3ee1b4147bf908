"""Plays on a Ray cluster: one started here, or one that is there already.

One actor each holds the budget, the providers' limits and the cache of replies, beside the driver; worker actors open
the models by name with the keys of their own nodes. A lost worker or node costs what was in flight there: its plays go
on elsewhere from their answers.
"""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from bestresponse.core.errors import StoreError, UsageError
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.models.wrappers.cached import Cache
from bestresponse.models.wrappers.limits import Gate
from bestresponse.models.wrappers.meter import Budget, Meter
from bestresponse.runs.executors.base import Ended, Job, Keep, Task
from bestresponse.runs.executors.losses import Losses
from bestresponse.runs.executors.processes import describe_job
from bestresponse.runs.executors.remote_models import open_remote_models
from bestresponse.runs.executors.services import BudgetService, GateService, ReplyService
from bestresponse.runs.executors.threads import play_task
from bestresponse.runs.executors.worker import WorkerJob, make_sendable

__all__ = ["Ray"]

A = TypeVar("A")
B = TypeVar("B")

_PATIENCE = 120.0
_KNOCK = 10.0
_AT_ONCE = 1000
"""Calls that an actor of a service takes at the same time."""


@dataclass(frozen=True)
class Ray:
    """Make plays on a Ray cluster.

    Without an `address` a cluster is started on this machine; "auto" finds one that runs here, "ray://host:10001" one
    elsewhere. `count` worker actors (None: one a processor) each reserve a processor and `resources`, such as
    {"GPU": 1}.
    """

    address: str | None = None
    resources: Mapping[str, float] = field(default_factory=dict)
    count: int | None = None

    def play(self, job: Job, tasks: Iterator[Task], keep: Keep) -> Iterator[Ended]:
        """Make the plays in actors that open the job's models by name."""
        ray, own = _connect(self.address)
        try:
            count = self.count or max(1, int(ray.cluster_resources().get("CPU", 1)))
            wanted = job.workers if job.config.models or job.workers > 1 else count
            count = min(count, wanted)
            work = describe_job(job, -(-wanted // count))
            yield from _Driver(ray, work, job, self.resources).play(count, tasks, keep)
        finally:
            if own:
                ray.shutdown()

    def map(self, function: Callable[[A], B], items: Iterable[A], workers: int | None) -> Iterator[B]:
        """Apply the function in tasks of the cluster, with a few items ahead."""
        ray, own = _connect(self.address)
        try:
            count = self.count or max(1, int(ray.cluster_resources().get("CPU", 1)))
            apply = ray.remote(num_cpus=1)(function)
            todo = iter(items)
            ahead = deque(apply.remote(item) for item in islice(todo, 2 * count))
            while ahead:
                yield ray.get(ahead.popleft())
                ahead.extend(apply.remote(item) for item in islice(todo, 1))
        finally:
            if own:
                ray.shutdown()


def _connect(address: str | None) -> tuple[Any, bool]:
    """Return the package, connected, and whether this call connected it; UsageError where that cannot be done."""
    try:
        import ray
    except ImportError:
        raise UsageError("Ray is not installed: pip install 'bestresponse[ray]'") from None
    if ray.is_initialized():
        return ray, False
    _check_address(address)
    where = {"address": "local", "include_dashboard": False} if address is None else {"address": address}
    try:
        ray.init(**where, log_to_driver=False, logging_level="ERROR", configure_logging=False)
    except (ConnectionError, TimeoutError) as error:
        raise UsageError(f"no Ray cluster answers at {address} ({error}): start one with `ray start --head`") from None
    except (RuntimeError, ValueError) as error:
        raise UsageError(f"the Ray cluster at {address or 'this machine'} cannot be used: {error}") from None
    return ray, True


def _check_address(address: str | None) -> None:
    """Refuse an address where nothing listens: Ray itself would try for minutes."""
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK).close()
    except (OSError, OverflowError) as error:
        why = f"no Ray cluster answers at {address} ({error}): start one with `ray start --head`"
        raise UsageError(why) from None


class _BudgetActor(BudgetService):
    def __init__(self, budget: Budget) -> None:
        super().__init__(Meter(budget))


class _GateActor(GateService):
    def __init__(self, places: Mapping[tuple[str, str], int]) -> None:
        super().__init__({provider: Gate(count) for provider, count in places.items()})


class _ReplyActor(ReplyService):
    def __init__(self, path: Path) -> None:
        super().__init__(Cache(path))


class _PlayActor:
    """A worker of the cluster."""

    def __init__(self, holder: str, work: WorkerJob, services: JsonMapping) -> None:
        self._holder = holder
        self._services = dict(services)
        self._failure: Exception | None = None
        try:
            models = open_remote_models(work.opening, self._ask) if work.opening is not None else {}
            self._play_one = work.study.make_player(work.config, models)
        except Exception as error:  # noqa: BLE001 - it is raised again by the driver
            self._failure = make_sendable(error)

    def check(self) -> Exception | None:
        """Return why nothing can be played; None where all is ready."""
        return self._failure

    def play(self, task: Task) -> Iterator[tuple[Any, ...]]:
        """Make one play; yield every answer as it comes, and at last how the play ended."""
        events: queue.SimpleQueue[tuple[Any, ...]] = queue.SimpleQueue()

        def make() -> None:
            ended = play_task(self._play_one, task, lambda spec, submission: events.put(("kept", submission)))
            error = None if ended.error is None else make_sendable(ended.error)
            events.put(("ended", ended.record, error))

        threading.Thread(target=make, daemon=True).start()
        while True:
            event = events.get()
            yield event
            if event[0] == "ended":
                return

    def _ask(self, service: str, method: str, *arguments: Any) -> Any:
        import ray

        try:
            return ray.get(getattr(self._services[service], method).remote(self._holder, *arguments))
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None


@dataclass(eq=False)
class _Worker:
    """One worker as the driver sees it; `starting` is None as soon as it can play."""

    holder: str
    actor: Any
    starting: Any
    under_way: int = 0
    ended: int = 0


class _Driver:
    """Hands out tasks to worker actors, takes in what they yield, and replaces those that are lost."""

    def __init__(self, ray: Any, work: WorkerJob, job: Job, resources: Mapping[str, float]) -> None:
        self._ray = ray
        self._work = work
        self._resources = {name: amount for name, amount in resources.items() if name not in ("CPU", "GPU")}
        self._processors = {"num_cpus": resources.get("CPU", 1), "num_gpus": resources.get("GPU", 0)}
        self._services = self._start_services(job)
        self._workers: list[_Worker] = []
        self._plays: dict[Any, tuple[_Worker, Task]] = {}
        self._again: deque[Task] = deque()
        self._losses = Losses()
        self._started = 0
        self._quiet_since = time.monotonic()

    def play(self, count: int, tasks: Iterator[Task], keep: Keep) -> Iterator[Ended]:
        """Play all tasks; an interrupt lets the plays that are under way end, yields them, and is raised again."""
        for _ in range(count):
            self._start()
        interrupted = False
        try:
            while True:
                more = not interrupted and self._hand_out(tasks)
                if not self._plays and not more:
                    break
                try:
                    yield from self._take_in(keep)
                except KeyboardInterrupt:
                    interrupted = True
            if interrupted:
                raise KeyboardInterrupt
        finally:
            for actor in [*(worker.actor for worker in self._workers), *self._services.values()]:
                self._ray.kill(actor)

    def _hand_out(self, tasks: Iterator[Task]) -> bool:
        """Give ready workers as many tasks as they have threads; say whether tasks are left over."""
        while True:
            if not self._again:
                self._again.extend(islice(tasks, 1))
            if not self._again:
                return False
            ready = [one for one in self._workers if one.starting is None and one.under_way < self._work.threads]
            if not ready:
                return True
            worker = min(ready, key=lambda one: one.under_way)
            task = self._again.popleft()
            sent = Task(task.spec, list(task.done))
            stream = worker.actor.play.options(num_returns="streaming").remote(sent)
            worker.under_way += 1
            self._plays[stream] = (worker, task)

    def _take_in(self, keep: Keep) -> Iterator[Ended]:
        """Wait for something to happen, and take in all that has."""
        starting = {worker.starting: worker for worker in self._workers if worker.starting is not None}
        waiting = [*self._plays, *starting]
        happened, _ = self._ray.wait(waiting, num_returns=1, timeout=1.0, fetch_local=False)
        if happened:
            self._quiet_since = time.monotonic()
            happened, _ = self._ray.wait(waiting, num_returns=len(waiting), timeout=0, fetch_local=False)
        elif not self._plays and time.monotonic() - self._quiet_since > _PATIENCE:
            raise UsageError(f"the Ray cluster has no room for a worker that needs {self._describe_need()}")
        for one in happened:
            if one in starting:
                self._welcome(starting[one])
            elif one in self._plays:
                ended = self._advance(one, keep)
                if ended is not None:
                    yield ended

    def _welcome(self, worker: _Worker) -> None:
        try:
            failure = self._ray.get(worker.starting)
        except self._ray.exceptions.RayError:
            self._replace(worker)
            return
        if failure is not None:
            raise failure
        worker.starting = None

    def _advance(self, stream: Any, keep: Keep) -> Ended | None:
        """Take in the next event of one play; returns how it ended where it did."""
        _, task = self._plays[stream]
        try:
            event = self._ray.get(next(stream))
        except (self._ray.exceptions.RayError, StopIteration):
            return self._lose(stream)
        if event[0] == "ended":
            self._forget(stream).ended += 1
            return Ended(task.spec, event[1], event[2])
        try:
            keep(task.spec.id, event[1])
        except StoreError as error:
            self._forget(stream)
            return Ended(task.spec, error=error)
        task.done.append(event[1])
        return None

    def _forget(self, stream: Any) -> _Worker:
        worker, _ = self._plays.pop(stream)
        worker.under_way -= 1
        return worker

    def _lose(self, stream: Any) -> Ended | None:
        """Play again what was lost with a worker, unless it keeps being lost."""
        worker, task = self._plays.pop(stream)
        self._replace(worker)
        given_up = self._losses.count(task.spec, worker.ended)
        if given_up is None:
            self._again.appendleft(task)
        return given_up

    def _replace(self, lost: _Worker) -> None:
        if lost in self._workers:
            self._workers.remove(lost)
            self._ray.get([service.release.remote(lost.holder) for service in self._services.values()])
            self._start()

    def _start(self) -> None:
        self._started += 1
        holder = f"worker-{self._started}"
        actor = (
            self._ray.remote(_PlayActor)
            .options(
                max_concurrency=self._work.threads + 2,
                scheduling_strategy="SPREAD",
                resources=self._resources,
                **self._processors,
            )
            .remote(holder, self._work, self._services)
        )
        self._workers.append(_Worker(holder, actor, actor.check.remote()))

    def _start_services(self, job: Job) -> JsonObject:
        """Start the shared services on the driver's node, where the cache is."""
        shared = job.shared
        if shared is None or self._work.opening is None:
            return {}
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        here = NodeAffinitySchedulingStrategy(self._ray.get_runtime_context().get_node_id(), soft=False)
        options = {"num_cpus": 0, "max_concurrency": _AT_ONCE, "scheduling_strategy": here}

        def start(kind: type, argument: Any) -> Any:
            return self._ray.remote(kind).options(**options).remote(argument)

        services = {
            "budget": start(_BudgetActor, shared.opening.budget),
            "gates": start(_GateActor, dict(shared.places)),
        }
        if shared.cache_path is not None:
            services["replies"] = start(_ReplyActor, shared.cache_path.resolve())
        return services

    def _describe_need(self) -> str:
        need = {"CPU": self._processors["num_cpus"], "GPU": self._processors["num_gpus"], **self._resources}
        return ", ".join(f"{amount:g} {name}" for name, amount in need.items() if amount)
