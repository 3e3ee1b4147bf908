"""What C libraries write to descriptor 1 does not reach standard output."""

import json
import os
import subprocess
import sys

import pytest

_LOUD_SOLVER = """
import ctypes, os, sys
from scipy import optimize

quiet = optimize.milp

def loud(*args, **kwargs):
    os.write(1, b"written past Python\\n")
    ctypes.CDLL(None).printf(b"held back by C\\n")
    return quiet(*args, **kwargs)

optimize.milp = loud
from bestresponse.cli import main
sys.argv = ["bestresponse", *sys.argv[1:]]
main()
"""

_NESTED = """
import os
from bestresponse.core.native_output import NativeOutputToStderr

print("before")
with NativeOutputToStderr(), NativeOutputToStderr():
    os.write(1, b"within\\n")
os.write(1, b"after\\n")
"""


@pytest.mark.skipif(os.name != "posix", reason="the C library is called by name")
def test_a_solver_that_prints_leaves_json_alone(tmp_path):
    words = (
        "steer",
        "job-offer",
        "--seed",
        "100",
        "--model",
        "simulated",
        "--fresh",
        "0",
        "--json",
        "--output-dir",
        str(tmp_path),
    )
    ran = subprocess.run(
        [sys.executable, "-c", _LOUD_SOLVER, *words], capture_output=True, text=True, check=True
    )
    assert json.loads(ran.stdout)["overview"][0]["solved_games"] == 1
    assert "written past Python\n" in ran.stderr
    assert "held back by C\n" in ran.stderr


def test_nested_uses_end_with_the_outermost_and_lose_nothing():
    ran = subprocess.run(
        [sys.executable, "-c", _NESTED], capture_output=True, text=True, check=True
    )
    assert (ran.stdout, ran.stderr) == ("before\nafter\n", "within\n")
