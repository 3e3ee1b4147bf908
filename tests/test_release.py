"""The workflow of a release makes, checks and signs the files, and publishes nothing."""

import re
import tomllib
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
WORKFLOW = (ROOT / ".github" / "workflows" / "release.yml").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
RECIPE = re.search(
    r"^release:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE
)[1]


def test_a_release_is_built_checked_tried_and_listed_in_this_order():
    steps = [
        "-m build",
        "-m twine check --strict",
        "install --quiet dist/*.whl",
        "bestresponse demo",
        "cyclonedx-py",
    ]
    assert sorted(steps, key=RECIPE.index) == steps


def test_the_workflow_signs_what_make_release_made_and_stops_before_publishing():
    assert re.findall(r"run: (make .*|build/.*)", WORKFLOW) == [
        "make release PYTHON=python",
        "build/release/bin/python -m sigstore sign dist/*",
    ]
    assert "publish@" not in WORKFLOW
    assert "twine upload" not in WORKFLOW + RECIPE


def test_the_tools_of_a_release_are_pinned_and_what_the_library_needs_is_a_range():
    assert all("==" in tool for tool in PROJECT["dependency-groups"]["release"])
    extras = PROJECT["project"]["optional-dependencies"].values()
    needs = [*PROJECT["project"]["dependencies"], *chain.from_iterable(extras)]
    assert [need for need in needs if "==" in need] == []


def test_what_make_test_installs_is_the_lock_and_the_lock_has_all_that_development_needs():
    ready = re.search(
        r"^\$\(READY\):.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE
    )[1]
    assert "$(call add,--require-hashes -r requirements-dev.lock)" in ready
    lock = (ROOT / "requirements-dev.lock").read_text("utf-8")
    locked = {
        canonicalize_name(name): version
        for name, version in re.findall(r"^([\w.-]+)==([^ ]+)", lock, re.MULTILINE)
    }
    extras = PROJECT["project"]["optional-dependencies"]
    wanted = [*PROJECT["project"]["dependencies"], *PROJECT["dependency-groups"]["dev"]]
    for extra in re.findall(r"--extra (\w+)", (ROOT / "scripts" / "lock").read_text("utf-8")):
        wanted += extras[extra]
    needs = map(Requirement, wanted)
    assert [
        need.name
        for need in needs
        if not need.specifier.contains(locked[canonicalize_name(need.name)])
    ] == []


def test_the_page_on_a_package_index_has_no_link_that_leads_nowhere():
    text = (ROOT / "README.md").read_text("utf-8")
    for rule in PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(rule["pattern"], rule["replacement"], text)
    assert [
        target for target in re.findall(r"\]\(([^)]*)\)", text) if not target.startswith("https://")
    ] == []
    assert "Reference: commands · settings and files · metrics" in text.replace("**", "")
