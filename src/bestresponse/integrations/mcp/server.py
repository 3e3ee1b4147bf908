"""The server itself: every tool of `tools`, carried out by the worker, over stdio or streamable HTTP."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, get_type_hints

from pydantic import BaseModel

from bestresponse import __version__
from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.integrations.mcp.pool import CallLimits, WorkerPool
from bestresponse.integrations.mcp.tools import TOOLS

if TYPE_CHECKING:
    from mcp.server import MCPServer

_INSTRUCTIONS = (
    "Exact game theory: solve a game, check a proposed equilibrium, find best responses, check a reasoning about a "
    "game claim by claim, check that a logic program is a game, compare two games, run tournaments of strategies."
)


def build_server(limits: CallLimits | None = None) -> MCPServer[WorkerPool]:
    """Build the server; its worker starts with it and ends with it. UsageError where `mcp` is not installed."""
    try:
        from mcp.server import MCPServer
        from mcp_types import ToolAnnotations
    except ImportError:
        raise UsageError("the MCP server needs the package mcp; pip install 'bestresponse[mcp]'") from None

    pool = WorkerPool(limits)

    @asynccontextmanager
    async def run_worker(server: MCPServer[WorkerPool]) -> AsyncIterator[WorkerPool]:
        await pool.start()
        try:
            yield pool
        finally:
            await pool.close()

    server = MCPServer(
        "bestresponse", version=__version__, instructions=_INSTRUCTIONS, lifespan=run_worker, log_level="WARNING"
    )
    harmless = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    for name, tool in TOOLS.items():
        server.add_tool(_send_to_worker(name, tool, pool), name=name, annotations=harmless, structured_output=True)
    return server


def _send_to_worker(name: str, tool: Callable[..., BaseModel], pool: WorkerPool) -> Callable[..., Awaitable[BaseModel]]:
    """Return a function with the signature and the description of `tool` that has it carried out by the worker."""
    from mcp.server.mcpserver.exceptions import ToolError

    hints = get_type_hints(tool, include_extras=True)
    result: type[BaseModel] = hints["return"]

    @wraps(tool)
    async def send(**arguments: Any) -> BaseModel:
        try:
            return result.model_validate(await pool.call(name, arguments))
        except BestResponseError as error:
            raise ToolError(str(error)) from None

    signature = inspect.signature(tool)
    parameters = [one.replace(annotation=hints[key]) for key, one in signature.parameters.items()]
    send.__signature__ = signature.replace(parameters=parameters, return_annotation=result)  # type: ignore[attr-defined]
    send.__annotations__ = hints
    return send
