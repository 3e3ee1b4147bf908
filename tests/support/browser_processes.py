"""End the processes of a browser that do not end by themselves: to close them is no part of what a
test shows."""

import os
import signal
import threading
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def kill_driver_after(seconds):
    """Kill the browser's driver and all it started where the block takes longer, so that nothing
    waits for them."""
    timer = threading.Timer(seconds, kill_driver)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def kill_driver():
    """Kill the drivers of browsers that this process started, with all their descendants; Linux
    tells which."""
    parents = _read_parents()
    doomed = {pid for pid, parent in parents.items() if parent == os.getpid() and _is_driver(pid)}
    while more := {pid for pid, parent in parents.items() if parent in doomed} - doomed:
        doomed |= more
    for pid in doomed:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _is_driver(pid):
    with suppress(OSError):
        return b"playwright" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def _read_parents():
    found = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            found[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
    return found
