"""How often a provider is asked: calls at once, and calls tried again.

A `Gate` belongs to a provider; all models of that provider share it.

What may pass is tried again a bounded number of times, ever more slowly: waits grow exponentially with jitter
(Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog, 2015); a `Retry-After` of the server comes first.
`Retried` goes around `Limited`, not the other way round: then a call that waits holds no place that another could use.
"""

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bestresponse.core.errors import ModelUnavailable, Transient, UsageError
from bestresponse.models.base import Model, Reply, Request, Wrapper


class Gate:
    """Let `concurrency` calls in at once."""

    def __init__(self, concurrency: int) -> None:
        if concurrency < 1:
            raise UsageError(f"a limit of {concurrency} calls at once lets nothing through")
        self._places = threading.BoundedSemaphore(concurrency)

    @contextmanager
    def pass_through(self) -> Iterator[None]:
        """Wait for a place; it is given back at the end."""
        with self._places:
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
