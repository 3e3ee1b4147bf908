"""Plays on a Ray cluster: one started here, or one that is there already.

Worker actors open the models by name with the keys of their own nodes, and ask the driver for budget, the providers'
limits and stored replies, as worker processes do.
"""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonObject
from bestresponse.runs.executors.base import Ended, Job, Keep, Task
from bestresponse.runs.executors.driver import Driver
from bestresponse.runs.executors.processes import describe_job
from bestresponse.runs.executors.worker import Message, Worker, WorkerJob

__all__ = ["Ray"]

A = TypeVar("A")
B = TypeVar("B")

_PATIENCE = 120.0
_KNOCK = 10.0
_LOOK = 10.0
_MOMENT = 0.002
"""Seconds in which a worker gathers what it has to say."""


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
            connect = partial(_ActorLink, ray, work, self._choose_options())
            yield from Driver(job, connect, count, work.threads).play(tasks, keep, self._check_room)
        finally:
            if own:
                ray.shutdown()

    def _choose_options(self) -> JsonObject:
        others = {name: amount for name, amount in self.resources.items() if name not in ("CPU", "GPU")}
        reserved = {"num_cpus": self.resources.get("CPU", 1), "num_gpus": self.resources.get("GPU", 0)}
        return {"max_concurrency": 3, "scheduling_strategy": "SPREAD", "resources": others, **reserved}

    def _check_room(self, waited: float) -> None:
        """Raise UsageError where the cluster had no room for any worker for a long time."""
        if waited > _PATIENCE:
            need = ", ".join(f"{amount:g} {name}" for name, amount in {"CPU": 1.0, **self.resources}.items() if amount)
            raise UsageError(f"the Ray cluster has no room for a worker that needs {need}")

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


class _QueueChannel:
    """The worker's end: messages wait in queues until the driver fetches or brings some."""

    def __init__(self) -> None:
        self.inbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self.outbox: queue.SimpleQueue[Message] = queue.SimpleQueue()

    def send(self, message: Message) -> None:
        self.outbox.put(message)

    def recv(self) -> Message:
        return self.inbox.get()


class _PlayActor:
    """A worker of the cluster. Messages come and go in batches, for each call of an actor costs a millisecond."""

    def __init__(self, work: WorkerJob) -> None:
        self._channel = _QueueChannel()
        threading.Thread(target=Worker(self._channel, work).run, daemon=True).start()

    def deliver(self, messages: list[Message]) -> None:
        """Take in messages of the driver."""
        for message in messages:
            self._channel.inbox.put(message)

    def collect(self) -> list[Message]:
        """Wait for something to say, and say all that is there a moment later."""
        try:
            found = [self._channel.outbox.get(timeout=_LOOK)]
        except queue.Empty:
            return []
        time.sleep(_MOMENT)
        while True:
            try:
                found.append(self._channel.outbox.get_nowait())
            except queue.Empty:
                return found


class _ActorLink:
    """The way to one worker actor; what is sent while a batch is on its way goes with the next one."""

    def __init__(self, ray: Any, work: WorkerJob, options: Mapping[str, Any]) -> None:
        self._ray = ray
        self._actor = ray.remote(_PlayActor).options(**options).remote(work)
        self._found: deque[Message] = deque()
        self._outbox: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._sender = threading.Thread(target=self._deliver, daemon=True)
        self._sender.start()

    def send(self, message: Message) -> None:
        """Send a message with the next batch."""
        self._outbox.put(message)

    def _deliver(self) -> None:
        while (message := self._outbox.get()) is not None:
            batch = [message]
            with suppress(queue.Empty):
                while (message := self._outbox.get_nowait()) is not None:
                    batch.append(message)
            try:
                self._ray.get(self._actor.deliver.remote(batch))
            except self._ray.exceptions.RayError:
                return
            if message is None:
                return

    def recv(self) -> Message:
        """Wait for a message; EOFError once the actor is lost."""
        while not self._found:
            try:
                self._found.extend(self._ray.get(self._actor.collect.remote()))
            except self._ray.exceptions.RayError as error:
                raise EOFError(str(error)) from None
        return self._found.popleft()

    def close(self, patience: float) -> None:
        """End the actor; what it was asked to do is done or not wanted any more."""
        self._outbox.put(None)
        self._ray.kill(self._actor)
