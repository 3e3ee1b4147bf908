"""HTTP clients that obey one deadline for a whole call.

This covers connecting, headers, informational responses and body.

httpx applies its timeout to each read. A server that sends a header byte, or another `100
Continue`, every second is therefore never timed out. Here the network streams of a client know when
the call must have ended, and no read, write or connection attempt waits longer than what is left.
"""

import ssl
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from math import inf
from typing import Any, Self

import httpcore
import httpx

from bestresponse.core.errors import ModelError


class HttpClients:
    """HTTP clients for any number of calls at once; share one of these between all models.

    Every call borrows a client of its own, with the connection it has kept open. One client for all
    calls would look through its connections, idle ones too, at every call: with 64 in flight that
    costs more than the calls.
    """

    def __init__(self) -> None:
        self._idle: deque[_TimedClient] = deque()

    @contextmanager
    def borrow(self, end: float = inf) -> Iterator[httpx.Client]:
        """Lend a client that nobody else uses meanwhile; its network operations fail after `end`.

        `end` is on the clock of `time.perf_counter`.
        """
        try:
            timed = self._idle.pop()
        except IndexError:
            timed = _TimedClient()
        timed.end = end
        try:
            yield timed.client
        finally:
            timed.end = inf
            self._idle.append(timed)

    def close(self) -> None:
        """Close all connections that are idle."""
        while self._idle:
            self._idle.pop().client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


@cache
def _read_certificates() -> ssl.SSLContext:
    """Read the certificates that this machine trusts.

    Once, as that takes longer than a call on a local network.
    """
    return httpx.create_ssl_context()


class _TimedClient:
    """A client and when the call that uses it must have ended."""

    def __init__(self) -> None:
        self.end = inf
        try:
            self.client = httpx.Client(verify=_read_certificates(), follow_redirects=False)
        except ValueError:  # what it says quotes the proxy, which may hold a password
            raise ModelError(
                "the proxy of HTTP_PROXY, HTTPS_PROXY or ALL_PROXY cannot be used; expected an"
                " address such as http://HOST:PORT"
            ) from None
        # httpx offers no public way to give its transports another network backend while it still
        # finds the proxies of the environment by itself, so the backend of each pool is replaced.
        private: Any = self.client
        for transport in (private._transport, *private._mounts.values()):
            if transport is not None:
                transport._pool._network_backend = _Backend(transport._pool._network_backend, self)

    def limit(self, timeout: float | None, error: type[Exception]) -> float:
        """Return the smaller of `timeout` and the time left; raise `error` when none is left."""
        left = self.end - time.perf_counter()
        if left <= 0:
            raise error("the deadline of the call has passed")
        return left if timeout is None else min(left, timeout)


class _Backend(httpcore.NetworkBackend):
    """Opens connections within the deadline, and streams that keep it."""

    def __init__(self, backend: httpcore.NetworkBackend, timed: _TimedClient) -> None:
        self._backend = backend
        self._timed = timed

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        timeout = self._timed.limit(timeout, httpcore.ConnectTimeout)
        return _Stream(
            self._backend.connect_tcp(
                host,
                port,
                timeout,
                local_address,
                socket_options,
            ),
            self._timed,
        )


class _Stream(httpcore.NetworkStream):
    """A connection whose every operation ends by the deadline of the call that uses it."""

    def __init__(self, stream: httpcore.NetworkStream, timed: _TimedClient) -> None:
        self._stream = stream
        self._timed = timed
        self.close = stream.close  # type: ignore[method-assign]
        self.get_extra_info = stream.get_extra_info  # type: ignore[method-assign]

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._timed.limit(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._timed.limit(timeout, httpcore.WriteTimeout))

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        timeout = self._timed.limit(timeout, httpcore.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, timeout), self._timed)
