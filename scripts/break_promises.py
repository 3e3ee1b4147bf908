#!/usr/bin/env python3
"""Break what papers were promised, one break at a time, and see whether its own row notices.

`tests/papers/breaks.toml` lists breaks: a line of the source by its text, what it becomes, and the
row of `tests/papers` that must turn red. The rows are collected once. A break gets a fork of that
process, in which the code of its functions is exchanged, and its row runs there alone. Where that
makes no difference, as with what runs on import or in another process, the break is made in a copy
of the source, and a fresh process runs the row.

    scripts/break_promises.py                       every break
    scripts/break_promises.py --sample 3            the first of every paper, and so on in turn
    scripts/break_promises.py --row "5.1: table 6"  those whose row begins so
    scripts/break_promises.py --file studies/steer  those in files whose names begin so
    scripts/break_promises.py --paper test_lelma    those of one paper
"""

from __future__ import annotations

import argparse
import gc
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import traceback
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import chain, zip_longest
from pathlib import Path
from types import CodeType, FunctionType

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "bestresponse"
PAPERS = ROOT / "tests" / "papers"
NOTICED = "noticed"
_MARKS = ("AssertionError", "DID NOT RAISE")
"""What a row says that noticed a break: another error tells of a break that is no program."""
_NO_TEST_RAN = 5
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

    @property
    def path(self) -> Path:
        """Where the file lies: in the source, or in the repository."""
        return (SOURCE if (SOURCE / self.file).exists() else ROOT) / self.file

    @property
    def text(self) -> str:
        """The file with the break in it."""
        return self.apply(self.path.read_text("utf-8"))


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


class Breaker:
    """A plugin of pytest that tries breaks on the collected rows instead of running the rows."""

    def __init__(self, breaks: Sequence[Break], folder: Path) -> None:
        self.breaks = breaks
        self.folder = folder
        self.outcomes: list[str] = []
        self.afresh = 0
        self.failure = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what a row says that fails."""
        if report.failed:
            self.failure = report.longreprtext

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try every break; print what came of it."""
        if session.testsfailed:
            raise session.Interrupted("the rows cannot be collected")
        rows = {
            (item.path.stem, item.callspec.id): item
            for item in session.items
            if isinstance(item, pytest.Function) and hasattr(item, "callspec")
        }
        import_everything()
        loaded = find_functions()
        gc.collect()
        gc.freeze()
        for one in self.breaks:
            item = rows.get((one.paper, one.row))
            outcome = f"there is no row {one.row!r} in {one.paper}"
            if item is not None:
                outcome = self._try(one, item, loaded)
            self.outcomes.append(outcome)
            shown = f"{one.paper}: {one.row}\n    {one.line} -> {one.becomes}\n    {outcome}\n"
            os.write(_OUTPUT, shown.encode())
        return True

    def _try(self, one: Break, item: pytest.Item, loaded: Loaded) -> str:
        kept = self.folder / "outcome"
        kept.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            try:
                if one.path.suffix == ".py":
                    exchange(one.path, one.text, loaded)
                else:
                    give_other_text(one.path, one.text)
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                kept.write_text(self.failure)
            except BaseException:  # noqa: BLE001 - a fork must not go on as its parent
                kept.write_text(traceback.format_exc())
            os._exit(0)
        os.waitpid(child, 0)
        said = kept.read_text() if kept.exists() else ""
        return NOTICED if any(mark in said for mark in _MARKS) else self._try_afresh(one)

    def _try_afresh(self, one: Break) -> str:
        """Run the row in a process that imports a copy of the source with the break in it."""
        self.afresh += 1
        copied = self.folder / "source" / "bestresponse"
        if not copied.exists():
            shutil.copytree(SOURCE, copied)
        if not one.path.is_relative_to(SOURCE):
            return "not noticed"
        (copied / one.file).write_text(one.text, "utf-8")
        try:
            return run_row(one, copied.parent)
        finally:
            shutil.copy2(one.path, copied / one.file)


def import_everything() -> None:
    """Import all modules of the package that can be, and what they use, so that no fork has to."""
    for name in ("matplotlib.pyplot", "numba", "pandas", "pyarrow.parquet", "scipy.optimize"):
        with suppress(ImportError):
            import_module(name)
    for file in SOURCE.rglob("*.py"):
        parts = file.relative_to(SOURCE.parent).with_suffix("").parts
        if parts[-1] != "__main__":
            with suppress(ImportError):
                import_module(".".join(parts).removesuffix(".__init__"))


Loaded = dict[tuple[str, str, int], list[FunctionType]]
"""Functions by file, name and line."""


def find_functions() -> Loaded:
    """Find every loaded function."""
    found: Loaded = defaultdict(list)
    gc.unfreeze()  # what was set aside when the tests began would not be listed
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType):
            code = thing.__code__
            found[code.co_filename, code.co_qualname, code.co_firstlineno].append(thing)
    return found


def exchange(path: Path, text: str, loaded: Loaded) -> None:
    """Give the loaded functions of a file the code that they have in `text`."""
    before = _find_parts(compile(path.read_text("utf-8"), str(path), "exec"))
    after = _find_parts(compile(text, str(path), "exec"))
    for name, parts in before.items():
        if len(parts) == len(after.get(name, [])):
            for old, new in zip(parts, after[name], strict=True):
                for function in loaded.get((str(path), name, old.co_firstlineno), []):
                    if len(new.co_freevars) == len(function.__code__.co_freevars):
                        function.__code__ = new


def give_other_text(path: Path, text: str) -> None:
    """Let whoever reads a file from now on read another text."""
    read = Path.read_text
    Path.read_text = lambda self, *how, **more: (  # type: ignore[method-assign]
        text if self.resolve() == path else read(self, *how, **more)
    )


def _find_parts(code: CodeType) -> dict[str, list[CodeType]]:
    """List the code of all that is defined within `code`, by its name."""
    found: dict[str, list[CodeType]] = defaultdict(list)
    waiting = [code]
    while waiting:
        for inner in waiting.pop().co_consts:
            if isinstance(inner, CodeType):
                found[inner.co_qualname].append(inner)
                waiting.append(inner)
    return found


def run_row(one: Break, folder: Path) -> str:
    """Run the row of a break alone, with the source in `folder`."""
    paths = [folder, ROOT / "tests" / "support"]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    words += ["-p", "chosen_row", "--row", one.row, str(PAPERS / f"{one.paper}.py")]
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)
    said = done.stdout + done.stderr
    if done.returncode == 1 and any(mark in said for mark in _MARKS):
        return NOTICED
    if done.returncode == _NO_TEST_RAN:
        return f"there is no row {one.row!r} in {one.paper}"
    return said[-1500:] or "not noticed"


_OUTPUT = os.dup(1)
"""Where outcomes are told, which is not where the rows print."""


def try_breaks(breaks: Sequence[Break]) -> list[str]:
    """Try breaks; return what came of each: `noticed`, or the end of what was printed."""
    papers = dict.fromkeys(str(PAPERS / f"{one.paper}.py") for one in breaks)
    with tempfile.TemporaryDirectory() as folder:
        log = os.open(Path(folder) / "log", os.O_RDWR | os.O_CREAT)
        for stream in (1, 2):
            os.dup2(log, stream)
        breaker = Breaker(breaks, Path(folder))
        words = ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", str(ROOT)]
        code = pytest.main([*words, *papers], plugins=[breaker])
        if code not in (0, _NO_TEST_RAN):
            os.write(_OUTPUT, (Path(folder) / "log").read_bytes()[-3000:])
    return breaker.outcomes


def main() -> None:
    """Try the breaks asked for; exit with 1 where a row notices nothing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sample", type=int, help="only so many, of every paper in turn")
    parser.add_argument("--row", default="", help="only those whose row begins so")
    parser.add_argument("--file", default="", help="only those in files whose names begin so")
    parser.add_argument("--paper", default="", help="only those of papers whose names begin so")
    options = parser.parse_args()
    breaks = [
        one
        for one in read_breaks()
        if one.row.startswith(options.row)
        and one.file.startswith(options.file)
        and one.paper.startswith(options.paper)
    ]
    if options.sample is not None:
        breaks = sample(breaks, options.sample)
    outcomes = try_breaks(breaks)
    noticed = outcomes.count(NOTICED)
    rows = {(one.paper, one.row) for one in breaks}
    said = f"{noticed} of {len(breaks)} breaks were noticed, of {len(rows)} rows\n"
    os.write(_OUTPUT, said.encode())
    sys.exit(0 if noticed == len(breaks) else 1)


if __name__ == "__main__":
    main()
