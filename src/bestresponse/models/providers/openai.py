"""The OpenAI chat-completions protocol, as spoken by OpenAI and by any server that imitates it.

vLLM, Ollama, llama.cpp, LM Studio and many providers speak it at a base URL of their own. Not all of them, and not all
models of OpenAI, take every parameter: newer ones want `max_completion_tokens` instead of `max_tokens`, reasoning
models take no temperature. A parameter the server complains about is renamed or left out, the call is made again, and
the reply says what was not honoured. Reference: https://platform.openai.com/docs/api-reference/chat
"""

from collections.abc import Mapping
from typing import Any

from bestresponse.models.base import Abilities, Honoured, Json, Reply, Request, effective_seed
from bestresponse.models.http import Endpoint, HttpClients, KeyHeader, Secret
from bestresponse.models.providers.chat import read_chat_reply
from bestresponse.models.providers.unsupported_params import Negotiated, complaints_about
from bestresponse.models.schema import schema_of

__all__ = ["OPENAI_URL", "OpenAIModel"]

OPENAI_URL = "https://api.openai.com/v1"
_OPTIONAL = ("max_tokens", "temperature", "top_p", "seed", "stop", "response_format", "top_logprobs", "logprobs")
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
        self._endpoint = Negotiated(endpoint, lambda error: complaints_about(error, _OPTIONAL))

    def complete(self, request: Request) -> Reply:
        """Answer, leaving out what this model has refused before."""
        answer, latency, body = self._endpoint.post(lambda refused: _body(self._name, request, refused))
        return read_chat_reply(answer, self.id, latency, _honoured(request, body))


def _body(name: str, request: Request, refused: frozenset[str]) -> dict[str, Any]:
    limit = "max_completion_tokens" if "max_tokens" in refused else "max_tokens"
    body: dict[str, Any] = {
        "model": name,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        limit: request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "seed": effective_seed(request),
        "stop": list(request.stop) or None,
    }
    if request.schema is not None:
        format = {"name": "answer", "strict": True, "schema": schema_of(request)}
        body["response_format"] = {"type": "json_schema", "json_schema": format}
    if request.logprobs:
        body |= {"logprobs": True, "top_logprobs": min(request.logprobs, _MOST_ALTERNATIVES)}
    return {name: value for name, value in body.items() if value is not None and name not in refused}


def _honoured(request: Request, body: Mapping[str, Any]) -> Honoured:
    """What was sent, and what could not be. A seed is a wish: no server of this protocol promises to repeat."""
    wishes: list[tuple[str, str | int | float | bool | None]] = [("temperature", body.get("temperature"))]
    if request.seed is not None:
        wishes.append(("seed", body.get("seed")))
    if request.schema is not None:
        wishes.append(("schema", "sent" if "response_format" in body else "left out"))
    if request.choices:
        wishes.append(("choices", "left out"))
    if request.logprobs and "top_logprobs" not in body:
        wishes.append(("logprobs", "left out"))
    return tuple(wishes)
