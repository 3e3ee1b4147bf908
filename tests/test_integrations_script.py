"""`make test-integrations` installs what the pages say, tests what is there, and lets nothing pass
that did not run."""

import re
import sys
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "test_integrations.py"


@pytest.fixture
def script(monkeypatch):
    spec = spec_from_file_location("test_integrations_script", SCRIPT)
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)  # where its dataclass looks for it
    spec.loader.exec_module(module)
    return module


def find_installs(cell):
    """What a cell of the page's table tells people to install."""
    return tuple(word.strip("'") for word in re.findall(r"`pip install ([^`]+)`", cell))


def test_every_line_of_the_pages_table_is_what_the_environment_is_made_with(script):
    made = {integration.installs for integration in script.INTEGRATIONS}
    page = (ROOT / "docs" / "reference" / "integrations.md").read_text("utf-8")
    told = [
        find_installs(line.split("|")[2]) for line in page.splitlines() if line.startswith("| [")
    ]
    assert len(told) == 8
    assert [installs for installs in told if installs and installs not in made] == []


def test_every_extra_for_another_tool_has_an_environment(script):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    together = re.search(r"\[(.*)\]", project["optional-dependencies"]["all"][0])[1].split(",")
    alone = (
        set(project["optional-dependencies"]) - set(together) - {"all", "train"}
    )  # `make train-test` tests that
    assert alone | {"axelrod"} == {integration.name for integration in script.INTEGRATIONS}


def test_every_test_of_the_table_is_there(script):
    for integration in script.INTEGRATIONS:
        for test in integration.tests:
            path, _, name = test.partition("::")
            text = (ROOT / path).read_text("utf-8")
            assert not name or f"\ndef {name.partition('[')[0]}(" in text, test


def test_what_has_no_wheel_is_told_from_what_no_index_has(script, monkeypatch):
    codes = {}

    def run(words, environment=None, quiet=False):
        return codes["index" if "index" in words else "wheel"]

    monkeypatch.setattr(script, "run", run)
    for on_index, wheel, lacks in ((0, 0, False), (0, 1, True), (1, 1, False)):
        codes.update(index=on_index, wheel=wheel)
        assert script.lacks_wheel(Path("python"), "open_spiel>=1.5") is lacks


def test_an_integration_that_failed_fails_the_command_and_one_without_a_wheel_does_not(
    script, monkeypatch, capsys
):
    verdicts = {
        "mcp": "passed",
        "openspiel": "not available on this platform: no wheel",
        "inspect": "failed: pytest ended with 1",
    }
    monkeypatch.setattr(script, "test", lambda integration: verdicts[integration.name])
    monkeypatch.setattr(sys, "argv", ["test_integrations.py", "mcp", "openspiel"])
    assert script.main() == 0
    assert "openspiel   not available on this platform: no wheel" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["test_integrations.py", "mcp", "inspect"])
    assert script.main() == 1
    monkeypatch.setattr(sys, "argv", ["test_integrations.py", "mpc"])
    with pytest.raises(SystemExit):
        script.main()
    assert "there is no integration named mpc; expected axelrod, inspect" in capsys.readouterr().err
