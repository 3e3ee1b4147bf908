"""Any provider of Inspect AI as a model (extra `inspect`, https://inspect.aisi.org.uk).

`inspect/<provider>/<model>` is what Inspect calls `<provider>/<model>`; keys are found where Inspect finds them. Its
own cache is off, because its key leaves out the arguments of the model, and its own retries are off, because ours give
their place back while they wait. Inspect is asynchronous; its calls run in an event loop of their own thread.
"""

import asyncio
import threading
import time
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from bestresponse.core.errors import MissingKey, ModelError, ModelUnavailable, Transient, UnknownModel
from bestresponse.models.base import (
    Abilities,
    Finish,
    Honoured,
    Json,
    Reply,
    Request,
    TokenChances,
    Usage,
    effective_seed,
)
from bestresponse.models.http.text import make_printable
from bestresponse.models.providers.reading import read_alternatives, read_count
from bestresponse.models.schema import schema_of

__all__ = ["InspectModel"]

_FINISH = {
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
        self._concurrency = concurrency
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name=self.id, daemon=True).start()
        self._model = self._run(_open(name, dict(arguments or {})))

    def complete(self, request: Request) -> Reply:
        """Answer through Inspect; its providers' errors become ours."""
        began = time.perf_counter()
        output = self._run(self._generate(request))
        return _reply(output, self.id, time.perf_counter() - began, _honoured(request))

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)

    async def _generate(self, request: Request) -> Any:
        config = _config(request, self._concurrency, self._timeout)
        return await asyncio.wait_for(
            self._model.generate(_messages(request), config=config, cache=False), self._timeout
        )

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
        why = f"{self.id} failed: {make_printable(' '.join(str(error).split())[:300]) or type(error).__name__}"
        if self._model_should_retry(error):
            return Transient(why)
        return MissingKey(why) if "API_KEY" in why else ModelError(why)

    def _model_should_retry(self, error: Exception) -> bool:
        model = getattr(self, "_model", None)
        return model is not None and bool(model.api.should_retry(error))


def _inspect_version() -> str:
    try:
        return version("inspect_ai")
    except PackageNotFoundError as error:
        raise ModelUnavailable("models of Inspect AI need its package: pip install 'bestresponse[inspect]'") from error


async def _open(name: str, arguments: dict[str, Json]) -> Any:
    from inspect_ai.model import get_model

    try:
        return get_model(name, memoize=False, **arguments)
    except ValueError as error:
        raise UnknownModel(f"Inspect AI knows no model {name!r}: {error}") from None


def _messages(request: Request) -> list[Any]:
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser

    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    return [kinds[message.role](content=message.content) for message in request.messages]


def _config(request: Request, concurrency: int, timeout: float) -> Any:
    from inspect_ai.model import GenerateConfig, ResponseSchema
    from inspect_ai.util import JSONSchema

    schema = None
    if request.schema is not None:
        schema = ResponseSchema(name="answer", json_schema=JSONSchema(**schema_of(request)), strict=True)
    return GenerateConfig(
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
        _FINISH.get(choice.stop_reason, Finish.OTHER),
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


def _honoured(request: Request) -> Honoured:
    """What was handed to Inspect; what its provider made of it, Inspect does not say."""
    wishes: list[tuple[str, str | int | float | bool | None]] = [("temperature", request.temperature)]
    if request.seed is not None:
        wishes.append(("seed", effective_seed(request)))
    if request.schema is not None:
        wishes.append(("schema", "sent"))
    if request.choices:
        wishes.append(("choices", "left out"))
    return tuple(wishes)
