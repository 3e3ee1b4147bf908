"""Starting a program that may not touch the machine it runs on.

`start(command, policy)` runs a command behind five independent layers and says which of them the
system could give:

privileges    takes away gaining rights by executing something, and the superuser's own rights
              needs Linux; the latter only as root
limits        takes away memory, processor time, file sizes, core dumps, further processes
              needs any Unix, as far as it enforces them
files         takes away every file but those named, all writing, TCP, signals to others
              needs Linux 5.13 (TCP 6.7, signals 6.12)
calls         takes away every system call not on a short list (see `sandbox_filter`)
              needs Linux with seccomp, x86-64 or aarch64
descriptors   takes away, from `Confined.seal()` on, opening anything at all, even for reading
              needs Linux

Besides, the program always gets an empty environment, a session of its own, the root directory as
its place, and pipes for input and output; what it writes as error messages is dropped. A layer that
is missing is never silent: `Confined.layers` says why.
"""

import json
import os
import platform
import resource
import secrets
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bestresponse.core.errors import LogicError
from bestresponse.logic.settings import Layer

from .sandbox_filter import MACHINES, filter_for, pack_filter

LAYERS = ("privileges", "limits", "files", "calls", "descriptors")

_NOBODY = 65534
_PAGE = 4096
_DESCRIPTORS_AT_START = 64
_STANDARD_DESCRIPTORS = 3
_PATIENCE = 30.0
"""Seconds after which a process that ought to start or to end is given up."""


@dataclass(frozen=True, slots=True)
class SandboxPolicy:
    """What a confined program may use.

    `readable`: files and folders it may read; `executable`: files it may execute (itself and its
    loader); `memory` in bytes, `processor` in seconds over its whole life; `layers`: which layers
    to ask for.
    """

    readable: tuple[str, ...]
    executable: tuple[str, ...]
    memory: int = 512 << 20
    processor: int = 60
    layers: tuple[str, ...] = LAYERS


class Confined:
    """A running confined program: its pipes, the layers in force, and the switch that ends it."""

    def __init__(self, process: "subprocess.Popen[bytes]", layers: tuple[Layer, ...]) -> None:
        self._process = process
        self.layers = layers

    @property
    def pid(self) -> int:
        """The process number."""
        return self._process.pid

    @property
    def input(self) -> int:
        """The descriptor to write the program's input to."""
        assert self._process.stdin is not None
        return self._process.stdin.fileno()

    @property
    def output(self) -> int:
        """The descriptor to read the program's output from."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def seal(self) -> None:
        """Take away the right to open anything: for when the program has read all it needs."""
        self.layers = tuple(
            _sealed(self.pid) if layer.name == "descriptors" else layer for layer in self.layers
        )

    def end(self) -> int:
        """Kill the program and whatever it started, wait for it and return its exit status."""
        kill(self.pid, "killpg")
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(OSError):
                pipe.close()
        try:
            return self._process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            raise LogicError(f"the confined process {self.pid} cannot be ended") from None


def kill(pid: int, call: Literal["kill", "killpg"] = "kill") -> None:
    """Kill a confined process, or the group that it leads."""
    with suppress(ProcessLookupError):
        try:
            getattr(os, call)(pid, signal.SIGKILL)
        except PermissionError:
            _as_its_own_account(f"os.{call}({pid}, {int(signal.SIGKILL)})")


def start_confined(command: tuple[str, ...], policy: SandboxPolicy) -> Confined:
    """Run `command` (an absolute path and its arguments) confined by `policy`."""
    child = str(Path(__file__).with_name("sandbox_child.py"))
    process = subprocess.Popen(
        [
            sys.executable,
            "-I",
            "-S",
            "-B",
            child,
            json.dumps(make_plan(command, policy)),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        cwd="/",
        env={},
        start_new_session=True,
    )
    report = _first_line(process)
    if report is None:
        status = Confined(process, ()).end()
        raise LogicError(
            f"the confined process for {command[0]} did not start (exit status {status})"
        )
    layers = tuple(Layer(name, why is None, why or "") for name, why in json.loads(report).items())
    if "descriptors" in policy.layers:
        layers += (Layer("descriptors", False, "not sealed yet"),)
    return Confined(process, layers)


def make_plan(command: tuple[str, ...], policy: SandboxPolicy) -> dict[str, object]:
    """Return what `sandbox_child` needs to know to apply the policy."""
    machine = (
        MACHINES.get(platform.machine())
        if "calls" in policy.layers and sys.platform == "linux"
        else None
    )
    address = _PAGE * (secrets.randbelow(1 << 25) + (1 << 24))
    return {
        "command": command,
        "layers": [name for name in LAYERS if name in policy.layers and name != "descriptors"],
        "account": _NOBODY,
        "limits": {
            "RLIMIT_AS": policy.memory,
            "RLIMIT_CPU": policy.processor,
            "RLIMIT_FSIZE": 0,
            "RLIMIT_CORE": 0,
            "RLIMIT_NPROC": 0,
            "RLIMIT_NOFILE": _DESCRIPTORS_AT_START,
        },
        "readable": policy.readable,
        "executable": policy.executable,
        "filter": None if machine is None else pack_filter(filter_for(machine, address)).hex(),
        "exec_address": address,
    }


def _first_line(process: "subprocess.Popen[bytes]") -> bytes | None:
    assert process.stdout is not None
    line = b""
    deadline = time.monotonic() + _PATIENCE
    while not line.endswith(b"\n"):
        ready = select.select(
            (process.stdout,),
            (),
            (),
            max(0.0, deadline - time.monotonic()),
        )[0]
        byte = process.stdout.read(1) if ready else None
        if not byte:
            return None
        line += byte
    return line


def _sealed(pid: int) -> Layer:
    if sys.platform != "linux":
        return Layer("descriptors", False, "limiting a running process needs Linux")
    try:
        resource.prlimit(
            pid,
            resource.RLIMIT_NOFILE,
            (_STANDARD_DESCRIPTORS, _STANDARD_DESCRIPTORS),
        )
    except OSError as error:
        limit = f"({_STANDARD_DESCRIPTORS}, {_STANDARD_DESCRIPTORS})"
        if not _as_its_own_account(f"resource.prlimit({pid}, resource.RLIMIT_NOFILE, {limit})"):
            return Layer("descriptors", False, str(error))
    return Layer("descriptors", True)


def _as_its_own_account(statement: str) -> bool:
    """Act as the account the process runs under.

    A superuser in a container may not limit or end another's process.
    """
    if os.geteuid() != 0:
        return False
    code = (
        f"import os, resource; os.setgroups([]); os.setgid({_NOBODY}); os.setuid({_NOBODY});"
        f" {statement}"
    )
    command = [sys.executable, "-I", "-S", "-B", "-c", code]
    try:
        done = subprocess.run(
            command,
            cwd="/",
            env={},
            stderr=subprocess.DEVNULL,
            check=False,
            timeout=_PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0
