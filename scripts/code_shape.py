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
DATA = {".pl", ".toml", ".po", ".html"}


def measure_text(text: str) -> Counter[str]:
    """Count tokens, lines and what is dense in the source of one module."""
    shape = _Shape()
    shape.visit(ast.parse(text))
    counts = shape.counts
    code_lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        first, last = token.start[0], token.end[0]
        if token.type in LAYOUT or first in shape.documented:
            continue
        counts["tokens"] += 1
        code_lines.add(first)
        if last > first:
            code_lines.update(range(first, last + 1))
    lines = text.splitlines()
    counts["lines"] = len(code_lines)
    counts["long"] = sum(len(lines[number - 1]) > WIDTH for number in code_lines)
    return counts


class _Shape:
    """What is dense in a module, and which of its lines are documentation.

    Every node is visited once: a module has a hundred thousand of them.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.documented: set[int] = set()

    def visit(self, node: ast.AST) -> int:
        """Count what lies below a node; return how many nesting expressions lie in each other."""
        children = list(ast.iter_child_nodes(node))
        depths = [self.visit(child) for child in children]
        if isinstance(node, ast.stmt):
            self._count_statement(node, children, depths)
        elif isinstance(node, LOOPS):
            self.counts["loops"] += 1
        elif isinstance(node, ast.Call) and len(node.args) > MANY:
            self.counts["positional"] += 1
        return max(depths, default=0) + isinstance(node, NESTING)

    def _count_statement(self, node: ast.stmt, children: list[ast.AST], depths: list[int]) -> None:
        for child, depth in zip(children, depths, strict=True):
            if depth >= DEEP and isinstance(child, ast.expr):
                self.counts["deep"] += 1
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple):
            self.counts["packed"] += isinstance(node.targets[0], ast.Tuple)
        # Strings that are alone: docstrings, and notes below attributes.
        alone = node.value if isinstance(node, ast.Expr) else None
        if isinstance(alone, ast.Constant) and isinstance(alone.value, str):
            self.documented.update(range(alone.lineno, (alone.end_lineno or alone.lineno) + 1))


def measure_packages(source: Path) -> dict[str, Counter[str]]:
    """Measure every package below a folder; modules of the folder itself are `(top)`.

    Words of programs, settings, translations and templates (`.pl`, `.toml`, `.po`, `.html`) of a
    package are counted beside its tokens, so that moving code into data saves nothing.
    """
    packages: dict[str, Counter[str]] = {}
    for path in sorted(source.rglob("*")):
        if path.suffix != ".py" and path.suffix not in DATA:
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
