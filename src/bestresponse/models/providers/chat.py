"""Replies of the OpenAI chat-completions protocol, read with suspicion.

Many servers speak this protocol, and some of them lie: every field is checked before it is used, and what does not fit
is a `BadReply` that says where. Format: https://platform.openai.com/docs/api-reference/chat/object
"""

import math
from collections.abc import Mapping
from typing import Any

from bestresponse.core.errors import BadReply
from bestresponse.models.base import Finish, Honoured, Reply, TokenChances, Usage

__all__ = ["alternatives", "chat_reply", "count", "field"]

_FINISH = {"stop": Finish.STOP, "length": Finish.LENGTH, "content_filter": Finish.REFUSAL}


def chat_reply(data: Any, who: str, latency: float, honoured: Honoured = ()) -> Reply:
    """The first choice of a chat completion."""
    choices = field(data, "choices", list, who)
    if not choices:
        raise BadReply(f"{who} answered without any choice in `choices`")
    choice = choices[0]
    message = field(choice, "message", dict, who)
    refusal = message.get("refusal")
    text = refusal if isinstance(refusal, str) and refusal else message.get("content")
    if not isinstance(text, str | None):
        raise BadReply(f"{who} answered with {type(text).__name__} as `content` instead of text")
    reason = choice.get("finish_reason")
    identity = data.get("id")
    return Reply(
        text or "",
        Finish.REFUSAL if text and text == refusal else _FINISH.get(str(reason), Finish.OTHER),
        _usage(data.get("usage")),
        _logprobs(choice.get("logprobs"), who),
        identity if isinstance(identity, str) else None,
        latency,
        honoured=honoured,
    )


def field(data: Any, name: str, kind: type, who: str) -> Any:
    """`data[name]`, which must be of this kind."""
    value = data.get(name) if isinstance(data, dict) else None
    if not isinstance(value, kind):
        raise BadReply(f"{who} answered without a proper `{name}`; is this server of the kind its address promises?")
    return value


def count(data: Any, name: str) -> int | None:
    """A number of tokens, or None where there is none."""
    value = data.get(name) if isinstance(data, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def alternatives(pairs: list[tuple[str, Any]]) -> TokenChances:
    """Tokens with their log-probabilities, likeliest first; what is no finite number is left out."""
    numbers = [(token, chance) for token, chance in pairs if isinstance(chance, int | float)]
    known = [(token, float(chance)) for token, chance in numbers if math.isfinite(chance)]
    return tuple(sorted(known, key=lambda pair: -pair[1]))


def _usage(data: Any) -> Usage:
    if not isinstance(data, Mapping):
        return Usage()
    return Usage(
        count(data, "prompt_tokens"),
        count(data, "completion_tokens"),
        count(data.get("prompt_tokens_details"), "cached_tokens"),
        count(data.get("completion_tokens_details"), "reasoning_tokens"),
    )


def _logprobs(data: Any, who: str) -> tuple[TokenChances, ...]:
    if not isinstance(data, dict) or not data.get("content"):
        return ()
    return tuple(_alternatives(position, who) for position in field(data, "content", list, who))


def _alternatives(position: Any, who: str) -> TokenChances:
    listed = field(position, "top_logprobs", list, who) or [position]
    return alternatives([(field(one, "token", str, who), one.get("logprob")) for one in listed])
