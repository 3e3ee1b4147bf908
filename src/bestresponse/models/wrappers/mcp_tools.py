"""Tools of an MCP server that is started as a command.

It is spoken to over its standard input and output.

The Model Context Protocol is JSON-RPC 2.0, one message per line
(https://modelcontextprotocol.io/specification). Of it this needs `initialize`, `tools/list` and
`tools/call`. The server runs with the rights of whoever starts the run; name only commands that you
trust. What it writes is read with suspicion: lines that are no answer are passed over, an answer
that does not come in time ends the server. Of the environment it is given only what programs need
to find themselves and the user's language: no key, password or address.
"""

from __future__ import annotations

import atexit
import itertools
import json
import os
import queue
import re
import shlex
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonObject
from bestresponse.models.wrappers.tools import Tool, make_tool, tools

MCP = "mcp:"
_VERSION = "2025-06-18"
_SECONDS = 25.0  # less than a tool has, so that the reason can be told
_MOST_TOOLS = 64
_LONGEST_LINE = 1_000_000
_HARMLESS = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|TERM|TZ|LANG|LC_\w+|TMPDIR|TEMP|TMP|SYSTEMROOT|PATHEXT|APPDATA"
)
"""Variables of the environment that a server is given."""


class McpServer:
    """A running server; calls from several threads wait for each other."""

    def __init__(self, command: str) -> None:
        self.command = command
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        harmless = {name: text for name, text in os.environ.items() if _HARMLESS.fullmatch(name)}
        try:
            self._process = subprocess.Popen(
                shlex.split(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                encoding="utf-8",
                errors="replace",
                env=harmless,
            )
        except (OSError, ValueError) as error:
            raise UsageError(f"the MCP server {command!r} cannot be started: {error}") from None
        atexit.register(self.close)
        threading.Thread(target=self._read_lines, name="mcp", daemon=True).start()
        about = {"name": "bestresponse", "version": "1"}
        self._ask(
            "initialize", {"protocolVersion": _VERSION, "capabilities": {}, "clientInfo": about}
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def list_tools(self) -> tuple[Tool, ...]:
        """List what the server offers."""
        listed = self._ask("tools/list", {}).get("tools")
        entries = (
            [entry for entry in listed if isinstance(entry, dict)]
            if isinstance(listed, list)
            else []
        )
        if not entries:
            raise UsageError(f"the MCP server {self.command!r} offers no tools")
        return tuple(self._make_tool(entry) for entry in entries[:_MOST_TOOLS])

    def close(self) -> None:
        """End the server."""
        with suppress(OSError):
            self._process.kill()

    def _make_tool(self, entry: JsonObject) -> Tool:
        name = str(entry.get("name", ""))
        schema = entry.get("inputSchema")
        described = str(entry.get("description") or name)
        description = " ".join(described.split())[:1000]
        return Tool(
            name=name,
            description=description,
            parameters=schema if isinstance(schema, dict) else {"type": "object", "properties": {}},
            source=f"mcp:{self.command}",
            run=partial(self._call, name),
        )

    def _call(self, name: str, arguments: JsonObject) -> str:
        result = self._ask("tools/call", {"name": name, "arguments": arguments})
        content = result.get("content")
        parts = (
            [part for part in content if isinstance(part, dict)]
            if isinstance(content, list)
            else []
        )
        text = "\n".join(str(part["text"]) for part in parts if "text" in part)
        if result.get("isError"):
            raise RuntimeError(text or "the server reported an error")
        return text

    def _ask(self, method: str, parameters: JsonObject) -> JsonObject:
        """Send a request and return its result; UsageError where none comes."""
        with self._lock:
            number = next(self._numbers)
            self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters})
            while True:
                answer = self._take_answer(method)
                if answer.get("id") != number:
                    continue
                if "error" in answer:
                    error = answer["error"]
                    why = error.get("message") if isinstance(error, dict) else error
                    raise UsageError(f"the MCP server refused {method}: {str(why)[:300]}")
                result = answer.get("result")
                return result if isinstance(result, dict) else {}

    def _take_answer(self, method: str) -> JsonObject:
        try:
            line = self._lines.get(timeout=_SECONDS)
        except queue.Empty:
            self.close()
            raise UsageError(
                f"the MCP server gave no answer to {method} within {_SECONDS:g} seconds"
            ) from None
        if line is None:
            self._lines.put(None)  # whoever asks next is told too
            raise UsageError(f"the MCP server {self.command!r} has ended")
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            return {}
        return answer if isinstance(answer, dict) else {}

    def _send(self, message: JsonObject) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise UsageError(f"the MCP server {self.command!r} has ended") from None

    def _read_lines(self) -> None:
        assert self._process.stdout is not None
        with suppress(OSError, ValueError):
            while line := self._process.stdout.readline(_LONGEST_LINE):
                self._lines.put(line)
        self._lines.put(None)


def find_tools(named: Callable[..., object] | Tool | str) -> tuple[Tool, ...]:
    """Return the tools that are meant.

    Given a function, a tool, `mcp:COMMAND`, or the name of an installed package's tool.
    """
    if isinstance(named, Tool):
        return (named,)
    if not isinstance(named, str):
        return (make_tool(named),)
    if named.startswith(MCP):
        return McpServer(named.removeprefix(MCP)).list_tools()
    known = tools.names()
    if named not in known:
        there = f"; installed packages offer {', '.join(known)}" if known else ""
        raise UsageError(
            f"there is no tool named {named!r}; expected mcp:COMMAND or an installed tool{there}"
        )
    return (make_tool(tools.load(named)),)
