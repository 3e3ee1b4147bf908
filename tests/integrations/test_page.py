"""Every Python example of the pages on integrations runs and prints what its comments say."""

import os
import re
import subprocess
import sys
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest
from model_server import ModelServer

ROOT = Path(__file__).parents[2]
PAGES = "".join(
    (ROOT / "docs" / "reference" / name).read_text("utf-8")
    for name in ("integrations.md", "evaluation-tools.md")
)
BLOCKS = re.findall(r"^## (\w+).*?\n```python\n(.*?)```", PAGES, flags=re.DOTALL | re.MULTILINE)
PACKAGES = {
    "MCP": "mcp",
    "PettingZoo": "pettingzoo",
    "Inspect": "inspect_ai",
    "verifiers": "verifiers",
}


@pytest.mark.parametrize(("title", "code"), BLOCKS, ids=[title for title, _ in BLOCKS])
def test_the_example_of_each_integration_runs_and_prints_what_it_says(title, code, tmp_path):
    package = PACKAGES.get(title)
    if package is not None and find_spec(package) is None:
        pytest.skip(f"{package} is not installed: pip install '.[{title.lower()}]'")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    modules = os.pathsep.join(
        [str(ROOT / "examples" / "verifiers"), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    with closing(ModelServer(lambda body: "ANSWER: A: 0.34, B: 0.33, C: 0.33")) as server:
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={
                **os.environ,
                "PATH": path,
                "PYTHONPATH": modules,
                "BASE_URL": server.model.split("#")[0],
            },
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:-1] == re.findall(
        r"print\(.*  # (.*)$", code, flags=re.MULTILINE
    )


def test_the_register_entry_names_the_file_of_every_task():
    entry = re.search(r"^```yaml\n(.*?)```", PAGES, flags=re.DOTALL | re.MULTILINE)[1]
    listed = re.findall(r"- name: (\w+)\n +task_path: (\S+)", entry)
    assert [name for name, _ in listed] == ["nash_gap", "verify", "game", "formalize"]
    for name, path in listed:
        text = (ROOT / path).read_text("utf-8")
        assert f"\ndef {name}(" in text or f'@task(name="{name}")' in text
