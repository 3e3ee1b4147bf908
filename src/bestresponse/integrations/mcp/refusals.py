"""The server's own class: whatever a client sends, it is answered with a sentence.

The SDK answers arguments of the wrong type with a report of the validator, leaves out arguments
that a tool does not have, and says nothing to a line that it cannot read.
"""

from __future__ import annotations

import inspect

from anyio import create_task_group
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.stdio import stdio_server
from mcp.shared._context_streams import create_context_streams
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, CallToolResult, ErrorData, JSONRPCError
from pydantic import ValidationError

from bestresponse.core.errors import UsageError
from bestresponse.core.registry import find_by_name
from bestresponse.integrations.mcp.server import WorkerPool, describe_invalid
from bestresponse.integrations.mcp.tools import TOOLS

_UNREADABLE = JSONRPCError(
    jsonrpc="2.0",
    id=None,
    error=ErrorData(
        code=PARSE_ERROR,
        message="this line is not a message of JSON-RPC; send one object per line, with a number"
        " or a text as its id, Unicode text, and no more than 100 brackets in one another",
    ),
)


class AnsweringServer(MCPServer[WorkerPool]):  # type: ignore[misc, unused-ignore]
    """A server that refuses in sentences."""

    async def call_tool(
        self, name: str, arguments: dict[str, object], context: Context | None = None
    ) -> CallToolResult:
        """Call a tool; ToolError with a sentence where its name or arguments cannot be used."""
        try:
            known = inspect.signature(find_by_name(TOOLS, name, "tool")).parameters
            for argument in arguments:
                find_by_name(known, argument, f"argument of {name}")
            return await super().call_tool(name, arguments, context)
        except UsageError as error:
            raise ToolError(str(error)) from None
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(f"{name}: {describe_invalid(error.__cause__)}") from None
            raise

    async def run_stdio_async(self) -> None:
        """Serve standard input and output, and answer lines that are no messages too."""
        server = self._lowlevel_server
        send, receive = create_context_streams[SessionMessage](0)
        async with stdio_server() as (lines, replies), create_task_group() as tasks:

            async def forward() -> None:
                async with send:
                    async for line in lines:
                        if isinstance(line, Exception):
                            await replies.send(SessionMessage(_UNREADABLE))
                        else:
                            await send.send(line)

            tasks.start_soon(forward)
            await server.run(receive, replies, server.create_initialization_options())
