"""Anthropic's Messages API (https://docs.anthropic.com/en/api/messages).

There is no seed and there are no log-probabilities. A schema is asked for as the input of a tool
the model must call; the reply's text is then that input as JSON. Tools that the model may call
are next to it. Parameters that a model does not take are left out, and the reply says so.
"""

import json
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
from bestresponse.models.http import Rejected
from bestresponse.models.providers.network_model import HttpModel, SchemaMode
from bestresponse.models.providers.reading import read_answers, read_count, read_field
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


def _name_answer(request: Request) -> str:
    """Return the name of the tool whose input is the answer, which no other tool has."""
    taken = {json.loads(tool)["name"] for tool in request.tools}
    return _TOOL if _TOOL not in taken else f"final_{_TOOL}"


def _list_tools(
    request: Request,
    mode: SchemaMode | None,
    refused: frozenset[str],
) -> dict[str, object]:
    """Return the tools that may be called and, for a schema, the one whose input is the answer."""
    if "tools" in refused:
        return {}
    offered = []
    for text in request.tools:
        tool = json.loads(text)
        offered.append(
            {
                "name": tool["name"],
                "description": tool["description"],
                "input_schema": tool["parameters"],
            }
        )
    one_at_a_time = {"disable_parallel_tool_use": True}
    if mode is not SchemaMode.SCHEMA:
        choice = {"type": "auto", **one_at_a_time}
        return {"tools": offered, "tool_choice": choice} if offered else {}
    name = _name_answer(request)
    answer = {
        "name": name,
        "description": "Give the answer.",
        "input_schema": read_schema(request),
    }
    # Some tool has to be called: the one that answers, or one that helps to.
    choice = {"type": "any", **one_at_a_time} if offered else {"type": "tool", "name": name}
    return {"tools": [*offered, answer], "tool_choice": choice}


class AnthropicModel(HttpModel):
    """A Claude model."""

    provider = "anthropic"
    url = "https://api.anthropic.com"
    path = "/v1/messages"
    variable = "ANTHROPIC_API_KEY"
    key_header = "x-api-key"
    headers: ClassVar = {"anthropic-version": _VERSION}
    service: ClassVar = {"version": _VERSION}
    offers = Abilities(schema=True, tools=True)
    optional = ("temperature", "top_p", "stop_sequences", "thinking", "tools")
    has_json_mode = False
    schema_is = "tool"

    def write_settings(
        self,
        request: Request,
        mode: SchemaMode | None,
        refused: frozenset[str],
    ) -> dict[str, object]:
        """Return all settings by the names of this service; None where one is not wanted."""
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
        return settings | _list_tools(request, mode, refused)

    def _find_refused(
        self,
        request: Request,
        mode: SchemaMode | None,
        error: Rejected,
    ) -> frozenset[str]:
        """A model that takes no tools cannot be asked for a schema by one either."""
        refused = super()._find_refused(request, mode, error)
        return refused | {SchemaMode.SCHEMA} if "tools" in refused else refused

    def write_body(
        self,
        messages: tuple[Message, ...],
        settings: dict[str, object],
    ) -> JsonObject:
        """Write the body of a request."""
        system = "\n\n".join(message.content for message in messages if message.role == "system")
        turns = [
            {"role": message.role, "content": message.content}
            for message in messages
            if message.role != "system"
        ]
        body: JsonObject = {"model": self._name, "messages": turns, **settings}
        return body | ({"system": system} if system else {})

    def read_reply(self, answer: object, request: Request) -> Reply:
        """Read the reply out of what came back."""
        blocks = [
            block
            for block in read_answers(answer, "content", self.id, least=0)
            if isinstance(block, dict)
        ]
        data: JsonObject = answer if isinstance(answer, dict) else {}
        reason = data.get("stop_reason")
        name = data.get("id")
        called = [block for block in blocks if block.get("type") == "tool_use"]
        answers = [block for block in called if block.get("name") == _name_answer(request)]
        calls: list[tuple[str, str]] = []
        if request.schema is not None and reason == "tool_use" and (answers or not request.tools):
            text = self._read_tool_input(answers or called)
            finish = Finish.STOP
        else:
            calls = [
                (read_field(block, "name", str, self.id), self._read_tool_input([block]))
                for block in called
                if request.tools
            ]
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
            tool_calls=tuple(calls),
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
        """Anthropic counts cached prompt tokens beside the others.

        Here they are a part of the prompt.
        """
        fresh = read_count(usage, "input_tokens", self.id)
        read = read_count(usage, "cache_read_input_tokens", self.id)
        written = read_count(usage, "cache_creation_input_tokens", self.id)
        prompt = None if fresh is None else fresh + (read or 0) + (written or 0)
        return Usage(prompt, read_count(usage, "output_tokens", self.id), read)
