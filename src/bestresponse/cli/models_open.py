"""Models opened for a run: by name, with cache, retries, limits and one budget for all."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bestresponse.models.base import Model
    from bestresponse.models.registry import ModelSettings
    from bestresponse.models.wrappers.limits import Gate
    from bestresponse.models.wrappers.meter import Meter

__all__ = ["Limits", "Opened", "model_settings", "opened_models"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What the user allows: plays at once, the cache's mode, the budget, processes and threads for local models."""

    workers: int | None = None
    cache: str = "read-write"
    calls: int | None = None
    tokens: int | None = None
    money: float | None = None
    processes: int = 1
    threads: int = 1


@dataclass(frozen=True, slots=True)
class Opened:
    """Models by the name the user gave, how many plays at once they take, and the meter that counts for all."""

    models: dict[str, Model]
    workers: int
    meter: Meter


def model_settings(*, concurrency: int = 16, processes: int = 1, threads: int = 1) -> ModelSettings:
    """How models are opened from the command line: keys from the environment, weights in the user's cache folder."""
    from bestresponse.models.http import HttpClients
    from bestresponse.models.providers.local import LocalSettings
    from bestresponse.models.providers.weights import default_folder
    from bestresponse.models.registry import ModelSettings

    return ModelSettings(
        default_folder(os.environ, Path.home()),
        os.environ,
        concurrency=concurrency,
        local=LocalSettings(threads=threads),
        processes=processes,
        progress=_Download().tell,
        clients=HttpClients(),
    )


class _Download:
    """A line of progress for weights on their way."""

    def __init__(self) -> None:
        self._said = -1

    def tell(self, done: int, total: int | None) -> None:
        if not total:
            return
        percent = 100 * done // total
        if percent // 5 > self._said // 5 or (percent == 100 and self._said != 100):
            self._said = percent
            end = "\n" if percent == 100 or not sys.stderr.isatty() else "\r"
            print(
                f"downloading the model: {done / 1e6:.0f} of {total / 1e6:.0f} MB ({percent} %)",
                end=end,
                file=sys.stderr,
            )


@contextmanager
def opened_models(
    names: tuple[str, ...], output_dir: Path, limits: Limits, *, players: bool = False
) -> Iterator[Opened]:
    """Open every model; calls of all of them share one cache and one budget. `players`: also `verified:MODEL`."""
    from bestresponse.core.errors import UsageError
    from bestresponse.models.registry import open_model
    from bestresponse.models.wrappers.assemble import assemble
    from bestresponse.models.wrappers.cached import Cache, CacheMode
    from bestresponse.models.wrappers.meter import Budget, Meter
    from bestresponse.players.llm.verified import bare_name

    if limits.cache not in list(CacheMode):
        raise UsageError(f"--cache {limits.cache!r}: expected one of {', '.join(CacheMode)}")
    meter = Meter(Budget(limits.calls, limits.tokens, limits.money))
    settings = model_settings(concurrency=limits.workers or 16, processes=limits.processes, threads=limits.threads)
    bare = {name: open_model(bare_name(name) if players else name, settings) for name in names}
    gates = _gates(bare.values())
    cache = Cache(output_dir / "replies.sqlite") if limits.cache != "off" else None
    models = {
        name: assemble(
            model,
            cache=cache,
            mode=CacheMode(limits.cache),
            meter=meter,
            gate=gates[_provider(model)],
        )
        for name, model in bare.items()
    }
    workers = limits.workers or max(model.abilities.concurrency for model in bare.values())
    try:
        yield Opened(models, workers, meter)
    finally:
        for model in bare.values():
            close = getattr(model, "close", None)
            if close is not None:
                close()
        if settings.clients is not None:
            settings.clients.close()
        if cache is not None:
            cache.close()


def _provider(model: Model) -> tuple[str, str]:
    """Models of one provider at one address share their limits."""
    return str(model.identity.get("provider")), str(model.identity.get("base_url", model.id))


def _gates(models: Iterable[Model]) -> dict[tuple[str, str], Gate]:
    from bestresponse.models.wrappers.limits import Gate

    places: dict[tuple[str, str], int] = {}
    for model in models:
        places[_provider(model)] = max(places.get(_provider(model), 1), model.abilities.concurrency)
    return {provider: Gate(count) for provider, count in places.items()}
