"""A port on which surely nobody listens."""

import socket
from contextlib import contextmanager


@contextmanager
def closed_port():
    """Hold a port of the loopback address without listening on it: connections are refused, nobody
    else can take it."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]
