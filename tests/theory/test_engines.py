"""Compiled loops are taken where they pay: when they are on disk, or the work repays the
compiler."""

import ast
import sys
from pathlib import Path

import pytest

import bestresponse
from bestresponse.theory import engines
from bestresponse.theory.kernels_ahead import STEPS

THEORY = Path(bestresponse.__file__).parent / "theory"


@pytest.fixture
def loops(tmp_path, monkeypatch):
    """A module of loops that nobody has compiled, and its folder."""
    (tmp_path / "drawn_loops.py").write_text("", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    monkeypatch.setattr(engines, "_requested", {})
    engines.count_loads.cache_clear()
    yield tmp_path
    engines.count_loads.cache_clear()
    sys.modules.pop("drawn_loops", None)


def test_before_anything_is_compiled_the_work_must_repay_the_compiler(loops):
    # Loading is worth 1; compiling 20: five times 3, 15 in all, do not repay it, 21 do.
    asked = [engines.repays_loading("drawn_loops", 3.0, 1.0) for _ in range(7)]
    assert asked == [False, False, False, False, False, False, True]


@pytest.mark.parametrize("folder", ["__pycache__", "home/.cache/numba/drawn_0123"])
def test_what_is_on_disk_is_loaded_as_soon_as_that_pays(loops, folder):
    (loops / folder).mkdir(parents=True)
    (loops / folder / "drawn_loops.solve-12.py311.nbi").write_bytes(b"")
    asked = [engines.repays_loading("drawn_loops", 0.6, 1.0) for _ in range(2)]
    assert asked == [False, True]


def imports_numba(path: Path) -> bool:
    """Say whether a module has loops to compile."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "numba":
            return True
    return False


def test_everything_that_can_be_compiled_is_compiled_ahead():
    modules = set()
    for path in THEORY.rglob("*.py"):
        if imports_numba(path):
            modules.add(".".join(path.relative_to(THEORY.parents[1]).with_suffix("").parts))
    assert modules == {module for step in STEPS for module in step.modules}
