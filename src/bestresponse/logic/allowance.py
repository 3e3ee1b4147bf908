"""The time that a request has: the processor time of the processes that work on it, and a clock.

Processor time is what a program costs, and nearly the same whatever else the machine does. The
clock goes on while other programs run, so it says nothing about a program: it only ends a process
that is stuck or gets no time.
"""

from __future__ import annotations

import select
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from math import inf

_TICK = 0.01
"""Seconds that are waited at least before processor time is measured again."""


class ProcessorTimeUsed(Exception):
    """The processes have used the processor time that they may have."""


class Allowance:
    """What is left to some processes: seconds of processor time, and a point of the clock.

    Without processes only the clock counts: whoever started them counts their processor time.
    """

    def __init__(
        self,
        *,
        deadline: float,
        processor: float = inf,
        pids: Sequence[int] = (),
    ) -> None:
        self._deadline = deadline
        self._pids = tuple(pids)
        self._end = processor + measure_processor_time(self._pids)

    def wait(self, descriptor: int, event: int) -> None:
        """Wait until a descriptor is ready.

        `ProcessorTimeUsed` or `TimeoutError` if that is too late.
        """
        poll = select.poll()
        poll.register(descriptor, event)
        while True:
            processor = self._end - measure_processor_time(self._pids)
            clock = self._deadline - time.monotonic()
            # No process can use more processor time than the clock gives it: one look is enough
            # where nothing else runs.
            pause = min(max(processor, _TICK), max(clock, 0.0))
            if poll.poll(None if pause == inf else pause * 1000):
                return
            if processor <= 0:
                raise ProcessorTimeUsed
            if clock <= 0:
                raise TimeoutError


def measure_processor_time(pids: Sequence[int]) -> float:
    """Return the seconds of processor time that processes have used up to now, all together.

    Where the system does not tell (it is no Linux), the clock is taken instead: nobody uses more
    than it gives. A process that has ended uses nothing more.
    """
    if sys.platform != "linux":
        return time.monotonic() if pids else 0.0
    total = 0.0
    for pid in pids:
        with suppress(OSError):
            total += time.clock_gettime(_identify_clock(pid))
    return total


def _identify_clock(pid: int) -> int:
    """Return Linux's number for the clock of a process's processor time (clock_getcpuclockid)."""
    return (~pid << 3) | 2
