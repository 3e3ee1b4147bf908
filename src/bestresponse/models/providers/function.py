"""Any Python function as a model."""

import functools
import hashlib
import inspect
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

from bestresponse.core.errors import BestResponseError, ModelError, UsageError
from bestresponse.models.base import Abilities, Json, Reply, Request, Usage
from bestresponse.models.wrappers.limits import Gate, estimate_tokens

PromptFunction = Callable[[str], str | Reply]
RequestFunction = Callable[[Request], str | Reply]
_KEY = re.compile("key|token|secret|password", re.IGNORECASE)
"""Names of texts that let somebody in, and say nothing about the answers."""


class FunctionModel:
    """Answer by calling a function that takes a prompt and returns a text or a `Reply`.

    The prompt is one text: the messages of the request, a blank line between them. A function whose
    first parameter is annotated with `Request` gets the whole request instead. At most
    `concurrency` calls run at once.

    Its identity, and so the key of its cached replies, holds a hash of the function's source text
    and of the texts and numbers that are bound to it, as by `functools.partial`. What else changes
    its answers, such as a global variable it reads or a number in a callable object, is not seen:
    give it another name then.

    >>> from bestresponse.models.base import ask
    >>> from_function("shouter", lambda prompt: prompt.upper()).complete(ask("row a?")).text
    'ROW A?'
    """

    def __init__(
        self,
        name: str,
        function: PromptFunction | RequestFunction,
        *,
        concurrency: int = 1,
        abilities: Abilities | None = None,
    ) -> None:
        if not callable(function):
            raise UsageError(f"the model {name} needs a function, not {type(function).__name__}")
        if inspect.iscoroutinefunction(function):
            raise UsageError(
                f"the function of the model {name} is asynchronous; give one that returns its"
                " answer"
            )
        self.id = name
        self.identity: Mapping[str, Json] = {
            "provider": "function",
            "model": name,
            "source": hash_function(function),
        }
        self.abilities = abilities or Abilities(concurrency=concurrency)
        self._function: Callable[[Any], str | Reply] = function
        self._takes_request = _takes_request(function)
        self._gate = Gate(concurrency)

    def __repr__(self) -> str:
        return f"FunctionModel({self.id!r})"

    def is_same(self, other: object) -> bool:
        """Say whether another model calls the same function, so that it may have the same name."""
        return isinstance(other, FunctionModel) and self._function == other._function

    def complete(self, request: Request) -> Reply:
        """Call the function; whatever it raises becomes a `ModelError`."""
        prompt = "\n\n".join(message.content for message in request.messages)
        with self._gate:
            began = time.perf_counter()
            try:
                answer = self._function(request if self._takes_request else prompt)
            except BestResponseError:
                raise
            except (
                Exception,
                SystemExit,
            ) as error:  # the latter would end a thread that others wait for
                raise ModelError(
                    f"the function of {self.id} failed: {type(error).__name__}: {error}"
                ) from error
            latency = time.perf_counter() - began
        if isinstance(answer, Reply):
            return answer
        if not isinstance(answer, str):
            raise ModelError(
                f"the function of {self.id} returned {type(answer).__name__}, expected text or a"
                " Reply"
            )
        return Reply(
            answer,
            usage=Usage(estimate_tokens(prompt), estimate_tokens(answer)),
            latency=latency,
        )


from_function = FunctionModel


def _takes_request(function: Callable[..., object]) -> bool:
    try:
        parameters = inspect.signature(function).parameters
        first = next(iter(parameters.values()), None)
    except (TypeError, ValueError):
        return False
    return first is not None and first.annotation in (
        Request,
        "Request",
        "models.Request",
        "bestresponse.Request",
    )


def hash_function(function: Callable[..., object]) -> str | None:
    """Hash the text of a function or a callable's class, and what is bound to it.

    Texts and numbers that are bound to it count.

    None where there is no text. A text whose name says that it is a key is left out: keys change,
    and answers do not.
    """
    inner: Callable[..., object] = function
    try:
        bound: dict[str, object] = {
            name: known.default for name, known in inspect.signature(inner).parameters.items()
        }
        while isinstance(inner, functools.partial):
            bound |= (
                inspect.signature(inner.func).bind_partial(*inner.args, **inner.keywords).arguments
            )
            inner = inner.func
        has_source = inspect.isroutine(inner) or inspect.isclass(inner)
        text = inspect.getsource(inner if has_source else type(inner))
        if (
            inspect.isfunction(inner) and "nonlocal " not in text
        ):  # not what it changes itself, such as a count
            bound |= inspect.getclosurevars(inner).nonlocals
    except (OSError, TypeError, ValueError):
        return None
    attributes = getattr(getattr(inner, "__self__", inner), "__dict__", {})
    # A number of an object is often a count of its calls.
    bound |= {name: value for name, value in attributes.items() if isinstance(value, str)}
    # What is neither text nor number may show an address in memory, which is another one in every
    # process.
    parts = [text]
    for name, value in bound.items():
        is_open = isinstance(value, str) and not _KEY.search(name)
        if is_open or isinstance(value, int | float):
            parts.append(repr(value))
    joined = "\0".join(parts)
    return hashlib.sha256(joined.encode("utf-8", "replace")).hexdigest()[:16]
