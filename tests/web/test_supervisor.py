"""A worker that is killed is replaced; one that dies again and again is given up."""

import subprocess
import sys

import pytest

from bestresponse.web.supervisor import can_supervise

pytestmark = pytest.mark.skipif(not can_supervise(), reason="this system cannot fork safely")

# Deaths happen `pace` seconds apart by the clock of the supervisor, however long they take.
SCRIPT = """
import itertools, os, signal, sys
from types import SimpleNamespace
from bestresponse.web import supervisor

pace, ending = float(sys.argv[1]), int(sys.argv[2])
ticks = itertools.count()
supervisor.time = SimpleNamespace(monotonic=lambda: pace * next(ticks))

def tell(text):
    os.write(1, (text + "\\n").encode())  # at once: parent and worker write to the same pipe

def work(number):
    tell(f"worker {number}")
    if number == ending:
        sys.exit(7)
    os.kill(os.getpid(), signal.SIGKILL)

try:
    code = supervisor.supervise(work, lambda: tell("prepared"))
except supervisor.CrashLoop as error:
    sys.exit(str(error))
sys.exit(code)
"""


def supervise(pace, ending):
    command = [sys.executable, "-c", SCRIPT, str(pace), str(ending)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.splitlines().count("prepared") == 1
    return done.returncode, done.stdout.count("worker"), done.stderr.strip()


def test_a_worker_that_dies_again_and_again_is_given_up():
    assert supervise(7.4, -1) == (
        1,
        5,
        (
            "the server died 5 times within 30 seconds (the last time by SIGKILL) and is not"
            " started again; everything that was answered is kept"
        ),
    )


def test_one_that_dies_now_and_then_is_always_replaced_and_its_own_end_is_the_end():
    assert supervise(7.5, 12) == (7, 13, "")
