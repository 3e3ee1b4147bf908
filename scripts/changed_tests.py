#!/usr/bin/env python3
"""Print the test files that a change concerns, nearest first, one per line.

    scripts/changed_tests.py [BASE] [--most N]      default: main, 30

A changed test file stands for itself. A changed module stands for every test file that imports it,
directly or through other modules; the distance is the number of imports between them, names that
packages export counting as imports of the modules behind them. The mirrored test file
(`tests/a/test_b.py` of `src/bestresponse/a/b.py`) is nearest of all; of equally near ones those
that share more folders with the module come first, then those that import less. What reads the
whole package comes last. A file of
data (a template, a table, a program) stands for the modules of its folder. Beyond N files the
farthest are left to `make test`. A changed file of the package that no test concerns is an error.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from itertools import takewhile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
SUPPORT = TESTS / "support"
SOURCE = ROOT / "src" / "bestresponse"
PACKAGE = "bestresponse"
ALWAYS = (TESTS / "test_layers.py", TESTS / "test_structure.py")
SLOW = {"test_examples.py", "test_notebooks.py"}
"""Test files that run whole tutorials: `make test` has them."""
MOST = 30
MIRRORED = -1
"""The distance of the test file that mirrors a changed module: nearer than any import."""


def list_changed(base: str) -> list[Path]:
    """List the files that differ from where this branch left `base`, committed or not."""
    fork = _git("merge-base", base, "HEAD")[0]
    committed = _git("diff", "--name-only", fork)
    untracked = _git("ls-files", "--others", "--exclude-standard")
    paths = [ROOT / name for name in sorted({*committed, *untracked})]
    return [path for path in paths if path.is_file()]


def _git(*words: str) -> list[str]:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)
    if done.returncode:
        command = " ".join(words)
        sys.exit(
            f"git {command}: {done.stderr.strip()}; name the branch to compare with: make check"
            " BASE=..."
        )
    return done.stdout.splitlines()


def name_module(path: Path) -> str:
    """Return the dotted name of a module of the package."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    if parts[-1] == "__init__":
        parts = parts[:-1]
    return ".".join((PACKAGE, *parts))


@cache
def list_modules() -> dict[str, Path]:
    """Return every module of the package by its dotted name."""
    return {name_module(path): path for path in sorted(SOURCE.rglob("*.py"))}


@cache
def list_exports(package: str = PACKAGE) -> dict[str, str]:
    """Return the module behind each name that a package exports, as `br.solve` is found."""
    homes = {}
    for node in ast.walk(_parse(list_modules()[package])):
        if isinstance(node, ast.ImportFrom) and node.module:
            for part in node.names:
                homes[part.asname or part.name] = _find_home(node.module, part.name)
    return homes


def _find_home(module: str, name: str) -> str:
    """Return the module in which a name that is imported from `module` is written."""
    if f"{module}.{name}" in list_modules():
        return f"{module}.{name}"
    if module in list_packages():
        return list_exports(module).get(name, module)
    return module


@cache
def list_packages() -> frozenset[str]:
    """Return the names of the packages: what they export is written elsewhere."""
    return frozenset(name for name, path in list_modules().items() if path.stem == "__init__")


@cache
def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def find_imports(text: str) -> set[str]:
    """Return the modules that a text imports, those behind `br.NAME` and dotted strings
    included."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found.update(part.name for part in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(_find_home(node.module, part.name) for part in node.names)
    return found


def find_test_imports(text: str) -> set[str]:
    """Return what a test imports; `br.NAME` and modules named in strings count as imports."""
    found = find_imports(text)
    for name in re.findall(r"\bbr\.(\w+)", text):
        found.add(list_exports().get(name, ""))
    found.update(re.findall(rf"\b{PACKAGE}(?:\.\w+)+", text))
    for path in _list_support(found):
        found |= _find_support_imports(path)
    return found & set(list_modules())


def _list_support(names: Iterable[str]) -> list[Path]:
    paths = [SUPPORT / f"{name}.py" for name in names if "." not in name and name]
    return [path for path in paths if path.is_file()]


@cache
def _find_support_imports(path: Path) -> frozenset[str]:
    return frozenset(find_test_imports(path.read_text("utf-8")))


@cache
def list_importers() -> dict[str, set[str]]:
    """Return, for each module, the modules that import it."""
    importers: dict[str, set[str]] = {name: set() for name in list_modules()}
    for name, path in list_modules().items():
        if name in list_packages():
            continue  # through what it exports everything would import everything
        for imported in find_imports(path.read_text("utf-8")):
            if imported in importers:
                importers[imported].add(name)
    return importers


@cache
def find_distances(changed: tuple[str, ...]) -> dict[str, int]:
    """Return how many imports lie between each module and the nearest changed one."""
    distances = dict.fromkeys(changed, 0)
    front = list(distances)
    while front:
        name = front.pop(0)
        for importer in sorted(list_importers()[name]):
            if importer not in distances:
                distances[importer] = distances[name] + 1
                front.append(importer)
    return distances


@cache
def list_test_files() -> dict[Path, frozenset[str]]:
    """Return every test file with the modules of the package that it imports."""
    files = [path for path in sorted(TESTS.rglob("test_*.py")) if path.name not in SLOW]
    return {path: frozenset(find_test_imports(path.read_text("utf-8"))) for path in files}


def find_tests(changed: Path) -> dict[Path, int]:
    """Return the test files that one changed file concerns, each with its distance."""
    if changed.is_relative_to(SUPPORT) and changed.suffix == ".py":
        named = re.compile(rf"\b{changed.stem}\b")
        return {path: 0 for path in list_test_files() if named.search(path.read_text("utf-8"))}
    if changed.is_relative_to(TESTS):
        return {changed: MIRRORED} if changed in list_test_files() else {}
    if not changed.is_relative_to(SOURCE):
        return {}
    distances = find_distances(tuple(_find_modules(changed)))
    found = {}
    for path, imported in list_test_files().items():
        reached = imported & distances.keys()
        if reached:
            found[path] = min(distances[name] for name in reached)
    mirrored = _find_mirrored(changed)
    if mirrored in list_test_files():
        found[mirrored] = MIRRORED
    return found or dict.fromkeys(_list_nearby(mirrored.parent), MIRRORED)


def _find_modules(changed: Path) -> list[str]:
    """Return the modules that a changed file stands for: itself, or those of its folder."""
    if changed.suffix == ".py":
        return [name_module(changed)]
    folder = changed.parent
    while not list(folder.glob("*.py")):
        folder = folder.parent
    return [name_module(path) for path in sorted(folder.glob("*.py"))]


def _find_mirrored(changed: Path) -> Path:
    """Return where the test file of the same name is, if there is one."""
    place = changed.relative_to(SOURCE)
    return TESTS / place.parent / f"test_{place.stem}.py"


def _list_nearby(folder: Path) -> list[Path]:
    """Return the test files below the nearest mirrored folder that has any, going up."""
    while folder != TESTS:
        nearby = [path for path in list_test_files() if path.is_relative_to(folder)]
        if nearby:
            return nearby
        folder = folder.parent
    return []


def _has_code(path: Path) -> bool:
    """Return whether there is anything to test: an empty file or a docstring alone is not."""
    text = path.read_text("utf-8")
    return len(ast.parse(text).body) > 1 if path.suffix == ".py" else bool(text)


def choose_tests(changed: Iterable[Path], most: int) -> tuple[list[Path], int]:
    """Return the nearest test files of a change, and how many farther ones were left out."""
    ranks: dict[Path, tuple[int, int, int]] = {}
    for path in changed:
        found = find_tests(path)
        if not found and path.is_relative_to(SOURCE) and _has_code(path):
            sys.exit(f"{path.relative_to(ROOT)}: no test imports it; write one")
        for test, distance in found.items():
            rank = (distance, -_count_shared(path, test), len(list_test_files()[test]))
            ranks[test] = min(rank, ranks.get(test, rank))
    ranked = sorted(ranks, key=lambda test: (ranks[test], test))
    changed_tests = [test for test in ranked if ranks[test][0] == MIRRORED]
    chosen = ranked[: max(most, len(changed_tests))]
    nearest = [test for test in chosen if test not in ALWAYS]
    return [*nearest, *ALWAYS], len(ranked) - len(chosen)


def _count_shared(changed: Path, test: Path) -> int:
    """Return how many folders a module and a test file share: those of one subject are nearer."""
    if not changed.is_relative_to(SOURCE):
        return 0
    pairs = zip(changed.relative_to(SOURCE).parts, test.relative_to(TESTS).parts, strict=False)
    return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("base", nargs="?", default="main")
    parser.add_argument("--most", type=int, default=MOST)
    options = parser.parse_args()
    tests, left_out = choose_tests(list_changed(options.base), options.most)
    print(*(test.relative_to(ROOT) for test in tests), sep="\n")
    if left_out:
        print(f"{left_out} farther test files are left to `make test`", file=sys.stderr)


if __name__ == "__main__":
    main()
