"""Signs of life: an engine that gets on with a game says so, and whoever waits for it waits longer.

In a confined child somebody listens (`confined.server`); elsewhere nothing happens.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

Listener = Callable[[bool], None]
"""Told that a game gets on, or (True) that all of it was found and only has to be written down."""

_PAUSE: Final = 0.2


class _Signal:
    """Who listens in this process, and when it was told last."""

    listener: Listener | None = None
    last = 0.0


def listen(listener: Listener | None) -> None:
    """Let `listener` be told from now on."""
    _Signal.listener = listener


def tell_progress() -> None:
    """Tell the listener, a few times a second at most, that another position was reached."""
    if _Signal.listener is not None and (now := time.monotonic()) > _Signal.last + _PAUSE:
        _Signal.last = now
        _Signal.listener(False)


def tell_all_found() -> None:
    """Tell the listener that the game is finite and known."""
    if _Signal.listener is not None:
        _Signal.listener(True)
