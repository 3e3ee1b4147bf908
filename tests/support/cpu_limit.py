"""End what computes for too long. Counts the processor time of this process, so other load changes
nothing."""

import signal
from contextlib import contextmanager

import pytest


@contextmanager
def cpu_limit(seconds):
    """Fail the test when the block takes more than `seconds` of processor time; give a hundred
    times what it needs."""
    if not hasattr(signal, "ITIMER_VIRTUAL"):
        pytest.skip("this system has no timer of processor time")

    def fail(number, frame):
        raise AssertionError(f"this took more than {seconds} seconds of processor time")

    before = signal.signal(signal.SIGVTALRM, fail)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
