"""A language model in this process: a GGUF file run by llama.cpp through `xllamacpp` (extra `local`).

The defaults repeat exactly: one slot and no prompt cache, so that what else is asked before or at the same time cannot
change the arithmetic of a reply. A request without a seed takes its replicate index as seed. Sampling is plain: the
temperature and `top_p` of the request and none of the engine's other filters, so that sampled frequencies converge to
the reported probabilities. One thread is the default because several threads that wait for each other on a busy
machine are slower than one; run several processes instead (`bestresponse.models.providers.pool`).

The engine cannot be built without its HTTP listener. It is put on a Unix socket in a private folder which is removed
as soon as the engine runs, so that nobody can reach it; where there are no such sockets it listens on the loopback
interface and demands a random key that nobody is told.
"""

import json
import os
import secrets
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bestresponse.core.errors import BadReply, ModelError, ModelUnavailable, UsageError
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.models.base import Abilities, Honoured, Json, Reply, Request, effective_seed
from bestresponse.models.providers.gguf import check_gguf, file_hash
from bestresponse.models.providers.reading import read_chat_reply
from bestresponse.models.schema import finish_structured, read_schema

__all__ = ["LocalModel", "LocalSettings", "engine_version", "identify"]

_LONGEST_SOCKET = 100
_MOST_ALTERNATIVES = 1000


@dataclass(frozen=True, slots=True)
class LocalSettings:
    """How the engine runs; all of it is part of the model's identity.

    More than one slot, or the prompt cache, is faster for some loads and no longer repeats exactly.
    """

    threads: int = 1
    slots: int = 1
    context: int = 4096
    prompt_cache: bool = False

    def __post_init__(self) -> None:
        for name, value in (("threads", self.threads), ("slots", self.slots), ("context", self.context)):
            if value < 1:
                raise UsageError(f"{name} is {value}; the local engine needs at least 1")

    @property
    def repeatable(self) -> bool:
        """Whether equal requests get equal replies whatever else is asked."""
        return self.slots == 1 and not self.prompt_cache


class LocalModel:
    """A GGUF file loaded into this process. Close it, or let it be collected, to free its memory."""

    def __init__(self, path: Path, settings: LocalSettings | None = None, *, name: str | None = None) -> None:
        self._settings = settings or LocalSettings()
        check_gguf(path)
        self.id = name or path.stem
        self.identity: Mapping[str, Json] = identify(path, self._settings)
        self.abilities = Abilities(
            schema=True, choices=True, logprobs=_MOST_ALTERNATIVES, seed=True, concurrency=self._settings.slots
        )
        self._slots = threading.BoundedSemaphore(self._settings.slots)
        self._server: Any = _start(path, self._settings)

    def complete(self, request: Request) -> Reply:
        """Answer in the calling thread; further callers wait for a free slot."""
        body = _body(request, self._settings)
        with self._slots:
            if self._server is None:
                raise ModelUnavailable(f"{self.id} was closed")
            began = time.perf_counter()
            answer = _call(self._server.handle_chat_completions, body, self.id)
            latency = time.perf_counter() - began
        reply = read_chat_reply(answer, self.id)
        reply = replace(reply, latency=latency, honoured=_honoured(request, body, self._settings))
        return finish_structured(request, reply)

    def close(self) -> None:
        """Free the model's memory; a reply under way is waited for."""
        with self._slots:
            self._server = None


def engine_version() -> str:
    """Return the installed release of xllamacpp; each carries one release of llama.cpp."""
    try:
        return version("xllamacpp")
    except PackageNotFoundError as error:
        raise ModelUnavailable("a local model needs the engine xllamacpp: pip install 'bestresponse[local]'") from error


def identify(path: Path, settings: LocalSettings) -> dict[str, Json]:
    """Return the identity of a local model: the bytes of its file, the engine, and what changes its arithmetic."""
    return {
        "provider": "local",
        "sha256": file_hash(path),
        "engine": f"xllamacpp {engine_version()}",
        **asdict(settings),
    }


def _start(path: Path, settings: LocalSettings) -> Any:
    engine_version()
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_parallel = settings.slots
    params.n_ctx = settings.context * settings.slots
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings.threads
    params.n_gpu_layers = 0
    params.fit_params = params.warmup = params.ui = params.endpoint_slots = False
    params.cache_prompt = settings.prompt_cache
    params.n_threads_http = 1
    params.endpoint_metrics = True
    params.verbosity = -1
    params.api_keys = [secrets.token_hex(32)]
    if not settings.prompt_cache:
        params.cache_ram_mib = params.n_ctx_checkpoints = 0
    return _listening_nowhere(lambda: _load(xllamacpp.Server, params, path), params)


def _listening_nowhere(start: Callable[[], Any], params: Any) -> Any:
    """Start the engine behind a socket file that is removed when this returns."""
    with tempfile.TemporaryDirectory(prefix="bestresponse-") as folder:
        socket = os.path.join(folder, "engine.sock")
        if os.name == "posix" and len(os.fsencode(socket)) <= _LONGEST_SOCKET:
            params.hostnames = [socket]
        return start()


def _load(server: Callable[[Any], Any], params: object, path: Path) -> Any:
    """The engine, once its loop runs: one that is freed before that would wait for its own end for ever."""
    try:
        engine = server(params)
        engine.handle_metrics()
        return engine
    except RuntimeError as error:
        raise ModelUnavailable(
            f"the engine could not load {path}: the file is damaged or incomplete, needs more memory than there is, "
            f"or holds a kind of model that xllamacpp {engine_version()} does not know"
        ) from error


def _body(request: Request, settings: LocalSettings) -> JsonObject:
    """The request in the engine's dialect of the OpenAI protocol, with every engine default spelt out."""
    seed = effective_seed(request)
    body: JsonObject = {
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "max_tokens": request.max_tokens,
        "temperature": 1.0 if request.temperature is None else request.temperature,
        "top_p": 1.0 if request.top_p is None else request.top_p,
        "top_k": 1 if request.temperature == 0 else 0,
        "min_p": 0.0,
        "seed": request.replicate if seed is None else seed,
        "cache_prompt": settings.prompt_cache,
    }
    if request.stop:
        body["stop"] = list(request.stop)
    if request.schema is not None:
        body["response_format"] = {"type": "json_schema", "json_schema": {"schema": read_schema(request)}}
    if request.choices:
        body["grammar"] = _grammar(request.choices)
    if request.logprobs:
        body |= {"logprobs": True, "top_logprobs": min(request.logprobs, _MOST_ALTERNATIVES)}
    return body


def _grammar(choices: tuple[str, ...]) -> str:
    """A GBNF grammar (https://github.com/ggml-org/llama.cpp/tree/master/grammars) of exactly these texts."""
    return "root ::= " + " | ".join(json.dumps(choice) for choice in choices)


def _call(complete: Callable[[JsonObject], Any], body: JsonObject, who: str) -> Any:
    try:
        answer = complete(body)
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"{who} refused the request: {error}") from error
    if not isinstance(answer, dict):
        raise BadReply(f"{who} answered with {type(answer).__name__} instead of an object")
    if "error" in answer:
        complaint = answer["error"]
        raise ModelError(f"{who} refused the request: {complaint.get('message', complaint)}")
    return answer


def _honoured(request: Request, body: JsonMapping, settings: LocalSettings) -> Honoured:
    """What was really done: the seed and temperature used, what was enforced, whether it repeats exactly."""
    enforced = [
        (wish, "grammar") for wish, given in (("schema", request.schema), ("choices", request.choices)) if given
    ]
    return (
        ("seed", body["seed"]),
        ("temperature", body["temperature"]),
        *enforced,
        ("repeatable", settings.repeatable),
    )
