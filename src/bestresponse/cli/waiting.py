"""Waiting for a long computation or for plays: what is waited for is said, and Ctrl-C ends the wait."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from multiprocessing import active_children
from time import monotonic
from types import FrameType
from typing import TypeVar

from rich.status import Status

from bestresponse.cli.terminal import notes
from bestresponse.core.errors import Interrupted

T = TypeVar("T")

_QUIET = 2.0
_TICK = 0.2
_LEAVE = 1.0


class Progress:
    """What a computation in another thread said of itself last."""

    def __init__(self) -> None:
        self.text = ""

    def report(self, text: str) -> None:
        """Keep what is said now, in place of what was said before."""
        self.text = text


def _leave() -> None:
    """End at once; a worker that is only starting would otherwise print a trace when it misses its parent."""
    for child in active_children():
        child.kill()
    os._exit(130)


@contextmanager
def tell_interrupt(workers: int) -> Iterator[None]:
    """Say at the first Ctrl-C what is waited for; the second one does not wait. A single worker is never waited for."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield
        return

    def tell(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, leave)
        waited = "waiting for the plays under way, which are kept"
        os.write(2, f"\nbestresponse: stopping: {waited}; Ctrl-C again does not wait\n".encode())
        raise KeyboardInterrupt

    def leave(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # Models that are being closed, and threads that Python joins at its end, may wait for a server for minutes.
        end = threading.Timer(_LEAVE, _leave)
        end.daemon = True
        end.start()
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, tell if workers > 1 else leave)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, usual)


def wait_for(compute: Callable[[], T], what: str = "solving", progress: Progress | None = None) -> T:
    """Compute in a thread of its own and return its result, or raise its error.

    After two seconds a terminal shows how far it is. Ctrl-C raises Interrupted with what is known so far and leaves the
    thread behind, which ends with the process: compiled loops and linear programs do not listen to signals.
    """
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(compute())
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
            outcome.set_exception(error)

    start = monotonic()
    progress = progress or Progress()
    try:
        threading.Thread(target=run, daemon=True).start()
        wait([outcome], _QUIET)
        if sys.stderr.isatty() and not outcome.done():
            with Status(what, console=notes()) as status:
                while not outcome.done():
                    known = f": {progress.text}" if progress.text else ""
                    status.update(f"{what}, {monotonic() - start:.0f} s{known} (Ctrl-C stops)")
                    wait([outcome], _TICK)
        return outcome.result()
    except KeyboardInterrupt:
        known = f"; so far {progress.text}" if progress.text else ", before there was any bound or equilibrium"
        raise Interrupted(f"{what} was stopped after {monotonic() - start:.0f} s{known}") from None
