"""Defaults of a user and of a project; replies that several folders share; --quiet, --verbose."""

import json
import logging

import pytest
from model_server import ModelServer
from typer.testing import CliRunner

from bestresponse.cli.app import app
from bestresponse.cli.switches import be_quiet
from bestresponse.core.errors import SettingError, UsageError
from bestresponse.models.base import Reply
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.models.wrappers.limits import Budget, Retried

BENCH = ("bench", "--num-games", "2", "--seed", "5")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*words, **environ):
        return CliRunner().invoke(app, list(words), env=environ)

    yield run
    be_quiet(False)
    logging.getLogger("bestresponse").setLevel(logging.NOTSET)


@pytest.fixture
def server():
    server = ModelServer()
    yield server
    server.close()


def list_runs(folder):
    return sorted(path.parent.name for path in folder.glob("*/manifest.json"))


def test_the_environment_comes_before_the_project_and_what_is_typed_before_both(run, tmp_path):
    project = tmp_path / "pyproject.toml"
    project.write_text('[tool.bestresponse]\nmodel = "uniform"\noutput = "ours"\n')
    done = run(*BENCH)
    assert done.exit_code == 0, done.output
    assert "model is uniform, as pyproject.toml says" in done.stderr
    (made,) = list_runs(tmp_path / "ours")
    asked = json.loads((tmp_path / "ours" / made / "manifest.json").read_text())
    assert asked["config"]["model"] == ["uniform"]
    mine = {"BESTRESPONSE_MODEL": "random,maximin", "BESTRESPONSE_OUTPUT": str(tmp_path / "mine")}
    assert run(*BENCH, **mine).exit_code == 0
    (made,) = list_runs(tmp_path / "mine")
    asked = json.loads((tmp_path / "mine" / made / "manifest.json").read_text())
    assert asked["config"]["model"] == ["random", "maximin"]
    assert run(*BENCH, "-o", "typed", **mine).exit_code == 0
    assert list_runs(tmp_path / "typed") == list_runs(tmp_path / "mine")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('model = "http://thief.example/v1#m"', "pyproject.toml sends requests to http://thief"),
        ('model = "mcp:rm"', "is a command; a settings file starts no programs"),
        ('output = "/etc"', "leads out of its folder"),
        ('cache = "../theirs"', "leads out of its folder"),
        ('tools = ["mcp:rm"]', "[tool.bestresponse] has no 'tools'"),
        ("budgte = 3", "Did you mean budget?"),
        ('budget = "much"', "expected limits such as"),
    ],
)
def test_the_project_of_somebody_else_starts_nothing_and_sends_nothing_elsewhere(
    run, tmp_path, line, says
):
    (tmp_path / "pyproject.toml").write_text(f"[tool.bestresponse]\n{line}\n")
    refused = run(*BENCH)
    assert says in str(refused.exception)
    assert not (tmp_path / "results").exists()


def test_folders_that_name_one_cache_share_their_replies(run, server):
    for folder in ("first", "second"):
        alone = run(*BENCH, "--model", server.model, "-o", folder)
        assert alone.exit_code == 0, alone.output
    assert server.calls == 4
    for folder in ("third", "fourth"):
        run(*BENCH, "--model", server.model, "-o", folder, "--cache-dir", "shared")
    assert server.calls == 6
    run(*BENCH, "--model", server.model, "-o", "fifth", BESTRESPONSE_CACHE="shared")
    assert server.calls == 6


def test_new_samples_of_a_question_are_no_old_ones_of_a_shared_cache(run, server):
    words = (*BENCH, "--model", server.model, "--temperature", "1", "--cache-dir", "shared")
    run(*words, "-o", "first")
    run(*words, "-o", "second", "--trials", "3")
    # two questions, each asked three times: the first sample of each is known
    assert server.calls == 6


def test_a_quiet_command_prints_results_and_errors_only(run):
    words = (*BENCH, "--model", "uniform")
    assert "wrote " in run(*words).stderr
    quiet = run(*words, "-q")
    assert quiet.stderr == ""
    assert "uniform" in quiet.stdout
    assert "there is no" in str(run("bench", "nosuch", "-q").exception)


def test_waits_for_a_server_are_logged(caplog):
    from bestresponse.core.errors import Transient

    failures = [Transient("m answered HTTP 429")]

    def answer(request):
        if failures:
            raise failures.pop()
        return Reply("A")

    caplog.set_level(logging.INFO, "bestresponse")
    model = Retried(ScriptedModel(answer), sleep=lambda seconds: None)
    assert model.complete(object()).text == "A"
    assert "m answered HTTP 429; asking again in" in caplog.text


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("", Budget()),
        ("200 calls", Budget(calls=200)),
        ("1 call,2tokens , 0.5 dollars", Budget(1, 2, 0.5)),
        ("1_000_000 tokens", Budget(tokens=1_000_000)),
    ],
)
def test_a_budget_is_read(text, budget):
    assert Budget.parse(text) == budget


@pytest.mark.parametrize(
    "text", ["3", "3.5 calls", "2 calls, 3 call", "-1 calls", "_1 calls", "3 euros"]
)
def test_a_budget_that_cannot_be_read_is_refused(text):
    with pytest.raises(SettingError, match="expected limits such as") as caught:
        Budget.parse(text)
    assert isinstance(caught.value, UsageError)
