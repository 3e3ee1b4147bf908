"""Models in a worker: opened there by name, while budget, limits and cache are asked for elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from bestresponse.core.json import JsonObject
from bestresponse.models.base import Model, Reply, Request
from bestresponse.models.codec import reply_from_json, reply_to_json, request_to_json
from bestresponse.models.registry import open_model
from bestresponse.models.wrappers.assemble import assemble
from bestresponse.models.wrappers.cached import Cache, CacheMode
from bestresponse.models.wrappers.meter import Budget, Cost, Meter
from bestresponse.models.wrappers.pacing import Gate
from bestresponse.players.llm.verified import bare_name
from bestresponse.runs.models import Opening, Provider, identify_provider, make_model_settings

__all__ = ["Ask", "open_remote_models"]

_LOOK_BACK = 1000


class Ask(Protocol):
    """Calls a method of a shared service ("budget", "gates" or "replies") and returns what it returns."""

    def __call__(self, service: str, method: str, *arguments: object) -> Any: ...


def open_remote_models(opening: Opening, places: Mapping[Provider, int], ask: Ask, tell: Ask) -> dict[str, Model]:
    """Open every model by its name, each once; what needs no answer is only told.

    Calls at providers in `places` are limited here, others by asking.
    """
    settings = make_model_settings(concurrency=opening.concurrency, threads=opening.threads)
    meter = _RemoteMeter(opening.budget, ask, tell)
    cache = _RemoteCache(ask, tell) if opening.cache != "off" else None
    gates: dict[Provider, Gate] = {provider: Gate(number) for provider, number in places.items()}
    bare = {name: open_model(bare_name(name), settings) for name in opening.names}
    return {
        name: assemble(
            model,
            cache=cache,
            mode=CacheMode(opening.cache),
            meter=meter,
            gate=gates.get(identify_provider(model)) or _RemoteGate(identify_provider(model), ask, tell),
        )
        for name, model in bare.items()
    }


class _RemoteMeter(Meter):
    def __init__(self, budget: Budget, ask: Ask, tell: Ask) -> None:
        super().__init__(budget)
        self._reserve = tell if budget == Budget() else ask
        self._tell = tell

    def reserve(self, cost: Cost) -> None:
        self._reserve("budget", "reserve", cost)

    def settle(self, reserved: Cost, cost: Cost) -> None:
        self._tell("budget", "settle", reserved, cost)


class _RemoteGate(Gate):
    def __init__(self, provider: Provider, ask: Ask, tell: Ask) -> None:
        super().__init__(1)
        self._provider = provider
        self._ask, self._tell = ask, tell

    @contextmanager
    def pass_through(self) -> Iterator[None]:
        self._ask("gates", "enter", self._provider)
        try:
            yield
        finally:
            self._tell("gates", "leave", self._provider)


class _RemoteCache(Cache):
    """The driver's cache. A call is claimed by one question and ended by one message, which also stores its reply."""

    def __init__(self, ask: Ask, tell: Ask) -> None:
        self._ask, self._tell = ask, tell
        self._stored: dict[str, str | None] = {}
        self._requests: dict[str, tuple[str, str, str]] = {}

    def get(self, key: str) -> Reply | None:
        stored = self._stored[key] if key in self._stored else self._ask("replies", "get", key)
        return None if stored is None else _read_reply(stored)

    def put(self, key: str, model: str, identity: str, request: Request, reply: Reply) -> None:
        self._requests[key] = (model, identity, json.dumps(request_to_json(request), separators=(",", ":")))

    def recent(self, limit: int = _LOOK_BACK) -> Iterator[tuple[JsonObject, JsonObject]]:
        return iter(self._ask("replies", "recent", min(limit, _LOOK_BACK)))

    def once(self, key: str, call: Callable[[], Reply]) -> Reply:
        shared, stored = self._ask("replies", "claim", key)
        if shared is not None:
            return _read_reply(shared)
        self._stored[key] = stored
        text: str | None = None
        failure: Exception | None = None
        try:
            reply = call()
            text = json.dumps(reply_to_json(reply), separators=(",", ":"))
        except Exception as error:
            failure = error
            raise
        finally:
            del self._stored[key]
            self._tell("replies", "land", key, text, failure, self._requests.pop(key, None))
        return reply

    def close(self) -> None:
        """Leave the cache open: it is the driver's."""


def _read_reply(text: str) -> Reply:
    return reply_from_json(json.loads(text), cached=True)
