"""Lets the tests of this folder share `drawn_claims`, and names where recorded runs are looked for."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

RECORDED = Path(__file__).parents[3] / "shared" / "reference" / "lelma"


@pytest.fixture(scope="session")
def recorded() -> Path:
    """The folder of recorded runs; tests that need it are skipped where it is absent."""
    if not (RECORDED / "samples.jsonl").exists():
        pytest.skip("the recorded runs are not on this machine")
    return RECORDED
