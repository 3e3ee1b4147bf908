"""Models opened for a run: by name, with cache, retries, limits and one budget for all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bestresponse.core.errors import UsageError
from bestresponse.models.base import Model
from bestresponse.models.http import HttpClients
from bestresponse.models.providers.local import LocalSettings
from bestresponse.models.providers.weights import default_folder
from bestresponse.models.registry import ModelSettings, open_model
from bestresponse.models.wrappers.assemble import assemble
from bestresponse.models.wrappers.cached import Cache, CacheMode
from bestresponse.models.wrappers.meter import Budget, Meter
from bestresponse.models.wrappers.pacing import Gate
from bestresponse.players.llm.verified import bare_name

__all__ = [
    "LOCAL",
    "Download",
    "ModelLimits",
    "OpenedModels",
    "Opening",
    "Provider",
    "SharedCalls",
    "identify_provider",
    "make_model_settings",
    "open_models",
]

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
    """How a worker opens models: by these names. Keys are those of the worker's own environment."""

    names: tuple[str, ...]
    concurrency: int
    threads: int
    cache: str
    budget: Budget


@dataclass(frozen=True, slots=True)
class SharedCalls:
    """What workers in other processes need to use the same models within the same limits.

    `places` are the calls at once that every provider takes. `given` names the models that are objects of this process
    and cannot be opened elsewhere.
    """

    opening: Opening
    meter: Meter
    places: Mapping[Provider, int]
    gates: Mapping[Provider, Gate]
    cache: Cache | None
    given: frozenset[str]

    @property
    def local(self) -> bool:
        """Tell whether all models run in the process that opened them, so that every worker has its own."""
        return all(provider == LOCAL for provider, _ in self.places)


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
    bare = {
        name: own[bare_name(name)] if bare_name(name) in own else open_model(bare_name(name), settings)
        for name in names
    }
    places = _count_places(bare.values())
    gates = {provider: Gate(count) for provider, count in places.items()}
    cached = limits.cache != "off" and any(bare_name(name) not in own for name in names)
    cache = Cache(output_dir / "replies.sqlite") if cached else None
    mode = CacheMode(limits.cache)
    models = {
        name: assemble(
            model,
            cache=None if bare_name(name) in own else cache,
            mode=mode,
            meter=meter,
            gate=gates[identify_provider(model)],
        )
        for name, model in bare.items()
    }
    workers = limits.workers or max(model.abilities.concurrency for model in bare.values())
    opening = Opening(tuple(names), limits.workers or 16, limits.threads, limits.cache, limits.budget)
    here_only = frozenset(name for name in names if bare_name(name) in own)
    shared = SharedCalls(opening, meter, places, gates, cache, here_only)
    try:
        yield OpenedModels(models, workers, meter, shared)
    finally:
        for name, model in bare.items():
            close = getattr(model, "close", None)
            if close is not None and bare_name(name) not in own:
                close()
        if settings.clients is not None:
            settings.clients.close()
        if cache is not None:
            cache.close()


def identify_provider(model: Model) -> Provider:
    """Models of one provider at one address share their limits."""
    return str(model.identity.get("provider")), str(model.identity.get("base_url", model.id))


def _count_places(models: Iterable[Model]) -> dict[Provider, int]:
    """Return how many calls at once every provider takes."""
    places: dict[Provider, int] = {}
    for model in models:
        provider = identify_provider(model)
        places[provider] = max(places.get(provider, 1), model.abilities.concurrency)
    return places
