"""Limits on the calls of a model, and prices.

Only so many calls run at once, a call is made again after what may pass, and no call goes beyond a
budget.

`Retried` goes around `Limited`, not the other way round: then a call that waits holds no place that
another could use.
"""

import logging
import random
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

from bestresponse.core.errors import (
    ModelUnavailable,
    OverBudget,
    SettingError,
    Transient,
    Unreached,
    UsageError,
)
from bestresponse.core.extras import install_hint
from bestresponse.core.registry import Registry
from bestresponse.models.base import LEAST_REASONING, Json, Model, Reply, Request, Usage, Wrapper
from bestresponse.models.providers.weights import WEIGHTS

Price = Callable[[Usage], float | None]
"""US dollars for these tokens; None where the price is not known."""
prices = Registry("bestresponse.prices", "list of prices")
"""By the name of a provider: functions of a model's name that return its `Price`."""

_AMOUNT = re.compile(r"(\d+(?:_\d+)*(?:\.\d+)?) ?(call|token|dollar)s?")
_UNITS = {"call": "calls", "token": "tokens", "dollar": "money"}
_BUDGETS = "limits such as '200 calls, 1000000 tokens, 3 dollars', each at most once"
_log = logging.getLogger("bestresponse.models")
_LONGEST_TOKEN = 16  # bytes, on average, in a reply whose server counts no tokens
_FRAME = 64  # tokens that a provider's template may add to a request
_FRAME_PER_MESSAGE = 16  # and to each message, for its role and its end


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits on everything a meter sees: attempts, tokens of prompt and reply together, US dollars.

    None: no limit.
    """

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None

    @classmethod
    def parse(cls, text: str) -> "Budget":
        """Read what a user writes, such as `200 calls, 3 dollars`; nothing means no limit.

        >>> Budget.parse("200 calls, 1_000_000 tokens")
        Budget(calls=200, tokens=1000000, money=None)
        """
        limits: dict[str, Any] = {}
        for part in text.split(",") if text.strip() else ():
            amount = _AMOUNT.fullmatch(part.strip())
            unit = _UNITS[amount[2]] if amount else ""
            if amount is None or unit in limits or (unit != "money" and "." in amount[1]):
                raise SettingError("budget", f"expected {_BUDGETS}, got {text!r}")
            limits[unit] = float(amount[1]) if unit == "money" else int(amount[1])
        return cls(**limits)


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
        tokens = self.tokens + other.tokens
        money = self.money + other.money
        return Cost(
            self.calls + other.calls,
            tokens,
            money,
            self.unpriced + other.unpriced,
        )

    def __neg__(self) -> "Cost":
        return Cost(-self.calls, -self.tokens, -self.money, -self.unpriced)


class Meter:
    """Count for any number of models and threads, and keep all within one budget.

    Before a call its largest possible cost is reserved (`largest_usage`). If that does not fit
    beside what is spent and reserved, the call waits for others to finish, because most cost less
    than their reservation; if it does not fit beside what is spent alone, it is `OverBudget`.
    Afterwards the true cost takes the reservation's place. A failed attempt counts as a call; it
    costs what was reserved if it may have been billed, else no tokens. An
    unknown price is unknown: it is never taken for 0. After a reply that is longer than
    was asked for (the server ignores `max_tokens`), no further call is made: no reservation could
    be trusted.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget or Budget()
        self.spent = Cost()
        self._reserved = Cost()
        self._overrun = ""
        self._changed = threading.Condition()

    def reserve(self, cost: Cost) -> None:
        """Set the cost aside; wait while calls in flight may still free what is missing."""
        with self._changed:
            while self._overrun or self._find_excess(self.spent + self._reserved + cost):
                if self._overrun:
                    raise OverBudget(self._overrun)
                excess = self._find_excess(self.spent + cost)
                if excess or not self._reserved.calls:
                    raise OverBudget(f"the next call could exceed the budget: {excess}")
                self._changed.wait()
            self._reserved += cost

    def settle(self, reserved: Cost, cost: Cost) -> None:
        """Replace a reservation by what the call really cost."""
        with self._changed:
            self._reserved += -reserved
            self.spent += cost
            self._changed.notify_all()

    def expect_at_most(self, tokens: int, reply: Reply) -> None:
        """Let no further call be made where a reply is longer and the budget has to be kept."""
        length = reply.usage.completion
        if length is None:
            length = len(reply.text.encode("utf-8", "surrogatepass")) // _LONGEST_TOKEN
        bounded = self.budget.tokens is not None or self.budget.money is not None
        if bounded and length > tokens:
            self._overrun = (
                f"a reply of {length:,} tokens came where at most {tokens:,} were asked for, so no"
                " budget can be kept with this server"
            )

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

    def __init__(
        self,
        model: Model,
        meter: Meter,
        price: Price = lambda usage: None,
    ) -> None:
        super().__init__(model)
        self._meter = meter
        self._price = price
        if meter.budget.money is not None and price(Usage(1, 1)) is None:
            known = (
                ""
                if find_spec("genai_prices")
                else f"; for a list of prices, {install_hint('cost')}"
            )
            raise UsageError(
                f"the price of {model.id} is not known, so a budget in dollars cannot be"
                f" kept: limit calls or tokens instead{known}"
            )

    def complete(self, request: Request) -> Reply:
        """Answer within the budget, or `OverBudget` before anything was sent."""
        largest = largest_usage(request)
        reserved = self._find_cost(largest)
        self._meter.reserve(reserved)
        cost = Cost(calls=1)
        try:
            reply = self._model.complete(request)
            self._meter.expect_at_most(largest.completion or 0, reply)
            counted = reply.usage.prompt is not None and reply.usage.completion is not None
            cost = self._find_cost(reply.usage) if counted else replace(reserved, unpriced=1)
        except Transient as error:
            if error.billed:
                cost = reserved
            raise
        finally:
            self._meter.settle(reserved, cost)
        return reply

    def _find_cost(self, usage: Usage) -> Cost:
        money = self._price(usage)
        return Cost(
            1,
            (usage.prompt or 0) + (usage.completion or 0),
            money or 0.0,
            int(money is None),
        )


def largest_usage(request: Request) -> Usage:
    """Return a usage that this request cannot exceed.

    Every byte of the prompt is counted as a token (no byte-level tokenizer makes more), with what
    the framing adds, and `max_tokens` of reply beside the tokens of reasoning.
    """
    texts = "".join(message.content for message in request.messages) + (request.schema or "")
    num_bytes = len(texts.encode("utf-8", "surrogatepass"))
    prompt = num_bytes + _FRAME + _FRAME_PER_MESSAGE * len(request.messages)
    thought = max(request.reasoning_budget, LEAST_REASONING) if request.reasoning_budget else 0
    return Usage(prompt, request.max_tokens + thought)


class Gate(threading.BoundedSemaphore):
    """Let `concurrency` calls in at once.

    It belongs to a provider; all models of that provider share it.
    """

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
    """`tries` in all, with waits in seconds from `first` doubling up to `longest`.

    A server may ask for up to `patience`.
    """

    tries: int = 8
    first: float = 0.5
    longest: float = 30.0
    patience: float = 300.0

    def __post_init__(self) -> None:
        if self.tries < 1:
            raise UsageError(f"tries is {self.tries}; a call needs at least 1")

    def wait(self, failures: int, asked: float | None, luck: float) -> float:
        """Return the seconds before the next try.

        `luck` in [0, 1) spreads callers that failed together.
        """
        if asked is not None:
            return asked * (1 + 0.1 * luck)
        full = min(self.longest, self.first * 2.0 ** (failures - 1))
        return full * (0.5 + 0.5 * luck)


class Retried(Wrapper):
    """A model that is asked again after a `Transient` error; other errors pass through at once.

    It is tried a bounded number of times, ever more slowly: waits grow exponentially with jitter
    (Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog, 2015); a `Retry-After` of the
    server comes first. A server that was never reached is not waited for.
    """

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
        self._is_reached = False

    def complete(self, request: Request) -> Reply:
        """Return the first reply.

        `ModelUnavailable` with the last reason when patience or tries are used up.
        """
        policy = self._policy
        for failures in range(1, policy.tries + 1):
            try:
                reply = self._model.complete(request)
                self._is_reached = True
                return replace(reply, failed=failures - 1)
            except Transient as error:
                last = error
            if not isinstance(last, Unreached):
                self._is_reached = True
            elif not self._is_reached:
                raise ModelUnavailable(str(last)) from last
            asked = last.retry_after
            if asked is not None and asked > policy.patience:
                raise ModelUnavailable(
                    f"{last}; it asks to wait {asked:.0f} s, and at most {policy.patience:.0f} s"
                    " are allowed"
                ) from last
            if failures < policy.tries:
                wait = policy.wait(failures, asked, self._rng.random())
                _log.info("%s; asking again in %.1f s", last, wait)
                self._sleep(wait)
        raise ModelUnavailable(f"gave up after {policy.tries} tries: {last}") from last


_ALONE = re.compile(r"[!-@\[-`{-~]")
_BYTES_PER_TOKEN = 3  # fewer than English has, so that estimates are rather too high


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text before it is sent.

    No tokenizer of a provider is at hand then, and they differ most on what prompts about games are
    full of: numbers. Every digit and every mark of punctuation counts as a token, and every three
    bytes of the rest. On the tokenizer of SmolLM2, which splits numbers into digits, this gives 67
    for a table of payoffs that has 69 tokens and 57 for a described game that has 47; tokenizers
    that keep groups of digits together need fewer.

    >>> estimate_tokens("Which row do you play?"), estimate_tokens("12.50"), estimate_tokens("")
    (8, 5, 0)
    """
    rest, alone = _ALONE.subn("", text)
    num_bytes = len(rest.encode("utf-8", "replace"))
    return alone + -(-num_bytes // _BYTES_PER_TOKEN)


def estimate_price(name: str, prompt: int, completion: int) -> float | None:
    """Return what tokens of a model cost in US dollars, by the name a user types.

    Returns None where that is not known.

    Prices come from the open list of genai-prices. A model in this process costs nothing; for any
    other model that the list does not hold, the price is not known.

    >>> estimate_price("smollm2", 1_000_000, 1_000_000)
    0.0
    >>> estimate_price("http://localhost:8000/v1#m", 1, 1) is None
    True
    """
    provider, _, rest = name.partition("/")
    if name in WEIGHTS or name.endswith(".gguf"):
        provider = "local"
        rest = name
    return find_price_by_identity({"provider": provider, "model": rest} if rest else {})(
        Usage(prompt, completion)
    )


def find_price(model: Model) -> Price:
    """Return the price function of a model."""
    return find_price_by_identity(model.identity)


def find_price_by_identity(identity: Mapping[str, Json]) -> Price:
    """Return the price function of whoever has this identity, by its provider and name.

    Only the providers' own services have the list's prices: another server's model of the same name
    has not.
    """
    provider = str(identity.get("provider"))
    name = str(identity.get("model"))
    if provider in ("local", "scripted"):
        return lambda usage: 0.0
    if provider in prices.names():
        price: Price = prices.make(provider, name)
        return price
    if provider == "inspect":
        provider, _, name = name.partition("/")
    if find_spec("genai_prices") is None:
        return lambda usage: None
    return _listed(provider, name)


def _listed(provider: str, name: str) -> Price:
    """Return the price as the list has it today.

    Looked up once, because that takes longer than to compute with it.
    """
    import genai_prices
    from genai_prices.data import providers

    if provider not in {listed.id for listed in providers}:  # the list also takes similar names
        return lambda usage: None
    nothing = genai_prices.Usage(input_tokens=0, output_tokens=0)
    try:
        tariff = genai_prices.calc_price(nothing, model_ref=name, provider_id=provider).model_price
    except LookupError:
        return lambda usage: None

    def price(usage: Usage) -> float | None:
        if usage.prompt is None or usage.completion is None:
            return None
        cached = min(usage.cached or 0, usage.prompt)
        tokens = genai_prices.Usage(
            input_tokens=usage.prompt,
            cache_read_tokens=cached,
            output_tokens=usage.completion,
        )
        return float(tariff.calc_price(tokens)["total_price"])

    return price
