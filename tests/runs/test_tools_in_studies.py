"""Tools that models may call in a tournament, as in `simulate`."""

import json

import pytest
from typer.testing import CliRunner

import bestresponse as br
from bestresponse.cli.app import app
from bestresponse.core.errors import UsageError
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.matches import estimate_matches

DILEMMA = "prisoners-dilemma"


def best_move(round: int) -> str:
    """Return the move that is best in a round."""
    if round > 1:
        raise ValueError("there is no such round")
    return "defect"


def play_by_tool(prompt):
    """Call the tool once, then do what it says."""
    if "Result of best_move: " in prompt:
        return f"ANSWER: {prompt.rpartition('Result of best_move: ')[2].split()[0]}"
    return 'TOOL best_move {"round": 1}'


MODEL = br.models.from_function("asks-a-tool", play_by_tool)


def read_calls(run):
    return [json.loads(line) for line in (run.path / "calls.jsonl").read_text().splitlines()]


def test_a_model_calls_a_tool_in_a_tournament_and_the_call_is_recorded(tmp_path):
    run = br.tournament(
        DILEMMA,
        [MODEL, "cooperator"],
        rounds=2,
        tools=[best_move],
        against="cooperator",
        seats="first",
        output_dir=tmp_path,
    )
    standings = {row["name"]: row["total"] for row in run.frames["standings"]}
    # It defects twice on somebody who cooperates: 5 + 5.
    assert standings["asks-a-tool"] == 10.0
    uses = [call["reply"]["tools"] for call in read_calls(run)]
    assert uses
    assert all(use == [["best_move", '{"round": 1}', "defect"]] for use in uses)
    again = br.load_run(run.path)
    assert again.replay().different == ()
    assert again.config.tools[0].name == "best_move"


def test_tools_go_with_every_game_of_a_tournament(tmp_path):
    asked = []

    def listen(prompt):
        asked.append(prompt)
        return "ANSWER: defect"

    games = [DILEMMA, "stag-hunt"]
    entries = [br.models.from_function("listens", listen), "tit-for-tat"]
    br.tournament(games, entries, rounds=1, tools=[best_move], output_dir=tmp_path)
    assert any("stag" in text for text in asked)
    assert any("cooperate" in text for text in asked)
    assert all("best_move(round: integer)" in text for text in asked)


def test_tools_where_no_model_takes_part_are_refused():
    with pytest.raises(UsageError, match="this has no effect where no model takes part"):
        TournamentConfig(DILEMMA, ("tit-for-tat", "defector"), tools=[best_move])


def test_the_estimate_counts_every_call_of_a_tool():
    entries = ("openai/m", "tit-for-tat")
    plain = TournamentConfig(DILEMMA, entries, rounds=3)
    tooled = TournamentConfig(DILEMMA, entries, rounds=3, tools=[best_move], tool_calls=4)
    before, after = (estimate_matches(one).total_calls for one in (plain, tooled))
    assert after == 5 * before > 0


def test_both_commands_tell_of_tools():
    for words in (["tournament", "--help"], ["simulate", "game", "--help"]):
        shown = CliRunner().invoke(app, words).stdout
        assert "--tools" in shown
        assert "tool_calls" in shown


@pytest.mark.filterwarnings("ignore:no play of")
def test_a_tool_that_fails_or_is_called_without_end_loses_nothing(tmp_path):
    calls = []

    def loop(prompt):
        calls.append(prompt)
        return 'TOOL best_move {"round": 9}'

    run = br.tournament(
        DILEMMA,
        [br.models.from_function("loops", loop), "cooperator"],
        rounds=1,
        tools=[best_move],
        tool_calls=2,
        against="cooperator",
        output_dir=tmp_path,
    )
    told = [use for call in read_calls(run) for use in call["reply"]["tools"]]
    assert told[0][2] == "best_move failed: ValueError: there is no such round"
    # Two seats, each asked three times: two calls of the tool, then for the answer.
    assert len(calls) == 2 * 3
    assert "best_move failed" in calls[-1]
    rows = {row["name"]: row for row in run.frames["standings"]}
    assert rows["loops"]["total"] is None
