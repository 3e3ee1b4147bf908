"""Replies of servers, read with suspicion: what does not fit is a `BadReply` that says where."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from bestresponse.core.errors import BadReply, Transient
from bestresponse.core.json import JsonObject
from bestresponse.models.base import Finish, Reply, TokenChances, Usage

_T = TypeVar("_T")
_FINISH = {"stop": Finish.STOP, "length": Finish.LENGTH, "content_filter": Finish.REFUSAL}
_MOST_TOKENS = 10**9  # no context is so long, and sums of counts stay small
# The logarithm of a probability of 1 may come out of a server's arithmetic a little above 0.
_ROUNDING = 0.01


def read_chat_reply(data: object, sender: str) -> Reply:
    """Return the first choice of a chat completion.

    See https://platform.openai.com/docs/api-reference/chat/object for the format.
    """
    choice = read_answers(data, "choices", sender)[0]
    message = read_field(choice, "message", dict, sender)
    refusal = message.get("refusal")
    text = refusal if isinstance(refusal, str) and refusal else message.get("content")
    if not isinstance(text, str | None):
        raise BadReply(f"{sender} answered with {type(text).__name__} as `content` instead of text")
    chances = choice.get("logprobs")
    positions = (
        read_field(chances, "content", list, sender)
        if isinstance(chances, dict) and chances.get("content")
        else []
    )
    answer: JsonObject = data if isinstance(data, dict) else {}
    name = answer.get("id")
    usage = answer.get("usage")
    details: JsonObject = usage if isinstance(usage, dict) else {}
    finish = _FINISH.get(str(choice.get("finish_reason")), Finish.OTHER)
    if text and text == refusal:
        finish = Finish.REFUSAL
    usage = Usage(
        read_count(details, "prompt_tokens", sender),
        read_count(details, "completion_tokens", sender),
        read_count(details.get("prompt_tokens_details"), "cached_tokens", sender),
        read_count(details.get("completion_tokens_details"), "reasoning_tokens", sender),
    )
    logprobs = []
    for position in positions:
        listed = read_field(position, "top_logprobs", list, sender) or [position]
        logprobs.append(read_alternatives(listed, sender))
    tool_calls = _read_tool_calls(message.get("tool_calls"), sender)
    return Reply(
        text or "",
        finish,
        usage,
        tuple(logprobs),
        provider_id=name if isinstance(name, str) else None,
        tool_calls=tuple(tool_calls),
    )


def _read_tool_calls(listed: object, sender: str) -> Iterator[tuple[str, str]]:
    """Yield the calls of tools in a message, by name and arguments; none if it has none."""
    for call in listed if isinstance(listed, list) else ():
        function = read_field(call, "function", dict, sender)
        yield (
            read_field(function, "name", str, sender),
            read_field(function, "arguments", str, sender),
        )


def read_field(data: object, name: str, kind: type[_T], sender: str) -> _T:
    """Return `data[name]`, which must be of this kind."""
    value = data.get(name) if isinstance(data, Mapping) else None
    if not isinstance(value, kind):
        raise BadReply(
            f"{sender} answered without a proper `{name}`; is this server of the kind its address"
            " promises?"
        )
    return value


def read_answers(data: object, name: str, sender: str, least: int = 1) -> list[Any]:
    """Return the list `data[name]` of what was answered; `Transient` where there is none.

    Services that are busy, and gateways before them, send objects without it and no error.
    """
    try:
        answers = read_field(data, name, list, sender)
    except BadReply as error:
        raise Transient(str(error), billed=True) from None
    if len(answers) < least:
        raise Transient(f"{sender} answered with nothing in `{name}`", billed=True)
    return answers


def read_count(data: object, name: str, sender: str) -> int | None:
    """Return a number of tokens, or None where there is none.

    `BadReply` for a number no reply can have.
    """
    value = data.get(name) if isinstance(data, Mapping) else None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        return None
    if value > _MOST_TOKENS:
        raise BadReply(f"{sender} says that `{name}` of one reply is more than {_MOST_TOKENS:,}")
    return value


def read_alternatives(
    listed: Iterable[object],
    sender: str,
    chance: str = "logprob",
) -> TokenChances:
    """Return tokens with their log-probabilities, likeliest first.

    The log-probabilities are in the field `chance`.

    What is no number, or not finite, is left out. A logarithm above 0 is no probability: a rounding
    error becomes 0, anything larger is a `BadReply`.
    """
    known: list[tuple[str, float]] = []
    for alternative in listed:
        token = read_field(alternative, "token", str, sender)
        value = alternative.get(chance) if isinstance(alternative, Mapping) else None
        if (
            not isinstance(value, int | float)
            or isinstance(value, bool)
            or value != value
            or value == -math.inf
        ):
            continue
        if value > _ROUNDING:
            raise BadReply(f"{sender} gave a token a log-probability above 0, which cannot be")
        if value < -1e300:
            raise BadReply(f"{sender} gave a token a log-probability below the range of numbers")
        known.append((token, min(float(value), 0.0)))
    return tuple(sorted(known, key=lambda pair: -pair[1]))
