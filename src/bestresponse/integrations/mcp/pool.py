"""Hand calls to a worker process, one at a time, within limits of time, memory, input and output."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from dataclasses import asdict, dataclass

from bestresponse.core.errors import LimitReached, UsageError
from bestresponse.core.json import JsonObject
from bestresponse.logic.settings import settings

__all__ = ["CallLimits", "WorkerPool"]

_START_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class CallLimits:
    """What one call may use: seconds, characters of arguments, characters of the result, megabytes of memory."""

    seconds: float = 20.0
    input: int = 200_000
    output: int = 2_000_000
    megabytes: int = 4096


class WorkerPool:
    """A worker that is started when first needed, and again after a call that had to be killed."""

    def __init__(self, limits: CallLimits | None = None) -> None:
        self.limits = limits or CallLimits()
        self._process: Process | None = None
        self._lock = asyncio.Lock()

    async def call(self, tool: str, arguments: JsonObject) -> JsonObject:
        """Return the result of a tool; UsageError with the sentence of the worker, LimitReached past a limit."""
        line = json.dumps({"tool": tool, "arguments": arguments})
        if len(line) > self.limits.input:
            raise LimitReached(f"the arguments have {len(line):,} characters; the limit is {self.limits.input:,}")
        async with self._lock:
            reply = await self._exchange(line)
        if "error" in reply:
            raise UsageError(reply["error"])
        result: JsonObject = reply["result"]
        return result

    async def start(self) -> None:
        """Start the worker if it does not run, so that the first call need not wait for it."""
        if self._process is None or self._process.returncode is not None:
            programs = json.dumps(asdict(settings.strangers))
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "bestresponse.integrations.mcp.worker", str(self.limits.megabytes), programs),
                stdin=PIPE,
                stdout=PIPE,
                limit=self.limits.output + 1000,
                start_new_session=True,
            )
            await self._read_line(self._process, _START_SECONDS)

    async def close(self) -> None:
        """End the worker and whatever it started."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                if hasattr(os, "killpg"):
                    os.killpg(process.pid, signal.SIGKILL)
                else:
                    process.kill()
            await process.wait()

    async def _exchange(self, line: str) -> JsonObject:
        await self.start()
        process = self._process
        assert process is not None
        assert process.stdin is not None
        try:
            process.stdin.write(f"{line}\n".encode())
            await process.stdin.drain()
            reply: JsonObject = json.loads(await self._read_line(process, self.limits.seconds))
            return reply
        except TimeoutError:
            await self.close()
            raise LimitReached(
                f"this call was not done after {self.limits.seconds:g} seconds; try a smaller game or another method"
            ) from None
        except ValueError:
            await self.close()
            raise LimitReached(f"the result has more than {self.limits.output:,} characters") from None
        except ConnectionError:
            await self.close()
            raise LimitReached("the worker ended during this call; it may have needed too much memory") from None
        except asyncio.CancelledError:
            await self.close()
            raise

    async def _read_line(self, process: Process, seconds: float) -> bytes:
        assert process.stdout is not None
        line = await asyncio.wait_for(process.stdout.readline(), seconds)
        if not line:
            raise ConnectionError
        return line
