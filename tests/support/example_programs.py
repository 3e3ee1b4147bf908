"""The programs of `examples/programs`, as they are and with fewer moves.

Some of them have ten thousand ends. What is true of them whatever their size is tried every day on
the small ones, and by `make long` on those that people read.
"""

from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parents[2] / "examples" / "programs"
SMALLER = {
    "cournot": [("between(0, 100, Q)", "between(0, 20, Q)")],
    "public_goods": [("[p1, p2, p3, p4, p5, p6]", "[p1, p2, p3, p4]")],
    "blotto": [("between(0, 10, A), Rest is 10 - A", "between(0, 4, A), Rest is 4 - A")],
    "bargaining": [("offer(100)", "offer(10)"), ("offer(80)", "offer(8)")],
    "connect_four": [("R < 4", "R < 2")],
}
"""What is changed in an example so that it has some hundred ends."""
LARGER = {"connect_four"}
"""Takes minutes, and larger limits than the usual ones."""


def shrink(name: str, folder: Path) -> Path:
    """Write the example with fewer moves into a folder, and return its path."""
    text = (PROGRAMS / f"{name}.pl").read_text("utf-8")
    for old, new in SMALLER.get(name, []):
        assert old in text
        text = text.replace(old, new)
    path = folder / f"{name}.pl"
    path.write_text(text, "utf-8")
    return path


def list_full_programs() -> list:
    """List the examples as they are for `parametrize`; the large ones belong to `make long`."""
    return [
        pytest.param(path, id=path.stem, marks=pytest.mark.soak if path.stem in SMALLER else ())
        for path in sorted(PROGRAMS.glob("*.pl"))
        if path.stem not in LARGER
    ]
