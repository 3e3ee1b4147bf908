"""The OpenAI chat-completions protocol, as spoken by OpenAI and by any server that imitates it.

vLLM, Ollama, llama.cpp, LM Studio and many providers speak it at a base URL of their own. Not all of them, and not all
models of OpenAI, take every parameter: newer ones want `max_completion_tokens` instead of `max_tokens`, reasoning
models take no temperature. A parameter the server complains about is renamed or left out, the call is made again, and
the reply says what was not honoured. Reference: https://platform.openai.com/docs/api-reference/chat
"""

from collections.abc import Mapping

from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.models.base import Abilities, Honoured, Json, Reply, Request, effective_seed
from bestresponse.models.http import Endpoint, HttpClients, KeyHeader, Secret
from bestresponse.models.providers.chat import read_chat_reply
from bestresponse.models.providers.schema_modes import SchemaMode, add_instruction, choose_mode, find_refused_mode
from bestresponse.models.providers.unsupported_params import Negotiated, find_complaints
from bestresponse.models.schema import finish_structured, make_strict, read_schema

__all__ = ["OPENAI_URL", "OpenAIModel"]

OPENAI_URL = "https://api.openai.com/v1"
_OPTIONAL = ("max_tokens", "temperature", "top_p", "seed", "stop", "top_logprobs", "logprobs")
_MOST_ALTERNATIVES = 20


class OpenAIModel:
    """A model behind a chat-completions endpoint."""

    def __init__(
        self,
        name: str,
        clients: HttpClients,
        key: Secret,
        *,
        base_url: str = OPENAI_URL,
        id: str | None = None,
        variable: str = "OPENAI_API_KEY",
        timeout: float = 300.0,
        concurrency: int = 16,
    ) -> None:
        base = base_url.rstrip("/")
        self.id = id or f"openai/{name}"
        provider = "openai" if base == OPENAI_URL else "openai-compatible"
        self.identity: Mapping[str, Json] = {"provider": provider, "model": name, "base_url": base}
        self.abilities = Abilities(schema=True, logprobs=_MOST_ALTERNATIVES, seed=True, concurrency=concurrency)
        self._name = name
        endpoint = Endpoint(
            clients,
            f"{base}/chat/completions",
            who=self.id,
            key=key,
            auth=KeyHeader("authorization", key, "Bearer "),
            variable=variable,
            timeout=timeout,
        )
        self._endpoint = Negotiated(endpoint)

    def complete(self, request: Request) -> Reply:
        """Answer, leaving out what this model has refused before."""
        answer, latency, body, refused = self._endpoint.post(
            lambda refused: _body(self._name, request, refused),
            lambda error, refused: find_refused_mode(request, error, refused) or find_complaints(error, _OPTIONAL),
        )
        mode = choose_mode(request, refused)
        reply = read_chat_reply(answer, self.id, latency, _honoured(request, body, mode))
        return finish_structured(request, reply, plain=mode is not SchemaMode.SCHEMA)


def _body(name: str, request: Request, refused: frozenset[str]) -> JsonObject:
    mode = choose_mode(request, refused)
    messages = add_instruction(request) if mode in (SchemaMode.JSON, SchemaMode.WORDS) else request.messages
    limit = "max_completion_tokens" if "max_tokens" in refused else "max_tokens"
    body: JsonObject = {
        "model": name,
        "messages": [{"role": message.role, "content": message.content} for message in messages],
        limit: request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "seed": effective_seed(request),
        "stop": list(request.stop) or None,
        "response_format": _format(request, mode),
    }
    if request.logprobs:
        body |= {"logprobs": True, "top_logprobs": min(request.logprobs, _MOST_ALTERNATIVES)}
    return {name: value for name, value in body.items() if value is not None and name not in refused}


def _format(request: Request, mode: SchemaMode | None) -> JsonObject | None:
    """Describe the form of the reply; a schema without a strict form is sent without the promise to keep it."""
    if mode is SchemaMode.JSON:
        return {"type": "json_object"}
    if mode is not SchemaMode.SCHEMA:
        return None
    schema = read_schema(request)
    strict = make_strict(schema)
    form = {"name": "answer", "strict": strict is not None, "schema": schema if strict is None else strict}
    return {"type": "json_schema", "json_schema": form}


def _honoured(request: Request, body: JsonMapping, mode: SchemaMode | None) -> Honoured:
    """What was sent, and what could not be. A seed is a wish: no server of this protocol promises to repeat."""
    wishes: list[tuple[str, str | int | float | bool | None]] = [("temperature", body.get("temperature"))]
    if request.seed is not None:
        wishes.append(("seed", body.get("seed")))
    if mode is not None:
        wishes.append(("schema", "sent" if mode is SchemaMode.SCHEMA else mode.value))
    if request.choices:
        wishes.append(("choices", "left out"))
    if request.logprobs and "top_logprobs" not in body:
        wishes.append(("logprobs", "left out"))
    return tuple(wishes)
