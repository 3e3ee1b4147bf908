"""What all workers of a run share: one budget, the providers' limits, and the cache of replies.

The driver holds these (or one Ray actor holds each); a worker is a *holder*, and what it has reserved, entered or
claimed when it is lost is given back by `release`.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from bestresponse.core.json import JsonObject
from bestresponse.models.base import Reply, Request
from bestresponse.models.wrappers.cached import Cache
from bestresponse.models.wrappers.limits import Gate
from bestresponse.models.wrappers.meter import Ledger, Meter

__all__ = ["BudgetService", "GateService", "ReplyService"]

_LOST = "lost with its worker"
_UNUSED = Ledger()


class BudgetService:
    """A meter for workers elsewhere. A call of a lost worker counts as made, at its largest possible cost."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._lock = threading.Lock()
        self._open: dict[str, list[Any]] = defaultdict(list)
        self._gone: set[str] = set()

    def reserve(self, holder: str, cost: Any) -> None:
        """Set a cost aside for a worker; waits as `Meter.reserve` does."""
        self._meter.reserve(cost)
        with self._lock:
            lost = holder in self._gone
            if not lost:
                self._open[holder].append(cost)
        if lost:
            self._meter.settle(_LOST, cost, cost - cost, _UNUSED)

    def settle(self, holder: str, model: str, reserved: Any, cost: Any, entry: Ledger) -> None:
        """Replace a worker's reservation by what the call really cost."""
        with self._lock:
            if reserved not in self._open[holder]:
                return
            self._open[holder].remove(reserved)
        self._meter.settle(model, reserved, cost, entry)

    def release(self, holder: str) -> None:
        """Close the account of a lost worker."""
        with self._lock:
            self._gone.add(holder)
            lost = self._open.pop(holder, [])
        for cost in lost:
            self._meter.settle(_LOST, cost, cost, Ledger(calls=1, failed=1))


class GateService:
    """The gates of all providers, for workers elsewhere."""

    def __init__(self, gates: Mapping[tuple[str, str], Gate]) -> None:
        self._gates = dict(gates)
        self._lock = threading.Lock()
        self._inside: dict[tuple[str, tuple[str, str]], list[AbstractContextManager[None]]] = defaultdict(list)
        self._gone: set[str] = set()

    def enter(self, holder: str, provider: tuple[str, str]) -> None:
        """Wait for a place at that provider."""
        place = self._gates[provider].pass_through()
        place.__enter__()
        with self._lock:
            lost = holder in self._gone
            if not lost:
                self._inside[holder, provider].append(place)
        if lost:
            place.__exit__(None, None, None)

    def leave(self, holder: str, provider: tuple[str, str]) -> None:
        """Give a place back."""
        with self._lock:
            places = self._inside[holder, provider]
            place = places.pop() if places else None
        if place is not None:
            place.__exit__(None, None, None)

    def release(self, holder: str) -> None:
        """Give back all places of a lost worker."""
        with self._lock:
            self._gone.add(holder)
            lost = [place for key in list(self._inside) if key[0] == holder for place in self._inside.pop(key)]
        for place in lost:
            place.__exit__(None, None, None)


class _Retry(Exception):
    """The worker that made the call was lost; somebody else makes it."""


class ReplyService:
    """A cache for workers elsewhere: equal calls in flight are made once, whoever makes them."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._lock = threading.Lock()
        self._flights: dict[str, tuple[str, Future[Reply]]] = {}

    def get(self, holder: str, key: str) -> Reply | None:
        """Return the stored reply; None where there is none."""
        return self._cache.get(key)

    def put(self, holder: str, key: str, model: str, identity: str, request: Request, reply: Reply) -> None:
        """Keep a reply."""
        self._cache.put(key, model, identity, request, reply)

    def recent(self, holder: str, limit: int) -> list[tuple[JsonObject, JsonObject]]:
        """Return identity and request of the last calls stored."""
        return list(self._cache.recent(limit))

    def claim(self, holder: str, key: str) -> tuple[Reply | None, Reply | None]:
        """Wait for whoever makes the same call, and return its reply; else None, and the stored reply if there is one.

        Where it is None, this worker makes the call.
        """
        while True:
            with self._lock:
                flight = self._flights.get(key)
                if flight is None:
                    self._flights[key] = (holder, Future())
                    return None, self._cache.get(key)
            try:
                return replace(flight[1].result(), cached=True), None
            except _Retry:
                continue

    def land(self, holder: str, key: str, reply: Reply | None, error: Exception | None) -> None:
        """End a call that was claimed, with its reply or its error."""
        with self._lock:
            flight = self._flights.get(key)
            if flight is None or flight[0] != holder:
                return
            del self._flights[key]
        if reply is not None:
            flight[1].set_result(reply)
        else:
            flight[1].set_exception(error or _Retry())

    def release(self, holder: str) -> None:
        """Let others make the calls that a lost worker had claimed."""
        with self._lock:
            lost = [key for key, flight in self._flights.items() if flight[0] == holder]
            flights = [self._flights.pop(key)[1] for key in lost]
        for flight in flights:
            flight.set_exception(_Retry())
