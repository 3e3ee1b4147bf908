"""Every example in documentation and docstrings is true, and every module keeps what its `__all__`
promises."""

import doctest
import importlib
import re
import sys
from pathlib import Path

import pytest
from outlines import outlined_figures  # noqa: F401 - for all tests below

import bestresponse

ROOT = Path(__file__).parents[1]
TUTORIALS = sorted(ROOT.glob("docs/tutorials/*.md"))
PAGES = [ROOT / "README.md", *sorted(set(ROOT.glob("docs/**/*.md")) - set(TUTORIALS))]
OPTIONAL = {
    "xllamacpp",
    "inspect_ai",
    "pyspiel",
    "numba",
    "fastapi",
    "mcp",
    "pettingzoo",
    "gymnasium",
    "verifiers",
    "torch",
    "safetensors",
}
SOURCE = Path(bestresponse.__file__).parent
FILES = [path for path in sorted(SOURCE.rglob("*.py")) if path.name != "__main__.py"]


def name_module(file):
    parts = file.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


WITH_EXAMPLES = [name_module(file) for file in FILES if ">>>" in file.read_text("utf-8")]


def load(name):
    """Import a module; None where a package that it is an adapter of is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name in OPTIONAL:
            return None
        raise


class WithoutPandas:
    """Import as where pandas is not installed."""

    def find_spec(self, name, path=None, target=None):
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name="pandas")


def mark_page(page):
    """Let pages whose examples look at pictures have them drawn."""
    marks = [pytest.mark.drawn] if "draw(" in page.read_text("utf-8") else []
    return pytest.param(page, id=str(page.relative_to(ROOT)), marks=marks)


@pytest.mark.parametrize("page", [mark_page(page) for page in PAGES])
def test_the_examples_of_each_page_are_true(page):
    found = doctest.testfile(
        str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert found.failed == 0


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.name)
def test_the_cells_of_each_tutorial_run_in_order_with_what_it_says_to_install(
    page, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    if "[pettingzoo]" in page.read_text("utf-8"):
        pytest.importorskip(
            "pettingzoo", reason="PettingZoo is not installed: pip install '.[pettingzoo]'"
        )
    if "[pandas]" not in page.read_text("utf-8"):
        monkeypatch.delitem(sys.modules, "pandas", raising=False)
        monkeypatch.setattr(sys, "meta_path", [WithoutPandas(), *sys.meta_path])
    cells = re.findall(
        r"^```\{code-cell\} python\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    assert cells
    names = {}
    for cell in cells:
        exec(compile(cell, page.name, "exec"), names)


@pytest.mark.parametrize("page", [*PAGES, *TUTORIALS], ids=lambda page: page.name)
def test_links_to_other_pages_lead_somewhere(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)#: ]+)(?:#[^)]*)?\)", text):
        if target.removeprefix("../").split("/")[0] not in (
            "gallery",
            "reference",
        ):  # written when the site is built
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_of_each_module_are_true(name):
    module = load(name) or pytest.skip("it belongs to a package that is not installed")
    found = doctest.testmod(module)
    assert found.failed == 0
    assert found.attempted > 0, "an example that doctest does not find is not checked"


def test_everything_a_module_promises_exists():
    modules = [module for file in FILES if (module := load(name_module(file)))]
    promised = [(module, name) for module in modules for name in getattr(module, "__all__", ())]
    assert [
        f"{module.__name__} promises {name}"
        for module, name in promised
        if not hasattr(module, name)
    ] == []
