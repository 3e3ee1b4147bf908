"""HTTP clients that obey one deadline for a whole call: connecting, headers, informational responses and body.

httpx applies its timeout to each read. A server that sends a header byte, or another `100 Continue`, every second is
therefore never timed out. Here the network streams of a client know when the call must have ended, and no read, write
or connection attempt waits longer than what is left.
"""

import ssl
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import Any, Self

import httpcore
import httpx

__all__ = ["Deadline", "HttpClients"]


@dataclass(slots=True)
class Deadline:
    """When the call that uses a client must have ended, on the clock of `time.perf_counter`."""

    end: float = inf

    def limit(self, timeout: float | None, error: type[Exception]) -> float | None:
        """Return the smaller of `timeout` and the time left; raise `error` when none is left."""
        left = self.end - time.perf_counter()
        if left <= 0:
            raise error("the deadline of the call has passed")
        return left if timeout is None or left < timeout else timeout


@dataclass(frozen=True, slots=True)
class _Line:
    """A client and the deadline its network streams obey."""

    client: httpx.Client
    deadline: Deadline


class HttpClients:
    """HTTP clients for any number of calls at once; share one of these between all models.

    Every call borrows a client of its own, with the connection it has kept open. One client for all calls would look
    through its connections, idle ones too, at every call: with 64 in flight that costs more than the calls.
    """

    def __init__(self) -> None:
        self._idle: deque[_Line] = deque()

    @contextmanager
    def borrow(self, end: float = inf) -> Iterator[httpx.Client]:
        """Lend a client that nobody else uses meanwhile; its network operations fail after `end`."""
        try:
            line = self._idle.pop()
        except IndexError:
            line = self._open()
        line.deadline.end = end
        try:
            yield line.client
        finally:
            line.deadline.end = inf
            self._idle.append(line)

    def close(self) -> None:
        """Close all connections that are idle."""
        while self._idle:
            self._idle.pop().client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _open(self) -> _Line:
        line = _Line(httpx.Client(verify=_read_certificates(), follow_redirects=False), Deadline())
        _bound(line)
        return line


@cache
def _read_certificates() -> ssl.SSLContext:
    """Read the certificates that this machine trusts; once, as that takes longer than a call on a local network."""
    return httpx.create_ssl_context()


def _bound(line: _Line) -> None:
    """Make every network stream of a client obey the deadline.

    httpx offers no public way to give its transports another network backend while it still finds the proxies of the
    environment by itself, so the backend of each pool is replaced here.
    """
    client: Any = line.client
    for transport in (client._transport, *client._mounts.values()):
        if transport is not None:
            pool = transport._pool
            pool._network_backend = _Backend(pool._network_backend, line.deadline)


class _Backend(httpcore.NetworkBackend):
    """Opens connections within the deadline, and streams that keep it."""

    def __init__(self, backend: httpcore.NetworkBackend, deadline: Deadline) -> None:
        self._backend = backend
        self._deadline = deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        timeout = self._deadline.limit(timeout, httpcore.ConnectTimeout)
        return _Stream(
            self._backend.connect_tcp(host, port, timeout, local_address, socket_options),
            self._deadline,
        )

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None
    ) -> httpcore.NetworkStream:
        timeout = self._deadline.limit(timeout, httpcore.ConnectTimeout)
        return _Stream(self._backend.connect_unix_socket(path, timeout, socket_options), self._deadline)

    def sleep(self, seconds: float) -> None:
        self._backend.sleep(seconds)


class _Stream(httpcore.NetworkStream):
    """A connection whose every operation ends by the deadline of the call that uses it."""

    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._deadline.limit(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._deadline.limit(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        timeout = self._deadline.limit(timeout, httpcore.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, timeout), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
