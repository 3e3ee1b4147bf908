"""SECURITY.md names the test of each promise."""

import ast
import re
from pathlib import Path

import pytest
from sources import list_nodes, parse_package

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "SECURITY.md").read_text("utf-8")
PROMISES = PAGE.partition("## How")[2].partition("## Checks")[0]
NAMED = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)


@pytest.mark.parametrize(("file", "name"), NAMED)
def test_every_test_that_is_named_is_there(file, name):
    assert f"def {name}" in (ROOT / file).read_text("utf-8") if name else (ROOT / file).exists()


def test_every_sentence_that_promises_something_names_a_test():
    parts = [part for part in PROMISES.split("\n\n") if part.startswith("**")]
    assert [re.match(r"\*\*(.+?)\*\*", part)[1] for part in parts] == [
        "Programs",
        "Replies",
        "Files",
        "`serve`",
        "`mcp --http`",
        "Weights and plug-ins",
        "Faults",
        "Everything else",
    ]
    sentences = [
        one for part in parts for one in re.split(r"(?<=\.)\s(?=[A-Z`])", " ".join(part.split()))
    ]
    assert [sentence for sentence in sentences if "`tests/" not in sentence] == []


def test_no_module_unpickles_or_evaluates_what_it_reads_or_starts_a_shell():
    forbidden = {
        "pickle.load",
        "pickle.loads",
        "marshal.loads",
        "yaml.load",
        "os.system",
        "os.popen",
        "eval",
        "exec",
    }
    calls = []
    for file, tree in parse_package().items():
        for node in list_nodes(tree):
            if isinstance(node, ast.Call):
                shell = any(word.arg == "shell" for word in node.keywords)
                if shell or ast.unparse(node.func) in forbidden:
                    calls.append((file.name, ast.unparse(node)))
    assert calls == []
