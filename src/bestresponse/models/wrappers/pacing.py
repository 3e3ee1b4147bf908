"""How often and how fast a provider is asked: calls at once, calls started per minute, and calls tried again.

A `Gate` belongs to a provider; all models of that provider share it. No window of a minute holds more starts than
allowed: the start times of the last calls are kept, and a further call waits until the oldest is a minute old.

What may pass is tried again a bounded number of times, ever more slowly: waits grow exponentially with jitter
(Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog, 2015); a `Retry-After` of the server comes first.
`Retried` goes around `Limited`, not the other way round: then a call that waits holds no place that another could use.
"""

import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bestresponse.core.errors import ModelUnavailable, Transient, UsageError
from bestresponse.models.base import Model, Reply, Request, Wrapper

__all__ = ["Gate", "Limited", "Retried", "RetryPolicy"]

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
            if self._starts is not None:
                with self._lock:
                    now = self._clock()
                    full = len(self._starts) == self._starts.maxlen
                    start = max(now, self._starts[0] + _MINUTE) if full else now
                    self._starts.append(start)
                if start > now:
                    self._sleep(start - now)
            yield


class Limited(Wrapper):
    """A model behind a gate."""

    def __init__(self, model: Model, gate: Gate) -> None:
        super().__init__(model)
        self._gate = gate

    def complete(self, request: Request) -> Reply:
        """Answer once the gate lets the call through."""
        with self._gate.pass_through():
            return self._model.complete(request)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """`tries` in all; waits in seconds from `first` doubling up to `longest`; a server may ask for up to `patience`."""

    tries: int = 6
    first: float = 0.5
    longest: float = 30.0
    patience: float = 300.0

    def __post_init__(self) -> None:
        if self.tries < 1:
            raise UsageError(f"tries is {self.tries}; a call needs at least 1")

    def wait(self, failures: int, asked: float | None, luck: float) -> float:
        """Return the seconds before the next try; `luck` in [0, 1) spreads callers that failed together."""
        if asked is not None:
            return asked * (1 + 0.1 * luck)
        full = min(self.longest, self.first * 2.0 ** (failures - 1))
        return full * (0.5 + 0.5 * luck)


class Retried(Wrapper):
    """A model that is asked again after a `Transient` error; other errors pass through at once."""

    def __init__(
        self,
        model: Model,
        policy: RetryPolicy | None = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
        rng: random.Random | None = None,
    ) -> None:
        super().__init__(model)
        self._policy = policy or RetryPolicy()
        self._sleep = sleep
        self._rng = rng or random.Random()

    def complete(self, request: Request) -> Reply:
        """Return the first reply; `ModelUnavailable` with the last reason when patience or tries are used up."""
        policy = self._policy
        for failures in range(1, policy.tries + 1):
            try:
                return self._model.complete(request)
            except Transient as error:
                last = error
            asked = last.retry_after
            if asked is not None and asked > policy.patience:
                raise ModelUnavailable(
                    f"{last}; it asks to wait {asked:.0f} s, and at most {policy.patience:.0f} s are allowed"
                ) from last
            if failures < policy.tries:
                self._sleep(policy.wait(failures, asked, self._rng.random()))
        raise ModelUnavailable(f"gave up after {policy.tries} tries: {last}") from last
