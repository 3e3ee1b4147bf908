"""Wait for what another process or thread does, with an end."""

import gc
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

PATIENCE = 300.0
_AGAIN = 10.0  # seconds to the next signal, should an error be lost in a callback


def wait_until(condition, seconds=PATIENCE, pause=0.005):
    """Return when `condition()` holds; fail the test where it does not come about. Nothing may
    depend on how long."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"it did not come about within {seconds:g} seconds"
        time.sleep(pause)


def run_at_once(*work, seconds=PATIENCE):
    """Run the functions in threads of their own, and return when all have ended; fail the test
    where one does not."""
    threads = [start_thread(one) for one in work]
    join_threads(*threads, seconds=seconds)


def start_thread(work):
    """Start a thread that keeps no process alive."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def join_threads(*threads, seconds=PATIENCE):
    """Return when all these threads have ended; fail the test where one does not."""
    end = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    waiting = sum(thread.is_alive() for thread in threads)
    assert waiting == 0, (
        f"{waiting} of {len(threads)} threads did not end within {seconds:g} seconds"
    )


@contextmanager
def time_limit(seconds: float, longest: float | None = None) -> Iterator[None]:
    """Fail the test if the block waits for what does not come.

    A block that computes is given `longest` seconds (six times as many): on a busy machine it is
    slow, but it does not hang.
    """
    longest = 6 * seconds if longest is None else longest
    began = time.monotonic()
    computed = time.process_time()

    def check(number, frame):
        nonlocal computed
        spent = time.process_time() - computed
        computed += spent
        if spent > seconds / 50 and time.monotonic() - began + seconds <= longest:
            signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
            return
        pytest.fail(f"this did not end within {time.monotonic() - began:.2f} seconds")

    previous = signal.signal(signal.SIGALRM, check)
    outer, _ = signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, outer)
        signal.signal(signal.SIGALRM, previous)


@contextmanager
def hear_interrupts() -> Iterator[None]:
    """Collect no garbage meanwhile: Hypothesis has itself called then, and an interrupt during that
    call is lost."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
