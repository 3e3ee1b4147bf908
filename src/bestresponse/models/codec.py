"""Requests and replies as plain JSON data, replies also back: for the cache and for records."""

from dataclasses import fields

from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.models.base import Finish, Reply, Request, ToolUse, Usage

_USAGE = tuple(field.name for field in fields(Usage))
_LATER = ("effort", "reasoning_tokens", "tools")
_SETTINGS = tuple(
    field.name for field in fields(Request) if field.name not in ("messages", "facts")
)


def request_to_json(request: Request) -> JsonObject:
    """Return a request as plain data.

    Contains the messages and every other field, later ones only if they are set.

    >>> from bestresponse.models.base import ask
    >>> request_to_json(ask("hello"))["messages"]
    [['user', 'hello']]
    """
    data: JsonObject = {name: getattr(request, name) for name in _SETTINGS}
    data["messages"] = [[message.role, message.content] for message in request.messages]
    data["stop"] = list(request.stop)
    data["choices"] = list(request.choices)
    data["tools"] = list(request.tools) or None
    # Replies kept before these fields came are found again.
    return {name: value for name, value in data.items() if value is not None or name not in _LATER}


def reply_to_json(reply: Reply) -> JsonObject:
    """Return a reply as plain data, without `cached`.

    That field says how a reply was obtained and not what it is.
    """
    data: JsonObject = {
        "text": reply.text,
        "finish": reply.finish.value,
        "usage": {name: getattr(reply.usage, name) for name in _USAGE},
        "logprobs": [[list(pair) for pair in position] for position in reply.logprobs],
        "provider_id": reply.provider_id,
        "latency": reply.latency,
        "honoured": [list(pair) for pair in reply.honoured],
    }
    if reply.failed:
        data["failed"] = reply.failed
    if reply.tool_calls:
        data["tool_calls"] = [list(call) for call in reply.tool_calls]
    if reply.tools:
        data["tools"] = [[use.name, use.arguments, use.result] for use in reply.tools]
    return data


def reply_from_json(data: JsonMapping, *, cached: bool = False) -> Reply:
    """Return the reply that `reply_to_json` wrote."""
    positions = []
    for position in data["logprobs"]:
        positions.append(tuple((token, chance) for token, chance in position))
    return Reply(
        text=data["text"],
        finish=Finish(data["finish"]),
        usage=Usage(**data["usage"]),
        logprobs=tuple(positions),
        provider_id=data["provider_id"],
        latency=data["latency"],
        cached=cached,
        honoured=tuple((name, value) for name, value in data["honoured"]),
        tool_calls=tuple((name, arguments) for name, arguments in data.get("tool_calls", ())),
        tools=tuple(ToolUse(*use) for use in data.get("tools", ())),
        failed=data.get("failed", 0),
    )
