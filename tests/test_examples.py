"""Every example in documentation and docstrings is true, and every module keeps what its `__all__` promises."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import bestresponse

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("docs/*.md"), ROOT / "README.md"])
OPTIONAL = {"xllamacpp", "inspect_ai", "pyspiel", "numba", "fastapi", "mcp", "pettingzoo", "gymnasium"}
MODULES = sorted(
    m.name for m in pkgutil.walk_packages(bestresponse.__path__, "bestresponse.") if "__main__" not in m.name
)


def loaded(name):
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name in OPTIONAL:
            pytest.skip(f"{error.name} is not installed")
        raise


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_each_page_are_true(page):
    found = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_each_module_are_true(name):
    assert doctest.testmod(loaded(name)).failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_everything_a_module_promises_exists(name):
    module = loaded(name)
    for public in getattr(module, "__all__", ()):
        assert hasattr(module, public), f"{name} promises {public}"
