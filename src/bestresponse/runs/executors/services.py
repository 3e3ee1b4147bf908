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
from typing import NamedTuple

from bestresponse.core.errors import StoreError
from bestresponse.core.json import JsonObject
from bestresponse.models.wrappers.cached import Cache
from bestresponse.models.wrappers.meter import Cost, Meter
from bestresponse.models.wrappers.pacing import Gate
from bestresponse.runs.models import Provider

__all__ = ["BudgetService", "Claim", "GateService", "ReplyService"]


class BudgetService:
    """A meter for workers elsewhere. A call of a lost worker counts as made, at its largest possible cost."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._lock = threading.Lock()
        self._open: dict[str, list[Cost]] = defaultdict(list)
        self._gone: set[str] = set()

    def reserve(self, holder: str, cost: Cost) -> None:
        """Set a cost aside for a worker; waits as `Meter.reserve` does."""
        self._meter.reserve(cost)
        with self._lock:
            lost = holder in self._gone
            if not lost:
                self._open[holder].append(cost)
        if lost:
            self._meter.settle(cost, Cost())

    def settle(self, holder: str, reserved: Cost, cost: Cost) -> None:
        """Replace a worker's reservation by what the call really cost."""
        with self._lock:
            if reserved not in self._open[holder]:
                return
            self._open[holder].remove(reserved)
        self._meter.settle(reserved, cost)

    def release(self, holder: str) -> None:
        """Close the account of a lost worker."""
        with self._lock:
            self._gone.add(holder)
            lost = self._open.pop(holder, [])
        for cost in lost:
            self._meter.settle(cost, cost)


class GateService:
    """The gates of all providers, for workers elsewhere."""

    def __init__(self, gates: Mapping[Provider, Gate]) -> None:
        self._gates = dict(gates)
        self._lock = threading.Lock()
        self._inside: dict[tuple[str, Provider], list[AbstractContextManager[None]]] = defaultdict(list)
        self._gone: set[str] = set()

    def enter(self, holder: str, provider: Provider) -> None:
        """Wait for a place at that provider."""
        place = self._gates[provider].pass_through()
        place.__enter__()
        with self._lock:
            lost = holder in self._gone
            if not lost:
                self._inside[holder, provider].append(place)
        if lost:
            place.__exit__(None, None, None)

    def leave(self, holder: str, provider: Provider) -> None:
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


Row = tuple[str, str, str]
"""What is stored with a reply: the model, its identity and the request, both as JSON."""


class Claim(NamedTuple):
    """What a worker learns that asks for a call: the `shared` reply of another worker, or else the `stored` one."""

    shared: str | None
    stored: str | None


class _Retry(Exception):
    """The worker that made the call was lost; somebody else makes it."""


class ReplyService:
    """A cache for workers elsewhere, in which replies are JSON: equal calls in flight are made once, by any of them."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._lock = threading.Lock()
        self._flights: dict[str, tuple[str, Future[str]]] = {}
        self._gone: set[str] = set()

    def get(self, holder: str, key: str) -> str | None:
        """Return the stored reply; None where there is none."""
        return self._cache.get_text(key)

    def recent(self, holder: str, limit: int) -> list[tuple[JsonObject, JsonObject]]:
        """Return identity and request of the last calls stored."""
        return list(self._cache.recent(limit))

    def claim(self, holder: str, key: str) -> Claim:
        """Wait for whoever makes the same call, and return its reply; where there is nobody, `claim_now`."""
        while True:
            claim = self.claim_now(holder, key)
            if isinstance(claim, Claim):
                return claim
            try:
                return Claim(claim.result(), None)
            except _Retry:
                continue

    def claim_now(self, holder: str, key: str) -> Claim | Future[str]:
        """Let this worker make the call, and return the stored reply if there is one; else the call in flight."""
        with self._lock:
            if key in self._flights:
                return self._flights[key][1]
            if holder in self._gone:
                return Claim(None, None)
            self._flights[key] = (holder, Future())
        try:
            return Claim(None, self._cache.get_text(key))
        except StoreError as error:
            self.land(holder, key, None, error, None)
            raise

    def land(self, holder: str, key: str, reply: str | None, error: Exception | None, row: Row | None) -> None:
        """End a call that was claimed, with its reply or its error; a `row` is stored first."""
        try:
            if row is not None and reply is not None:
                self._cache.put_text(key, *row, reply)
        finally:
            with self._lock:
                mine = key in self._flights and self._flights[key][0] == holder
                flight = self._flights.pop(key)[1] if mine else Future()
            if reply is not None:
                flight.set_result(reply)
            else:
                flight.set_exception(error or _Retry())

    def release(self, holder: str) -> None:
        """Let others make the calls that a lost worker had claimed."""
        with self._lock:
            self._gone.add(holder)
            lost = [key for key, flight in self._flights.items() if flight[0] == holder]
            flights = [self._flights.pop(key)[1] for key in lost]
        for flight in flights:
            flight.set_exception(_Retry())
