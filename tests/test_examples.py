"""Every example in documentation and docstrings is true, and every module keeps what its `__all__` promises."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import bestresponse

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("docs/*.md"), *ROOT.glob("docs/explanations/*.md"), ROOT / "README.md"])
TUTORIALS = sorted(ROOT.glob("docs/tutorials/*.md"))
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


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.name)
def test_the_cells_of_each_tutorial_run_in_order(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = re.findall(r"^```\{code-cell\} python\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert cells
    names = {}
    for cell in cells:
        exec(compile(cell, page.name, "exec"), names)


@pytest.mark.parametrize("page", [*PAGES, *TUTORIALS], ids=lambda page: page.name)
def test_links_to_other_pages_lead_somewhere(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)#: ]+)(?:#[^)]*)?\)", text):
        if target.split("/")[0] not in ("gallery", "reference"):  # written when the site is built
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_each_module_are_true(name):
    assert doctest.testmod(loaded(name)).failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_everything_a_module_promises_exists(name):
    module = loaded(name)
    for public in getattr(module, "__all__", ()):
        assert hasattr(module, public), f"{name} promises {public}"
