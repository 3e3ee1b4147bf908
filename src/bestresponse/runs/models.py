"""Models opened for a run: by name, with cache, retries, limits and one budget for all."""

from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Lock

from bestresponse.core.errors import SettingError
from bestresponse.models.base import Model, Reply, Request, Wrapper
from bestresponse.models.http import HttpClients
from bestresponse.models.providers.local import LocalSettings
from bestresponse.models.registry import ModelSettings, open_model, read_default_settings
from bestresponse.models.wrappers.cached import Cache, CacheMode, assemble
from bestresponse.models.wrappers.limits import Budget, Gate, Limited, Meter
from bestresponse.players.llm.verified import bare_name
from bestresponse.runs.inputs import DefaultModel, NamedModel

LOCAL = "local"
"""The provider of models that run in the process that opened them."""
Download = Callable[[int, int | None], None]
"""Called with the bytes that have come and, where known, the bytes in all."""


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """What the user allows.

    This is plays at once, the cache's mode, what may be spent, threads for local models, and the
    folder of replies (None: the output folder).
    """

    workers: int | None = None
    cache: str = "read-write"
    spent: str = ""
    threads: int = 1
    cache_dir: Path | None = None

    @property
    def budget(self) -> Budget:
        """What may be spent."""
        return Budget.parse(self.spent)


@dataclass(frozen=True, slots=True)
class Opening:
    """How a worker opens its copies of models that run on this machine: by these names."""

    names: tuple[str, ...] = ()
    concurrency: int = 16
    threads: int = 1

    @property
    def settings(self) -> ModelSettings:
        """How models are opened: keys from the environment, weights in the user's cache folder."""
        local = LocalSettings(threads=self.threads)
        return replace(read_default_settings(), concurrency=self.concurrency, local=local)

    def open_copies(self) -> dict[str, Model]:
        """Open every model."""
        settings = replace(self.settings, clients=HttpClients())
        return {name: open_model(name, settings) for name in self.names}


@dataclass(slots=True)
class SharedCalls:
    """How workers in other processes open the same models, and how one of them is asked while
    there are some."""

    opening: Opening
    call_elsewhere: Callable[[str, Request], Reply] | None = None


class _ByName(Wrapper):
    """A model of this machine: a worker's copy of it answers while there are workers."""

    def __init__(self, model: Model, name: str, shared: SharedCalls) -> None:
        super().__init__(Limited(model, Gate(model.abilities.concurrency)))
        self._name = name
        self._shared = shared

    def complete(self, request: Request) -> Reply:
        """Answer here, or let a worker answer."""
        call = self._shared.call_elsewhere
        return self._model.complete(request) if call is None else call(self._name, request)


class OpenedModels:
    """Models by the name the user gave, opened when they are first wanted.

    Calls of all share a cache and a budget.

    `verified:MODEL` opens MODEL. Replies of a model that was given as an object, in a `NamedModel`,
    are not cached.
    """

    def __init__(
        self,
        output_dir: Path,
        limits: ModelLimits,
        on_download: Download,
    ) -> None:
        if limits.cache not in list(CacheMode):
            raise SettingError(
                "cache", f"expected one of {', '.join(CacheMode)}, got {limits.cache!r}"
            )
        self.models: dict[str, Model] = {}
        self.objects: dict[str, Model] = {}
        self.meter = Meter(limits.budget)
        self.shared = SharedCalls(Opening((), limits.workers or 16, limits.threads))
        self._limits = limits
        self._settings = replace(
            self.shared.opening.settings,
            progress=on_download,
            clients=HttpClients(),
        )
        self._folder = output_dir
        self._bare: dict[str, Model] = {}
        self._gates: dict[tuple[str, str], Gate] = {}
        self._lock = Lock()

    @property
    def workers(self) -> int:
        """How many plays at once the models take."""
        return self._limits.workers or max(
            (model.abilities.concurrency for model in self.models.values()), default=1
        )

    def open(self, name: str) -> Model:
        """Return the model of that name, the same one each time."""
        with self._lock:
            if name not in self.models:
                self.models[name] = self._open(name)
            return self.models[name]

    def _open(self, name: str) -> Model:
        bare = bare_name(name)
        supplied = self.objects.get(bare)
        if supplied is None and bare not in self._bare:
            settings = replace(self._settings, download=not isinstance(name, DefaultModel))
            self._bare[bare] = open_model(bare, settings)
            names = tuple(name for name, model in self._bare.items() if _is_local(model))
            self.shared.opening = replace(self.shared.opening, names=names)
        model = supplied or self._bare[bare]
        if bare in self.shared.opening.names:
            model = _ByName(model, bare, self.shared)
        # Models of one provider at one address share their limits; of a local one every worker has
        # a copy.
        provider = (
            str(model.identity.get("provider")),
            str(model.identity.get("base_url", model.id)),
        )
        gate = self._gates.setdefault(provider, Gate(model.abilities.concurrency))
        return assemble(
            model,
            cache=self._cache if supplied is None and self._limits.cache != CacheMode.OFF else None,
            mode=CacheMode(self._limits.cache),
            meter=self.meter,
            gate=None if supplied is None and _is_local(model) else gate,
        )

    @cached_property
    def _cache(self) -> Cache:
        return Cache((self._limits.cache_dir or self._folder) / "replies.sqlite")

    def close(self) -> None:
        """Close what was opened: models by name, connections and the cache."""
        for model in self._bare.values():
            if hasattr(model, "close"):
                model.close()
        if self._settings.clients is not None:
            self._settings.clients.close()
        if "_cache" in vars(self):
            self._cache.close()


@contextmanager
def open_models(
    names: Collection[str],
    output_dir: Path,
    limits: ModelLimits | None = None,
    *,
    on_download: Download = lambda done, total: None,
) -> Iterator[OpenedModels]:
    """Open every model; others may be opened later.

    Without any nothing is opened and no file is made.
    """
    with closing(OpenedModels(output_dir, limits or ModelLimits(), on_download)) as opened:
        opened.objects |= {
            bare_name(name): name.model
            for name in names
            if isinstance(name, NamedModel) and name.model
        }
        for name in names:
            opened.open(name)
        yield opened


def _is_local(model: Model) -> bool:
    return model.identity.get("provider") == LOCAL
