"""The command that installs an extra fits the way in which the package was installed."""

import json
import re
import tomllib
from pathlib import Path

import pytest

import bestresponse
from bestresponse.core import extras

SOURCE = Path(bestresponse.__file__).parent
ROOT = Path(__file__).parents[2]
OTHERS = {"axelrod", "pandas"}
"""Packages of others, which an index has under these names."""


def test_the_name_alone_is_for_those_who_installed_from_an_index():
    assert extras._write_hint("web", None) == "pip install 'bestresponse[web]'"


@pytest.mark.parametrize(
    "origin", ['{"dir_info": {"editable": true}, "url": "file:///home/me/clone"}', "{}"]
)
def test_whoever_installed_from_a_clone_types_it_there(origin):
    assert (
        extras._write_hint("web", origin) == "pip install '.[web]' in your clone of the repository"
    )


def test_a_wheel_or_a_commit_is_named_again_with_the_extra():
    wheel = "file:///tmp/bestresponse-0.1.0-py3-none-any.whl"
    assert (
        extras._write_hint("fast", json.dumps({"archive_info": {}, "url": wheel}))
        == "pip install 'bestresponse[fast] @ file:///tmp/bestresponse-0.1.0-py3-none-any.whl'"
    )
    commit = {"vcs_info": {"vcs": "git", "commit_id": "0a1b"}, "url": "https://example.org/it.git"}
    assert (
        extras._write_hint("fast", json.dumps(commit))
        == "pip install 'bestresponse[fast] @ git+https://example.org/it.git@0a1b'"
    )


def test_what_lies_beside_the_package_says_where_it_came_from(tmp_path):
    assert extras._read_origin(tmp_path) == "{}"  # source files, used where they lie
    metadata = tmp_path / "bestresponse-0.1.0.dist-info"
    metadata.mkdir()
    assert extras._read_origin(tmp_path) is None  # from an index
    (metadata / "direct_url.json").write_text('{"dir_info": {}, "url": "file:///home/me/clone"}')
    assert extras._read_origin(tmp_path) == '{"dir_info": {}, "url": "file:///home/me/clone"}'


def test_the_package_that_is_tested_came_from_a_clone():
    assert extras.install_hint("web") == "pip install '.[web]' in your clone of the repository"


def test_no_other_line_of_the_source_says_how_an_extra_is_installed():
    others = []
    for path in sorted(SOURCE.rglob("*.*")):
        if (
            path.suffix not in {".py", ".txt", ".html", ".md", ".toml", ".yaml"}
            or path == SOURCE / "core/extras.py"
        ):
            continue
        for package in re.findall(r"pip install (\S+)", path.read_text("utf-8")):
            if package.strip("\"'`.,)") not in OTHERS:
                others.append(f"{path.relative_to(SOURCE)}: pip install {package}")
    assert others == []


def test_every_hint_names_an_extra_that_there_is():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    texts = [path.read_text("utf-8") for path in SOURCE.rglob("*.py")]
    named = {
        extra
        for text in texts
        for extra in re.findall(r"install_hint\([\"'](\w[\w-]*)[\"']\)", text)
    }
    assert {"web", "fast", "local", "train"} <= named
    assert named <= set(project["optional-dependencies"])
