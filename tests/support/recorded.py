"""Where the recorded runs of published studies lie: the folder that BESTRESPONSE_DATA names.

It holds `autoformalization`, `lelma`, `play`, `reasoning` and `water` (see tests/README.md). Tests
that need one ask `recorded` for it, or are marked with `needs_recorded`; where it is absent they
are skipped, and the end of the test run says how many.
"""

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("BESTRESPONSE_DATA") or "/nonexistent")
REASON = "needs recorded data: set BESTRESPONSE_DATA"


def recorded(name: str) -> Path:
    """Return the folder of that study's records, or skip the test."""
    if not (DATA / name).is_dir():
        pytest.skip(REASON)
    return DATA / name


def needs_recorded(name: str) -> pytest.MarkDecorator:
    """Skip the tests marked with this where the records of that study are absent."""
    return pytest.mark.skipif(not (DATA / name).is_dir(), reason=REASON)
