"""Plays on a Ray cluster: one started here, or one that is there already.

Worker actors open the models by name with the keys of their own nodes, and ask the driver for
budget, the providers' limits and stored replies, as worker processes do.
"""

import logging
import os
import queue
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from bestresponse.core.errors import ModelUnavailable, UsageError
from bestresponse.core.extras import install_hint
from bestresponse.core.json import JsonObject
from bestresponse.runs.execution import Ended, Job, Keep, Task, map_ahead
from bestresponse.runs.executors.driver import Driver, Message, PlayWorker, WorkerJob, describe_job

A = TypeVar("A")
B = TypeVar("B")

_PATIENCE = 120.0
_LONG_PATIENCE = 600.0
_STORE = 200_000_000
"""Bytes of the object store of a cluster that is started here: messages are small."""
_CLUSTERS = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Where this is 0, on any system, Ray takes 127.0.0.1 for the address of this machine and listens
there alone."""
_KNOCK = 10.0
_LOOK = 10.0
_MOMENT = 0.004
"""Seconds in which a worker gathers what it has to say."""


@dataclass(frozen=True)
class Ray:
    """Make plays on a Ray cluster.

    Without an `address` a cluster is started on this machine; "auto" finds one that runs here,
    "ray://host:10001" one elsewhere. `count` worker actors (None: as many as there is room for)
    each reserve a processor and `resources`, such as {"GPU": 1} or {"memory": 16e9} in bytes.
    """

    address: str | None = None
    resources: Mapping[str, float] = field(default_factory=dict)
    count: int | None = None

    def play(
        self,
        job: Job,
        tasks: Iterator[Task | None],
        keep: Keep,
    ) -> Generator[Ended]:
        """Make the plays in actors that open the job's models by name."""
        ray, connected = _connect(self.address)
        try:
            needs = self._needs
            count = self.count or self._count_workers(ray.cluster_resources())
            own_models = not job.config.models or (job.shared is not None and job.shared.local)
            wanted = count if own_models and job.workers == 1 else job.workers
            count = min(count, wanted)
            work = describe_job(job, -(-wanted // count))
            options = {
                "max_concurrency": 3,
                "scheduling_strategy": "SPREAD",
                "num_cpus": needs.pop("CPU", 0),
                "num_gpus": needs.pop("GPU", 0),
                "memory": needs.pop("memory", None),
                "resources": needs,
            }
            driver = Driver(
                job,
                lambda: _ActorLink(ray, work, options),
                count,
                work.threads,
            )
            yield from driver.play(tasks, keep, partial(self._check_room, ray.nodes))
        finally:
            if connected:
                ray.shutdown()

    @property
    def _needs(self) -> dict[str, float]:
        """What one worker reserves."""
        return {name: amount for name, amount in {"CPU": 1.0, **self.resources}.items() if amount}

    def _count_workers(self, there: Mapping[str, float]) -> int:
        """Count the workers for which a cluster has room.

        One where it has none, for it may grow.
        """
        return max(
            1,
            min(
                (int(there.get(name, 0) // amount) for name, amount in self._needs.items()),
                default=1,
            ),
        )

    def _check_room(self, nodes: Callable[[], list[JsonObject]], waited: float) -> None:
        """Raise UsageError if no node has had room for a worker for a long time.

        Also raises it if none has started a worker for a long time.
        """
        if waited <= _PATIENCE:
            return
        fits = any(
            all(node["Resources"].get(name, 0) >= amount for name, amount in self._needs.items())
            for node in nodes()
            if node["Alive"]
        )
        if not fits:
            need = ", ".join(f"{amount:g} {name}" for name, amount in self._needs.items())
            raise UsageError(f"no node of the Ray cluster has room for a worker that needs {need}")
        if waited > _LONG_PATIENCE:
            raise UsageError(
                f"the Ray cluster has started no worker for {waited:.0f} s: see `ray status`"
            )

    def map(
        self,
        function: Callable[[A], B],
        items: Iterable[A],
        workers: int | None,
    ) -> Iterator[B]:
        """Apply the function in tasks of the cluster, with a few items ahead."""
        ray, connected = _connect(self.address)
        try:
            count = self.count or max(1, int(ray.cluster_resources().get("CPU", 1)))
            apply = ray.remote(num_cpus=1)(function)
            yield from map_ahead(apply.remote, ray.get, items, count)
        except ray.exceptions.RayTaskError:
            raise
        except ray.exceptions.RayError as error:
            raise ModelUnavailable(f"the Ray cluster lost this work: {_explain(error)}") from None
        finally:
            if connected:
                ray.shutdown()


def _connect(address: str | None) -> tuple[ModuleType, bool]:
    """Return the package, connected, and whether this call connected it.

    Raises UsageError where that cannot be done.

    Ray unpickles what its processes send each other, so whoever reaches the ports of a cluster runs
    code there: a cluster of our own listens on loopback and demands a token, or is not started.
    """
    if address is None:
        if os.environ.get("RAY_AUTH_MODE", "token") != "token":
            raise UsageError(
                "RAY_AUTH_MODE switches the token of Ray off, and then anyone may run code:"
                " unset it"
            )
        os.environ.setdefault(_CLUSTERS, "0")  # Ray reads it when it is imported
    # Else a thread that still listens to a worker after the end would start another cluster by
    # itself.
    os.environ.setdefault("RAY_ENABLE_AUTO_CONNECT", "0")
    try:
        import ray
    except ImportError:
        raise UsageError(f"Ray is not installed: {install_hint('ray')}") from None
    if ray.is_initialized():
        return ray, False
    logging.getLogger("ray").setLevel(logging.ERROR)
    if address is None:
        _start_cluster(ray)
    else:
        _join_cluster(ray, address)
    return ray, True


def _start_cluster(ray: ModuleType) -> None:
    """Start a cluster on this machine.

    Raises UsageError where it does not start, or would listen to others.
    """
    try:
        ray.init(
            address="local",
            include_dashboard=False,
            object_store_memory=_STORE,
            _system_config={"worker_niceness": 0},
            log_to_driver=False,
            configure_logging=False,
        )
    except Exception as error:  # noqa: BLE001
        # Ray raises a bare Exception where a node starts too slowly.
        ray.shutdown()  # ends the processes that did start
        raise UsageError(
            f"Ray did not start on this machine: {_join_lines(error)} Its logs are in"
            f" {_find_logs()}. Try again when the machine is less busy, or use the executor"
            " processes, without Ray"
        ) from None
    if (ray.util.get_node_ip_address(), os.environ.get("RAY_AUTH_MODE")) != ("127.0.0.1", "token"):
        ray.shutdown()
        raise UsageError(
            f"Ray would listen beyond this machine or without a token: set {_CLUSTERS}=0 before it"
            " starts"
        )


def _join_cluster(ray: ModuleType, address: str) -> None:
    """Connect to a cluster that is there already.

    Raises UsageError where none answers, or it cannot be used.
    """
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    try:
        if colon and port.isdigit():  # where nothing listens, Ray itself would try for minutes
            socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK).close()
        ray.init(address=address, log_to_driver=False, configure_logging=False)
    except (OSError, OverflowError) as error:
        why = f"no Ray cluster answers at {address} ({error}): start one with `ray start --head`"
        raise UsageError(why) from None
    except Exception as error:  # noqa: BLE001
        # Ray raises other failures under classes of its own choice.
        hint = ": install the same versions here and there" if "ersion" in str(error) else ""
        raise UsageError(
            f"the Ray cluster at {address} cannot be used: {_join_lines(error)}{hint}"
        ) from None


def _join_lines(error: Exception) -> str:
    """Write what Ray says, often over many lines, as one."""
    return " ".join(str(error).split()) or type(error).__name__


def _find_logs() -> Path:
    """Return the folder in which Ray, told nothing else, writes the logs of the newest cluster."""
    if "RAY_TMPDIR" in os.environ:
        temporary = Path(os.environ["RAY_TMPDIR"])
    elif sys.platform == "linux":
        temporary = Path(tempfile.gettempdir())
    else:  # there, unlike Python, Ray pays no heed to TMPDIR
        temporary = Path("/") / "tmp"
    return temporary / "ray" / "session_latest" / "logs"


_EXPLAINED = {
    "ObjectStoreFullError": "the object store is full; start nodes with more --object-store-memory",
    "OutOfDiskError": "the disk of a node is full",
    "OutOfMemoryError": "a node has run out of memory; give it fewer processors or more memory",
    "NodeDiedError": "a node was lost",
    "WorkerCrashedError": "a worker was lost again and again",
}


def _explain(error: Exception) -> str:
    """Say in our words what Ray says in many; the last line of it where we have none."""
    explanation = _EXPLAINED.get(type(error).__name__)
    return explanation or (str(error).strip() or type(error).__name__).splitlines()[-1]


class _QueueChannel:
    """The worker's end: messages wait in queues until the driver fetches or brings some."""

    def __init__(self) -> None:
        self.inbox: queue.SimpleQueue[list[Message]] = queue.SimpleQueue()
        self.outbox: queue.SimpleQueue[list[Message]] = queue.SimpleQueue()

    def send(self, messages: list[Message]) -> None:
        self.outbox.put(messages)

    def recv(self) -> list[Message]:
        return self.inbox.get()


class _PlayActor:
    """A worker of the cluster.

    Messages are fetched and brought by calls of its methods, a millisecond each.
    """

    def __init__(self, work: WorkerJob) -> None:
        self._channel = _QueueChannel()
        threading.Thread(target=PlayWorker(self._channel, work).run, daemon=True).start()

    def deliver(self, messages: list[Message]) -> None:
        """Take in messages of the driver."""
        self._channel.inbox.put(messages)

    def collect(self) -> list[Message]:
        """Wait for something to say, and say all that is there a moment later."""
        try:
            messages = self._channel.outbox.get(timeout=_LOOK)
        except queue.Empty:
            return []
        time.sleep(_MOMENT)
        return messages + _take_all(self._channel.outbox)


def _take_all(waiting: queue.SimpleQueue[list[Message]]) -> list[Message]:
    """Take everything out of a queue of lists."""
    messages: list[Message] = []
    with suppress(queue.Empty):
        while True:
            messages += waiting.get_nowait()
    return messages


class _ActorLink:
    """The way to one worker actor.

    What is sent while messages are on their way goes with the next ones.
    """

    def __init__(
        self,
        ray: ModuleType,
        work: WorkerJob,
        options: Mapping[str, object],
    ) -> None:
        self._ray = ray
        self._actor = ray.remote(_PlayActor).options(**options).remote(work)
        self._outbox: queue.SimpleQueue[list[Message]] = queue.SimpleQueue()
        threading.Thread(target=self._deliver, daemon=True).start()

    def send(self, messages: list[Message]) -> None:
        """Send messages with the next ones; none end the sending."""
        self._outbox.put(messages)

    def _deliver(self) -> None:
        while messages := self._outbox.get():
            try:
                self._ray.get(self._actor.deliver.remote(messages + _take_all(self._outbox)))
            except self._ray.exceptions.RayError:
                with suppress(
                    Exception
                ):  # whatever it was, the worker has missed something: another takes its place
                    self._ray.kill(self._actor)
                return

    def recv(self) -> list[Message]:
        """Wait for messages; EOFError once the actor is lost."""
        try:
            messages: list[Message] = self._ray.get(self._actor.collect.remote())
        except self._ray.exceptions.RayError as error:
            raise EOFError(_explain(error)) from None
        return messages

    def close(self, patience: float) -> None:
        """End the actor; what it was asked to do is done or not wanted any more."""
        self._outbox.put([])
        self._ray.kill(self._actor)
