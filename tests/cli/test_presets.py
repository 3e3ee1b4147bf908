"""A preset stands for the settings of a paper; what is typed beside it wins, and that is said."""

import json
import re

import pytest
from model_server import ModelServer
from typer.testing import CliRunner

from bestresponse.cli.app import app

COMMANDS = {
    "bench stories": ("samples", 5, ["--model", "random", "--count", "2"]),
    "bench strategies": ("temperature", 1.0, ["--model", "random"]),
    "steer debate": ("variant", "cfr", ["--fresh", "0"]),
    "simulate water": ("grid", True, ["--model", "need", "--days", "1"]),
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


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_lists_what_a_preset_sets_and_others_are_refused(command, tmp_path):
    name, value, words = COMMANDS[command]
    shown = re.sub(r"\s+", " ", run(command, "--help").output)
    assert f"{name}={value}" in shown
    refused = run(command, "--preset", "book", *words, "--output-dir", str(tmp_path))
    assert "preset: expected paper, got 'book'" in str(refused.exception) + refused.output
