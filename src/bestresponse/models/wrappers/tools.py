"""Tools for a model: functions that it may call before it answers, and the model that calls them.

A `Tool` has a name, a description and the JSON schema of its arguments, as a function of Python
(`make_tool`), a tool of an MCP server (`models.wrappers.mcp_tools`) or one of an installed package
(entry points `bestresponse.tools`).

`Tooled` wraps a model: it tells the tools with the question, carries out what the model calls,
tells it the result, and returns the answer together with every call and its result (`Reply.tools`).
A model behind a protocol that has calls of tools is offered them by that protocol; any model can
write a line `TOOL name {"argument": value}` instead. A tool that fails, takes too long or does not
exist is a sentence that the model is told; after `limit` calls it has to answer.
"""

from __future__ import annotations

import inspect
import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, get_type_hints

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonObject, digest
from bestresponse.core.registry import Registry
from bestresponse.models.base import (
    Json,
    Message,
    Model,
    Reply,
    Request,
    ToolUse,
    Usage,
    Wrapper,
    add_to_question,
)
from bestresponse.models.wrappers.texts import TEXTS

tools = Registry("bestresponse.tools", "tool")
"""Functions with annotated arguments and a docstring."""

USUAL_CALLS = 5
_LONGEST_RESULT = 4000
_LONGEST_ARGUMENTS = 20_000
_SECONDS = 30.0
_TYPES: dict[Any, str] = {
    int: "integer",
    float: "number",
    str: "string",
    bool: "boolean",
    list: "array",
    dict: "object",
}
_NAME = re.compile(r"[A-Za-z_][\w-]{0,63}")
_CALL = re.compile(r"^[ \t>*`]*TOOL[ \t]+([\w-]+)[ \t]*(\{.*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Tool:
    """Something that a model can call; `run` is given the arguments and returns what JSON can hold.

    `source` tells tools of one name apart in records: the hash of a function's text, or the command
    of a server.
    """

    name: str
    description: str
    parameters: JsonObject
    source: str = ""
    run: Callable[[JsonObject], object] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise UsageError(
                f"{self.name!r} cannot be the name of a tool; expected letters, digits, _ and -"
            )

    def to_json(self) -> dict[str, object]:
        """Return all but the function itself as plain JSON data."""
        return {**self.offer(), "source": self.source}

    def offer(self) -> dict[str, object]:
        """Return what a model is told of the tool."""
        return {"name": self.name, "description": self.description, "parameters": self.parameters}

    def describe(self) -> str:
        """Write the tool as a line of a prompt."""
        given = self.parameters.get("properties")
        properties: JsonObject = given if isinstance(given, dict) else {}
        kinds = []
        for name, part in properties.items():
            if isinstance(part, dict):
                kinds.append(f"{name}: {part.get('type', 'any')}")
        return f"- {self.name}({', '.join(kinds)}): {self.description}"

    def call(self, text: str, seconds: float = _SECONDS) -> str:
        """Carry out a call with the arguments in that JSON text.

        What goes wrong is a sentence too.
        """
        try:
            arguments = json.loads(text[:_LONGEST_ARGUMENTS] or "{}")
        except (ValueError, RecursionError):
            return f"The arguments of {self.name} are no JSON object: {text[:80]!r}."
        if not isinstance(arguments, dict):
            return f"The arguments of {self.name} are no JSON object: {text[:80]!r}."
        if self.run is None:
            return f"{self.name} cannot be called here: this run was loaded without it."
        return self._run_in_time(arguments, seconds)

    def _run_in_time(self, arguments: JsonObject, seconds: float) -> str:
        outcome: list[str] = []

        def work() -> None:
            assert self.run is not None
            try:
                outcome.append(_write_result(self.run(arguments)))
            except Exception as error:  # noqa: BLE001
                # The model is told whatever a user's function raises.
                outcome.append(f"{self.name} failed: {type(error).__name__}: {str(error)[:300]}")

        # A daemon: a tool that never returns must not keep the program from ending.
        worker = threading.Thread(target=work, name=f"tool {self.name}", daemon=True)
        worker.start()
        worker.join(seconds)
        return (
            outcome[0]
            if outcome
            else f"{self.name} took longer than {seconds:g} seconds and was given up."
        )


def _write_result(value: object) -> str:
    """Write what a tool returned as text, cut where it is too long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST_RESULT else f"{text[:_LONGEST_RESULT]} ... (cut)"


def make_tool(function: Callable[..., object]) -> Tool:
    """Make a tool of a function: its name, its docstring, and its annotated arguments.

    >>> def price(day: int) -> float:
    ...     '''Return what water cost on a day.'''
    ...     return 30.0 + day
    >>> make_tool(price).describe(), make_tool(price).call('{"day": 2}')
    ('- price(day: integer): Return what water cost on a day.', '32.0')
    """
    name = getattr(function, "__name__", "")
    if not callable(function) or not _NAME.fullmatch(name):
        raise UsageError(f"expected a function with a name as a tool, got {function!r}")
    try:
        signature = inspect.signature(function)
        hints = get_type_hints(function)
    except (TypeError, ValueError, NameError) as error:
        raise UsageError(f"the arguments of the tool {name} cannot be found out: {error}") from None
    properties: JsonObject = {}
    required = []
    for parameter in signature.parameters.values():
        if parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
            parameter.POSITIONAL_ONLY,
        ):
            raise UsageError(
                f"the tool {name} takes {parameter}; expected arguments that have a name"
            )
        kind = _TYPES.get(hints.get(parameter.name))
        properties[parameter.name] = {"type": kind} if kind else {}
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    first_paragraph, _, _ = (inspect.getdoc(function) or name).partition("\n\n")
    described = first_paragraph.replace("\n", " ")
    schema: JsonObject = {"type": "object", "properties": properties, "required": required}
    try:
        source = digest(inspect.getsource(function))
    except (OSError, TypeError):
        source = ""  # typed into an interpreter, or compiled
    return Tool(
        name,
        described,
        schema,
        source,
        lambda arguments: function(**arguments),
    )


class Tooled(Wrapper):
    """A model that may call tools, `limit` times an answer at most."""

    def __init__(
        self,
        model: Model,
        offered: tuple[Tool, ...],
        limit: int = USUAL_CALLS,
    ) -> None:
        super().__init__(model)
        self._tools = {tool.name: tool for tool in offered}
        self._limit = limit

    @cached_property
    def _told(self) -> str:
        lines = "\n".join(tool.describe() for tool in self._tools.values())
        return TEXTS.fill("tools", limit=str(self._limit), tools=lines)

    @property
    def identity(self) -> Mapping[str, Json]:
        """The identity of the model inside, with its tools: they change what it answers."""
        told: list[Json] = [
            json.dumps(tool.to_json(), sort_keys=True) for tool in self._tools.values()
        ]
        return {**self._model.identity, "tools": told}

    def complete(self, request: Request) -> Reply:
        """Answer after as many calls of tools as the model wants and may make."""
        by_protocol = self._model.abilities.tools
        question = replace(request, messages=add_to_question(request.messages, self._told))
        replies: list[Reply] = []
        uses: list[ToolUse] = []
        while True:
            reply = self._model.complete(self._prepare(question, request, by_protocol, len(uses)))
            replies.append(reply)
            if by_protocol and ("tools", "left out") in reply.honoured:
                by_protocol = (
                    False  # this server takes no tools; from now on they are only told in words
                )
                if request.schema is not None:
                    continue
            called = _find_call(reply)
            if called is None or len(uses) >= self._limit:
                return replace(
                    reply,
                    usage=_add_usage([one.usage for one in replies]),
                    latency=sum(one.latency for one in replies),
                    cached=all(one.cached for one in replies),
                    tool_calls=(),
                    tools=tuple(uses),
                )
            name, arguments = called
            result = self._use(name, arguments)
            uses.append(ToolUse(name, arguments, result))
            text = TEXTS.fill("tool_result", tool=name, result=result)
            if len(uses) == self._limit:
                text = f"{text}\n\n{TEXTS.text('tools_over')}"
            call = Message("assistant", f"TOOL {name} {arguments}")
            question = replace(question, messages=(*question.messages, call, Message("user", text)))

    def _prepare(
        self,
        question: Request,
        request: Request,
        by_protocol: bool,
        used: int,
    ) -> Request:
        """Offer the tools while calls are left.

        Without a protocol for them a schema would forbid to write a call.
        """
        if used >= self._limit:
            return question
        if by_protocol:
            offers = [tool.offer() for tool in self._tools.values()]
            offered = tuple(json.dumps(offer, sort_keys=True) for offer in offers)
            return replace(question, tools=offered)
        return replace(question, schema=None, choices=())

    def _use(self, name: str, arguments: str) -> str:
        if name not in self._tools:
            return f"There is no tool named {name[:60]!r}; there are {', '.join(self._tools)}."
        return self._tools[name].call(arguments)


def _find_call(reply: Reply) -> tuple[str, str] | None:
    """Find the first call in a reply: by the protocol, or as a line of its text."""
    if reply.tool_calls:
        return reply.tool_calls[0]
    if found := _CALL.search(reply.text):
        return found[1], (found[2] or "{}").strip().rstrip("`* ")
    return None


def _add_usage(parts: list[Usage]) -> Usage:
    """Add up tokens; None where no part says."""

    def add(name: str) -> int | None:
        counts = [getattr(part, name) for part in parts]
        known = [count for count in counts if count is not None]
        return sum(known) if known else None

    return Usage(add("prompt"), add("completion"), add("cached"), add("reasoning"))
