"""SECURITY.md names the test of each promise."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "SECURITY.md").read_text("utf-8")
PROMISES = PAGE.partition("## How")[2].partition("## Checks")[0]
NAMED = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_every_test_that_is_named_is_there(file, name):
    assert f"def {name}" in (ROOT / file).read_text("utf-8") if name else (ROOT / file).exists()


def test_every_part_that_promises_something_names_a_test():
    parts = [part for part in PROMISES.split("\n\n") if part.startswith("**")]
    assert [re.match(r"\*\*(.+?)\*\*", part)[1] for part in parts] == [
        "Programs", "Replies", "Files", "`serve`", "`mcp --http`", "Ray",
    ]  # fmt: skip
    assert all("`tests/" in part for part in parts)
