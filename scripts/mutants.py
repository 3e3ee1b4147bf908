#!/usr/bin/env python3
"""Mutation testing: change one small thing in the source at a time and see whether a test notices.

Each mutant flips a comparison, an arithmetic or boolean operator, a condition, a constant or a returned value in a
copy of the source, and runs the tests named for its package in TARGETS. A mutant that no test notices survives:
either a test is missing or the change makes no difference.

    scripts/mutants.py                              every mutant of every package (hours)
    scripts/mutants.py --package runs               every mutant of one package
    scripts/mutants.py --sample 40 --seed 7         40 drawn at random from all packages
    scripts/mutants.py --sample 40 --minutes 5      stop after five minutes and print what was found by then
"""

from __future__ import annotations

import argparse
import ast
import compileall
import copy
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "bestresponse"

# Where a silent mistake costs money or truth, and the tests that should notice it, quickest first.
TARGETS = {
    "core": ["core"],
    "runs": ["runs"],
    "models/wrappers": ["models/wrappers"],
    "logic/gate": ["logic/gate/test_gate.py"],
    "formal/claims/checker.py": ["formal/claims/test_claim_verdicts.py"],
    "studies/bench/measure.py": ["studies/bench/test_measure.py", "studies/bench/test_suites.py"],
    "studies/bench/study.py": ["studies/bench/test_suites.py"],
    "theory/games/regrets.py": ["theory/games/test_regrets.py"],
    "theory/dynamics/moran.py": ["theory/dynamics/test_moran.py", "theory/dynamics/test_dynamics.py"],
    "web/security/limits.py": ["web/security/test_limits.py"],
    "web/sessions/store.py": ["web/api/test_api.py", "web/sessions/test_restart.py"],
}
OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change: `start` to `end` (bytes) of `file` become `text`."""

    package: str
    file: Path
    line: int
    start: int
    end: int
    before: str
    text: str

    def __str__(self) -> str:
        return f"{self.file.relative_to(SOURCE)}:{self.line}: {self.before} -> {self.text}"


def find_mutants(package: str, file: Path) -> Iterator[Mutant]:
    """Yield every change to one file."""
    source = file.read_bytes()
    lines = source.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]
    for place, changed in (pair for node in _walk(ast.parse(source)) for pair in _change(node)):
        begin = starts[place.lineno - 1] + place.col_offset
        end = starts[place.end_lineno - 1] + place.end_col_offset
        before = " ".join(source[begin:end].decode().split())
        yield Mutant(package, file, place.lineno, begin, end, before, f"({ast.unparse(changed)})")


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what runs: no annotations, decorators, texts, `strict=` of zip or lists of exported names."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            skipped = isinstance(child, ast.JoinedStr) or (isinstance(child, ast.keyword) and child.arg == "strict")
            typed = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
            if isinstance(child, ast.AST) and not skipped and not typed:
                yield child
                yield from _walk(child)


def _change(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield the expressions of `node` that can be changed, and what into."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in OPERATORS:
            yield node, _with(node, ops=[OPERATORS[type(op)]()])
        case ast.BoolOp(op=op):
            yield node, _with(node, op=OPERATORS[type(op)]())
        case ast.BinOp(op=op) if type(op) in OPERATORS and not _is_text(node.left) and not _is_text(node.right):
            yield node, _with(node, op=OPERATORS[type(op)]())
        case ast.UnaryOp(op=ast.Not()):
            yield node, node.operand
        case ast.Constant(value=bool(value)):
            yield node, ast.Constant(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield node, ast.Constant(value + 1)
        case ast.If() | ast.IfExp() | ast.While():
            yield node.test, ast.UnaryOp(ast.Not(), node.test)
        case ast.Return(value=ast.expr()) if not isinstance(node.value, ast.Constant):
            yield node.value, ast.Constant(None)


def _with(node: ast.expr, **fields: object) -> ast.expr:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))


class Laboratory:
    """A copy of the source in which one file at a time is changed, and a process that runs tests on it."""

    def __init__(self, folder: Path) -> None:
        self.source = folder / "bestresponse"
        shutil.copytree(SOURCE, self.source, ignore=shutil.ignore_patterns("__pycache__"))
        compileall.compile_dir(self.source, quiet=2)

    def try_mutant(self, mutant: Mutant, limit: float) -> str:
        """Say what the tests made of it: killed, timeout or survived."""
        file = self.source / mutant.file.relative_to(SOURCE)
        original, stamp = file.read_bytes(), file.stat()
        file.write_bytes(original[: mutant.start] + mutant.text.encode() + original[mutant.end :])
        try:
            return self.run_tests(mutant.package, limit)
        finally:
            file.write_bytes(original)
            os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))

    def run_tests(self, package: str, limit: float) -> str:
        """Run the tests of a package in a process of their own."""
        tests = [str(ROOT / "tests" / name) for name in TARGETS[package]]
        child = multiprocessing.get_context("fork").Process(target=_test, args=(self.source.parent, tests))
        child.start()
        child.join(limit)
        if child.is_alive():
            os.killpg(child.pid, signal.SIGKILL)
            child.join()
            return "timeout"
        return "killed" if child.exitcode else "survived"


def _test(source: Path, tests: list[str]) -> None:
    """Run in a child: imports are still to be made, except of packages that are not ours."""
    os.setsid()
    os.chdir(ROOT)
    sys.path.insert(0, str(source))
    os.environ["PYTHONPATH"] = str(source)
    sys.dont_write_bytecode = True
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    import pytest

    code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-m", "not slow and not model", *tests])
    os._exit(int(code))


def collect(packages: list[str]) -> list[Mutant]:
    """Find every mutant of these packages, in the order of the files."""
    found = []
    for package in packages:
        place = SOURCE / package
        for file in [place] if place.is_file() else sorted(place.rglob("*.py")):
            found += find_mutants(package, file)
    return found


def main() -> int:
    """Try the mutants asked for; print a line for each survivor and a table by package."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", action="append", choices=list(TARGETS), help="only this one; may be repeated")
    parser.add_argument("--sample", type=int, help="this many, drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no mutant after this long")
    options = parser.parse_args()
    mutants = collect(options.package or list(TARGETS))
    print(f"{len(mutants)} mutants, seed {options.seed}", flush=True)
    if options.sample is not None:
        mutants = random.Random(options.seed).sample(mutants, min(options.sample, len(mutants)))
    for name in ("hypothesis", "numpy", "pydantic", "pytest", "scipy.optimize", "scipy.stats"):
        __import__(name)  # once, before the forks
    end = time.monotonic() + 60 * options.minutes
    with tempfile.TemporaryDirectory() as folder:
        counts = try_all(Laboratory(Path(folder)), mutants, end)
    return report(counts)


def try_all(laboratory: Laboratory, mutants: list[Mutant], end: float) -> Counter[tuple[str, str]]:
    """Count the outcomes by package; a package whose tests fail without any change is an error."""
    counts: Counter[tuple[str, str]] = Counter()
    limits: dict[str, float] = {}
    for mutant in mutants:
        if time.monotonic() > end:
            break
        if mutant.package not in limits:
            start = time.monotonic()
            if laboratory.run_tests(mutant.package, 600) != "survived":
                sys.exit(f"the tests of {mutant.package} fail or hang without any change: {TARGETS[mutant.package]}")
            limits[mutant.package] = 20 + 5 * (time.monotonic() - start)
        outcome = laboratory.try_mutant(mutant, limits[mutant.package])
        counts[mutant.package, outcome] += 1
        if outcome != "killed":
            print(f"{outcome}  {mutant}", flush=True)
    return counts


def report(counts: Counter[tuple[str, str]]) -> int:
    """Print killed and survived by package; a mutant that never ends counts as killed."""
    print(f"\n{'package':32}{'killed':>8}{'survived':>10}{'score':>8}")
    packages = [package for package in TARGETS if any(name == package for name, _ in counts)]
    for title, names in [*((package, [package]) for package in packages), ("all", packages)]:
        survived = sum(counts[name, "survived"] for name in names)
        killed = sum(counts[name, outcome] for name in names for outcome in ("killed", "timeout"))
        print(f"{title:32}{killed:8}{survived:10}{killed / max(killed + survived, 1):8.0%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
