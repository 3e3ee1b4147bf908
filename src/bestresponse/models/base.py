"""What a language model is: one request in, one reply out.

`Model.complete` is synchronous and may be called from many threads at once. A model carries its
`identity`: everything that can change who answers (provider, name, base URL, or file hash, engine
version, threads and slots). Together with the request it names a call, and that is what the cache
keys on. A reply says beside its text what the engine really did with the wishes of the request
(`honoured`): a seed that was sent is not yet a seed that was obeyed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from bestresponse.core.errors import UsageError

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Role: TypeAlias = Literal["system", "user", "assistant"]
TokenChances: TypeAlias = tuple[tuple[str, float], ...]
"""The alternatives at one position of a reply: (token, natural log of its probability), likeliest
first."""
Honoured: TypeAlias = tuple[tuple[str, str | int | float | bool | None], ...]

LEAST_REASONING = 1024
"""Anthropic refuses fewer tokens of reasoning."""
REASONING_TOKENS = {"minimal": 0, "low": 2048, "medium": 8192, "high": 24576}
"""The tokens that stand for an effort where a provider takes a number."""
_SEEDS = 2**31 - 1  # seeds fit into a signed 32-bit number
_GOLDEN = 0x9E3779B1  # 2**32 over the golden ratio: seeds of replicates lie far apart


class Finish(StrEnum):
    """Why a reply ended."""

    STOP = "stop"
    LENGTH = "length"
    REFUSAL = "refusal"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Request:
    """Everything asked of a model in one call.

    `schema` is the text of a JSON schema the reply should follow (see `schema.schema_text`);
    `choices` are texts of which the reply should be exactly one; `logprobs` is how many
    alternatives to report per token. `replicate` tells repeated samples of one question apart: it
    is part of the cache key and shifts the seed. A temperature of None is the provider's own.
    `effort` (minimal, low, medium, high) and `reasoning_tokens` say how long a model that reasons
    by itself may do so; each provider takes what it knows of them. `tools` are what the model may
    call instead of answering, each the JSON text of a name, a description and the schema of its
    arguments.

    `facts` tell a model in this process what the question is about, as data. They are neither sent
    nor kept, and two requests that differ in nothing else are equal.
    """

    messages: tuple[Message, ...]
    max_tokens: int = 256
    temperature: float | None = 0.0
    top_p: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    schema: str | None = None
    choices: tuple[str, ...] = ()
    logprobs: int = 0
    replicate: int = 0
    effort: str | None = None
    reasoning_tokens: int | None = None
    tools: tuple[str, ...] = ()
    facts: Mapping[str, object] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.messages:
            raise UsageError("a request needs at least one message")
        if self.max_tokens < 1:
            raise UsageError(f"max_tokens is {self.max_tokens}; a reply needs at least 1")
        if self.temperature is not None and not 0 <= self.temperature < inf:
            raise UsageError(f"the temperature is {self.temperature:g}; it must be 0 or more")
        if self.schema is not None and self.choices:
            raise UsageError("a request may ask for a schema or for choices, not for both")

    @property
    def reasoning_budget(self) -> int | None:
        """The most tokens of reasoning beside the reply, by their number or the effort.

        Returns None where neither is set.
        """
        return self.reasoning_tokens or REASONING_TOKENS.get(self.effort or "")


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call as the provider counted them; None where it did not say.

    `cached` is the part of `prompt` served from the provider's own cache, `reasoning` the part of
    `completion` spent on hidden thought: both are contained in the larger figure.
    """

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call of a tool on the way to a reply.

    Holds its arguments as JSON text, and what came back or went wrong.
    """

    name: str
    arguments: str
    result: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back. `cached` is true when no model was called for it; `latency` is in seconds.

    `tool_calls` are calls that the model wants to have made, as names and JSON texts; `tools` those
    that were made. `failed` counts the attempts before it that brought no reply.
    """

    text: str
    finish: Finish = Finish.STOP
    usage: Usage = Usage()
    logprobs: tuple[TokenChances, ...] = ()
    provider_id: str | None = None
    latency: float = 0.0
    cached: bool = False
    honoured: Honoured = ()
    tool_calls: tuple[tuple[str, str], ...] = ()
    tools: tuple[ToolUse, ...] = ()
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a model offers: `logprobs` is the largest number of alternatives per token (0: none).

    `concurrency` is how many calls at once make sense; more are allowed and wait.
    """

    schema: bool = False
    choices: bool = False
    logprobs: int = 0
    seed: bool = False
    concurrency: int = 1
    tools: bool = False


@runtime_checkable
class Model(Protocol):
    """Anything that answers requests."""

    @property
    def id(self) -> str:
        """The name a user would type, such as `openai/gpt-4o`."""

    @property
    def identity(self) -> Mapping[str, Json]:
        """Everything that identifies who answers, and never a key."""

    @property
    def abilities(self) -> Abilities:
        """What this model can do beyond plain text."""

    def complete(self, request: Request) -> Reply:
        """Answer the request; raise a `ModelError` when there is no answer."""


ModelsByName: TypeAlias = Mapping[str, Model]
"""The models of a run by the names that settings and records call them."""


class Wrapper:
    """A model around another one, with its name, identity and abilities.

    A subclass changes `complete`.
    """

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def id(self) -> str:
        """The name of the model inside."""
        return self._model.id

    @property
    def identity(self) -> Mapping[str, Json]:
        """The identity of the model inside: a wrapper does not change who answers."""
        return self._model.identity

    @property
    def abilities(self) -> Abilities:
        """The abilities of the model inside."""
        return self._model.abilities

    def complete(self, request: Request) -> Reply:
        """Let the model inside answer."""
        return self._model.complete(request)


def ask(
    text: str,
    *,
    system: str | None = None,
    max_tokens: int = 256,
    temperature: float | None = 0.0,
) -> Request:
    """Build the commonest request: one user message, perhaps after a system message."""
    first = () if system is None else (Message("system", system),)
    return Request((*first, Message("user", text)), max_tokens=max_tokens, temperature=temperature)


def add_to_question(
    messages: tuple[Message, ...], before: str = "", behind: str = ""
) -> tuple[Message, ...]:
    """Put texts around the last message of the user; where there is none they become one."""
    changed = list(messages)
    for place in reversed(range(len(changed))):
        if changed[place].role == "user":
            texts = (before, changed[place].content, behind)
            changed[place] = Message("user", "\n\n".join(filter(None, texts)))
            return tuple(changed)
    return (*messages, Message("user", before or behind))


def effective_seed(request: Request) -> int | None:
    """Return the seed to send.

    This is the request's seed for replicate 0, and another one for every further replicate.
    """
    if request.seed is None:
        return None
    return (request.seed + _GOLDEN * request.replicate) % _SEEDS
