"""Python that people copy imports from `bestresponse`, or from a module that the reference
documents; never from inside."""

import ast
import json
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTED = {
    *runpy.run_path(str(ROOT / "docs" / "_site" / "reference.py"))["PACKAGES"],
    "bestresponse.integrations.inspect.tasks",  # both on the page of integrations
    "bestresponse.integrations.verifiers.environments",
}
MOST_MODULES = 2
"""Documented modules in one example besides `bestresponse` itself."""


def list_examples():
    """Yield the place and the Python of every example: pages, notebooks and example files."""
    for page in [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("docs/*/*.md")]:
        blocks = re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)
        for number, block in enumerate(blocks, 1):
            if ">>>" in block:
                lines = [line[4:] for line in block.splitlines() if line[:4] in (">>> ", "... ")]
                block = "\n".join(lines)
            yield f"{page.relative_to(ROOT)} block {number}", block
    for notebook in ROOT.glob("notebooks/*.ipynb"):
        cells = json.loads(notebook.read_text("utf-8"))["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        for number, cell in enumerate(code, 1):
            yield f"{notebook.relative_to(ROOT)} cell {number}", cell
    for path in ROOT.glob("examples/**/*.py"):
        yield str(path.relative_to(ROOT)), path.read_text("utf-8")


EXAMPLES = dict(list_examples())


def list_modules(code):
    """List the modules of this package that a piece of code imports from."""
    modules = []
    for line in re.findall(r"^ *((?:from|import) bestresponse[^\n(]*(?:\([^)]*\))?)", code, re.M):
        for node in ast.walk(ast.parse(line.split("#")[0])):
            if isinstance(node, ast.ImportFrom):
                modules.append(node.module)
            elif isinstance(node, ast.Import):
                modules += [name.name for name in node.names]
    return modules


def test_there_are_examples_and_their_imports_are_found():
    assert len(EXAMPLES) > 100
    code = "import bestresponse as br\nfrom bestresponse.core import (\n    Ask,\n)\n"
    assert list_modules(code) == ["bestresponse", "bestresponse.core"]


@pytest.mark.parametrize("place", EXAMPLES)
def test_an_example_imports_from_documented_modules_only(place):
    modules = set(list_modules(EXAMPLES[place])) - {"bestresponse"}
    assert modules <= DOCUMENTED
    assert len(modules) <= MOST_MODULES
