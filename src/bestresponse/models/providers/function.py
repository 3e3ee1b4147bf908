"""Any Python function as a model."""

import functools
import hashlib
import inspect
import time
from collections.abc import Callable, Mapping
from typing import Any

from bestresponse.core.errors import BestResponseError, ModelError, UsageError
from bestresponse.models.base import Abilities, Json, Reply, Request, Usage
from bestresponse.models.wrappers.limits import Gate, estimate_tokens

PromptFunction = Callable[[str], str | Reply]
RequestFunction = Callable[[Request], str | Reply]


class FunctionModel:
    """Answer by calling a function that takes a prompt and returns a text or a `Reply`.

    The prompt is one text: the messages of the request, a blank line between them. A function whose first parameter is
    annotated with `Request` gets the whole request instead. At most `concurrency` calls run at once.

    Its identity, and so the key of its cached replies, holds a hash of the function's source text. What else changes
    its answers, such as a variable it reads, is not seen: give it another name then.

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
            raise UsageError(f"the function of the model {name} is asynchronous; give one that returns its answer")
        self.id = name
        self.identity: Mapping[str, Json] = {"provider": "function", "model": name, "source": _hash_source(function)}
        self.abilities = abilities or Abilities(concurrency=concurrency)
        self._function: Callable[[Any], str | Reply] = function
        self._takes_request = _takes_request(function)
        self._gate = Gate(concurrency)

    def __repr__(self) -> str:
        return f"FunctionModel({self.id!r})"

    def complete(self, request: Request) -> Reply:
        """Call the function; whatever it raises becomes a `ModelError`."""
        prompt = "\n\n".join(message.content for message in request.messages)
        with self._gate:
            began = time.perf_counter()
            try:
                answer = self._function(request if self._takes_request else prompt)
            except BestResponseError:
                raise
            except Exception as error:
                raise ModelError(f"the function of {self.id} failed: {type(error).__name__}: {error}") from error
            latency = time.perf_counter() - began
        if isinstance(answer, Reply):
            return answer
        if not isinstance(answer, str):
            raise ModelError(f"the function of {self.id} returned {type(answer).__name__}, expected text or a Reply")
        return Reply(answer, usage=Usage(estimate_tokens(prompt), estimate_tokens(answer)), latency=latency)


from_function = FunctionModel


def _takes_request(function: Callable[..., object]) -> bool:
    try:
        first = next(iter(inspect.signature(function).parameters.values()), None)
    except (TypeError, ValueError):
        return False
    return first is not None and first.annotation in (Request, "Request", "models.Request", "bestresponse.Request")


def _hash_source(function: Callable[..., object]) -> str | None:
    """Hash the text of a function, or of the class of a callable object; None where there is no text."""
    while isinstance(function, functools.partial):
        function = function.func
    known = function if inspect.isroutine(function) or inspect.isclass(function) else type(function)
    try:
        return hashlib.sha256(inspect.getsource(known).encode("utf-8", "replace")).hexdigest()[:16]
    except (OSError, TypeError):
        return None
