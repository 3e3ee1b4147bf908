"""Waiting for a long computation: a line on the terminal says how long it takes, and Ctrl-C ends the wait at once."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from time import monotonic
from typing import TypeVar

from rich.status import Status

from bestresponse.cli.terminal import notes

__all__ = ["wait_for"]

T = TypeVar("T")

_QUIET = 2.0
_TICK = 0.2


def wait_for(compute: Callable[[], T], what: str = "solving") -> T:
    """Compute in a thread of its own and return its result, or raise its error.

    After two seconds a terminal shows that it goes on. KeyboardInterrupt leaves the thread behind, which ends with the
    process: compiled loops and linear programs do not listen to signals.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(compute())
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    _watch(thread, what)
    if errors:
        raise errors[0]
    return results[0]


def _watch(thread: threading.Thread, what: str) -> None:
    """Wait for the thread, and say on a terminal how long it has been running."""
    start = monotonic()
    thread.join(_QUIET)
    if not sys.stderr.isatty():
        while thread.is_alive():
            thread.join(_TICK)
        return
    if thread.is_alive():
        with Status(what, console=notes()) as status:
            while thread.is_alive():
                status.update(f"{what}, {monotonic() - start:.0f} s (Ctrl-C stops)")
                thread.join(_TICK)
