"""Replies of the OpenAI chat-completions protocol, read with suspicion.

Many servers speak this protocol, and some of them lie: every field is checked before it is used, and what does not fit
is a `BadReply` that says where. Format: https://platform.openai.com/docs/api-reference/chat/object
"""

from collections.abc import Mapping
from typing import Any

from bestresponse.core.errors import BadReply
from bestresponse.models.base import Finish, Honoured, Reply, TokenChances, Usage
from bestresponse.models.providers.reading import read_alternatives, read_count, read_field, read_id

__all__ = ["read_chat_reply"]

_FINISH = {"stop": Finish.STOP, "length": Finish.LENGTH, "content_filter": Finish.REFUSAL}


def read_chat_reply(data: Any, who: str, latency: float, honoured: Honoured = ()) -> Reply:
    """Return the first choice of a chat completion."""
    choices = read_field(data, "choices", list, who)
    if not choices:
        raise BadReply(f"{who} answered without any choice in `choices`")
    choice = choices[0]
    message = read_field(choice, "message", dict, who)
    refusal = message.get("refusal")
    text = refusal if isinstance(refusal, str) and refusal else message.get("content")
    if not isinstance(text, str | None):
        raise BadReply(f"{who} answered with {type(text).__name__} as `content` instead of text")
    reason = choice.get("finish_reason")
    return Reply(
        text or "",
        Finish.REFUSAL if text and text == refusal else _FINISH.get(str(reason), Finish.OTHER),
        _usage(data.get("usage"), who),
        _logprobs(choice.get("logprobs"), who),
        read_id(data, "id"),
        latency,
        honoured=honoured,
    )


def _usage(data: object, who: str) -> Usage:
    if not isinstance(data, Mapping):
        return Usage()
    return Usage(
        read_count(data, "prompt_tokens", who),
        read_count(data, "completion_tokens", who),
        read_count(data.get("prompt_tokens_details"), "cached_tokens", who),
        read_count(data.get("completion_tokens_details"), "reasoning_tokens", who),
    )


def _logprobs(data: object, who: str) -> tuple[TokenChances, ...]:
    if not isinstance(data, dict) or not data.get("content"):
        return ()
    return tuple(_alternatives(position, who) for position in read_field(data, "content", list, who))


def _alternatives(position: object, who: str) -> TokenChances:
    listed = read_field(position, "top_logprobs", list, who) or [position]
    return read_alternatives([(read_field(one, "token", str, who), one.get("logprob")) for one in listed], who)
