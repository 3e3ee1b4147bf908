"""The tasks for Inspect run with its scripted model, and its logs carry our measures."""

import json
import math
import os
import re
import shlex
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("inspect_ai", reason="Inspect is not installed: pip install '.[inspect]'")

from click import ClickException
from inspect_ai import eval as run
from inspect_ai.log import list_eval_logs, read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from model_server import ModelServer

from bestresponse.formal.evaluate.dataset import stories
from bestresponse.games.logic.tables import write_table_program
from bestresponse.integrations.inspect.tasks import formalize, game, nash_gap, verify_reasoning

ROOT = Path(__file__).parents[2]


def scripted(*texts):
    outputs = [ModelOutput.from_content("mockllm/model", text) for text in texts]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return get_model("mockllm/model", custom_outputs=outputs)


def scores(task, tmp_path, *texts):
    [log] = run(task, model=scripted(*texts), log_dir=str(tmp_path), display="none", max_samples=1)
    assert log.status == "success", log.error
    return [next(iter(sample.scores.values())) for sample in log.samples]


def test_the_score_of_an_answer_has_the_figures_of_bench_and_an_unread_answer_is_no_zero(tmp_path):
    pure, unread = scores(
        nash_gap(num_games=2, actions=2, seed=6), tmp_path, "ANSWER: A: 1, B: 0", "no idea"
    )
    # the first game is [[9, 24], [38, 4]]: its value is 876/49, row A guarantees 9, and payoffs
    # range over 34
    assert pure.value["nash_gap"] == pure.value["gap_normalised"] == 0
    assert pure.value["exploitability"] == pytest.approx(876 / 49 - 9)
    assert pure.value["exploitability_normalised"] == pytest.approx((876 / 49 - 9) / 34)
    assert all(math.isnan(value) for value in unread.value.values())


def test_a_false_claim_scores_nothing_and_a_true_one_scores_one(tmp_path):
    texts = ["If I defect and you cooperate, I get 1.", "If I defect and you cooperate, I get 5."]
    assert [one.value for one in scores(verify_reasoning(samples=2), tmp_path, *texts)] == [
        0.0,
        1.0,
    ]


def test_a_model_plays_a_seat_against_a_solver_and_its_regret_is_told(tmp_path):
    texts = ['{"answer": "cooperate"}', '{"answer": "defect"}']
    kind, sharp = scores(game("prisoners-dilemma", repeats=2), tmp_path, *texts)
    assert kind.value == {"payoff": 0.0, "regret": 1.0}
    assert sharp.value == {"payoff": 1.0, "regret": 0.0}


def test_seats_are_named_one_by_one():
    with pytest.raises(ClickException, match="name a player for each, got 3"):
        game("stag-hunt", seats="model,random,random")


def test_an_unknown_game_ends_inspects_command_with_a_sentence_and_no_trace(tmp_path):
    inspect = Path(sys.executable).with_name("inspect")
    words = [
        str(inspect),
        "eval",
        "bestresponse/game",
        "-T",
        "game=stag-hnt",
        "--model",
        "mockllm/model",
    ]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "there is no game or file named 'stag-hnt'. Did you mean stag-hunt?" in " ".join(
        done.stderr.split()
    )
    assert "Traceback" not in done.stdout + done.stderr


def test_a_seat_is_named_by_a_word_or_a_list_since_inspects_command_line_gives_both(tmp_path):
    text = '{"answer": "defect"}'
    for seats in ("model,random", ["model", "random"], ["model", " random"]):
        [sharp] = scores(game("prisoners-dilemma", seats=seats), tmp_path, text)
        assert sharp.value["regret"] == 0.0


def test_the_commands_of_the_page_run_as_written(tmp_path):
    pytest.importorskip(
        "openai", reason="Inspect calls OpenAI through its package: pip install openai"
    )
    page = (ROOT / "docs" / "reference" / "evaluation-tools.md").read_text("utf-8")
    section = page.split("\n## Inspect")[1]
    block = re.search(r"^```bash\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)[1]
    commands = [shlex.split(line) for line in block.replace("\\\n", " ").splitlines()]
    texts = {"gpt-4o": "ANSWER: cooperate", "gpt-4o-mini": "ANSWER: defect"}

    def answer(body):
        if "probability" in json.dumps(body["messages"]):
            return "ANSWER: A: 0.33, B: 0.33, C: 0.34"
        return texts[body["model"]]

    inspect = Path(sys.executable).with_name("inspect")
    found = []
    with closing(ModelServer(answer)) as server:
        keys = {"OPENAI_BASE_URL": server.model.split("#")[0], "OPENAI_API_KEY": "none"}
        for number, words in enumerate(commands):
            assert words[0] == "inspect"
            done = subprocess.run(
                [
                    str(inspect),
                    *words[1:],
                    "--log-dir",
                    str(tmp_path / str(number)),
                    "--display",
                    "plain",
                ],
                env={**os.environ, **keys},
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            [log] = list_eval_logs(str(tmp_path / str(number)))
            scored = read_eval_log(log).results.scores
            found.append({score.name: score.metrics["mean"].value for score in scored})
    gaps, played = found
    # the figures of the page for this answer; who cooperates while the rival defects gets 0 and
    # would gain 1
    assert (round(gaps["nash_gap"], 2), round(gaps["exploitability"], 2)) == (16.63, 25.64)
    assert played == {"payoff": 0.0, "regret": 1.0}


def test_a_program_is_compared_with_the_true_game_of_the_story(tmp_path):
    story = next(one for one in stories() if one.game == "prisoners-dilemma")
    [wrong] = scores(formalize(num_stories=1, attempts=1, kind=story.game), tmp_path, "I cannot.")
    assert wrong.value == {"game": 0.0, "true": 0.0}
    program = write_table_program(story.table)
    [right] = scores(formalize(num_stories=1, attempts=1, kind=story.game), tmp_path, program)
    assert right.value == {"game": 1.0, "true": 1.0}


def test_a_story_without_numbers_is_judged_by_what_it_says_of_preferences(tmp_path):
    story = next(one for one in stories() if one.game == "coordination")
    assert not story.numeric
    # Its payoffs are ranks: a program that doubles them tells the same story, and one that negates
    # them does not.
    for factor, is_true in ((2, 1.0), (-1, 0.0)):
        rows = tuple(
            replace(row, payoffs=tuple(factor * u for u in row.payoffs)) for row in story.table.rows
        )
        program = write_table_program(replace(story.table, rows=rows))
        [score] = scores(formalize(num_stories=1, attempts=1, kind=story.game), tmp_path, program)
        assert score.value == {"game": 1.0, "true": is_true}
