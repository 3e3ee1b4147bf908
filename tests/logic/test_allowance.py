"""Processor time decides; the clock ends what is stuck."""

import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from bestresponse.logic.allowance import Allowance, ProcessorTimeUsed, measure_processor_time

BUSY = "while True: pass"
IDLE = "import time; time.sleep(600)"
linux = pytest.mark.skipif(sys.platform != "linux", reason="others do not tell of a process")


@pytest.fixture
def silent_pipe() -> Iterator[int]:
    reading, writing = os.pipe()
    yield reading
    os.close(reading)
    os.close(writing)


@pytest.fixture
def process(request: pytest.FixtureRequest) -> Iterator[int]:
    started = subprocess.Popen([sys.executable, "-I", "-S", "-c", request.param])
    yield started.pid
    started.kill()
    started.wait()


@pytest.mark.parametrize("process", [BUSY], indirect=True)
def test_a_process_that_computes_uses_up_its_processor_time(process: int, silent_pipe: int) -> None:
    allowed = Allowance(deadline=time.monotonic() + 600, processor=0.1, pids=(process,))
    with pytest.raises(ProcessorTimeUsed):
        allowed.wait(silent_pipe, select.POLLIN)


@linux
@pytest.mark.parametrize("process", [IDLE], indirect=True)
def test_a_process_that_waits_is_ended_by_the_clock_alone(process: int, silent_pipe: int) -> None:
    allowed = Allowance(deadline=time.monotonic() + 0.5, processor=60.0, pids=(process,))
    with pytest.raises(TimeoutError):
        allowed.wait(silent_pipe, select.POLLIN)


def test_what_is_ready_is_not_waited_for() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"x")
    Allowance(deadline=time.monotonic() - 1).wait(reading, select.POLLIN)
    os.close(reading)
    os.close(writing)


@linux
def test_a_process_that_has_ended_uses_nothing_more() -> None:
    ended = subprocess.Popen([sys.executable, "-I", "-S", "-c", ""])
    ended.wait()
    assert measure_processor_time((ended.pid,)) == 0.0
    assert 0 < measure_processor_time((os.getpid(), ended.pid)) <= time.process_time()
