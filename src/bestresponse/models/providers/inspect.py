"""Any provider of Inspect AI as a model (extra `inspect`, https://inspect.aisi.org.uk).

`inspect/<provider>/<model>` is what Inspect calls `<provider>/<model>`; keys are found where
Inspect finds them. Its own cache is off, because its key leaves out the arguments of the model, and
its own retries are off, because ours give their place back while they wait. Inspect is
asynchronous; its calls run in an event loop of their own thread. What its provider makes of a
setting, Inspect does not say.
"""

import asyncio
import threading
from collections.abc import Coroutine, Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from bestresponse.core.errors import (
    MissingKey,
    ModelError,
    ModelUnavailable,
    Transient,
    UnknownModel,
)
from bestresponse.core.extras import install_hint
from bestresponse.models.base import (
    Abilities,
    Finish,
    Json,
    Message,
    Reply,
    Request,
    Usage,
    effective_seed,
)
from bestresponse.models.http import Rejected, Secret
from bestresponse.models.providers.network_model import NetworkModel, SchemaMode
from bestresponse.models.providers.reading import read_alternatives, read_count
from bestresponse.models.schema import make_strict, read_schema

if TYPE_CHECKING:
    from bestresponse.models.registry import ModelSettings

FINISH = {
    "stop": Finish.STOP,
    "max_tokens": Finish.LENGTH,
    "model_length": Finish.LENGTH,
    "content_filter": Finish.REFUSAL,
}
"""What Inspect's reasons to stop are here; others are `Finish.OTHER`."""
_MOST_ALTERNATIVES = 20


class InspectModel(NetworkModel):
    """A model that Inspect AI calls for us.

    `arguments` go to Inspect's provider and are part of the identity.
    """

    has_json_mode = False

    def __init__(
        self,
        name: str,
        *,
        timeout: float = 300.0,
        concurrency: int = 16,
        arguments: Mapping[str, Json] | None = None,
    ) -> None:
        try:
            engine = f"inspect_ai {version('inspect_ai')}"
        except PackageNotFoundError as error:
            why = f"models of Inspect AI need its package: {install_hint('inspect')}"
            raise ModelUnavailable(why) from error
        options = dict(arguments or {})
        super().__init__(
            f"inspect/{name}",
            {
                "provider": "inspect",
                "model": name,
                "engine": engine,
                "arguments": options,
            },
            Abilities(
                schema=True,
                logprobs=_MOST_ALTERNATIVES,
                seed=True,
                concurrency=concurrency,
            ),
        )
        self._timeout = timeout
        self._concurrency = concurrency
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name=self.id, daemon=True).start()
        self._ai = import_module("inspect_ai.model")  # an optional package, and a slow one
        self._model: Any = None
        self._model = self._run(self._open(name, options))

    def close(self) -> None:
        """Stop the event loop."""
        self._loop.call_soon_threadsafe(self._loop.stop)

    async def _open(self, name: str, arguments: dict[str, Json]) -> object:
        try:
            return self._ai.get_model(name, memoize=False, **arguments)
        except ValueError as error:
            raise UnknownModel(f"Inspect AI knows no model {name!r}: {error}") from None

    def write_settings(
        self,
        request: Request,
        mode: SchemaMode | None,
        refused: frozenset[str],
    ) -> dict[str, object]:
        """Return all settings by the names of this service; None where one is not wanted."""
        schema = None
        if mode is SchemaMode.SCHEMA:
            written = read_schema(request)
            strict = make_strict(written)
            form = import_module("inspect_ai.util").JSONSchema(
                **(written if strict is None else strict)
            )
            schema = self._ai.ResponseSchema(
                name="answer",
                json_schema=form,
                strict=strict is not None,
            )
        return {
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "top_p": request.top_p,
            "seed": effective_seed(request),
            "stop_seqs": list(request.stop) or None,
            "logprobs": True if request.logprobs else None,
            "top_logprobs": min(request.logprobs, _MOST_ALTERNATIVES) or None,
            "response_schema": schema,
            "max_retries": 0,
            "timeout": int(self._timeout),
            "max_connections": self._concurrency,
        }

    def _ask(
        self,
        messages: tuple[Message, ...],
        settings: dict[str, object],
        request: Request,
    ) -> Reply:
        ai = self._ai
        kinds = {
            "system": ai.ChatMessageSystem,
            "user": ai.ChatMessageUser,
            "assistant": ai.ChatMessageAssistant,
        }
        turns = [kinds[message.role](content=message.content) for message in messages]
        work = self._model.generate(turns, config=ai.GenerateConfig(**settings), cache=False)
        return self.read_reply(self._run(asyncio.wait_for(work, self._timeout)))

    def _run(self, work: Coroutine[Any, Any, object]) -> object:
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()
        except ModelError:
            raise
        except TimeoutError:
            raise Transient(f"{self.id} did not answer within {self._timeout:g} s") from None
        except Exception as error:  # noqa: BLE001
            # Providers of Inspect raise whatever their clients raise.
            failure = error
        why = f"{self.id} failed: {Secret('').quote(str(failure) or type(failure).__name__)}"
        if self._model is not None and self._model.api.should_retry(failure):
            raise Transient(why)
        raise MissingKey(why) if "API_KEY" in why else Rejected(why)

    def read_reply(self, answer: Any) -> Reply:
        """Read the reply out of what came back."""
        choice = answer.choices[0] if answer.choices else None
        if choice is None or answer.error:
            raise ModelError(f"Inspect AI gave no answer: {answer.error or 'it has no choices'}")
        usage = answer.usage.model_dump() if answer.usage is not None else {}
        # Inspect counts cached prompt tokens beside the others; here they are a part of the prompt.
        fresh = read_count(usage, "input_tokens", self.id)
        cached = read_count(usage, "input_tokens_cache_read", self.id)
        written = read_count(usage, "input_tokens_cache_write", self.id)
        positions = choice.logprobs.content if choice.logprobs is not None else []
        alternatives = []
        for position in positions:
            alternatives.append(
                [token.model_dump() for token in position.top_logprobs or [position]]
            )
        prompt = None
        if fresh is not None:
            prompt = fresh + (cached or 0) + (written or 0)
        counted = Usage(
            prompt,
            read_count(usage, "output_tokens", self.id),
            cached,
            read_count(usage, "reasoning_tokens", self.id),
        )
        logprobs = [read_alternatives(listed, self.id) for listed in alternatives]
        return Reply(
            choice.message.text,
            FINISH.get(choice.stop_reason, Finish.OTHER),
            counted,
            tuple(logprobs),
            provider_id=choice.message.id,
        )


def open_inspect(name: str, settings: "ModelSettings") -> InspectModel:
    """Open a model of a provider of Inspect AI."""
    return InspectModel(name, timeout=settings.timeout, concurrency=settings.concurrency)
