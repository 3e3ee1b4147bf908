"""A language model in this process: a GGUF file run by llama.cpp.

It is run through `xllamacpp` (extra `local`).

The defaults repeat exactly: one slot and no prompt cache, so that what else is asked before or at
the same time cannot change the arithmetic of a reply. A request without a seed takes its replicate
index as seed. Sampling is plain: the temperature and `top_p` of the request and none of the
engine's other filters, so that sampled frequencies converge to the reported probabilities. One
thread is the default because several threads that wait for each other on a busy machine are slower
than one; make plays in several processes instead, each with a copy of the model.

The engine cannot be built without its HTTP listener. It is put on a Unix socket in a private folder
which is removed as soon as the engine runs, so that nobody can reach it; where there are no such
sockets it listens on the loopback interface and demands a random key that nobody is told.
"""

import hashlib
import json
import os
import secrets
import struct
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bestresponse.core.errors import ModelError, ModelUnavailable, UnknownModel, UsageError
from bestresponse.core.extras import install_hint
from bestresponse.core.json import JsonObject
from bestresponse.models.base import Abilities, Honoured, Json, Reply, Request, effective_seed
from bestresponse.models.providers.reading import read_chat_reply
from bestresponse.models.schema import finish_structured, read_schema

_LONGEST_SOCKET = 100  # Unix has room for 108 bytes, other systems for 104
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
        for name, value in (
            ("threads", self.threads),
            ("slots", self.slots),
            ("context", self.context),
        ):
            if value < 1:
                raise UsageError(f"{name} is {value}; the local engine needs at least 1")

    @property
    def repeatable(self) -> bool:
        """Whether equal requests get equal replies whatever else is asked."""
        return self.slots == 1 and not self.prompt_cache


class LocalModel:
    """A GGUF file loaded into this process.

    Close it, or let it be collected, to free its memory.
    """

    def __init__(
        self,
        path: Path,
        settings: LocalSettings | None = None,
        *,
        name: str | None = None,
    ) -> None:
        self._settings = settings or LocalSettings()
        self.id = name or path.stem
        self.identity: Mapping[str, Json] = identify(path, self._settings)
        self.abilities = Abilities(
            schema=True,
            choices=True,
            logprobs=_MOST_ALTERNATIVES,
            seed=True,
            concurrency=self._settings.slots,
        )
        self._slots = threading.BoundedSemaphore(self._settings.slots)
        self._server: Any = _start(path, self._settings)

    def complete(self, request: Request) -> Reply:
        """Answer in the calling thread; further callers wait for a free slot."""
        body = _build_body(request, self._settings)
        with self._slots:
            if self._server is None:
                raise ModelUnavailable(f"{self.id} was closed")
            began = time.perf_counter()
            try:
                answer = self._server.handle_chat_completions(body)
            except (ValueError, RuntimeError) as error:
                raise ModelError(f"{self.id} refused the request: {error}") from error
            latency = time.perf_counter() - began
        if isinstance(answer, dict) and "error" in answer:
            complaint = answer["error"]
            raise ModelError(
                f"{self.id} refused the request: {complaint.get('message', complaint)}"
            )
        wishes = (("schema", request.schema), ("choices", request.choices))
        honoured: Honoured = (
            ("seed", body["seed"]),
            ("temperature", body["temperature"]),
            *((name, "grammar") for name, wish in wishes if wish),
            ("repeatable", self._settings.repeatable),
        )
        reply = replace(read_chat_reply(answer, self.id), latency=latency, honoured=honoured)
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
        why = f"a local model needs the engine xllamacpp: {install_hint('local')}"
        raise ModelUnavailable(why) from error


def check_gguf(path: Path) -> None:
    """Raise `ModelUnavailable` unless the file exists and says it is a GGUF.

    A GGUF file begins with the four bytes `GGUF` and a little-endian format version
    (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md).
    """
    try:
        with path.open("rb") as file:
            head = file.read(8)
    except FileNotFoundError:
        raise UnknownModel(
            f"there is no model file {path}; `bestresponse models` lists what can be named"
        ) from None
    except OSError as error:
        raise ModelUnavailable(
            f"cannot read the model file {path}: {error.strerror or error}"
        ) from error
    if head[:4] != b"GGUF":
        raise ModelUnavailable(
            f"{path} is not a GGUF file: it begins with {head[:4]!r} instead of b'GGUF'"
        )
    version = struct.unpack("<I", head[4:])[0] if len(head) == 8 else None
    if version not in (2, 3):
        got = "nothing after its first word" if version is None else f"version {version}"
        raise ModelUnavailable(
            f"{path} is a GGUF file of a kind that cannot be read: {got}, expected version 2 or 3"
        )


def identify(path: Path, settings: LocalSettings) -> dict[str, Json]:
    """Return the identity of a local model.

    This is the bytes of its file, the engine, and what changes its arithmetic.
    """
    check_gguf(path)
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return {
        "provider": "local",
        "sha256": sha256,
        "engine": f"xllamacpp {engine_version()}",
        **asdict(settings),
    }


def _start(path: Path, settings: LocalSettings) -> object:
    """Start the engine behind a socket file that is removed when this returns."""
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
    with tempfile.TemporaryDirectory(prefix="bestresponse-") as folder:
        socket = os.path.join(folder, "engine.sock")
        if os.name == "posix" and len(os.fsencode(socket)) <= _LONGEST_SOCKET:
            params.hostnames = [socket]
        try:
            engine = xllamacpp.Server(params)
            # An engine that is freed before its loop runs would wait for its own end for ever.
            engine.handle_metrics()
        except RuntimeError as error:
            raise ModelUnavailable(
                f"the engine could not load {path}: the file is damaged or incomplete, needs more"
                f" memory than there is, or holds a kind of model that xllamacpp {engine_version()}"
                " does not know"
            ) from error
        return engine


def _build_body(request: Request, settings: LocalSettings) -> JsonObject:
    """Write the request in the engine's dialect of the OpenAI protocol.

    Every engine default is spelt out.
    """
    seed = effective_seed(request)
    body: JsonObject = {
        "messages": [
            {"role": message.role, "content": message.content} for message in request.messages
        ],
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
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"schema": read_schema(request)},
        }
    if request.choices:
        # A GBNF grammar of exactly these texts:
        # https://github.com/ggml-org/llama.cpp/tree/master/grammars
        choices = " | ".join(map(json.dumps, request.choices))
        body["grammar"] = f"root ::= {choices}"
    if request.logprobs:
        body |= {"logprobs": True, "top_logprobs": min(request.logprobs, _MOST_ALTERNATIVES)}
    return body
