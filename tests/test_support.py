"""The helpers that the tests themselves rely on."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from closed_port import closed_port
from cpu_limit import cpu_limit
from examples import multiply_examples
from hypothesis import given, settings, strategies as st
from shuffled import shuffle_files
from waiting import run_at_once, time_limit, wait_until


def test_exploring_multiplies_the_examples_of_tests_that_name_their_number():
    tried = []

    @settings(max_examples=7, database=None)
    @given(st.integers())
    def named(number):
        tried.append(number)

    multiply_examples([named, len], 20)
    named()
    assert len(tried) == 140


def test_files_are_shuffled_whole_and_alike_for_one_seed():
    items = [
        SimpleNamespace(path=Path(file), name=name)
        for file in "abcdef"
        for name in ("first", "second")
    ]
    orders = [
        [(str(item.path), item.name) for item in shuffle_files(items, seed)] for seed in (1, 1, 2)
    ]
    assert orders[0] == orders[1] != orders[2]
    assert [name for _, name in orders[0]] == ["first", "second"] * 6
    assert sorted(orders[2]) == sorted((str(item.path), item.name) for item in items)


SKIPPING = """
import pytest

def test_passes():
    pass

def test_skips_itself():
    pytest.skip("no such package")

@pytest.mark.skipif(True, reason="no such system")
def test_is_skipped():
    pass

@pytest.mark.xfail(reason="a known fault")
def test_fails_as_expected():
    assert False
"""


def test_a_skip_is_a_failure_where_nothing_may_be_skipped(tmp_path):
    (tmp_path / "test_some.py").write_text(SKIPPING)
    (tmp_path / "test_whole.py").write_text(
        "import pytest\npytest.importorskip('no_such_module', reason='not there')\n"
    )
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no_skips",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
    ]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent / "support")}

    def run(file):
        return subprocess.run(
            [*words, file], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )

    some = run("test_some.py")
    assert some.returncode == 1
    assert "1 failed, 1 passed, 1 xfailed, 1 error" in some.stdout
    assert "nothing may be skipped here. Skipped: no such package" in some.stdout
    assert "nothing may be skipped here. Skipped: no such system" in some.stdout
    whole = run("test_whole.py")
    assert whole.returncode != 0
    assert "nothing may be skipped here. Skipped: not there" in whole.stdout


def test_nobody_answers_on_a_closed_port():
    with closed_port() as port, pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=10)


def test_waiting_ends_in_a_failure_where_nothing_comes_about():
    wait_until(lambda: True)
    with pytest.raises(AssertionError, match="did not come about"):
        wait_until(lambda: False, seconds=0.01)


def test_a_block_that_computes_for_too_long_fails():
    def compute_for_ever():
        while True:
            pass

    with (
        pytest.raises(AssertionError, match=r"more than 0\.05 seconds of processor time"),
        cpu_limit(0.05),
    ):
        compute_for_ever()
    with cpu_limit(60):
        pass


def test_a_block_that_waits_for_what_never_comes_fails():
    with (
        pytest.raises(pytest.fail.Exception, match=r"did not end within \d+\.\d\d seconds"),
        time_limit(0.05),
    ):
        threading.Event().wait(60)
    with time_limit(60):
        pass


def test_a_block_that_is_slow_because_it_computes_may_take_longer():
    with time_limit(1, longest=600):
        end = time.process_time() + 1.2
        while time.process_time() < end:
            pass


def test_a_limit_inside_another_leaves_the_outer_one_in_force():
    with time_limit(60):
        with time_limit(30):
            pass
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 60


def test_threads_that_do_not_end_fail_the_test():
    release, done = threading.Event(), []
    run_at_once(lambda: done.append(1), lambda: done.append(2))
    assert sorted(done) == [1, 2]
    with pytest.raises(AssertionError, match="of 2 threads did not end"):
        run_at_once(lambda: release.wait(60), lambda: None, seconds=0.05)
    release.set()
