"""The confined children of this process.

They are forked by a warm server, asked in turn, and killed when they are late.

A child is kept and asked again while it is small and in good health; a program that reaches a limit
costs its child. No program can leave anything behind in a child but text and compiled clauses under
its own source.

A message between a process and its child, over a pair of sockets, is a length and lines of JSON.
Only `os.read` and `os.write` are used, because the child's system-call filter knows neither
`recvfrom` nor `sendto`.
"""

import atexit
import json
import os
import select
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, Literal

import bestresponse
from bestresponse.core.errors import LogicError
from bestresponse.core.json import JsonObject
from bestresponse.logic.allowance import Allowance, ProcessorTimeUsed
from bestresponse.logic.settings import Layer, Limits
from bestresponse.logic.swi.engine import start_prolog
from bestresponse.logic.swi.sandbox import kill
from bestresponse.logic.swi.worker import Worker

Kind = Literal["embedded", "swi"]
_Setup = tuple[Kind, int, int, int, int]
"""What a child was made for: engine, memory, processor time, cells and seed; it serves only such
requests."""

_LENGTH = struct.Struct("!Q")
_CHUNK = 1 << 16
RIGHTS = struct.Struct("!QQ")
"""What the server is told of a child besides its sockets: bytes of memory, seconds of processor
time."""
_START_SECONDS = 120.0
_HELLO_BYTES = 1 << 16
_HEAD_BYTES = 1 << 20
"""So much of a reply is not what a program gave: its diagnostics, and the predicates that it
defines."""
_TRIES = 3
_LAYERS = ("privileges", "limits", "files", "calls")
_START = (
    "import sys, json; sys.path[:0] = json.loads(sys.argv[1]); from"
    " bestresponse.logic.confined.server import warm_up_and_serve;"
    " warm_up_and_serve(int(sys.argv[2]))"
)


class ChildLost(LogicError):
    """A child did not reply.

    It used its processor time, got none by the clock, ended before, or replied with too much.
    """

    def __init__(self, kind: Literal["time", "clock", "ended", "output"]) -> None:
        super().__init__(f"the confined child was lost: {kind}")
        self.kind = kind


@dataclass(frozen=True, slots=True)
class ChildReply:
    """What a child replied: an object and lines.

    The lines hold the rows of a game or the answers to a question.
    """

    head: JsonObject
    lines: list[bytes]

    def read_items(self) -> Iterator[Any]:
        """Read rows or answers, some at a time."""
        for line in self.lines:
            yield from json.loads(line)


class Child:
    """One confined process, with the SWI-Prolog that it alone may ask if it was made for one."""

    def __init__(self, connection: socket.socket, prolog: Worker | None) -> None:
        self._connection = connection
        self._prolog = prolog
        try:
            hello = json.loads(
                read_message(
                    connection.fileno(),
                    _HELLO_BYTES,
                    Allowance(deadline=time.monotonic() + _START_SECONDS),
                )
            )
        except BaseException:
            connection.close()
            raise
        missing = hello["missing"]
        own = (Layer(name, name not in missing, missing.get(name, "")) for name in _LAYERS)
        self.pid: int = hello["pid"]
        self.layers: tuple[Layer, ...] = (*own, *(() if prolog is None else prolog.layers))

    @property
    def waiting(self) -> bool:
        """Whether it waits for a request; a child that has ended can be read from."""
        poll = select.poll()
        poll.register(self._connection.fileno(), select.POLLIN)
        return not poll.poll(0)

    def request(self, body: bytes, limits: Limits, deadline: float) -> ChildReply:
        """Return the reply to `body`, or raise `ChildLost`; a child that is late is killed."""
        pids = (self.pid,) if self._prolog is None else (self.pid, self._prolog.pid)
        allowed = Allowance(deadline=deadline, processor=limits.seconds, pids=pids)
        try:
            write_message(self._connection.fileno(), body, allowed)
            message = read_message(self._connection.fileno(), limits.output + _HEAD_BYTES, allowed)
        except ProcessorTimeUsed:
            kill(self.pid)
            raise ChildLost("time") from None
        except TimeoutError:
            kill(self.pid)
            raise ChildLost("clock") from None
        except OverflowError:
            raise ChildLost("output") from None
        except (EOFError, OSError):
            raise ChildLost("ended") from None
        head, *lines = message.split(b"\n")
        return ChildReply(json.loads(head), lines)

    def close(self) -> None:
        """Let the child end: it waits for requests, or will find nobody to reply to."""
        self._connection.close()
        if self._prolog is not None:
            self._prolog.close()


class Children:
    """The children of this process.

    As many work at once as there are processors; other requests wait.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._most = max(2, os.cpu_count() or 1)
        self._places = threading.BoundedSemaphore(self._most)
        self._owner = os.getpid()
        self._server = _ForkServer()
        self._idle: list[tuple[_Setup, Child]] = []

    @property
    def inherited(self) -> bool:
        """Whether these are the children of a parent process, from before a fork."""
        return self._owner != os.getpid()

    @property
    def pids(self) -> tuple[int, ...]:
        """The numbers of the processes: the server, if there is one, and waiting children."""
        with self._lock:
            server = () if self._server.process is None else (self._server.process.pid,)
            return (*server, *(child.pid for _, child in self._idle))

    def request(
        self,
        kind: Kind,
        body: bytes,
        limits: Limits,
        seed: int = 0,
    ) -> tuple[ChildReply, tuple[Layer, ...]]:
        """Return a child's reply to `body` and the layers it is confined by.

        Raises `ChildLost` if there is no reply.
        """
        setup = (kind, limits.memory, limits.processor, limits.cells, seed)
        with self._places:
            child = self._take(setup, limits)
            again = False
            try:
                reply = child.request(body, limits, time.monotonic() + limits.clock)
                again = reply.head["again"]
            finally:
                if again:
                    self._give_back(setup, child)
                else:
                    child.close()
            return reply, child.layers

    def close(self) -> None:
        """End all processes; they are started again when they are needed."""
        with self._lock:
            while self._idle:
                self._idle.pop()[1].close()
            self._server.close()

    def _take(self, setup: _Setup, limits: Limits) -> Child:
        """Return a child that waits, a new one if there is none."""
        while (child := self._find_idle(setup)) is not None:
            if child.waiting:
                return child
            child.close()
        return self._start(setup, limits)

    def _start(self, setup: _Setup, limits: Limits) -> Child:
        kind, *_, seed = setup
        prolog = start_prolog(limits, seed) if kind == "swi" else None
        for _ in range(_TRIES):
            try:
                with self._lock:
                    connection = self._server.fork(limits, prolog)
                return Child(connection, prolog)
            except (OSError, EOFError):
                with self._lock:
                    self._server.close()
        if prolog is not None:
            prolog.close()
        raise LogicError("the process that checks programs cannot be started here")

    def _find_idle(self, setup: _Setup) -> Child | None:
        with self._lock:
            for index, (made_for, child) in enumerate(self._idle):
                if made_for == setup:
                    del self._idle[index]
                    return child
        return None

    def _give_back(self, setup: _Setup, child: Child) -> None:
        with self._lock:
            self._idle.append((setup, child))
            old = self._idle.pop(0)[1] if len(self._idle) > 2 * self._most else None
        if old is not None:
            old.close()


class _ForkServer:
    """The warm process that forks children."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def fork(self, limits: Limits, prolog: Worker | None) -> socket.socket:
        """Hand one end of a new pair of sockets, and the pipes of SWI-Prolog, to a new child.

        Return the other end.
        """
        ours, theirs = socket.socketpair()
        pipes = () if prolog is None or prolog.pipes is None else prolog.pipes
        rights = RIGHTS.pack(limits.memory, limits.processor)
        with theirs:
            try:
                socket.send_fds(self._start(), [rights], [theirs.fileno(), *pipes])
            except OSError:
                ours.close()
                raise
        return ours

    def close(self) -> None:
        """End the process."""
        process = self.process
        control = self._control
        self.process = None
        self._control = None
        if control is not None:
            control.close()
        if process is not None:
            process.kill()
            process.wait()

    def _start(self) -> socket.socket:
        if self._control is not None and self.process is not None and self.process.poll() is None:
            return self._control
        self.close()
        self._control, theirs = socket.socketpair()
        root = str(Path(bestresponse.__file__).parent.parent)
        with theirs:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    "-I",
                    "-S",
                    "-B",
                    "-c",
                    _START,
                    json.dumps([root]),
                    str(theirs.fileno()),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        return self._control


def write_message(descriptor: int, body: bytes, allowed: Allowance | None = None) -> None:
    """Send a message.

    Raises `OSError` if it cannot be sent, `TimeoutError` or `ProcessorTimeUsed` if not within what
    is allowed.
    """
    view = memoryview(_LENGTH.pack(len(body)) + body)
    while view:
        if allowed is not None:
            allowed.wait(descriptor, select.POLLOUT)
        view = view[os.write(descriptor, view[:_CHUNK]) :]


def read_message(descriptor: int, most: float = inf, allowed: Allowance | None = None) -> bytes:
    """Receive a message.

    `EOFError` if the other side ended, `OverflowError` past `most`, `TimeoutError` or
    `ProcessorTimeUsed` if it is too late.
    """
    (length,) = _LENGTH.unpack(_read_exactly(descriptor, _LENGTH.size, allowed))
    if length > most:
        raise OverflowError(f"a message of {length:,} bytes")
    return _read_exactly(descriptor, length, allowed)


def _read_exactly(descriptor: int, size: int, allowed: Allowance | None) -> bytes:
    buffer = bytearray()
    while len(buffer) < size:
        if allowed is not None:
            allowed.wait(descriptor, select.POLLIN)
        chunk = os.read(descriptor, min(_CHUNK, size - len(buffer)))
        if not chunk:
            raise EOFError
        buffer += chunk
    return bytes(buffer)


_shared = Children()


def share_children() -> Children:
    """Return the children of this process; a forked process gets some of its own."""
    global _shared
    if _shared.inherited:
        _shared = Children()
    return _shared


atexit.register(lambda: None if _shared.inherited else _shared.close())
