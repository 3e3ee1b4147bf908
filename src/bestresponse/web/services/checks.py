"""Checks of programs, a few at a time, with an answer in time for everybody who asks.

The verdict of a check depends on its work alone. Only who asks is bound by the clock: where many
ask, some are told to ask again, and the check goes on meanwhile.
"""

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar, cast

from bestresponse.web.sessions.setup import Busy

MOST = 8
"""Checks that are under way or wait, with no more than MOST threads of the server held by them."""
PATIENCE = 3.0
"""Seconds that whoever asks waits; with the way there and back less than five."""
_KEPT = 32
T = TypeVar("T")


class CheckQueue:
    """Run checks in a few threads; whoever asks for the same check again gets the same answer."""

    def __init__(self, most: int = MOST, patience: float = PATIENCE) -> None:
        self._most = most
        self._patience = patience
        self._lock = threading.Lock()
        self._open: dict[Hashable, Future[object]] = {}
        self._done: OrderedDict[Hashable, Future[object]] = OrderedDict()
        self._threads = ThreadPoolExecutor(max(2, os.cpu_count() or 1), thread_name_prefix="check")

    def run(self, key: Hashable, check: Callable[[], T]) -> T:
        """Return what `check` returns, which `key` tells from others.

        Busy where too many wait, or where it is not done in time.
        """
        with self._lock:
            future = self._done.pop(key, None) or self._open.get(key)
            if future is None:
                if len(self._open) >= self._most:
                    raise Busy(
                        f"{self._most} programs are being checked already; try again in a few"
                        " seconds"
                    )
                future = self._threads.submit(check)
                self._open[key] = future
                is_new = True
            else:
                is_new = False
        if is_new:
            future.add_done_callback(lambda done: self._keep(key, done))
        try:
            return cast("T", future.result(self._patience))
        except TimeoutError:
            if future.done():
                raise
            raise Busy(
                f"this is not checked after {self._patience:g} seconds; the check goes on, so ask"
                " again in a few seconds"
            ) from None

    def _keep(self, key: Hashable, done: Future[object]) -> None:
        """Keep an answer for whoever was told to ask again; it is given once."""
        with self._lock:
            self._open.pop(key, None)
            if done.exception() is None:
                self._done[key] = done
                while len(self._done) > _KEPT:
                    self._done.popitem(last=False)
