"""How fast a provider may be asked: calls at once, and calls started per minute.

A `Gate` belongs to a provider; all models of that provider share it. No window of a minute holds more starts than
allowed: the start times of the last calls are kept, and a further call waits until the oldest is a minute old.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from bestresponse.core.errors import UsageError
from bestresponse.models.base import Model, Reply, Request
from bestresponse.models.wrappers.base import Wrapper

__all__ = ["Gate", "Limited"]

_MINUTE = 60.0


class Gate:
    """Let `concurrency` calls in at once and `per_minute` calls a minute (None: as many as come)."""

    def __init__(
        self,
        concurrency: int,
        per_minute: int | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if concurrency < 1 or (per_minute is not None and per_minute < 1):
            raise UsageError(f"limits of {concurrency} calls at once and {per_minute} per minute let nothing through")
        self._places = threading.BoundedSemaphore(concurrency)
        self._starts: deque[float] | None = None if per_minute is None else deque(maxlen=per_minute)
        self._lock = threading.Lock()
        self._clock = clock
        self._sleep = sleep

    @contextmanager
    def pass_through(self) -> Iterator[None]:
        """Wait for a place and for the minute's allowance; the place is given back at the end."""
        with self._places:
            wait = self._book()
            if wait > 0:
                self._sleep(wait)
            yield

    def _book(self) -> float:
        """Reserve the next start time and say how far away it is."""
        if self._starts is None:
            return 0.0
        with self._lock:
            now = self._clock()
            full = len(self._starts) == self._starts.maxlen
            start = max(now, self._starts[0] + _MINUTE) if full else now
            self._starts.append(start)
            return start - now


class Limited(Wrapper):
    """A model behind a gate."""

    def __init__(self, model: Model, gate: Gate) -> None:
        super().__init__(model)
        self._gate = gate

    def complete(self, request: Request) -> Reply:
        """Answer once the gate lets the call through."""
        with self._gate.pass_through():
            return self._model.complete(request)
