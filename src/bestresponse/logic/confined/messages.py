"""One request and one reply between a process and the confined child that works for it, over a pair of sockets.

A request is a header (seconds, bytes of memory, length) and JSON; a reply is a length and JSON. Only `os.read` and
`os.write` are used, because the child's system-call filter knows neither `recvfrom` nor `sendto`.
"""

from __future__ import annotations

import os
import select
import struct
import time
from math import inf
from typing import Final, NamedTuple

__all__ = [
    "PATIENCE",
    "Header",
    "read_exactly",
    "read_header",
    "read_reply",
    "write_reply",
    "write_request",
]

PATIENCE: Final = 5
"""How many times its processor time a child may take by the clock on the wall, on a machine that has much to do."""

_HEADER: Final = struct.Struct("!dQQ")
_LENGTH: Final = struct.Struct("!Q")
_CHUNK: Final = 1 << 16


class Header(NamedTuple):
    """What a child may use (seconds of processor time), and how long the request is that follows."""

    seconds: float
    memory: int
    length: int


def write_request(descriptor: int, seconds: float, memory: int, body: bytes, deadline: float) -> None:
    """Send a request; `TimeoutError` or `OSError` where it cannot be sent in time."""
    _write_all(descriptor, _HEADER.pack(seconds, memory, len(body)) + body, deadline)


def read_header(descriptor: int) -> Header:
    """Receive the header of a request."""
    return Header(*_HEADER.unpack(read_exactly(descriptor, _HEADER.size)))


def write_reply(descriptor: int, body: bytes) -> None:
    """Send a reply."""
    _write_all(descriptor, _LENGTH.pack(len(body)) + body)


def read_reply(descriptor: int, most: int, deadline: float) -> bytes:
    """Receive a reply; `EOFError` where the child ended, `TimeoutError` when late, `OverflowError` past `most`."""
    (length,) = _LENGTH.unpack(read_exactly(descriptor, _LENGTH.size, deadline))
    if length > most:
        raise OverflowError(f"a reply of {length:,} bytes")
    return read_exactly(descriptor, length, deadline)


def read_exactly(descriptor: int, size: int, deadline: float = inf) -> bytes:
    """Read `size` bytes, or `EOFError`."""
    buffer = bytearray()
    while len(buffer) < size:
        _wait(descriptor, select.POLLIN, deadline)
        chunk = os.read(descriptor, min(_CHUNK, size - len(buffer)))
        if not chunk:
            raise EOFError
        buffer += chunk
    return bytes(buffer)


def _write_all(descriptor: int, data: bytes, deadline: float = inf) -> None:
    """Write everything."""
    view = memoryview(data)
    while view:
        _wait(descriptor, select.POLLOUT, deadline)
        view = view[os.write(descriptor, view[:_CHUNK]) :]


def _wait(descriptor: int, event: int, deadline: float) -> None:
    if deadline == inf:
        return
    poll = select.poll()
    poll.register(descriptor, event)
    if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
        raise TimeoutError
