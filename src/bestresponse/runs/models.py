"""Models opened for a run: by name, with cache, retries, limits and one budget for all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bestresponse.core.errors import UsageError
from bestresponse.models.base import Model, Reply, Request, Wrapper
from bestresponse.models.http import HttpClients
from bestresponse.models.providers.local import LocalSettings
from bestresponse.models.providers.weights import default_folder
from bestresponse.models.registry import ModelSettings, open_model
from bestresponse.models.wrappers.assemble import assemble
from bestresponse.models.wrappers.cached import Cache, CacheMode
from bestresponse.models.wrappers.limits import Budget, Gate, Limited, Meter
from bestresponse.players.llm.verified import bare_name

LOCAL = "local"
"""The provider of models that run in the process that opened them."""
Provider = tuple[str, str]
"""Whose limits are shared: the name of a provider and its address."""
Download = Callable[[int, int | None], None]
"""Called with the bytes that have come and, where known, the bytes in all."""


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """What the user allows: plays at once, the cache's mode, the budget, processes and threads for local models."""

    workers: int | None = None
    cache: str = "read-write"
    calls: int | None = None
    tokens: int | None = None
    money: float | None = None
    processes: int = 1
    threads: int = 1

    @property
    def budget(self) -> Budget:
        """What may be spent."""
        return Budget(self.calls, self.tokens, self.money)


@dataclass(frozen=True, slots=True)
class Opening:
    """How a worker opens its copies of models: by these names. Keys are those of the worker's own environment."""

    names: tuple[str, ...] = ()
    concurrency: int = 16
    threads: int = 1

    def open_copies(self) -> dict[str, Model]:
        """Open every model; those that run in this process take no more calls at once than they can."""
        settings = make_model_settings(concurrency=self.concurrency, threads=self.threads)
        models = {name: open_model(name, settings) for name in self.names}
        return {name: _limit_local(model) for name, model in models.items()}


@dataclass(slots=True)
class SharedCalls:
    """How workers in other processes open the same models, and how one of them is asked while there are some.

    `local` tells whether all models run in the process that opened them, so that every worker has its own.
    """

    opening: Opening
    local: bool
    call_elsewhere: Callable[[str, Request], Reply] | None = None


class _ByName(Wrapper):
    """A model that was opened by name: a worker's copy of it answers while there are workers."""

    def __init__(self, model: Model, name: str, shared: SharedCalls) -> None:
        super().__init__(_limit_local(model))
        self._name, self._shared = name, shared

    def complete(self, request: Request) -> Reply:
        """Answer here, or let a worker answer."""
        call = self._shared.call_elsewhere
        return self._model.complete(request) if call is None else call(self._name, request)


@dataclass(frozen=True, slots=True)
class OpenedModels:
    """Models by the name the user gave, how many plays at once they take, and the meter that counts for all."""

    models: dict[str, Model]
    workers: int
    meter: Meter
    shared: SharedCalls | None = None


def make_model_settings(
    *, concurrency: int = 16, processes: int = 1, threads: int = 1, on_download: Download = lambda done, total: None
) -> ModelSettings:
    """Return how models are opened: keys from the environment, weights in the user's cache folder."""
    return ModelSettings(
        default_folder(os.environ, Path.home()),
        os.environ,
        concurrency=concurrency,
        local=LocalSettings(threads=threads),
        processes=processes,
        progress=on_download,
        clients=HttpClients(),
    )


@contextmanager
def open_models(
    names: tuple[str, ...],
    output_dir: Path,
    limits: ModelLimits | None = None,
    *,
    given: Mapping[str, Model] | None = None,
    on_download: Download = lambda done, total: None,
) -> Iterator[OpenedModels]:
    """Open every model; calls of all of them share one cache and one budget.

    `verified:MODEL` opens MODEL. `given` holds models that exist already, by name, as a name that is a `NamedModel` may
    itself; their replies are not cached.
    Without any name nothing is opened and no file is made.
    """
    limits = limits or ModelLimits()
    if limits.cache not in list(CacheMode):
        raise UsageError(f"--cache {limits.cache!r}: expected one of {', '.join(CacheMode)}")
    meter = Meter(limits.budget)
    if not names:
        yield OpenedModels({}, limits.workers or 1, meter)
        return
    settings = make_model_settings(
        concurrency=limits.workers or 16, processes=limits.processes, threads=limits.threads, on_download=on_download
    )
    own = dict(given or {}) | {str(name): name.model for name in names if getattr(name, "model", None) is not None}  # type: ignore[attr-defined]
    opened = {name: open_model(name, settings) for name in dict.fromkeys(map(bare_name, names)) if name not in own}
    opening = Opening(tuple(opened), settings.concurrency, limits.threads)
    shared = SharedCalls(opening, bool(opened) and all(map(_is_local, opened.values())))
    cache = Cache(output_dir / "replies.sqlite") if opened and limits.cache != "off" else None
    places: dict[Provider, int] = {}
    for model in (*opened.values(), *own.values()):
        provider = identify_provider(model)
        places[provider] = max(places.get(provider, 1), model.abilities.concurrency)
    gates = {provider: Gate(count) for provider, count in places.items()}
    models = {}
    for name in names:
        bare = bare_name(name)
        model = own[bare] if bare in own else _ByName(opened[bare], bare, shared)
        models[name] = assemble(
            model,
            cache=None if bare in own else cache,
            mode=CacheMode(limits.cache),
            meter=meter,
            gate=None if _is_local(model) and bare in opened else gates[identify_provider(model)],
        )
    workers = limits.workers or max(model.abilities.concurrency for model in models.values())
    try:
        yield OpenedModels(models, workers, meter, shared)
    finally:
        for model in opened.values():
            if hasattr(model, "close"):
                model.close()
        if settings.clients is not None:
            settings.clients.close()
        if cache is not None:
            cache.close()


def identify_provider(model: Model) -> Provider:
    """Models of one provider at one address share their limits."""
    return str(model.identity.get("provider")), str(model.identity.get("base_url", model.id))


def _is_local(model: Model) -> bool:
    return model.identity.get("provider") == LOCAL


def _limit_local(model: Model) -> Model:
    """Limit the calls at once of a model that runs in this process, of which every worker has a copy."""
    return Limited(model, Gate(model.abilities.concurrency)) if _is_local(model) else model
