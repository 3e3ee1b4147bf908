"""Call a model within limits: so many calls at once, again after what may pass, never beyond a budget.

Before a call its largest possible cost is reserved: one call, as many prompt tokens as the prompt has bytes (no
byte-level tokenizer makes more) plus what the framing adds, and `max_tokens` of reply. If that does not fit beside
what is spent and reserved, the call waits for others to finish, because most cost less than their reservation; if it
does not fit beside what is spent alone, it is `OverBudget`. Afterwards the true cost takes the reservation's place.
A failed attempt counts as a call and costs no tokens. An unknown price is unknown: it is never taken for 0.

A `Gate` belongs to a provider; all models of that provider share it.

What may pass is tried again a bounded number of times, ever more slowly: waits grow exponentially with jitter
(Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog, 2015); a `Retry-After` of the server comes first.
`Retried` goes around `Limited`, not the other way round: then a call that waits holds no place that another could use.
"""

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec

from bestresponse.core.errors import ModelUnavailable, OverBudget, Transient, UsageError
from bestresponse.models.base import Model, Reply, Request, Usage, Wrapper

Price = Callable[[Usage], float | None]
"""US dollars for these tokens; None where the price is not known."""

_FRAME = 64
_FRAME_PER_MESSAGE = 16


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits on everything a meter sees: attempts, tokens of prompt and reply together, US dollars. None: no limit."""

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """Attempts, tokens of prompts and replies together, and US dollars.

    `unpriced` replies have no known price: `money` leaves them out.
    """

    calls: int = 0
    tokens: int = 0
    money: float = 0.0
    unpriced: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        tokens, money = self.tokens + other.tokens, self.money + other.money
        return Cost(self.calls + other.calls, tokens, money, self.unpriced + other.unpriced)

    def __neg__(self) -> "Cost":
        return Cost(-self.calls, -self.tokens, -self.money, -self.unpriced)


class Meter:
    """Count for any number of models in any number of threads, and keep all of them within one budget."""

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget or Budget()
        self.spent = Cost()
        self._reserved = Cost()
        self._changed = threading.Condition()

    def reserve(self, cost: Cost) -> None:
        """Set the cost aside; wait while calls in flight may still free what is missing."""
        with self._changed:
            while self._find_excess(self.spent + self._reserved + cost):
                excess = self._find_excess(self.spent + cost)
                if excess or not self._reserved.calls:
                    raise OverBudget(f"the next call could pass the budget: {excess}")
                self._changed.wait()
            self._reserved += cost

    def settle(self, reserved: Cost, cost: Cost) -> None:
        """Replace a reservation by what the call really cost."""
        with self._changed:
            self._reserved += -reserved
            self.spent += cost
            self._changed.notify_all()

    def _find_excess(self, cost: Cost) -> str:
        """Say which limit this would pass; nothing if none."""
        budget = self.budget
        if budget.calls is not None and cost.calls > budget.calls:
            return f"{cost.calls} calls of {budget.calls}"
        if budget.tokens is not None and cost.tokens > budget.tokens:
            return f"up to {cost.tokens} tokens of {budget.tokens}"
        if budget.money is not None and cost.money > budget.money:
            return f"up to ${cost.money:.4f} of ${budget.money:.4f}"
        return ""


class Metered(Wrapper):
    """A model whose calls are counted and kept within a meter's budget."""

    def __init__(self, model: Model, meter: Meter, price: Price = lambda usage: None) -> None:
        super().__init__(model)
        self._meter = meter
        self._price = price
        if meter.budget.money is not None and price(Usage(1, 1)) is None:
            known = "" if find_spec("genai_prices") else ", or pip install 'bestresponse[cost]' for a list of prices"
            raise UsageError(
                f"the price of {model.id} is not known, so a budget in money cannot be kept: set calls or tokens{known}"
            )

    def complete(self, request: Request) -> Reply:
        """Answer within the budget, or `OverBudget` before anything was sent."""
        reserved = self._find_cost(largest_usage(request))
        self._meter.reserve(reserved)
        cost = Cost(calls=1)
        try:
            reply = self._model.complete(request)
            counted = reply.usage.prompt is not None and reply.usage.completion is not None
            cost = self._find_cost(reply.usage) if counted else replace(reserved, unpriced=1)
        finally:
            self._meter.settle(reserved, cost)
        return reply

    def _find_cost(self, usage: Usage) -> Cost:
        money = self._price(usage)
        return Cost(1, (usage.prompt or 0) + (usage.completion or 0), money or 0.0, int(money is None))


def largest_usage(request: Request) -> Usage:
    """Return a usage that this request cannot exceed: every byte of the prompt counted as a token."""
    texts = [message.content for message in request.messages] + [request.schema or ""]
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return Usage(size + _FRAME + _FRAME_PER_MESSAGE * len(request.messages), request.max_tokens)


class Gate(threading.BoundedSemaphore):
    """Let `concurrency` calls in at once."""

    def __init__(self, concurrency: int) -> None:
        if concurrency < 1:
            raise UsageError(f"a limit of {concurrency} calls at once lets nothing through")
        super().__init__(concurrency)


class Limited(Wrapper):
    """A model behind a gate."""

    def __init__(self, model: Model, gate: Gate) -> None:
        super().__init__(model)
        self._gate = gate

    def complete(self, request: Request) -> Reply:
        """Answer once the gate lets the call through."""
        with self._gate:
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
