"""One warm SWI-Prolog process behind pipes.

It is given requests and answers them within a time, or it is ended.

`Worker.request` is one round trip. A worker that does not answer in time, writes too much, or
writes anything that is not the reply to the request at hand is killed at once and raises
`WorkerLost`; whoever holds it starts another.
"""

from __future__ import annotations

import os
import re
import secrets
import select
import shutil
import subprocess
import time
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from pathlib import Path
from typing import Literal

from bestresponse.core.errors import LogicError
from bestresponse.logic.allowance import Allowance, ProcessorTimeUsed
from bestresponse.logic.settings import Layer

from .sandbox import LAYERS, Confined, SandboxPolicy, start_confined

_HINT = (
    "SWI-Prolog was not found; install it with `apt-get install swi-prolog-nox` or `brew install"
    " swi-prolog`"
)
_OLDEST = 90000
_GOAL = "load_files(bestresponse, [stream(user_input)]), bestresponse:serve"
_OPTIONS = (
    *("-f", "none", "-F", "none", "-q"),
    *("--no-packs", "--no-tty", "--no-signals", "--no-threads", "--no-debug"),
)
_LIBRARY_FOLDERS = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")
_START_SECONDS = 120.0
_CHUNK = 1 << 16
_ATOMIC = 4096  # so many bytes a pipe that is ready takes at once, without waiting


_Cause = Literal["time", "clock", "output", "ended", "foreign"]


class WorkerLost(LogicError):
    """The worker is gone, and why.

    It used its processor time, did not answer, wrote too much, ended by itself, or wrote something
    foreign.
    """

    def __init__(self, why: str, kind: _Cause) -> None:
        super().__init__(why)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Installation:
    """Where SWI-Prolog is, which one it is, and the files it needs to run."""

    executable: str
    home: str
    version: str
    readable: tuple[str, ...]
    loaders: tuple[str, ...]


def find_swipl(command: str = "swipl") -> Installation:
    """Return the installation behind a command name or path.

    Raises a `LogicError` that says how to install one if there is none.
    """
    path = shutil.which(command)
    if path is None:
        raise LogicError(_HINT)
    return _inspect(os.path.realpath(path))


@lru_cache
def _inspect(executable: str) -> Installation:
    listing = _output([executable, "--dump-runtime-variables"], {})
    variables = dict(re.findall(r'^(\w+)="(.*)";$', listing, re.MULTILINE))
    if "PLBASE" not in variables or "PLVERSION" not in variables:
        raise LogicError(f"{executable} does not answer like SWI-Prolog; {_HINT}")
    number = int(variables["PLVERSION"])
    version = f"{number // 10000}.{number // 100 % 100}.{number % 100}"
    if number < _OLDEST:
        raise LogicError(f"{executable} is SWI-Prolog {version}; version 9.0 or newer is needed")
    home = os.path.realpath(variables["PLBASE"])
    objects = _output([executable], {"LD_TRACE_LOADED_OBJECTS": "1"})
    libraries = re.findall(r"=> (/\S+)", objects)
    loaders = re.findall(r"^\s*(/\S+) \(0x", objects, re.MULTILINE)
    return Installation(
        executable=executable,
        home=home,
        version=version,
        readable=(
            *(libraries or _LIBRARY_FOLDERS),
            *(f"{home}/{part}" for part in ("boot.prc", "library", "swipl.home")),
            "/etc/ld.so.cache",
            "/dev/urandom",
        ),
        loaders=tuple(loaders) or _LIBRARY_FOLDERS,
    )


def _output(command: list[str], environment: dict[str, str]) -> str:
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LogicError(f"{command[0]} cannot be run: {error}") from error
    return done.stdout


def start_worker(
    installation: Installation,
    memory: int = 512 << 20,
    processor: int = 120,
    stack: int = 128 << 20,
    layers: tuple[str, ...] = LAYERS,
) -> Worker:
    """Start a confined SWI-Prolog that serves requests."""
    command = (
        installation.executable,
        *_OPTIONS,
        f"--home={installation.home}",
        f"--stack-limit={min(stack, memory // 3) >> 10}k",
        *("-g", _GOAL),
    )
    policy = SandboxPolicy(
        readable=installation.readable,
        executable=(installation.executable, *installation.loaders),
        memory=memory,
        processor=processor,
        layers=layers,
    )
    process = start_confined(command, policy)
    worker = Worker(process.input, process.output, process)
    worker.begin(Path(__file__).with_name("server.pl").read_bytes())
    process.seal()
    return worker


class Worker:
    """A SWI-Prolog behind two pipes, and its process if this one started it; not thread-safe."""

    def __init__(
        self,
        input: int,
        output: int,
        process: Confined | None = None,
    ) -> None:
        self.busy_seconds = 0.0
        self.pipes: tuple[int, int] | None = (input, output)
        self._process = process

    @property
    def alive(self) -> bool:
        """Whether requests can still be made."""
        return self.pipes is not None

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers of confinement, in force or missing."""
        return () if self._process is None else self._process.layers

    @property
    def pid(self) -> int:
        """The number of the worker's process."""
        if self._process is None:
            raise WorkerLost("the SWI-Prolog worker has ended", "ended")
        return self._process.pid

    def begin(self, server: bytes) -> None:
        """Give a fresh process the text of its server and wait until it is ready."""
        allowed = Allowance(deadline=time.monotonic() + _START_SECONDS)
        self._send(server, allowed)
        self._receive("ready", allowed, _CHUNK)

    def request(
        self,
        what: str,
        text: str,
        clock: float,
        size: int,
        *,
        processor: float = inf,
    ) -> list[str]:
        """Return the lines of the reply, within `size` bytes and `clock` seconds.

        If this process started the worker, processor time is limited to the given seconds too.
        """
        token = f"t{secrets.token_hex(8)}"
        began = time.monotonic()
        pids = () if self._process is None else (self._process.pid,)
        allowed = Allowance(deadline=began + clock, processor=processor, pids=pids)
        self._send(f"request({token},{len(text)},{what}).\n{text}".encode(), allowed)
        lines = self._receive(token, allowed, size)
        self.busy_seconds += time.monotonic() - began
        return lines

    def close(self) -> None:
        """End the process, if this one started it and it still runs."""
        process = self._process
        self._process = None
        self.pipes = None
        if process is not None:
            process.end()

    def _open_pipes(self) -> tuple[int, int]:
        if self.pipes is None:
            raise WorkerLost("the SWI-Prolog worker has ended", "ended")
        return self.pipes

    def _lose(self, why: str, kind: _Cause) -> WorkerLost:
        self.close()
        return WorkerLost(f"SWI-Prolog {why}", kind)

    def _wait(self, pipe: int, event: int, allowed: Allowance) -> None:
        try:
            allowed.wait(pipe, event)
        except ProcessorTimeUsed:
            raise self._lose("used the processor time that it may have", "time") from None
        except TimeoutError:
            raise self._lose("did not answer in time", "clock") from None

    def _send(self, message: bytes, allowed: Allowance) -> None:
        pipe = self._open_pipes()[0]
        view = memoryview(message)
        try:
            while view:
                self._wait(pipe, select.POLLOUT, allowed)
                view = view[os.write(pipe, view[:_ATOMIC]) :]
        except BrokenPipeError:
            raise self._lose("ended while it was being asked", "ended") from None

    def _receive(self, token: str, allowed: Allowance, size: int) -> list[str]:
        mark = f"{token}\n".encode()
        pipe = self._open_pipes()[1]
        buffer = bytearray()
        while not (buffer.endswith(mark) and len(buffer) > len(mark)):
            self._wait(pipe, select.POLLIN, allowed)
            chunk = os.read(pipe, _CHUNK)
            buffer += chunk
            if not chunk:
                raise self._lose("ended without an answer", "ended")
            if len(buffer) > size + 2 * len(mark):
                raise self._lose("answered with more than there is room for", "output")
        if not buffer.startswith(mark):
            raise self._lose("wrote something that is not the answer to the question", "foreign")
        return buffer[len(mark) : -len(mark)].decode("utf-8", "replace").split("\n")[:-1]
