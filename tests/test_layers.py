"""Imports point downwards only: a package imports itself and lower floors, never a sibling or a
higher one."""

import ast
from pathlib import Path

import bestresponse

ROOT = Path(bestresponse.__file__).parent
FLOORS = [
    {"core"},
    {"theory", "logic", "models"},
    {"games"},
    {"formal", "report"},
    {"analysis"},
    {"players"},
    {"runs"},
    {"studies"},
    {"api"},
    {"web"},
    {"integrations"},
    {"cli"},
]
LEVEL = {package: level for level, floor in enumerate(FLOORS) for package in floor}


def imports_of(source: str) -> set[str]:
    """The bestresponse packages a module imports, wherever the import stands."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.ImportFrom)
            and node.module
            and node.module.startswith("bestresponse")
        ):
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {
                a.name.split(".")[1] for a in node.names if a.name.startswith("bestresponse.")
            }
    return found


def wrong_imports(package: str, source: str) -> set[str]:
    return {
        other
        for other in imports_of(source)
        if other in LEVEL and other != package and LEVEL[other] >= LEVEL[package]
    }


def test_imports_point_downwards():
    paths = sorted(path.relative_to(ROOT) for path in ROOT.rglob("*.py") if path.parent != ROOT)
    assert {path.parts[0] for path in paths} == set(LEVEL), "every package is on one floor"
    wrong = {
        str(path): wrong_imports(path.parts[0], (ROOT / path).read_text("utf-8")) for path in paths
    }
    assert {path: packages for path, packages in wrong.items() if packages} == {}


def test_the_rule_finds_an_import_that_points_up_or_sideways():
    assert wrong_imports("theory", "from bestresponse.models.base import Model") == {"models"}
    assert wrong_imports("core", "def f():\n    import bestresponse.games.matrix.game") == {"games"}
    assert wrong_imports("players", "from bestresponse import theory, runs") == {"runs"}
    assert wrong_imports("games", "from bestresponse.theory import NormalForm") == set()


def test_core_needs_only_the_standard_library():
    import sys

    for path in (ROOT / "core").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            for name in names:
                assert name.split(".")[0] in {
                    *sys.stdlib_module_names,
                    "bestresponse",
                }, f"{path.name} imports {name}"
