"""A preset stands for the settings of a paper; what is typed beside it wins, and that is said."""

import json
import re

import pytest
from model_server import ModelServer
from typer.testing import CliRunner

from bestresponse.cli.app import app
from bestresponse.formal.claims.claim import PAPER_FORMS

COMMANDS = {
    "bench stories": ("samples", 5, ["--model", "random", "--count", "2"]),
    "bench strategies": ("temperature", 1.0, ["--model", "random"]),
    "steer debate": ("variant", "cfr", ["--fresh", "0"]),
    "simulate water": ("abundance", "low,medium,high", ["--model", "need", "--days", "1"]),
    "verify prisoners-dilemma-lelma": ("forms", "paper", ["--model", "random"]),
}


def run(command, *words):
    return CliRunner().invoke(app, [*command.split(), *words])


def read_config(folder):
    (manifest,) = folder.glob("*/manifest.json")
    return json.loads(manifest.read_text())["config"]


def test_the_paper_s_settings_are_those_of_the_run(tmp_path):
    words = ["--model", "need", "--days", "1", "--output-dir", str(tmp_path)]
    done = run("simulate water", "--preset", "paper", *words)
    assert done.exit_code == 0, done.output
    assert "replaces" not in done.stderr
    # Six settings of ten games.
    (folder,) = tmp_path.glob("water-*")
    assert len((folder / "records.jsonl").read_text().splitlines()) == 6 * 10


def test_what_is_typed_wins_and_that_is_said(tmp_path):
    words = ["--preset", "paper", "--iterations", "20", "--fresh", "0"]
    done = run("steer debate", *words, "--output-dir", str(tmp_path))
    assert done.exit_code == 0, done.output
    assert "iterations=20 replaces iterations=10 of the preset paper" in done.stderr
    config = read_config(tmp_path)
    assert (config["policy"], config["variant"], config["iterations"]) == ("cfr", "cfr", 20)


WATER = ["simulate water", "--preset", "paper", "--model", "need", "--days", "1", "--repeats", "10"]


@pytest.mark.parametrize(
    ("typed", "sentence", "conditions"),
    [
        (
            ["--abundance", "high"],
            "abundance=high replaces abundance=low,medium,high of the preset paper",
            {(False, 20), (True, 20)},
        ),
        (
            ["--low", "1", "--high", "2"],
            "low=1, high=2 replaces abundance=low,medium,high of the preset paper",
            {(False, 1), (True, 1)},
        ),
        (
            ["--settings", "with_personas=off"],
            "with_personas=off replaces with_personas=both of the preset paper",
            {(False, 10), (False, 15), (False, 20)},
        ),
    ],
)
def test_what_says_the_same_in_another_way_wins_too(typed, sentence, conditions, tmp_path):
    done = run(*WATER, *typed, "--output-dir", str(tmp_path))
    assert done.exit_code == 0, done.output
    assert done.stderr.count("replaces") == 1
    assert sentence in done.stderr
    (records,) = tmp_path.glob("water-*/records.jsonl")
    plays = [json.loads(line)["data"] for line in records.read_text().splitlines()]
    assert {(play["persona"], play["rules"]["low"]) for play in plays} == conditions
    assert len(plays) == 10 * len(conditions)


def test_what_is_typed_as_the_preset_has_it_replaces_nothing(tmp_path):
    words = ["--settings", "variant=cfr", "--iterations", "10", "--fresh", "0"]
    done = run("steer debate", "--preset", "paper", *words, "--output-dir", str(tmp_path))
    assert done.exit_code == 0, done.output
    assert "replaces" not in done.stderr


def test_a_preset_has_what_the_chosen_solver_takes(tmp_path):
    words = [
        "--solver",
        "psro",
        "--preset",
        "paper",
        "--settings",
        "held_out=0",
        "--iterations",
        "1",
    ]
    done = run("steer fruit", *words, "--plays", "1", "--output-dir", str(tmp_path))
    assert done.exit_code == 0, done.output
    config = read_config(tmp_path)
    assert (config["solver"], config["meta"]) == ("psro", "replicator")


def test_the_preset_of_imitation_has_no_policy_of_cfr():
    done = run("steer meeting", "--solver", "imitation", "--preset", "paper", "--dry-run")
    assert done.exit_code == 0, done.output
    assert "200 games of meeting" in done.output


def test_verify_asks_as_the_paper_does_and_counts_its_queries(tmp_path):
    server = ModelServer(lambda body: "If both pick R, I get 1.\nANSWER: R")
    words = ["--model", server.model, "--translator", "rules", "--repeats", "1"]
    game = "verify prisoners-dilemma-lelma"
    done = run(game, "--preset", "paper", *words, "--output-dir", str(tmp_path))
    server.close()
    assert done.exit_code == 0, done.output
    assert "repeats=1 replaces repeats=30 of the preset paper" in done.stderr
    config = read_config(tmp_path)
    assert (config["forms"], config["temperature"], config["attempts"]) == ("paper", 1.0, 5)
    (body,) = map(json.loads, server.delivered)
    assert body["temperature"] == 1.0
    assert "write down" not in json.dumps(body["messages"])


def test_the_translator_of_the_paper_is_offered_its_queries_alone(tmp_path):
    server = ModelServer(lambda body: "If both pick R, I get 1.\nANSWER: R")
    words = ["--preset", "paper", "--model", server.model, "--attempts", "1", "--repeats", "2"]
    done = run("verify prisoners-dilemma-lelma", *words, "--output-dir", str(tmp_path))
    server.close()
    assert done.exit_code == 0, done.output
    bodies = list(map(json.loads, server.delivered))
    asked = [body for body in bodies if "The forms of claim" in json.dumps(body["messages"])]
    offered = re.findall(r"\n- (\w+): \w+ \(", asked[0]["messages"][-1]["content"])
    assert set(offered) == set(PAPER_FORMS)
    reasoners = [body["seed"] for body in bodies if body["temperature"] == 1.0]
    assert len(set(reasoners)) == len(reasoners) == 2


@pytest.mark.parametrize("command", ["bench stories --count 1", "bench strategies"])
def test_samples_of_the_preset_differ_in_their_seeds(command, tmp_path):
    server = ModelServer(lambda body: "no")
    words = ["--preset", "paper", "--model", server.model, "--attempts", "1"]
    if command == "bench strategies":
        words += ["--strategies", "default-move"]
    done = run(command, *words, "--output-dir", str(tmp_path))
    server.close()
    assert done.exit_code == 0, done.output
    bodies = list(map(json.loads, server.delivered))
    assert {body["temperature"] for body in bodies} == {1.0}
    assert len({body["seed"] for body in bodies}) == len(bodies) == 5


def test_stories_of_the_preset_are_those_of_the_papers_games_unless_some_are_given(tmp_path):
    words = ["--preset", "paper", "--model", "openai/x", "--dry-run"]
    done = run("bench stories", *words, "--output-dir", str(tmp_path))
    # 91 stories of five games, each with five programs of five attempts at most
    assert "at most 2,275 calls" in done.output
    own = tmp_path / "own"
    own.mkdir()
    (own / "a.txt").write_text("Two shops set a price.")
    (own / "a.nfg").write_text('NFG 1 R "" {"A" "B"} {2 2}\n3 3 0 5 5 0 1 1')
    done = run("bench stories", *words, "--stories", str(own), "--output-dir", str(tmp_path))
    assert "at most 25 calls" in done.output
    assert "replaces games=battle-of-the-sexes,hawk-dove" in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_lists_what_a_preset_sets_and_others_are_refused(command, tmp_path):
    name, value, words = COMMANDS[command]
    shown = re.sub(r"\s+", " ", run(command, "--help").output)
    assert f"{name}={value}" in shown
    refused = run(command, "--preset", "book", *words, "--output-dir", str(tmp_path))
    assert "preset: expected paper, got 'book'" in str(refused.exception) + refused.output
