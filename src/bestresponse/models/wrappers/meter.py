"""What calls cost, and a budget that cannot be passed.

Before a call its largest possible cost is reserved: one call, as many prompt tokens as the prompt has bytes (no
byte-level tokenizer makes more) plus what the framing adds, and `max_tokens` of reply. If that does not fit beside
what is spent and reserved, the call waits for others to finish, because most cost less than their reservation; if it
does not fit beside what is spent alone, it is `OverBudget`. Afterwards the true cost takes the reservation's place.
A failed attempt counts as a call and costs no tokens. An unknown price is unknown: it is never taken for 0.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields

from bestresponse.core.errors import OverBudget, UsageError
from bestresponse.models.base import Model, Reply, Request, Usage, Wrapper

__all__ = ["Budget", "Ledger", "Meter", "Metered", "Price", "largest_usage"]

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
class Ledger:
    """What was spent. `cached` is part of `prompt`, `reasoning` part of `completion`.

    `calls` are attempts, `failed` those among them without a reply. `uncounted` replies came without token counts and
    `unpriced` ones without a known price: `money` leaves them out, and is None when nothing could be priced.
    """

    calls: int = 0
    failed: int = 0
    prompt: int = 0
    completion: int = 0
    cached: int = 0
    reasoning: int = 0
    money: float | None = None
    uncounted: int = 0
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        """Tokens of prompts and replies together."""
        return self.prompt + self.completion

    def __add__(self, other: "Ledger") -> "Ledger":
        known = [money for money in (self.money, other.money) if money is not None]
        counts = {name: getattr(self, name) + getattr(other, name) for name in _COUNTS}
        return Ledger(**counts, money=sum(known) if known else None)


_COUNTS = tuple(field.name for field in fields(Ledger) if field.name != "money")


@dataclass(frozen=True, slots=True)
class _Cost:
    """Calls, tokens and dollars against which the budget is held."""

    calls: int = 0
    tokens: int = 0
    money: float = 0.0

    def __add__(self, other: "_Cost") -> "_Cost":
        return _Cost(self.calls + other.calls, self.tokens + other.tokens, self.money + other.money)

    def __sub__(self, other: "_Cost") -> "_Cost":
        return _Cost(self.calls - other.calls, self.tokens - other.tokens, self.money - other.money)


class Meter:
    """Count for any number of models in any number of threads, and keep all of them within one budget."""

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget or Budget()
        self._spent = _Cost()
        self._reserved = _Cost()
        self._ledgers: dict[str, Ledger] = {}
        self._changed = threading.Condition()

    @property
    def ledger(self) -> Ledger:
        """What all models have spent up to now."""
        with self._changed:
            return sum(self._ledgers.values(), Ledger())

    @property
    def by_model(self) -> Mapping[str, Ledger]:
        """What each model has spent, by its id, in the order of first use."""
        with self._changed:
            return dict(self._ledgers)

    def reserve(self, cost: _Cost) -> None:
        """Set the cost aside; wait while calls in flight may still free what is missing."""
        with self._changed:
            while self._find_excess(self._spent + self._reserved + cost):
                excess = self._find_excess(self._spent + cost)
                if excess or not self._reserved.calls:
                    raise OverBudget(f"the next call could pass the budget: {excess}")
                self._changed.wait()
            self._reserved += cost

    def settle(self, model: str, reserved: _Cost, cost: _Cost, entry: Ledger) -> None:
        """Replace a reservation by what the call really cost."""
        with self._changed:
            self._reserved -= reserved
            self._spent += cost
            self._ledgers[model] = self._ledgers.get(model, Ledger()) + entry
            self._changed.notify_all()

    def _find_excess(self, cost: _Cost) -> str:
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
            raise UsageError(
                f"the price of {model.id} is not known, so a budget in money cannot be kept: set calls or tokens"
            )

    def complete(self, request: Request) -> Reply:
        """Answer within the budget, or `OverBudget` before anything was sent."""
        largest = largest_usage(request)
        reserved = _make_cost(largest, self._price(largest))
        self._meter.reserve(reserved)
        cost, entry = _Cost(calls=1), Ledger(calls=1, failed=1)
        try:
            reply = self._model.complete(request)
            usage = reply.usage
            counted = usage.prompt is not None and usage.completion is not None
            money = self._price(usage) if counted else None
            cost = _make_cost(usage, money) if counted else reserved
            tokens = (usage.prompt or 0, usage.completion or 0, usage.cached or 0, usage.reasoning or 0)
            entry = Ledger(1, 0, *tokens, money, uncounted=int(not counted), unpriced=int(money is None))
        finally:
            self._meter.settle(self.id, reserved, cost, entry)
        return reply


def _make_cost(usage: Usage, money: float | None) -> _Cost:
    return _Cost(1, (usage.prompt or 0) + (usage.completion or 0), money or 0.0)


def largest_usage(request: Request) -> Usage:
    """Return a usage that this request cannot exceed: every byte of the prompt counted as a token."""
    texts = [message.content for message in request.messages] + [request.schema or ""]
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return Usage(size + _FRAME + _FRAME_PER_MESSAGE * len(request.messages), request.max_tokens)
