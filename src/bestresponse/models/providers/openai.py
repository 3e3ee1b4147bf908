"""The OpenAI chat-completions protocol, as spoken by OpenAI and by any server that imitates it.

vLLM, Ollama, llama.cpp, LM Studio and many providers speak it at a base URL of their own. Not all
of them, and not all models of OpenAI, take every parameter: newer ones want `max_completion_tokens`
instead of `max_tokens`, reasoning models take no temperature. A parameter the server complains
about is renamed or left out, the call is made again, and the reply says what was not honoured.
Reference: https://platform.openai.com/docs/api-reference/chat
"""

import json

from bestresponse.core.json import JsonObject
from bestresponse.models.base import Abilities, Message, Reply, Request, effective_seed
from bestresponse.models.providers.network_model import HttpModel, SchemaMode
from bestresponse.models.providers.reading import read_chat_reply
from bestresponse.models.schema import make_strict, read_schema

OPENAI_URL = "https://api.openai.com/v1"
_MOST_ALTERNATIVES = 20  # the API takes no more


class OpenAIModel(HttpModel):
    """A model behind a chat-completions endpoint."""

    provider = "openai"
    url = OPENAI_URL
    path = "/chat/completions"
    variable = "OPENAI_API_KEY"
    key_header = "authorization"
    prefix = "Bearer "
    offers = Abilities(schema=True, logprobs=_MOST_ALTERNATIVES, seed=True, tools=True)
    optional = (
        "max_tokens",
        "temperature",
        "top_p",
        "seed",
        "stop",
        "top_logprobs",
        "logprobs",
        "reasoning_effort",
        "tools",
    )

    def write_settings(
        self,
        request: Request,
        mode: SchemaMode | None,
        refused: frozenset[str],
    ) -> dict[str, object]:
        """Return all settings by the names of this service; None where one is not wanted."""
        alternatives = (
            min(request.logprobs, _MOST_ALTERNATIVES) if "top_logprobs" not in refused else 0
        )
        return {
            "max_completion_tokens" if "max_tokens" in refused else "max_tokens": (
                request.max_tokens + (request.reasoning_tokens or 0)
            ),  # reasoning counts as part of the reply here
            "reasoning_effort": request.effort,
            "temperature": request.temperature,
            "top_p": request.top_p,
            "seed": effective_seed(request),
            "stop": list(request.stop) or None,
            "response_format": _describe_format(request, mode),
            "logprobs": True if alternatives else None,
            "top_logprobs": alternatives or None,
            "tools": (
                [{"type": "function", "function": json.loads(tool)} for tool in request.tools]
                or None
            ),
        }

    def write_body(
        self,
        messages: tuple[Message, ...],
        settings: dict[str, object],
    ) -> JsonObject:
        """Write the body of a request."""
        turns = [{"role": message.role, "content": message.content} for message in messages]
        return {"model": self._name, "messages": turns, **settings}

    def read_reply(self, answer: object, request: Request) -> Reply:
        """Read the reply out of what came back."""
        return read_chat_reply(answer, self.id)


def _describe_format(request: Request, mode: SchemaMode | None) -> dict[str, object] | None:
    """Describe the form of the reply.

    A schema without a strict form is sent without the promise to keep it.
    """
    if mode is SchemaMode.JSON:
        return {"type": "json_object"}
    if mode is not SchemaMode.SCHEMA:
        return None
    schema = read_schema(request)
    strict = make_strict(schema)
    form = {
        "name": "answer",
        "strict": strict is not None,
        "schema": schema if strict is None else strict,
    }
    return {"type": "json_schema", "json_schema": form}
