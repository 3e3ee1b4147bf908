"""The environments of the package `examples/verifiers`, evaluated by verifiers' own runner with a
model on loopback."""

import asyncio
import json
import os
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("verifiers.v1", reason="verifiers is not installed: pip install '.[verifiers]'")

from model_server import ModelServer
from verifiers.v1.cli.eval.runner import run_eval
from verifiers.v1.configs.cli.eval import EvalConfig

import bestresponse as br
from bestresponse.integrations.bench_questions import choose_questions

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "verifiers"


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    """Lay the example package where modules are found."""
    monkeypatch.syspath_prepend(EXAMPLE)


def evaluate(tmp_path, answer, taskset, **env):
    """Run an evaluation for a minute at most and return its episodes and what the model was
    asked."""
    server = ModelServer(answer)
    config = EvalConfig(
        env={"taskset": taskset, **env},
        model="fake",
        client={"base_url": server.model.split("#")[0], "api_key_var": "NO_SUCH_KEY"},
        push=False,
        rich=None,
        output_dir=tmp_path,
    )
    try:
        episodes = asyncio.run(asyncio.wait_for(run_eval(config), 60))
    finally:
        server.close()
    return episodes, [json.loads(body)["messages"] for body in server.delivered]


def test_rows_of_an_export_are_asked_and_rewarded(tmp_path):
    folder = tmp_path / "data"
    br.export(folder, purpose="rl", count=800, sizes="2", rectangular=0, formats="short")
    rows = list(map(json.loads, (folder / "validation-00000.jsonl").read_text().splitlines()))
    taskset = {"id": "bestresponse_solved_games", "folder": str(folder), "split": "validation"}
    episodes, asked = evaluate(tmp_path, lambda body: "ANSWER: A: 0.25, B: 0.75", taskset)
    rewards = sorted(episode.traces[0].reward for episode in episodes)
    # who has the columns names them P and Q: this answer cannot be read, and is worth 0
    expected = [br.rewards.reward_reply("ANSWER: A: 0.25, B: 0.75", row["task"]) for row in rows]
    assert 0 in expected
    assert max(expected) > 0.5
    assert rewards == pytest.approx(sorted(expected))
    assert sorted(messages[-1]["content"] for messages in asked) == sorted(
        row["prompt"][-1]["content"] for row in rows
    )
    episodes, _ = evaluate(tmp_path, lambda body: "I do not know", taskset)
    assert [episode.traces[0].reward for episode in episodes] == [0.0] * len(rows)


def test_a_pure_strategy_is_rewarded_with_minus_what_it_loses_at_worst(tmp_path):
    taskset = {"id": "bestresponse_nash_gap", "num_games": 1, "actions": 2, "seed": 6}
    [episode], [messages] = evaluate(tmp_path, lambda body: "ANSWER: A: 1, B: 0", taskset)
    [trace] = episode.traces
    # the game is [[9, 24], [38, 4]]: its value is 876/49, row A guarantees 9, and payoffs range
    # over 34
    assert episode.ok
    assert trace.reward == pytest.approx(-(876 / 49 - 9) / 34)
    assert trace.metrics["exploitability"] == pytest.approx(876 / 49 - 9)
    assert trace.metrics["nash_gap"] == 0
    (asked,) = choose_questions(1, 2, 6)
    assert messages == [
        {"role": "system", "content": asked["system"]},
        {"role": "user", "content": asked["prompt"]},
    ]


@pytest.mark.parametrize(("reward", "paid"), [("success", 1.0), ("gap", 0.0)])
def test_success_and_the_nash_gap_are_rewards_too(tmp_path, reward, paid):
    taskset = {
        "id": "bestresponse_nash_gap",
        "num_games": 1,
        "actions": 2,
        "seed": 6,
        "task": {"reward": reward},
    }
    # row A is played with the probability 34/49 that makes both columns equal
    [optimal], _ = evaluate(tmp_path, lambda body: "ANSWER: A: 34/49, B: 15/49", taskset)
    assert optimal.traces[0].reward == pytest.approx(paid)


@pytest.mark.parametrize(
    ("reward", "least"), [("exploitability", -1.0), ("gap", -1.0), ("success", 0.0)]
)
def test_an_answer_that_cannot_be_read_fails_and_has_the_least_reward(tmp_path, reward, least):
    taskset = {"id": "bestresponse_nash_gap", "num_games": 1, "task": {"reward": reward}}
    [episode], _ = evaluate(tmp_path, lambda body: "no idea", taskset)
    [trace] = episode.traces
    assert not episode.ok
    assert trace.has_error
    assert trace.reward == least
    assert "expected a probability for each of A, B, C, got 'no idea'" in trace.errors[-1].message


def test_the_mean_reward_with_unread_answers_is_below_that_of_the_read_ones(tmp_path):
    taskset = {"id": "bestresponse_nash_gap", "num_games": 2, "actions": 2, "seed": 6}
    first = choose_questions(2, 2, 6)[0]["prompt"]

    def answer(body):
        return "ANSWER: A: 1, B: 0" if body["messages"][-1]["content"] == first else "no idea"

    episodes, _ = evaluate(tmp_path, answer, taskset)
    traces = [trace for episode in episodes for trace in episode.traces]
    # the first game is [[9, 24], [38, 4]]: its value is 876/49, row A guarantees 9, and payoffs
    # range over 34
    lost = (876 / 49 - 9) / 34
    assert sum(trace.reward for trace in traces) / 2 == pytest.approx((-lost - 1) / 2)
    assert [trace.reward for trace in traces if not trace.has_error] == [pytest.approx(-lost)]


def test_the_command_of_the_page_runs_as_written(tmp_path):
    page = (ROOT / "docs" / "reference" / "evaluation-tools.md").read_text("utf-8")
    section = page.split("\n## verifiers")[1]
    command = re.search(r"^```bash\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)[1].strip()
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    modules = os.pathsep.join([str(EXAMPLE), os.environ.get("PYTHONPATH", "")])
    with closing(ModelServer(lambda body: "ANSWER: A: 0.34, B: 0.33, C: 0.33")) as server:
        address = {"BASE_URL": server.model.split("#")[0], "OPENAI_API_KEY": "none"}
        done = subprocess.run(
            ["bash", "-c", f"{command} --no-rich --output-dir {tmp_path / 'evaluated'}"],
            env={**os.environ, "PATH": path, "PYTHONPATH": modules, **address},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    [file] = (tmp_path / "evaluated").rglob("*.jsonl")
    episodes = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    episodes.sort(key=lambda episode: episode["task"]["data"]["idx"])
    rewards = [
        episode["traces"][0]["rewards"]["minus_exploitability_normalised"] for episode in episodes
    ]
    assert [round(reward["score"], 2) for reward in rewards] == [
        -0.06,
        -0.34,
        -0.18,
    ]  # as the page says


def test_a_model_plays_against_a_solver_and_gets_the_payoff_of_its_seat(tmp_path):
    [episode], asked = evaluate(
        tmp_path,
        lambda body: "ANSWER: cooperate",
        {"id": "bestresponse_game", "game": "prisoners-dilemma"},
    )
    [trace] = episode.traces
    assert (trace.reward, trace.metrics["regret"], trace.info["role"]) == (0.0, 1.0, "row")
    assert len(asked) == 1


def test_two_models_are_rewarded_each_for_its_own_seat(tmp_path):
    taskset = {"id": "bestresponse_game", "game": "prisoners-dilemma", "seats": ["player", "rival"]}
    rival = {"model": "other"}

    def answer(body):
        return "ANSWER: defect" if body["model"] == "other" else "ANSWER: cooperate"

    [episode], _ = evaluate(tmp_path, answer, taskset, rival=rival)
    payoffs = {
        trace.info["role"]: (trace.agent.name, trace.reward, trace.agent.trainable)
        for trace in episode.traces
    }
    assert payoffs == {"row": ("player", 0.0, True), "col": ("rival", 5.0, False)}


def test_two_learning_seats_of_one_model_have_rewards_of_their_own(tmp_path):
    taskset = {"id": "bestresponse_game", "game": "prisoners-dilemma"}
    taskset["seats"] = ["player", "player"]

    def answer(body):
        is_row = "You are row in" in body["messages"][0]["content"]
        return "ANSWER: cooperate" if is_row else "ANSWER: defect"

    [episode], _ = evaluate(tmp_path, answer, taskset)
    traces = {trace.info["role"]: trace for trace in episode.traces}
    # who cooperates against a defector gets 0 and would gain 1; the defector gets 5, the best reply
    assert {role: trace.reward for role, trace in traces.items()} == {"row": 0.0, "col": 5.0}
    assert {role: trace.metrics["regret"] for role, trace in traces.items()} == {
        "row": 1.0,
        "col": 0.0,
    }
    assert all(trace.agent.trainable for trace in traces.values())


def test_a_later_turn_shows_only_what_is_new(tmp_path):
    taskset = {"id": "bestresponse_game", "game": "centipede", "seats": ["player", "player"]}
    [episode], asked = evaluate(tmp_path, lambda body: "ANSWER: pass", taskset)
    assert episode.ok
    longest = max(asked, key=len)
    assert [message["role"] for message in longest] == ["user", "assistant", "user"]
    first, second = longest[0]["content"], longest[2]["content"]
    assert "Two players" in first
    assert "Two players" not in second


def test_a_play_without_a_readable_move_is_void_and_has_no_reward(tmp_path):
    taskset = {"id": "bestresponse_game", "game": "prisoners-dilemma"}
    [episode], asked = evaluate(tmp_path, lambda body: "I would rather not say.", taskset)
    [trace] = episode.traces
    assert (episode.ok, trace.ok, trace.rewards) == (False, False, {})
    assert "the play is void" in episode.errors[-1].message
    assert len(asked) == 3
    assert asked[2][-1]["content"].startswith("Your last answer could not be used")
