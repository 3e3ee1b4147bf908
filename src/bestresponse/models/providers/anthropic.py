"""Anthropic's Messages API (https://docs.anthropic.com/en/api/messages).

There is no seed and there are no log-probabilities. A schema is asked for as the input of a tool
the model must call; the reply's text is then that input as JSON. Parameters that a model does not
take are left out, and the reply says so.
"""

from typing import ClassVar

from bestresponse.core.errors import BadReply
from bestresponse.core.json import JsonObject, canonical
from bestresponse.models.base import (
    LEAST_REASONING,
    Abilities,
    Finish,
    Message,
    Reply,
    Request,
    Usage,
)
from bestresponse.models.providers.network_model import HttpModel, SchemaMode
from bestresponse.models.providers.reading import read_count, read_field
from bestresponse.models.schema import read_schema

_VERSION = "2023-06-01"
_TOOL = "answer"
_FINISH = {
    "end_turn": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "refusal": Finish.REFUSAL,
}


class AnthropicModel(HttpModel):
    """A Claude model."""

    provider = "anthropic"
    url = "https://api.anthropic.com"
    path = "/v1/messages"
    variable = "ANTHROPIC_API_KEY"
    key_header = "x-api-key"
    headers: ClassVar = {"anthropic-version": _VERSION}
    service: ClassVar = {"version": _VERSION}
    offers = Abilities(schema=True)
    optional = ("temperature", "top_p", "stop_sequences", "thinking")
    has_json_mode = False
    schema_is = "tool"

    def _list_settings(
        self, request: Request, mode: SchemaMode | None, refused: frozenset[str]
    ) -> dict[str, object]:
        settings: JsonObject = {
            "max_tokens": request.max_tokens,
            "temperature": None if request.temperature is None else min(request.temperature, 1.0),
            "top_p": request.top_p,
            "stop_sequences": list(request.stop) or None,
        }
        budget = request.reasoning_budget
        if (
            budget and mode is not SchemaMode.SCHEMA
        ):  # thinking allows neither a forced tool nor another temperature
            budget = max(budget, LEAST_REASONING)
            settings |= {
                "thinking": {"type": "enabled", "budget_tokens": budget},
                "temperature": 1.0,
                "top_p": None,
            }
            settings["max_tokens"] = request.max_tokens + budget
        if mode is SchemaMode.SCHEMA:
            tool = {
                "name": _TOOL,
                "description": "Give the answer.",
                "input_schema": read_schema(request),
            }
            settings |= {"tools": [tool], "tool_choice": {"type": "tool", "name": _TOOL}}
        return settings

    def _send(self, messages: tuple[Message, ...], settings: dict[str, object]) -> object:
        system = "\n\n".join(message.content for message in messages if message.role == "system")
        turns = [
            {"role": message.role, "content": message.content}
            for message in messages
            if message.role != "system"
        ]
        body: JsonObject = {"model": self._name, "messages": turns, **settings}
        return self._endpoint.post(body | ({"system": system} if system else {}))

    def _read_reply(self, answer: object, request: Request) -> Reply:
        blocks = [
            block
            for block in read_field(answer, "content", list, self.id)
            if isinstance(block, dict)
        ]
        data: JsonObject = answer if isinstance(answer, dict) else {}
        reason = data.get("stop_reason")
        name = data.get("id")
        if request.schema is not None and reason == "tool_use":
            text = self._read_tool_input(blocks)
            finish = Finish.STOP
        else:
            texts = [
                read_field(block, "text", str, self.id)
                for block in blocks
                if block.get("type") == "text"
            ]
            text = "".join(texts)
            finish = _FINISH.get(str(reason), Finish.OTHER)
        return Reply(
            text,
            finish,
            self._read_usage(data.get("usage")),
            (),
            name if isinstance(name, str) else None,
        )

    def _read_tool_input(self, blocks: list[JsonObject]) -> str:
        for block in blocks:
            if block.get("type") == "tool_use":
                try:
                    return canonical(read_field(block, "input", dict, self.id))
                except ValueError:
                    why = (
                        f"{self.id} gave a structured answer with a number that JSON does not have"
                    )
                    raise BadReply(why) from None
        raise BadReply(f"{self.id} said that it gave a structured answer and gave none")

    def _read_usage(self, usage: object) -> Usage:
        """Anthropic counts cached prompt tokens beside the others; here they are a part of the
        prompt."""
        fresh = read_count(usage, "input_tokens", self.id)
        read = read_count(usage, "cache_read_input_tokens", self.id)
        written = read_count(usage, "cache_creation_input_tokens", self.id)
        prompt = None if fresh is None else fresh + (read or 0) + (written or 0)
        return Usage(prompt, read_count(usage, "output_tokens", self.id), read)
