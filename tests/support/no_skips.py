"""A plugin for which a skipped test has failed: `PYTHONPATH=tests/support pytest -p no_skips`.

For environments that were made to have everything their tests need: there a skip hides what should have run.
"""

import pytest


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    return fail_if_skipped((yield))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report(collector):
    return fail_if_skipped((yield))


def fail_if_skipped(report):
    """Turn a skip into a failure that says why it was skipped; an expected failure stays one."""
    if report.outcome == "skipped" and not hasattr(report, "wasxfail"):
        _, _, reason = report.longrepr
        report.outcome = "failed"
        report.longrepr = f"nothing may be skipped here. {reason}"
    return report
