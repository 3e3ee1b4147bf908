"""A long solve says how far it is, also when it is interrupted."""

import signal
import threading

import pytest
from waiting import hear_interrupts

from bestresponse.analysis.solve.solution import Wish
from bestresponse.analysis.solve.solve import solve_form
from bestresponse.cli.terminal import wait_for
from bestresponse.core.errors import Interrupted
from bestresponse.theory import load_tree


def test_a_long_solve_says_how_far_it_is() -> None:
    said: list[str] = []
    solve_form(load_tree("kuhn-poker"), Wish("cfr+", iterations=100, report=said.append))
    assert said[-1].endswith("after 100 of 100 iterations")


def test_an_interrupted_solve_says_what_is_known() -> None:
    known: list[str] = []
    never = threading.Event()

    def solve() -> None:
        known.append("the value lies between 0 and 1 after 3 steps")
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        never.wait(60)

    expected = pytest.raises(
        Interrupted, match="so far the value lies between 0 and 1 after 3 steps"
    )
    with hear_interrupts(), expected:
        wait_for(solve, progress=known)
    never.set()
