#!/usr/bin/env python3
"""Print the test files that belong to what changed since a branch (default: main), one per line.

A changed test file stands for itself. A changed source file stands for the test file of the same name in the mirrored
folder; where there is none, for the test files there that import the module, or else for all of the folder.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS, SOURCE = ROOT / "tests", ROOT / "src" / "bestresponse"
SLOW = {"test_examples.py", "test_notebooks.py"}


def list_changed(base: str) -> list[Path]:
    """List the files that differ from where this branch left `base`, committed or not."""
    fork = _git("merge-base", base, "HEAD")[0]
    names = {*_git("diff", "--name-only", fork), *_git("ls-files", "--others", "--exclude-standard")}
    return [ROOT / name for name in sorted(names) if (ROOT / name).suffix == ".py" and (ROOT / name).exists()]


def _git(*words: str) -> list[str]:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"git {' '.join(words)}: {done.stderr.strip()}; name the branch to compare with: make check BASE=...")
    return done.stdout.splitlines()


def find_tests(changed: Path) -> list[Path]:
    """Find the test files of one changed file."""
    if changed.is_relative_to(TESTS):
        return [changed] if changed.name.startswith("test_") and changed.name not in SLOW else []
    if not changed.is_relative_to(SOURCE):
        return []
    place = changed.relative_to(SOURCE)
    mirrored = TESTS / place.parent / f"test_{place.name}"
    if mirrored.exists():
        return [mirrored]
    folder = mirrored.parent
    nearby = sorted(folder.glob("test_*.py")) if folder != TESTS else []
    module = ".".join(("bestresponse", *place.with_suffix("").parts))
    return [file for file in nearby if module in file.read_text("utf-8")] or nearby


def main() -> None:
    base = sys.argv[1] if len(sys.argv) > 1 else "main"
    found = {test for changed in list_changed(base) for test in find_tests(changed)}
    print(*(test.relative_to(ROOT) for test in sorted({TESTS / "test_layers.py", *found})), sep="\n")


if __name__ == "__main__":
    main()
