"""Public names that are imported when they are first used."""

import subprocess
import sys

import pytest

from bestresponse.core.episode import Episode
from bestresponse.core.lazy import lazy_exports


def test_a_package_among_the_public_names_is_there_before_anything_else_was_used():
    script = "import bestresponse as br; print(br.executors.Threads.__name__)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout.split() == ["Threads"]


def test_public_names_are_listed_and_imported_and_others_are_no_attributes():
    get, listed, names = lazy_exports("bestresponse.core")
    assert listed() == names == sorted(names)
    assert get("Episode") is Episode
    with pytest.raises(
        AttributeError, match=r"module 'bestresponse\.core' has no attribute 'Epsiode'"
    ):
        get("Epsiode")
