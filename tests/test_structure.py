"""Hold the shape of the source: small folders, short functions, documented names, few late imports, few `Any`."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import bestresponse

ROOT = Path(bestresponse.__file__).parent
LARGEST_FOLDER = 18
LONGEST_FUNCTION = 60
KERNELS = {
    "logic/embedded/machine.py _search",
    "theory/equilibria/extreme_kernels.py _pair_exactly",
    "theory/equilibria/many_players/path_kernels.py _evaluate",
    "theory/trees/cfr_numba.py _iterate",
}
"""Loops that are compiled, or too hot to be divided."""
LATE_IMPORTS = 62
"""Imports inside functions: of optional and of slow packages. Lower this number when you remove one."""
UNTYPED = 250
"""Uses of `Any` in signatures. Lower this number when you remove some."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def modules() -> list[tuple[str, ast.Module]]:
    return [
        (path.relative_to(ROOT).as_posix(), ast.parse(path.read_text("utf-8"))) for path in sorted(ROOT.rglob("*.py"))
    ]


@cache
def functions(tree: ast.AST) -> list[Function]:
    return [node for node in ast.walk(tree) if isinstance(node, Function)]


def undocumented(tree: ast.AST) -> Iterator[str]:
    """Yield public classes, functions and methods without a docstring; what is inside a function is not public."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function | ast.ClassDef):
            if node.name.startswith("_"):
                continue
            if not ast.get_docstring(node):
                yield node.name
            if isinstance(node, ast.ClassDef):
                yield from undocumented(node)
        else:
            yield from undocumented(node)


def late_imports(tree: ast.AST) -> int:
    inside = {
        node
        for function in functions(tree)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    return len(inside)


def count_any(function: Function) -> int:
    a = function.args
    arguments = [*a.posonlyargs, *a.args, *a.kwonlyargs, *(one for one in (a.vararg, a.kwarg) if one)]
    annotations = [*(argument.annotation for argument in arguments), function.returns]
    return sum(
        isinstance(node, ast.Name) and node.id == "Any"
        for annotation in annotations
        if annotation is not None
        for node in ast.walk(annotation)
    )


def test_no_folder_holds_more_files_than_a_reader_takes_in():
    folders = {path.parent for path in ROOT.rglob("*.py")}
    crowded = {str(folder.relative_to(ROOT)): len(list(folder.glob("*.py"))) for folder in folders}
    assert {name: count for name, count in crowded.items() if count > LARGEST_FOLDER} == {}


def test_functions_are_short():
    long = {
        f"{name} {function.name}"
        for name, tree in modules()
        for function in functions(tree)
        if (function.end_lineno or 0) - function.lineno + 1 > LONGEST_FUNCTION
    }
    assert long - KERNELS == set()


def test_public_objects_are_documented():
    assert [f"{name} {one}" for name, tree in modules() for one in undocumented(tree)] == []


def test_imports_inside_functions_do_not_become_more():
    assert sum(late_imports(tree) for _, tree in modules()) <= LATE_IMPORTS


def test_untyped_signatures_do_not_become_more():
    assert sum(count_any(function) for _, tree in modules() for function in functions(tree)) <= UNTYPED
