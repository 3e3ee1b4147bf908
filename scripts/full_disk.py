"""Runs on a disk that is full sooner or later: each must say so, keep what it has, and go on.

    sudo python scripts/full_disk.py [--sizes 8 64 160 400]

Every command of `COMMANDS` writes to a file system in memory of that many KiB. Where it is full the
command must end with exit code 1 and a sentence, without a trace. With more space the same command
must then succeed, and its figures must be those of a run that was never interrupted. Mounting such
a file system needs the rights of root on Linux; without them the script says so and checks nothing.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

COMMANDS = {
    "bench": ["bench", "--model", "random", "--num-games", "30", "--seed", "3"],
    "simulate": ["simulate", "public-goods", "--model", "random", "--seed", "2"],
    "tournament": ["tournament", "prisoners-dilemma", "--entries", "classic", "--repetitions", "3"],
    "steer": ["steer", "fruit", "--games", "2", "--seed", "1"],
}
ENOUGH = 200 * 1024  # KiB


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    output: str

    @property
    def last_line(self) -> str:
        return self.output.strip().rpartition("\n")[2]


@contextmanager
def mounted(size: int) -> Iterator[Path]:
    """Mount a file system of `size` KiB for the length of the block."""
    with tempfile.TemporaryDirectory() as folder:
        options = f"size={size}k"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", folder], check=True)


def enlarge(folder: Path) -> None:
    subprocess.run(["mount", "-o", f"remount,size={ENOUGH}k", str(folder)], check=True)


def run(command: list[str], folder: Path) -> Ended:
    """Run a command of the package in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "bestresponse", *command, "--output-dir", str(folder / "out")],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=900,
        check=False,
    )
    return Ended(done.returncode, done.stdout + done.stderr)


def read_figures(folder: Path) -> object:
    """Read the figures of the only run in a folder."""
    (path,) = (folder / "out").glob("*/summary.json")
    return json.loads(path.read_text("utf-8"))


def check(command: list[str], size: int, expected: object) -> str:
    """Return what went wrong on a disk of that size; nothing where all is as promised."""
    with mounted(size) as folder:
        first = run(command, folder)
        if "Traceback" in first.output:
            return f"a trace: {first.last_line}"
        if first.code not in (0, 1):
            return f"exit code {first.code}: {first.last_line}"
        if first.code == 1 and "disk is full" not in first.output:
            return f"another reason than the disk: {first.last_line}"
        enlarge(folder)
        second = run(command, folder)
        if second.code != 0:
            return f"it did not go on: {second.last_line}"
        if read_figures(folder) != expected:
            return "other figures than those of a run that was not interrupted"
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[8, 64, 160, 400])
    parser.add_argument("--only", nargs="+", choices=COMMANDS, default=list(COMMANDS))
    options = parser.parse_args()
    try:
        with mounted(8):
            pass
    except (OSError, subprocess.CalledProcessError):
        print("nothing was checked: mounting a file system needs the rights of root on Linux")
        return

    failures = 0
    for name in options.only:
        command = COMMANDS[name]
        with mounted(ENOUGH) as folder:
            ended = run(command, folder)
            if ended.code != 0:
                sys.exit(f"{name} fails on an empty disk: {ended.last_line}")
            expected = read_figures(folder)
        for size in options.sizes:
            fault = check(command, size, expected)
            failures += bool(fault)
            print(f"{name:12} {size:4} KiB  {fault or 'as promised'}")
    if failures:
        sys.exit(f"{failures} runs broke a promise")


if __name__ == "__main__":
    main()
