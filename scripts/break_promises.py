#!/usr/bin/env python3
"""Break what papers were promised, one break at a time, and see whether its own row notices.

`tests/papers/breaks.toml` lists breaks: a line of the source by its text, what it becomes, and the
row of `tests/papers` that must turn red. A break is made in a copy of the source, and a fresh
process runs that row alone.

    scripts/break_promises.py                       every break
    scripts/break_promises.py --sample 3            the first of every paper, and so on in turn
    scripts/break_promises.py --row "5.1: table 6"  those whose row begins so
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "bestresponse"
PAPERS = ROOT / "tests" / "papers"
NO_TEST_RAN = 5
"""The exit code of pytest where no row was chosen."""


@dataclass(frozen=True)
class Break:
    """A line of `file` that becomes another one, and the row of `paper` that has to notice."""

    file: str
    line: str
    becomes: str
    paper: str
    row: str

    def apply(self, text: str) -> str:
        """Return the source with the break in it; ValueError where the line is not there once."""
        lines = text.splitlines()
        found = [number for number, line in enumerate(lines) if line.strip() == self.line]
        if len(found) != 1:
            raise ValueError(f"{self.file} has {len(found)} lines {self.line!r}, expected one")
        (number,) = found
        indent = lines[number][: len(lines[number]) - len(lines[number].lstrip())]
        lines[number] = "\n".join(indent + part for part in self.becomes.splitlines())
        return "\n".join([*lines, ""])


def read_breaks() -> list[Break]:
    """Read the table, in its order."""
    table = tomllib.loads((PAPERS / "breaks.toml").read_text("utf-8"))
    return [Break(**entry) for entry in table["break"]]


def sample(breaks: Sequence[Break], count: int) -> list[Break]:
    """Take the first break of every paper, then the second, until there are so many."""
    papers = [
        [one for one in breaks if one.paper == paper]
        for paper in dict.fromkeys(one.paper for one in breaks)
    ]
    return [one for one in chain.from_iterable(zip_longest(*papers)) if one][:count]


def try_breaks(breaks: Sequence[Break]) -> Iterator[tuple[Break, str]]:
    """Yield every break with what came of its row: `noticed`, or the end of what was printed."""
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder) / "bestresponse"
        shutil.copytree(SOURCE, copied, ignore=shutil.ignore_patterns("__pycache__"))
        for one in breaks:
            file = copied / one.file
            whole = file.read_text("utf-8")
            file.write_text(one.apply(whole), "utf-8")
            yield one, _run_row(one, Path(folder))
            file.write_text(whole, "utf-8")


def _run_row(one: Break, folder: Path) -> str:
    paths = [folder, ROOT / "tests" / "support"]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    words += ["-p", "chosen_row", "--row", one.row, str(PAPERS / f"{one.paper}.py")]
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode == 1 and "AssertionError" in done.stdout + done.stderr:
        return "noticed"
    if done.returncode == NO_TEST_RAN:
        return f"there is no row {one.row!r} in {one.paper}"
    return (done.stdout + done.stderr)[-1500:] or "not noticed"


def main() -> None:
    """Try the breaks asked for; exit with 1 where a row notices nothing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sample", type=int, help="only so many, of every paper in turn")
    parser.add_argument("--row", default="", help="only those whose row begins so")
    options = parser.parse_args()
    breaks = [one for one in read_breaks() if one.row.startswith(options.row)]
    if options.sample is not None:
        breaks = sample(breaks, options.sample)
    unnoticed = 0
    for one, outcome in try_breaks(breaks):
        unnoticed += outcome != "noticed"
        print(f"{one.paper}: {one.row}\n    {one.line} -> {one.becomes}\n    {outcome}", flush=True)
    print(f"{len(breaks) - unnoticed} of {len(breaks)} breaks were noticed")
    sys.exit(1 if unnoticed else 0)


if __name__ == "__main__":
    main()
