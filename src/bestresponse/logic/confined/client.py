"""The fork server as its owner sees it: started once, asked by any thread, replaced when it is lost."""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Final, Literal

import bestresponse
from bestresponse.core.errors import LogicError
from bestresponse.logic.confined.messages import PATIENCE, read_reply, write_request

__all__ = ["ChildLost", "ForkServer", "share_server"]

_GRACE: Final = 1.0
"""Seconds a child gets beyond its own alarms, for being forked on a busy machine."""
_TRIES: Final = 3
_START: Final = (
    "import sys, json; sys.path[:0] = json.loads(sys.argv[1]); "
    "from bestresponse.logic.confined.server import main; main(int(sys.argv[2]))"
)


class ChildLost(LogicError):
    """A child did not reply: it ran out of time, ended before, or replied with too much."""

    def __init__(self, kind: Literal["time", "ended", "output"]) -> None:
        super().__init__(f"the confined child was lost: {kind}")
        self.kind = kind


class ForkServer:
    """A fork server of this process. As many children work at once as there are processors; others wait."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(max(2, os.cpu_count() or 1))
        self._owner = os.getpid()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._spare: socket.socket | None = None

    @property
    def inherited(self) -> bool:
        """Whether this is the server of a parent process, from before a fork."""
        return self._owner != os.getpid()

    @property
    def pid(self) -> int | None:
        """The number of the server's process, while there is one."""
        return None if self._process is None else self._process.pid

    def wait(self) -> None:
        """Wait until the server's process has ended."""
        if self._process is not None:
            self._process.wait()

    def request(self, body: bytes, seconds: float, memory: int, most: int) -> bytes:
        """Return the reply of a child to `body`, or raise `ChildLost`."""
        with self._places:
            connection = self._connect()
            try:
                deadline = time.monotonic() + PATIENCE * seconds + _GRACE
                write_request(connection.fileno(), seconds, memory, body, deadline)
                return read_reply(connection.fileno(), most, deadline)
            except TimeoutError:
                self.close()  # the alarm of the child would have come first
                raise ChildLost("time") from None
            except OverflowError:
                raise ChildLost("output") from None
            except (EOFError, OSError):
                raise ChildLost("ended") from None
            finally:
                connection.close()

    def close(self) -> None:
        """End the server; it is started again when it is needed."""
        with self._lock:
            self._end()

    def _connect(self) -> socket.socket:
        """Return the socket of a child that waits, and have the next one forked meanwhile."""
        with self._lock:
            if self._spare is None or self._process is None or self._process.poll() is not None:
                self._spare = self._hand_over()
            connection, self._spare = self._spare, self._hand_over()
            return connection

    def _hand_over(self) -> socket.socket:
        """Hand one end of a new pair of sockets to the server and return the other."""
        for _ in range(_TRIES):
            ours, theirs = socket.socketpair()
            with theirs:
                try:
                    socket.send_fds(self._start(), [b"c"], [theirs.fileno()])
                    return ours
                except OSError:
                    ours.close()
                    self._end()
        raise LogicError("the process that checks programs cannot be started here")

    def _start(self) -> socket.socket:
        if self._control is not None and self._process is not None and self._process.poll() is None:
            return self._control
        self._end()
        self._control, theirs = socket.socketpair()
        root = str(Path(bestresponse.__file__).parent.parent)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", "-c", _START, json.dumps([root]), str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        return self._control

    def _end(self) -> None:
        process = self._process
        for connection in (self._control, self._spare):
            if connection is not None:
                connection.close()
        self._control = self._spare = self._process = None
        if process is not None and not self.inherited:
            process.kill()
            process.wait()


_shared = ForkServer()


def share_server() -> ForkServer:
    """Return the fork server of this process; a forked process gets one of its own."""
    global _shared
    if _shared.inherited:
        _shared = ForkServer()
    return _shared


atexit.register(lambda: None if _shared.inherited else _shared.close())
