"""Settings of all tests: nothing is explored at random unless asked for with `--hypothesis-profile=explore`."""

import pytest
from hypothesis import settings
from recorded import REASON, recorded

settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", deadline=None, database=None, print_blob=True, max_examples=2_000)
settings.load_profile("fixed")


@pytest.fixture(scope="session")
def recorded_lelma():
    return recorded("lelma")


@pytest.fixture(scope="session")
def recorded_water():
    return recorded("water")


def pytest_terminal_summary(terminalreporter):
    skipped = [report for report in terminalreporter.stats.get("skipped", []) if REASON in str(report.longrepr)]
    if skipped:
        terminalreporter.write_line(f"{len(skipped)} tests need recorded data: set BESTRESPONSE_DATA (tests/README.md)")
