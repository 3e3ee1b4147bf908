"""What calls cost, and a budget that cannot be passed.

Before a call its largest possible cost is reserved: one call, as many prompt tokens as the prompt has bytes (no
byte-level tokenizer makes more) plus what the framing adds, and `max_tokens` of reply. If that does not fit beside
what is spent and reserved, the call waits for others to finish, because most cost less than their reservation; if it
does not fit beside what is spent alone, it is `OverBudget`. Afterwards the true cost takes the reservation's place.
A failed attempt counts as a call and costs no tokens. An unknown price is unknown: it is never taken for 0.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec

from bestresponse.core.errors import OverBudget, UsageError
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
