"""Anthropic's Messages API (https://docs.anthropic.com/en/api/messages).

There is no seed and there are no log-probabilities. A schema is asked for as the input of a tool the model must call;
the reply's text is then that input as JSON. Parameters that a model does not take are left out, and the reply says so.
"""

from collections.abc import Mapping
from typing import Any

from bestresponse.core.errors import BadReply
from bestresponse.core.json import JsonMapping, JsonObject, canonical
from bestresponse.models.base import Abilities, Finish, Honoured, Json, Reply, Request, Usage
from bestresponse.models.http import Endpoint, HttpClients, KeyHeader, Secret
from bestresponse.models.providers.reading import read_count, read_field, read_id
from bestresponse.models.providers.schema_modes import SchemaMode, add_instruction, choose_mode, find_refused_mode
from bestresponse.models.providers.unsupported_params import Negotiated, find_complaints
from bestresponse.models.schema import finish_structured, read_schema

__all__ = ["ANTHROPIC_URL", "AnthropicModel"]

ANTHROPIC_URL = "https://api.anthropic.com"
_VERSION = "2023-06-01"
_TOOL = "answer"
_OPTIONAL = ("temperature", "top_p", "stop_sequences")
_FINISH = {
    "end_turn": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "refusal": Finish.REFUSAL,
}


class AnthropicModel:
    """A Claude model."""

    def __init__(
        self,
        name: str,
        clients: HttpClients,
        key: Secret,
        *,
        base_url: str = ANTHROPIC_URL,
        timeout: float = 300.0,
        concurrency: int = 16,
    ) -> None:
        base = base_url.rstrip("/")
        self.id = f"anthropic/{name}"
        self.identity: Mapping[str, Json] = {
            "provider": "anthropic",
            "model": name,
            "base_url": base,
            "version": _VERSION,
        }
        self.abilities = Abilities(schema=True, concurrency=concurrency)
        self._name = name
        endpoint = Endpoint(
            clients,
            f"{base}/v1/messages",
            who=self.id,
            key=key,
            auth=KeyHeader("x-api-key", key),
            headers=(("anthropic-version", _VERSION),),
            variable="ANTHROPIC_API_KEY",
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
        reply = _reply(answer, request, self.id, latency, _honoured(request, body, mode))
        return finish_structured(request, reply, plain=mode is not SchemaMode.SCHEMA)


def _body(name: str, request: Request, refused: frozenset[str]) -> JsonObject:
    mode = choose_mode(request, refused)
    messages = add_instruction(request) if mode in (SchemaMode.JSON, SchemaMode.WORDS) else request.messages
    system = "\n\n".join(message.content for message in messages if message.role == "system")
    turns = [message for message in messages if message.role != "system"]
    body: JsonObject = {
        "model": name,
        "max_tokens": request.max_tokens,
        "messages": [{"role": message.role, "content": message.content} for message in turns],
        "system": system or None,
        "temperature": None if request.temperature is None else min(request.temperature, 1.0),
        "top_p": request.top_p,
        "stop_sequences": list(request.stop) or None,
    }
    if mode is SchemaMode.SCHEMA:
        body["tools"] = [{"name": _TOOL, "description": "Give the answer.", "input_schema": read_schema(request)}]
        body["tool_choice"] = {"type": "tool", "name": _TOOL}
    return {name: value for name, value in body.items() if value is not None and name not in refused}


def _reply(data: Any, request: Request, who: str, latency: float, honoured: Honoured) -> Reply:
    blocks = read_field(data, "content", list, who)
    reason = data.get("stop_reason")
    if request.schema is not None and reason == "tool_use":
        text, finish = _tool_input(blocks, who), Finish.STOP
    else:
        text = "".join(read_field(block, "text", str, who) for block in blocks if _kind(block) == "text")
        finish = _FINISH.get(str(reason), Finish.OTHER)
    return Reply(text, finish, _usage(data, who), (), read_id(data, "id"), latency, honoured=honoured)


def _tool_input(blocks: list[Any], who: str) -> str:
    for block in blocks:
        if _kind(block) == "tool_use":
            return _write_input(read_field(block, "input", dict, who), who)
    raise BadReply(f"{who} said that it gave a structured answer and gave none")


def _write_input(given: JsonObject, who: str) -> str:
    try:
        return canonical(given)
    except ValueError:
        raise BadReply(f"{who} gave a structured answer with a number that JSON does not have") from None


def _kind(block: object) -> Any:
    return block.get("type") if isinstance(block, dict) else None


def _usage(data: JsonMapping, who: str) -> Usage:
    """Anthropic counts cached prompt tokens beside the others; here they are a part of the prompt."""
    usage = data.get("usage")
    fresh = read_count(usage, "input_tokens", who)
    read = read_count(usage, "cache_read_input_tokens", who)
    written = read_count(usage, "cache_creation_input_tokens", who)
    prompt = None if fresh is None else fresh + (read or 0) + (written or 0)
    return Usage(prompt, read_count(usage, "output_tokens", who), read)


def _honoured(request: Request, body: JsonMapping, mode: SchemaMode | None) -> Honoured:
    wishes: list[tuple[str, str | int | float | bool | None]] = [("temperature", body.get("temperature"))]
    if request.seed is not None:
        wishes.append(("seed", None))
    if mode is not None:
        wishes.append(("schema", "tool" if mode is SchemaMode.SCHEMA else SchemaMode.WORDS.value))
    if request.choices:
        wishes.append(("choices", "left out"))
    if request.logprobs:
        wishes.append(("logprobs", "left out"))
    return tuple(wishes)
