"""The scanner for Inspect Scout: false claims in transcripts, and what they cost."""

import asyncio
import shutil
import subprocess

import pytest

pytest.importorskip("inspect_scout", reason="Scout is not installed: pip install '.[scout]'")

from inspect_ai import eval as run
from inspect_ai.log import read_eval_log
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageUser,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_scout import Transcript, scan_results_df
from sample_runs import bench_run

from bestresponse.integrations.inspect.scanner import false_claims
from bestresponse.integrations.inspect.tasks import verify_reasoning
from bestresponse.runs.publishing import publish_run

FALSE = "If I defect and you cooperate, I get 1."
TRUE = "If I defect and you cooperate, I get 5."


def scan(*texts, metadata=None, **arguments):
    """What the scanner says of a chat in which a model said these texts."""
    messages = [ChatMessageUser(content=f"What do you do? {FALSE}")]
    messages += [ChatMessageAssistant(content=text) for text in texts]
    transcript = Transcript(transcript_id="1", messages=messages, metadata=metadata or {})
    return asyncio.run(false_claims(**arguments)(transcript))


def test_a_false_claim_is_counted_once_and_corrected_where_it_was_made():
    result = scan(TRUE, f"{FALSE} I like defecting.", FALSE, game="prisoners-dilemma")
    assert result.value == 1
    assert [reference.cite for reference in result.references] == ["[M3]", "[M4]"]
    assert "you get 5" in result.explanation
    assert result.metadata["claims"] == 3
    assert result.metadata["share_read"] == 1.0
    assert result.metadata["regret"] is None


def test_what_users_say_is_not_checked_and_true_claims_are_not_refuted():
    result = scan(TRUE, game="prisoners-dilemma")
    assert (result.value, result.explanation, result.references) == (0, "nothing refuted", [])


def test_a_false_best_response_costs_what_it_loses():
    # against cooperate, defecting earns 5 and cooperating 3
    said = "If you cooperate, my best response is to cooperate."
    assert scan(said, game="prisoners-dilemma").metadata["regret"] == 2.0


def test_the_game_is_the_one_that_the_metadata_name():
    assert scan(FALSE, metadata={"sample_metadata": {"game": "prisoners-dilemma"}}).value == 1


@pytest.mark.parametrize(
    ("texts", "game", "why"),
    [
        ([FALSE], "", "no game is named: give one with -S game=NAME"),
        ([FALSE], "prisoner-dilemma", "Did you mean prisoners-dilemma?"),
        (["The weather is fine."], "prisoners-dilemma", "could be checked"),
        ([], "prisoners-dilemma", "could be checked"),
    ],
)
def test_a_transcript_about_no_game_has_no_value_and_a_reason(texts, game, why):
    result = scan(*texts, game=game)
    assert result.value is None
    assert why in result.explanation


def scan_logs(logs, results, *arguments):
    command = [shutil.which("scout"), "scan", "bestresponse/false_claims", *arguments]
    command += ["-T", str(logs), "--scans", str(results), "--display", "plain"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    [place] = results.glob("scan_id=*")
    return scan_results_df(str(place)).scanners["false_claims"]


def test_the_command_of_the_page_scans_the_logs_of_inspect(tmp_path):
    outputs = [ModelOutput.from_content("mockllm/model", text) for text in (FALSE, TRUE)]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    model = get_model("mockllm/model", custom_outputs=outputs)
    run(verify_reasoning(samples=2), model=model, log_dir=str(tmp_path / "logs"), display="none")
    found = scan_logs(tmp_path / "logs", tmp_path / "scans")
    assert sorted(map(int, found["value"])) == [0, 1]


def test_a_published_log_is_read_by_inspect_and_scanned(tmp_path):
    played = bench_run(tmp_path / "run", num_games=2, answer=TRUE)
    (tmp_path / "logs").mkdir()
    [path] = publish_run(played, "inspect-log", tmp_path / "logs")
    log = read_eval_log(str(path))
    assert [sample.messages[-1].text for sample in log.samples] == [TRUE, TRUE]
    assert log.results.total_samples == 2
    found = scan_logs(tmp_path / "logs", tmp_path / "scans", "-S", "game=prisoners-dilemma")
    assert list(map(int, found["value"])) == [0, 0]
