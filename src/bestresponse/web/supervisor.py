"""Keeps a server at work.

A worker does the work, and when it is killed another one takes its place at once.

The parent has loaded everything when it forks, so that a new worker begins within a moment; it
holds the listening socket, so that whoever connects meanwhile waits instead of being refused. It
keeps nothing else: what the worker knows is on disk. Signals to the parent are passed on, a worker
that ends by itself ends the parent, and one that dies again and again is not started any more. A
worker whose parent is gone ends.
"""

import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from types import FrameType

from bestresponse.core.errors import BestResponseError

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
# A server that dies so often in so many seconds would die again: starting it once more only hides
# why.
_MOST_DEATHS = 5
_WITHIN = 30.0


class CrashLoop(BestResponseError):
    """The worker dies again and again."""


def can_supervise() -> bool:
    """Whether this system can fork a process that has loaded native libraries."""
    return hasattr(os, "fork") and sys.platform != "darwin"


def supervise(work: Callable[[int], None], prepare: Callable[[], None]) -> int:
    """Let workers do `work` (told how many died before) until one ends by itself.

    Gives its exit code.

    Once the first worker is at work, the parent does `prepare`: what is loaded there, later workers
    have already. Returns in the worker as well, with 0 once its work is done; whatever it raises is
    raised there.
    """
    deaths: deque[float] = deque(maxlen=_MOST_DEATHS)
    worker = 0
    asked_to_end = False

    def pass_on(number: int, frame: FrameType | None) -> None:
        nonlocal asked_to_end
        asked_to_end = True
        if worker:
            os.kill(worker, number)

    before = {number: signal.signal(number, pass_on) for number in _SIGNALS}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    for number in range(sys.maxsize):
        sys.stdout.flush()
        sys.stderr.flush()
        alive, held = os.pipe()
        worker = os.fork()
        if worker == 0:
            os.close(held)
            restore()
            _end_with_parent(alive)
            work(number)
            return 0
        os.close(alive)
        if asked_to_end:  # before there was a worker to be told
            os.kill(worker, signal.SIGTERM)
        if number == 0:
            prepare()
        code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
        worker = 0
        os.close(held)
        if code >= 0 or asked_to_end:
            restore()
            return 0 if asked_to_end else code
        deaths.append(time.monotonic())
        if len(deaths) == _MOST_DEATHS and deaths[-1] - deaths[0] < _WITHIN:
            restore()
            raise CrashLoop(
                f"the server died {_MOST_DEATHS} times within {_WITHIN:.0f} seconds (the last time"
                f" by {signal.Signals(-code).name}) and is not started again; everything that was"
                " answered is kept"
            )
    return 0


def _end_with_parent(alive: int) -> None:
    """End this process when nobody holds the other end of the pipe.

    Terminals speak to the parent alone.
    """
    os.setpgid(0, 0)

    def wait() -> None:
        os.read(alive, 1)
        os._exit(1)

    threading.Thread(target=wait, name="parent", daemon=True).start()
