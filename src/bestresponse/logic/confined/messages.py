"""Messages between a process and the confined child that works for it, over a pair of sockets: a length and JSON.

Only `os.read` and `os.write` are used, because the child's system-call filter knows neither `recvfrom` nor `sendto`.
"""

from __future__ import annotations

import os
import select
import struct
import time
from math import inf
from typing import Final

PROGRESS: Final = b"."
"""Instead of a reply: a game gets on."""
FOUND: Final = b"+"
"""Instead of a reply: all of a game was found."""

_LENGTH: Final = struct.Struct("!Q")
_CHUNK: Final = 1 << 16


def write_message(descriptor: int, body: bytes, deadline: float = inf) -> None:
    """Send a message; `TimeoutError` or `OSError` where it cannot be sent in time."""
    view = memoryview(_LENGTH.pack(len(body)) + body)
    while view:
        _wait(descriptor, select.POLLOUT, deadline)
        view = view[os.write(descriptor, view[:_CHUNK]) :]


def read_message(descriptor: int, most: float = inf, deadline: float = inf) -> bytes:
    """Receive a message; `EOFError` if the other side ended, `TimeoutError` if late, `OverflowError` past `most`."""
    (length,) = _LENGTH.unpack(_read_exactly(descriptor, _LENGTH.size, deadline))
    if length > most:
        raise OverflowError(f"a message of {length:,} bytes")
    return _read_exactly(descriptor, length, deadline)


def _read_exactly(descriptor: int, size: int, deadline: float) -> bytes:
    buffer = bytearray()
    while len(buffer) < size:
        _wait(descriptor, select.POLLIN, deadline)
        chunk = os.read(descriptor, min(_CHUNK, size - len(buffer)))
        if not chunk:
            raise EOFError
        buffer += chunk
    return bytes(buffer)


def _wait(descriptor: int, event: int, deadline: float) -> None:
    if deadline == inf:
        return
    poll = select.poll()
    poll.register(descriptor, event)
    if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise TimeoutError
