"""Wait for what another process or thread does, with an end."""

import gc
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

PATIENCE = 300.0


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
def time_limit(seconds: float) -> Iterator[None]:
    """Fail the test where the block waits for what does not come, as soon as it hears signals
    again."""

    def fail(number, frame):
        pytest.fail(f"this did not end within {seconds:g} seconds")

    previous = signal.signal(signal.SIGALRM, fail)
    outer, _ = signal.setitimer(
        signal.ITIMER_REAL, seconds, 10
    )  # again, should an error be lost in a callback
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
