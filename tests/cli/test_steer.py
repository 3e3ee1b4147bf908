"""`bestresponse steer` from settings to files, without a language model."""

import json

import pytest
from typer.testing import CliRunner

from bestresponse.cli.app import app
from bestresponse.core.errors import InvalidGame, TooLarge, UsageError


def steer(tmp_path, *words):
    return CliRunner().invoke(app, ["steer", *words, "--output-dir", str(tmp_path)], catch_exceptions=False)


def summary(tmp_path, *words):
    result = steer(tmp_path, *words, "--json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize(("replies", "wordings", "most"), [(1, 1, 140), (1, 2, 536), (2, 1, 2300)])
def test_the_calls_made_are_counted_and_a_second_run_makes_none(tmp_path, replies, wordings, most):
    words = ("meeting", "--model", "simulated", "--replies", str(replies), "--wordings", str(wordings))
    first = summary(tmp_path, *words)
    assert 0 < first["calls"] <= most
    again = summary(tmp_path, *words, "--iterations", "20")
    assert again["calls"] == 0
    assert again["per_game"][0]["nodes"] == first["per_game"][0]["nodes"]


def test_a_run_leaves_a_report_and_its_figures(tmp_path):
    found = summary(tmp_path, "debate", "--games", "4", "--wordings", "2", "--follow", "--second", "score")
    assert found["solved_games"] == 4
    assert found["cfr_gain"]["n"] == 4
    assert found["nash_conv"]["estimate"] < 0.01
    assert found["second_referee"]["same"] == 1.0
    assert 0.7 < found["follow_rate"] <= 1
    (folder,) = tmp_path.glob("steer-*")
    assert {path.name for path in folder.iterdir()} >= {"manifest.json", "report.html", "report.json", "summary.json"}
    assert "Steering simulated in debate dialogues" in (folder / "report.html").read_text()


def test_psro_from_the_command_line(tmp_path):
    words = ("fruit", "--solver", "psro", "--iterations", "2", "--plays", "6", "--seed", "2")
    found = summary(tmp_path, *words)
    assert found["calls"] > 0
    assert set(found["prompts"]["player 1"]) >= {"calm", "assertive", "submissive", "any"}
    assert summary(tmp_path, *words)["calls"] == 0


def test_a_budget_is_checked_before_the_first_call(tmp_path):
    with pytest.raises(UsageError, match="this could take 36 calls, more than the 10 allowed"):
        steer(tmp_path, "meeting", "--max-calls", "10")
    with pytest.raises(UsageError, match="tokens, more than the 100 allowed"):
        steer(tmp_path, "meeting", "--budget-tokens", "100")
    with pytest.raises(TooLarge, match="more than --max-nodes 20"):
        steer(tmp_path, "meeting", "--max-nodes", "20")
    (book,) = tmp_path.glob("dialogues-*.jsonl")
    assert book.read_text() == ""


def test_a_tree_cut_short_is_kept_and_the_same_command_goes_on(tmp_path):
    cut = steer(tmp_path, "meeting", "--max-calls", "12", "--cut-short", "--json")
    assert cut.exit_code == 1
    assert json.loads(cut.stdout)["calls"] == 12
    assert "stopped" in cut.stderr
    assert json.loads(cut.stdout)["solved_games"] == 1
    rest = summary(tmp_path, "meeting")
    assert 0 < rest["calls"] <= 36 - 12


def test_a_dry_run_says_what_it_would_take(tmp_path):
    assert "at most 596 calls" in steer(tmp_path, "meeting", "--replies", "2", "--dry-run").stdout


def test_a_domain_from_a_file(tmp_path):
    from importlib.resources import files

    text = files("bestresponse.games.domains").joinpath("meeting.toml").read_text("utf-8")
    mine = tmp_path / "mine.toml"
    mine.write_text(text.replace('name = "meeting"', 'name = "mine"'))
    assert summary(tmp_path, str(mine))["domain"] == "mine"
    mine.write_text(text.replace("[texts]", "[text]"))
    with pytest.raises(InvalidGame, match=r"mine\.toml: texts is missing"):
        steer(tmp_path, str(mine))


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("meetings",), "there is no domain named meetings.*Did you mean meeting"),
        (("meeting", "--solver", "magic"), "expected one of cfr, psro"),
        (("meeting", "--replies", "0"), "--replies is 0; expected at least 1"),
        (("meeting", "--actions", "colour"), "has no actions named 'colour'; expected tone, day"),
        (("meeting", "--wordings", "2", "--temperature", "0"), "need a temperature above 0"),
        (("none.toml",), "there is no file none.toml"),
    ],
)
def test_wrong_requests_end_in_a_sentence(tmp_path, words, complaint):
    with pytest.raises(UsageError, match=complaint):
        steer(tmp_path, *words)
