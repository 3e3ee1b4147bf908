"""Any provider of Inspect AI as a model (extra `inspect`, https://inspect.aisi.org.uk).

`inspect/<provider>/<model>` is what Inspect calls `<provider>/<model>`; keys are found where Inspect finds them. Its
own cache is off, because its key leaves out the arguments of the model, and its own retries are off, because ours give
their place back while they wait. Inspect is asynchronous; its calls run in an event loop of their own thread.
"""

import asyncio
import threading
import time
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import TYPE_CHECKING, Any

from bestresponse.core.errors import MissingKey, ModelError, ModelUnavailable, Transient, UnknownModel
from bestresponse.models.base import (
    Abilities,
    Finish,
    Honoured,
    Json,
    Message,
    Reply,
    Request,
    TokenChances,
    Usage,
    effective_seed,
)
from bestresponse.models.http import Secret
from bestresponse.models.providers.reading import read_alternatives, read_count
from bestresponse.models.providers.schema_modes import SchemaMode, add_instruction, choose_mode, find_refused_mode
from bestresponse.models.schema import finish_structured, make_strict, read_schema

if TYPE_CHECKING:
    from bestresponse.models.registry import ModelSettings

__all__ = ["FINISH", "InspectModel", "open_inspect"]

FINISH = {
    "stop": Finish.STOP,
    "max_tokens": Finish.LENGTH,
    "model_length": Finish.LENGTH,
    "content_filter": Finish.REFUSAL,
}
_MOST_ALTERNATIVES = 20


class InspectModel:
    """A model that Inspect AI calls for us; `arguments` go to Inspect's provider and are part of the identity."""

    def __init__(
        self, name: str, *, timeout: float = 300.0, concurrency: int = 16, arguments: Mapping[str, Json] | None = None
    ) -> None:
        self.id = f"inspect/{name}"
        self.identity: Mapping[str, Json] = {
            "provider": "inspect",
            "model": name,
            "engine": f"inspect_ai {_inspect_version()}",
            "arguments": dict(arguments or {}),
        }
        self.abilities = Abilities(schema=True, logprobs=_MOST_ALTERNATIVES, seed=True, concurrency=concurrency)
        self._timeout = timeout
        self._refused: frozenset[str] = frozenset()
        self._concurrency = concurrency
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name=self.id, daemon=True).start()
        self._model = self._run(_open(name, dict(arguments or {})))

    def complete(self, request: Request) -> Reply:
        """Answer through Inspect; its providers' errors become ours."""
        began = time.perf_counter()
        output, mode = self._negotiate(request)
        reply = _reply(output, self.id, time.perf_counter() - began, _honoured(request, mode))
        return finish_structured(request, reply, plain=mode is not SchemaMode.SCHEMA)

    def close(self) -> None:
        """Stop the event loop."""
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _negotiate(self, request: Request) -> tuple[Any, SchemaMode | None]:
        """Generate, asking for a schema in a weaker way once it is refused; there is no plain JSON mode in Inspect."""
        while True:
            refused = self._refused
            mode = choose_mode(request, refused)
            try:
                return self._run(self._generate(request, mode)), mode
            except Transient:
                raise
            except ModelError as error:
                fresh = find_refused_mode(request, error, refused)
                if not fresh:
                    raise
                self._refused |= fresh | {SchemaMode.JSON.value}

    async def _generate(self, request: Request, mode: SchemaMode | None) -> Any:
        config = _config(request, mode, self._concurrency, self._timeout)
        messages = add_instruction(request) if mode is SchemaMode.WORDS else request.messages
        work = self._model.generate(_messages(messages), config=config, cache=False)
        return await asyncio.wait_for(work, self._timeout)

    def _run(self, work: Any) -> Any:
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()
        except ModelError:
            raise
        except TimeoutError:
            raise Transient(f"{self.id} did not answer within {self._timeout:g} s") from None
        except Exception as error:  # noqa: BLE001  (providers of Inspect raise whatever their clients raise)
            raise self._failure(error) from None

    def _failure(self, error: Exception) -> ModelError:
        why = f"{self.id} failed: {Secret('').quote(str(error) or type(error).__name__)}"
        if self._model_should_retry(error):
            return Transient(why)
        return MissingKey(why) if "API_KEY" in why else ModelError(why)

    def _model_should_retry(self, error: Exception) -> bool:
        model = getattr(self, "_model", None)
        return model is not None and bool(model.api.should_retry(error))


def open_inspect(name: str, settings: "ModelSettings") -> InspectModel:
    """Open a model of a provider of Inspect AI."""
    return InspectModel(name, timeout=settings.timeout, concurrency=settings.concurrency)


def _import_inspect() -> ModuleType:
    """Import Inspect's models: an optional package, and a slow one."""
    return import_module("inspect_ai.model")


def _inspect_version() -> str:
    try:
        return version("inspect_ai")
    except PackageNotFoundError as error:
        raise ModelUnavailable("models of Inspect AI need its package: pip install 'bestresponse[inspect]'") from error


async def _open(name: str, arguments: dict[str, Json]) -> Any:
    try:
        return _import_inspect().get_model(name, memoize=False, **arguments)
    except ValueError as error:
        raise UnknownModel(f"Inspect AI knows no model {name!r}: {error}") from None


def _messages(messages: tuple[Message, ...]) -> list[Any]:
    ai = _import_inspect()
    kinds = {"system": ai.ChatMessageSystem, "user": ai.ChatMessageUser, "assistant": ai.ChatMessageAssistant}
    return [kinds[message.role](content=message.content) for message in messages]


def _config(request: Request, mode: SchemaMode | None, concurrency: int, timeout: float) -> Any:
    ai, schema = _import_inspect(), None
    if mode is SchemaMode.SCHEMA:
        written = read_schema(request)
        strict = make_strict(written)
        form = import_module("inspect_ai.util").JSONSchema(**(written if strict is None else strict))
        schema = ai.ResponseSchema(name="answer", json_schema=form, strict=strict is not None)
    return ai.GenerateConfig(
        max_tokens=request.max_tokens,
        temperature=request.temperature,
        top_p=request.top_p,
        seed=effective_seed(request),
        stop_seqs=list(request.stop) or None,
        logprobs=True if request.logprobs else None,
        top_logprobs=min(request.logprobs, _MOST_ALTERNATIVES) or None,
        response_schema=schema,
        max_retries=0,
        timeout=int(timeout),
        max_connections=concurrency,
    )


def _reply(output: Any, who: str, latency: float, honoured: Honoured) -> Reply:
    choice = output.choices[0] if output.choices else None
    if choice is None or output.error:
        raise ModelError(f"Inspect AI gave no answer: {output.error or 'it has no choices'}")
    return Reply(
        choice.message.text,
        FINISH.get(choice.stop_reason, Finish.OTHER),
        _usage(output.usage, who),
        _logprobs(choice.logprobs, who),
        choice.message.id,
        latency,
        honoured=honoured,
    )


def _usage(usage: Any, who: str) -> Usage:
    """Inspect counts cached prompt tokens beside the others; here they are a part of the prompt."""
    data = usage.model_dump() if usage is not None else {}
    fresh, read = read_count(data, "input_tokens", who), read_count(data, "input_tokens_cache_read", who)
    written = read_count(data, "input_tokens_cache_write", who)
    prompt = None if fresh is None else fresh + (read or 0) + (written or 0)
    return Usage(prompt, read_count(data, "output_tokens", who), read, read_count(data, "reasoning_tokens", who))


def _logprobs(logprobs: Any, who: str) -> tuple[TokenChances, ...]:
    if logprobs is None:
        return ()
    positions = [one.top_logprobs or [one] for one in logprobs.content]
    return tuple(read_alternatives([(one.token, one.logprob) for one in position], who) for position in positions)


def _honoured(request: Request, mode: SchemaMode | None) -> Honoured:
    """What was handed to Inspect; what its provider made of it, Inspect does not say."""
    wishes: list[tuple[str, str | int | float | bool | None]] = [("temperature", request.temperature)]
    if request.seed is not None:
        wishes.append(("seed", effective_seed(request)))
    if mode is not None:
        wishes.append(("schema", "sent" if mode is SchemaMode.SCHEMA else mode.value))
    if request.choices:
        wishes.append(("choices", "left out"))
    return tuple(wishes)
