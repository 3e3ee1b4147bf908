"""Models by name: what a user types, opened.

    smollm2, qwen2.5-coder-1.5b        weights that come by the package index
    path/to/model.gguf                 any GGUF file
    path/to/folder                     what `bestresponse train` or `transformers` wrote (extra
                                       `train`)
    owner/model                        the same, by its name in the local cache of Hugging Face
    openai/..., anthropic/..., google/...
    vllm/..., ollama/..., lm-studio/..., llama.cpp/...
                                       a server on this machine, or at VLLM_BASE_URL and so on
    http://localhost:8000/v1#name      any server of the OpenAI protocol; without #name its only
                                       model
    inspect/<provider>/<model>         any provider of Inspect AI (extra `inspect`)

A package adds a provider by an entry point of the group `bestresponse.models`: the name is the
prefix before the slash, the object is called with what follows it and with the settings, and
returns a model.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from bestresponse.core.errors import ModelUnavailable, UnknownModel
from bestresponse.core.extras import install_hint
from bestresponse.core.registry import Registry, check_members, did_you_mean
from bestresponse.models.base import Model
from bestresponse.models.providers.local import LocalModel, LocalSettings, engine_version
from bestresponse.models.providers.weights import (
    WEIGHTS,
    Progress,
    default_folder,
    find_weights_folder,
    pull,
    weights_path,
)

if TYPE_CHECKING:
    from bestresponse.models.http import HttpClients

providers = Registry(
    "bestresponse.models",
    "model provider",
    {
        "openai": "bestresponse.models.network:open_openai",
        "anthropic": "bestresponse.models.network:open_anthropic",
        "google": "bestresponse.models.network:open_google",
        "vllm": "bestresponse.models.network:open_vllm",
        "ollama": "bestresponse.models.network:open_ollama",
        "lm-studio": "bestresponse.models.network:open_lm_studio",
        "llama.cpp": "bestresponse.models.network:open_llama_cpp",
        "inspect": "bestresponse.models.providers.inspect:open_inspect",
    },
)
"""Providers: functions of a name and the settings that return a model; imported when first used."""

KEYS: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
}
"""The environment variables that hold the key of a provider."""
_SERVER = re.compile(r"(localhost|\d+\.\d+\.\d+\.\d+|[\w.-]+)(:\d+)(/|#|$)")
"""An address of a server without http:// before it."""
_PLAIN = ("random", "uniform", "equilibrium", "simulated")
"""Players that some commands take in the place of a model."""
_ONE_SLASH = re.compile(r"(https?):/?(?!/)")
SERVERS = {
    "ollama": 11434,
    "vllm": 8000,
    "lm-studio": 1234,
    "llama.cpp": 8080,
}
"""Programs that serve models by the OpenAI protocol, with the port that each uses by default."""
_FAMILIES = {
    "gpt": "openai",
    "o1": "openai",
    "o3": "openai",
    "claude": "anthropic",
    "gemini": "google",
}


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What opening a model may need.

    `folder` is the user's cache folder (see `weights.default_folder`).

    `environ` is where keys are looked up; it is in no repr. `clients` are shared by network models
    (None: new ones). With `download` weights that are missing are pulled, and `progress` is told.
    """

    folder: Path
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    local: LocalSettings = field(default_factory=LocalSettings)
    timeout: float = 300.0
    concurrency: int = 16
    download: bool = True
    progress: Progress = lambda done, total: None
    clients: "HttpClients | None" = field(default=None, repr=False)


class KnownModel(TypedDict):
    """A name, or a pattern of names, and whether it can be used now.

    `missing` says what it lacks.
    """

    name: str
    kind: str
    ready: bool
    missing: str


def read_default_settings() -> ModelSettings:
    """Return the settings of a user at a keyboard.

    Keys come from the environment, weights from the user's cache folder.
    """
    return ModelSettings(default_folder(os.environ, Path.home()), os.environ)


def open_model(spec: str, settings: ModelSettings | None = None) -> Model:
    """Open the model of that name, ready to answer.

    Without settings those of `read_default_settings`.
    """
    settings = settings or read_default_settings()
    if spec in WEIGHTS:
        path = weights_path(spec, settings.folder)
        engine_version()  # raises where there is no engine, before anything is downloaded for it
        if not path.exists() and not settings.download:
            raise ModelUnavailable(
                f"{spec} is not on this machine: name another model, or get it by `bestresponse"
                f" models pull {spec}` ({WEIGHTS[spec].size / 1e6:.0f} MB)"
            )
        model = LocalModel(
            pull(spec, settings.folder, settings.progress),
            settings.local,
            name=spec,
        )
        if model.identity["sha256"] != WEIGHTS[spec].sha256:
            raise ModelUnavailable(
                f"{path} is not {WEIGHTS[spec].title} any more: delete it and pull {spec} again"
            )
        return model
    if spec.startswith(("http://", "https://")):
        from bestresponse.models.network import open_server  # imports httpx, which takes a while

        return open_server(spec, settings)
    prefix, slash, name = spec.partition("/")
    if slash and name and prefix in providers.names():
        opened: Model = providers.make(prefix, name, settings)
        check_members(
            opened,
            (
                "id",
                "identity",
                "abilities",
                "complete",
            ),
            providers.describe(prefix),
        )
        return opened
    folder = find_weights_folder(spec)
    files = ("config.json", "model.safetensors")
    if folder is not None and any((folder / name).is_file() for name in files):
        if find_spec("torch") is None:
            why = f"{spec} is a trained network, which needs torch: {install_hint('train')}"
            raise ModelUnavailable(why)
        from bestresponse.models.students.model import (
            StudentModel,
        )  # imports torch, which takes seconds

        return StudentModel(folder)
    if spec.endswith(".gguf") or Path(spec).is_file():
        return LocalModel(Path(spec), settings.local)
    raise UnknownModel(f"there is no model named {spec!r}.{_suggest(spec)}")


def list_openable() -> list[str]:
    """List what a name can begin with: the weights by name, and providers up to the slash."""
    return [*WEIGHTS, *(f"{name}/" for name in (*KEYS, *providers.names()))]


def known_models(settings: ModelSettings) -> list[KnownModel]:
    """List everything that can be named, for the screen."""

    def demand(package: str, extra: str) -> str:
        return "" if find_spec(package) else install_hint(extra)

    engine = demand("xllamacpp", "local")
    known = []
    for name, weights in WEIGHTS.items():
        here = weights_path(name, settings.folder).exists()
        missing = "" if here else f"bestresponse models pull {name} ({weights.size / 1e6:.0f} MB)"
        known.append((name, f"local, {weights.title}", engine or missing))
    known.append(("path/to/model.gguf", "local file", engine))
    known.append(("path/to/folder", "a student, or of transformers", demand("torch", "train")))
    for provider, variables in KEYS.items():
        ready = any(settings.environ.get(variable) for variable in variables)
        known.append((f"{provider}/<model>", "network", "" if ready else f"set {variables[0]}"))
    for program, port in SERVERS.items():
        known.append((f"{program}/<model>", f"server at port {port}", ""))
    known.append(("http://host:port/v1#name", "server of the OpenAI protocol", ""))
    known.append(("inspect/<provider>/<model>", "Inspect AI", demand("inspect_ai", "inspect")))
    known += [
        (f"{name}/<model>", "plug-in", "")
        for name in providers.names()
        if name not in providers.built_in
    ]
    return [
        KnownModel(name=name, kind=kind, ready=not missing, missing=missing)
        for name, kind, missing in known
    ]


def _suggest(spec: str) -> str:
    prefix, slash, name = spec.partition("/")
    if spec in _PLAIN:
        return f" {spec} is a player of other commands; `bestresponse models` lists models."
    if single := _ONE_SLASH.match(spec):
        return f" Did you mean the server {single[1]}://{spec[single.end() :]}?"
    if slash and not name and prefix in {*KEYS, *providers.names()}:
        return f" {prefix} is a provider: add the name of a model, {prefix}/MODEL."
    if _SERVER.match(spec):
        address = spec if slash else f"{spec}/v1"
        full = address if "#" in address else f"{address}#MODEL"
        return f" Did you mean the server http://{full}?"
    for family, provider in _FAMILIES.items():
        if not slash and spec.casefold().startswith(family):
            return f" Did you mean {provider}/{spec}?"
    if not slash and spec in providers.names():
        return f" {spec} is a provider: add the name of a model, {spec}/MODEL."
    if slash and (near := did_you_mean(prefix, providers.names())):
        return f"{near.removesuffix('?')}/{name}?"
    near = did_you_mean(spec, [*sorted(WEIGHTS), *_PLAIN]) if spec else ""
    return near or " `bestresponse models` lists what there is."
