"""Settings of all tests: nothing is explored at random unless asked for with
`--hypothesis-profile=explore`."""

import gc
import os
import random
import secrets
import signal
from collections import Counter
from pathlib import Path

# One thread for linear algebra: a second one waits for the first by turning in circles where all
# cores have work.
os.environ.update(
    dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
)

import pytest
from examples import EXPLORE_FACTOR, USUAL, multiply_examples
from hypothesis import settings
from recorded import REASON, recorded
from waiting import time_limit

import bestresponse.cli.app  # noqa: F401 - its options show the usual limits
from bestresponse.logic import settings as logic_settings

# No verdict depends on what else this machine does, in commands that tests start neither.
logic_settings.SECONDS = 120.0
os.environ["BESTRESPONSE_LOGIC_SECONDS"] = "120"
logic_settings.settings.limits = logic_settings.Limits()
settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile(
    "explore", deadline=None, database=None, print_blob=True, max_examples=USUAL * EXPLORE_FACTOR
)
settings.load_profile("fixed")


# Shells let what they run in the background ignore interrupts; tests and the commands that they
# start hear them.
signal.signal(signal.SIGINT, signal.default_int_handler)

LONGEST = 300
"""Seconds after which a test counts as hanging: far more than any takes on a loaded machine."""
LONGEST_SOAK = 24 * 3600
"""Seconds for the tests of `make long`, which draw thousands of cases."""


def find_limit(item):
    return LONGEST_SOAK if item.get_closest_marker("soak") else LONGEST


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    with time_limit(find_limit(item)):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    with time_limit(find_limit(item)):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item):
    with time_limit(find_limit(item)):
        return (yield)


@pytest.fixture(autouse=True)
def tokens_follow_the_name_of_the_test(request, monkeypatch):
    """Draw names, links and codes from a stream of their own for each test, so that no page differs
    from run to run."""
    stream = random.Random(request.node.nodeid)
    monkeypatch.setattr(secrets, "token_bytes", lambda size=32: stream.randbytes(size))
    monkeypatch.setattr(secrets, "randbelow", stream.randrange)
    monkeypatch.setattr(secrets, "choice", stream.choice)


@pytest.fixture(scope="session")
def recorded_lelma():
    return recorded("lelma")


@pytest.fixture(scope="session")
def recorded_water():
    return recorded("water")


def pytest_collection_modifyitems(config, items):
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        sort_files(items)  # `make check` names its files in an order of its own
    if config.getoption("--hypothesis-profile") == "explore":
        multiply_examples(
            {getattr(item.obj, "__func__", item.obj) for item in items}, EXPLORE_FACTOR
        )


def sort_files(items):
    # Files that wait for browsers, servers and models begin first, those with few tests come last:
    # no worker is left alone with a long one at the end.
    slow = {
        item.path
        for item in items
        if item.get_closest_marker("slow") or item.get_closest_marker("model")
    }
    tests = Counter(item.path for item in items)
    items.sort(key=lambda item: (item.path not in slow, -tests[item.path], item.path))


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    gc.disable()  # nothing that is imported or collected is garbage, and every worker does both
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish():
    # what was imported stays, and need not be looked through each time that garbage is collected
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


DURATIONS = Path(__file__).parents[1] / "build" / "durations.csv"
"""Where a run of all tests says how long each file took."""
_counted = [0.0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    # Processor time, with that of commands and servers that ended: other load changes it little.
    report = yield
    now = sum(os.times()[:4])
    report.processor = now - _counted[0]
    _counted[0] = now
    return report


def pytest_sessionstart():
    _counted[0] = sum(os.times()[:4])


def write_durations(terminalreporter):
    """Keep how much processor time each file took, and name those that took most."""
    processor, seconds = Counter(), Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                name = report.nodeid.partition("::")[0]
                processor[name] += report.processor
                seconds[name] += report.duration
    if not seconds:
        return
    rows = [f"{used:.2f},{seconds[name]:.2f},{name}\n" for name, used in processor.most_common()]
    DURATIONS.parent.mkdir(exist_ok=True)
    DURATIONS.write_text("".join(["processor seconds,seconds,file\n", *rows]))
    slowest = ", ".join(f"{name} {used:.0f} s" for name, used in processor.most_common(10))
    whole = sum(processor.values())
    terminalreporter.write_line(
        f"{whole:.0f} s of processor time in all files, most in {slowest}; {DURATIONS}"
    )


def pytest_terminal_summary(terminalreporter, config):
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        write_durations(terminalreporter)
    skipped = [
        report
        for report in terminalreporter.stats.get("skipped", [])
        if REASON in str(report.longrepr)
    ]
    if skipped:
        terminalreporter.write_line(
            f"{len(skipped)} tests need recorded data: set BESTRESPONSE_DATA (tests/README.md)"
        )
