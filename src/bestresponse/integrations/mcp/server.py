"""The server: every tool of `tools`, over stdio or streamable HTTP.

Tools are carried out by a worker process within limits.

The worker runs this module, one call at a time: one JSON object a line in, one a line out. It may
be killed at any time. What goes wrong on purpose comes back as a sentence, anything else as the
kind of error.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from functools import wraps
from typing import TYPE_CHECKING, get_type_hints

from pydantic import BaseModel, ValidationError, validate_call
from pydantic_core import to_jsonable_python

from bestresponse import __version__
from bestresponse.core.errors import BestResponseError, LimitReached, UsageError
from bestresponse.core.extras import install_hint
from bestresponse.core.json import JsonObject
from bestresponse.core.registry import find_by_name
from bestresponse.integrations.mcp.tools import TOOLS
from bestresponse.logic.settings import Limits, settings

if TYPE_CHECKING:
    from mcp.server import MCPServer

_INSTRUCTIONS = (
    "Exact game theory: solve a game, check a proposed equilibrium, find best responses, check a"
    " reasoning about a game claim by claim, check that a logic program is a game, compare two"
    " games, run tournaments of strategies."
)
_START_SECONDS = 60.0  # a worker imports the package, on a busy machine slowly


@dataclass(frozen=True, slots=True)
class CallLimits:
    """What one call may use, and how many calls may wait.

    Limits are seconds, characters of arguments, characters of the result and megabytes of memory.
    Calls wait for the one that is carried out.
    """

    seconds: float = 20.0
    input: int = 200_000
    output: int = 2_000_000
    megabytes: int = 4096
    waiting: int = 8


def build_server(limits: CallLimits | None = None) -> MCPServer[WorkerPool]:
    """Build the server; its worker starts with it and ends with it.

    UsageError where `mcp` is not installed.
    """
    try:
        from mcp_types import ToolAnnotations

        from bestresponse.integrations.mcp.refusals import AnsweringServer
    except ImportError:
        raise UsageError(f"the MCP server needs the package mcp: {install_hint('mcp')}") from None

    pool = WorkerPool(limits)

    @asynccontextmanager
    async def run_worker(server: MCPServer[WorkerPool]) -> AsyncIterator[WorkerPool]:
        await pool.start()
        try:
            yield pool
        finally:
            await pool.close()

    server = AnsweringServer(
        "bestresponse",
        version=__version__,
        instructions=_INSTRUCTIONS,
        lifespan=run_worker,
        log_level="WARNING",
    )
    harmless = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
    for name, tool in TOOLS.items():
        server.add_tool(
            _send_to_worker(name, tool, pool),
            name=name,
            annotations=harmless,
            structured_output=True,
        )
    return server


def _send_to_worker(
    name: str,
    tool: Callable[..., BaseModel],
    pool: WorkerPool,
) -> Callable[..., Awaitable[BaseModel]]:
    """Return a function like `tool` that has the worker carry it out.

    It has the signature and the description of `tool`.
    """
    from mcp.server.mcpserver.exceptions import ToolError

    hints = get_type_hints(tool, include_extras=True)
    result: type[BaseModel] = hints["return"]

    @wraps(tool)
    async def send(**arguments: object) -> BaseModel:
        try:
            return result.model_validate(await pool.call(name, arguments))
        except BestResponseError as error:
            raise ToolError(str(error)) from None

    signature = inspect.signature(tool)
    parameters = [
        parameter.replace(annotation=hints[key]) for key, parameter in signature.parameters.items()
    ]
    typed = signature.replace(parameters=parameters, return_annotation=result)
    send.__signature__ = typed  # type: ignore[attr-defined]
    send.__annotations__ = hints
    return send


class WorkerPool:
    """A worker that is started when first needed, and again after a call that had to be killed."""

    def __init__(self, limits: CallLimits | None = None) -> None:
        self.limits = limits or CallLimits()
        self._process: Process | None = None
        self._lock = asyncio.Lock()
        self._calls = 0

    async def call(self, tool: str, arguments: Mapping[str, object]) -> dict[str, object]:
        """Return the result of a tool.

        UsageError with the sentence of the worker, LimitReached past a limit.
        """
        # The client's objects come as models, such as the messages of a transcript.
        line = json.dumps({"tool": tool, "arguments": arguments}, default=to_jsonable_python)
        if len(line) > self.limits.input:
            raise LimitReached(
                f"the arguments have {len(line):,} characters; the limit is {self.limits.input:,}"
            )
        if self._calls > self.limits.waiting:
            raise LimitReached(
                f"{self.limits.waiting} calls wait already; send one after the other, and this one"
                " again later"
            )
        self._calls += 1
        try:
            async with self._lock:
                reply = await self._exchange(line)
        finally:
            self._calls -= 1
        if "error" in reply:
            raise UsageError(reply["error"])
        result: JsonObject = reply["result"]
        return result

    async def start(self) -> Process:
        """Start the worker if it does not run, so that the first call need not wait for it."""
        if self._process is None or self._process.returncode is not None:
            programs = json.dumps(asdict(settings.limits))
            self._process = await asyncio.create_subprocess_exec(
                *(
                    sys.executable,
                    "-m",
                    "bestresponse.integrations.mcp.server",
                    str(self.limits.megabytes),
                    programs,
                ),
                stdin=PIPE,
                stdout=PIPE,
                limit=self.limits.output + 1000,
                start_new_session=True,
            )
            await _read_line(self._process, _START_SECONDS)
        return self._process

    async def close(self) -> None:
        """End the worker and whatever it started."""
        process = self._process
        self._process = None
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()

    async def _exchange(self, line: str) -> JsonObject:
        process = await self.start()
        assert process.stdin is not None
        try:
            process.stdin.write(f"{line}\n".encode())
            await process.stdin.drain()
            reply: JsonObject = json.loads(await _read_line(process, self.limits.seconds))
            return reply
        except TimeoutError:
            why = (
                f"this call was not done after {self.limits.seconds:g} seconds; try a smaller game"
                " or another method"
            )
        except ValueError:
            why = f"the result has more than {self.limits.output:,} characters"
        except ConnectionError:
            why = "the worker ended during this call; it may have needed too much memory"
        except asyncio.CancelledError:
            await self.close()
            raise
        await self.close()
        raise LimitReached(why)


async def _read_line(process: Process, seconds: float) -> bytes:
    assert process.stdout is not None
    line = await asyncio.wait_for(process.stdout.readline(), seconds)
    if not line:
        raise ConnectionError
    return line


def _answer(line: str) -> dict[str, object]:
    """Carry out one call: `{"result": ...}`, or `{"error": sentence}`."""
    call = json.loads(line)
    try:
        tool = validate_call(find_by_name(TOOLS, call["tool"], "tool"))
        return {"result": tool(**call["arguments"]).model_dump(mode="json")}
    except BestResponseError as error:
        return {"error": str(error)}
    except ValidationError as error:
        return {"error": describe_invalid(error)}
    except MemoryError:
        return {"error": "this needs more memory than a call may have; ask for a smaller game"}
    except RecursionError:
        return {"error": "this is nested too deeply; ask for a smaller game"}
    except Exception as error:  # noqa: BLE001
        # The process must go on, and no traceback may reach the client.
        return {
            "error": (
                f"this call failed ({type(error).__name__}); please report the game that caused it"
            )
        }


def describe_invalid(error: ValidationError) -> str:
    """Say which argument is wrong, and how; of several readings, the one that came furthest."""
    nearest = max(error.errors(), key=lambda one: len(one["loc"]))
    place = [str(part) for part in nearest["loc"] if "[" not in str(part)]
    return f"{'.'.join(place)}: {nearest['msg']}"


def _serve(megabytes: int, programs: str) -> None:
    """Answer calls until the input ends; whatever a library prints goes to standard error."""
    import resource  # not in the server's own process, which may run where there is none

    resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    settings.limits = Limits(**json.loads(programs))
    wire = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    print("{}", file=wire, flush=True)
    for line in sys.stdin:
        print(json.dumps(_answer(line)), file=wire, flush=True)


if __name__ == "__main__":
    _serve(int(sys.argv[1]), sys.argv[2])
