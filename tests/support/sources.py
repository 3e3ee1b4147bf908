"""Every module of the package, parsed once per process."""

import ast
import gc
from functools import cache
from pathlib import Path

import bestresponse

SOURCE = Path(bestresponse.__file__).parent


@cache
def parse_package() -> dict[Path, ast.Module]:
    """Return the syntax tree of every module by its path, in order.

    The garbage collector would walk through all the trees again and again meanwhile.
    """
    gc.disable()
    try:
        paths = sorted(SOURCE.rglob("*.py"))
        return {path: ast.parse(path.read_text("utf-8")) for path in paths}
    finally:
        gc.enable()


@cache
def list_nodes(tree: ast.AST) -> list[ast.AST]:
    """Walk through a tree once for all tests."""
    return list(ast.walk(tree))
