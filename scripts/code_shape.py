#!/usr/bin/env python3
"""Print how much code each package has and how dense it is.

    scripts/code_shape.py [FOLDER]        default: src/bestresponse

Tokens measure how much there is: they fall when a mechanism goes, and stay when lines are packed.
Comments, docstrings and blank lines are free. The other columns count, per 1,000 lines of code,
what makes a line hard to read. `tests/test_structure.py` holds ceilings for all of them.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "bestresponse"
WIDTH = 100
DEEP = 4
"""An expression is deep if so many calls, loops, conditions or operators are nested in it."""
MANY = 5
"""A call with more positional arguments than this cannot be read without its signature."""
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
LOOPS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
NESTING = (
    *LOOPS,
    ast.BinOp,
    ast.BoolOp,
    ast.Call,
    ast.Compare,
    ast.IfExp,
    ast.Lambda,
    ast.Subscript,
)
RATES = ("long", "deep", "packed", "loops")


def measure_text(text: str) -> Counter[str]:
    """Count tokens, lines and what is dense in the source of one module."""
    tree = ast.parse(text)
    documented = {line for node in ast.walk(tree) for line in _list_docstring_lines(node)}
    counts: Counter[str] = Counter()
    for node in ast.walk(tree):
        _count_node(node, counts)
    code_lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in LAYOUT or token.start[0] in documented:
            continue
        counts["tokens"] += 1
        code_lines.update(range(token.start[0], token.end[0] + 1))
    lines = text.splitlines()
    counts["lines"] = len(code_lines)
    counts["long"] = sum(len(lines[number - 1]) > WIDTH for number in code_lines)
    return counts


def _list_docstring_lines(node: ast.AST) -> Iterator[int]:
    """List the lines of strings that stand alone, as docstrings and notes below attributes do."""
    is_alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    if is_alone and isinstance(node.value.value, str):
        yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _count_node(node: ast.AST, counts: Counter[str]) -> None:
    if isinstance(node, ast.stmt):
        expressions = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
        counts["deep"] += sum(find_depth(part) >= DEEP for part in expressions)
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple):
        counts["packed"] += isinstance(node.targets[0], ast.Tuple)
    if isinstance(node, LOOPS):
        counts["loops"] += 1
    if isinstance(node, ast.Call) and len(node.args) > MANY:
        counts["positional"] += 1


def find_depth(node: ast.AST) -> int:
    """Return how many nesting expressions lie inside each other."""
    below = max(map(find_depth, ast.iter_child_nodes(node)), default=0)
    return below + isinstance(node, NESTING)


def measure_packages(source: Path) -> dict[str, Counter[str]]:
    """Measure every package below a folder; modules of the folder itself are `(top)`.

    Words of the `.pl` and `.toml` files of a package are counted beside its tokens, so that moving
    code into data does not look like a saving.
    """
    packages: dict[str, Counter[str]] = {}
    for path in sorted(source.rglob("*")):
        if path.suffix not in {".py", ".pl", ".toml"}:
            continue
        parts = path.relative_to(source).parts
        package = parts[0] if len(parts) > 1 else "(top)"
        counts = packages.setdefault(package, Counter())
        text = path.read_text("utf-8")
        if path.suffix == ".py":
            counts.update(measure_text(text))
        else:
            counts["words"] += len(text.split())
    return packages


def find_rates(counts: Counter[str]) -> dict[str, float]:
    """Return what is counted per 1,000 lines of code."""
    return {name: 1000 * counts[name] / max(1, counts["lines"]) for name in RATES}


def main() -> None:
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else SOURCE
    packages = measure_packages(source)
    total: Counter[str] = Counter()
    for counts in packages.values():
        total.update(counts)
    rows = sorted(packages.items(), key=lambda item: item[1]["tokens"])
    print(
        f"{'package':14}{'tokens':>9}{'data':>8}{'lines':>8}{'tok/line':>9}"
        f"{'>100 ch':>9}{'deep':>7}{'packed':>8}{'loops':>7}{'positional':>12}"
    )
    for name, counts in [*rows, ("together", total)]:
        rates = find_rates(counts)
        per_line = counts["tokens"] / max(1, counts["lines"])
        print(
            f"{name:14}{counts['tokens']:9,}{counts['words']:8,}{counts['lines']:8,}{per_line:9.1f}"
            f"{rates['long']:9.1f}{rates['deep']:7.1f}{rates['packed']:8.1f}{rates['loops']:7.1f}"
            f"{counts['positional']:12}"
        )


if __name__ == "__main__":
    main()
