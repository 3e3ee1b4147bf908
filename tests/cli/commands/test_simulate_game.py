"""`bestresponse simulate GAME`, as it is typed."""

import json
import re
from pathlib import Path

import pytest
from waiting import wait_until

from bestresponse.formal.formalize import library

DILEMMA = Path(library.__file__).parent / "prisoners_dilemma.pl"


def first_option(body):
    text = body["messages"][-1]["content"]
    option = re.findall(r'<one of "([^"]+)"', text)[-1]
    return json.dumps({"answer": option})


def test_a_formalized_game_is_simulated_reported_and_replayed(bestresponse, serve, tmp_path):
    server = serve(first_option)
    words = (
        "simulate",
        DILEMMA,
        "--model",
        server.model,
        "--others",
        "always:Betray",
        "--repeats",
        3,
        "--output-dir",
        tmp_path,
        "--json",
    )
    done = bestresponse(*words)
    assert done.returncode == 0, done.stderr
    assert "prisoners_dilemma with ada = http" in done.stderr
    assert "3 plays; at most 9 calls; about" in done.stderr
    summary = json.loads(done.stdout)
    assert summary["metrics"][1]["payoff"]["estimate"] == 5.0
    assert (summary["answered"], summary["voids"], summary["costs"][0]["calls"]) == (3, [], 3)
    (run,) = tmp_path.glob("simulate-*")
    files = {path.name for path in run.iterdir()}
    assert files >= {"report.html", "report.json", "payoffs.csv", "moves.csv", "finished"}
    assert len((run / "moves.csv").read_text().splitlines()) == 7
    assert bestresponse(*words).stdout == done.stdout
    assert len(server.delivered) == 3
    assert "plays: 3 were the same, 0 were not" in bestresponse("replay", tmp_path).stdout
    assert "payoff" in bestresponse("report", tmp_path).stdout


def test_killed_in_the_middle_the_same_command_plays_the_rest(bestresponse, start, serve, tmp_path):
    server = serve(first_option)
    words = (
        "simulate",
        "stag-hunt",
        "--model",
        server.model,
        "--repeats",
        20,
        "--workers",
        2,
        "--output-dir",
        tmp_path,
    )
    server.answer_only(15)
    running = start(*words)
    wait_until(lambda: len(server.delivered) >= 15)
    running.kill()
    running.wait(120)
    server.answer_only()
    done = bestresponse(*words)
    assert done.returncode == 0, done.stderr
    (run,) = tmp_path.glob("simulate-*")
    repeats = [
        json.loads(line)["data"]["repeat"]
        for line in (run / "records.jsonl").read_text().splitlines()
    ]
    assert sorted(repeats) == list(range(20))


def test_a_dry_run_says_what_would_be_paid_for_and_does_nothing(bestresponse, tmp_path):
    words = (
        "simulate",
        "game",
        "kuhn-poker",
        "--model",
        "openai/nobody",
        "--repeats",
        50,
        "--output-dir",
        tmp_path,
    )
    done = bestresponse(*words, "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    estimate = json.loads(done.stdout)
    assert (estimate["plays"], estimate["calls"], estimate["sure"]) == (50, 450, True)
    assert estimate["calls_by_model"] == {"openai/nobody": 450}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["stag-hant"], "there is no game or file named 'stag-hant'. Did you mean stag-hunt?"),
        (
            ["stag-hunt", "--seat", "me=random"],
            "--seat: there is no seat 'me'; expected one of row, col",
        ),
        (
            ["stag-hunt", "--seat", "row=random", "--seat", "col=random", "--model", "m"],
            "--model: every seat is taken",
        ),
        (["nowhere.pl"], "nowhere.pl: there is no such file"),
    ],
)
def test_what_makes_no_sense_is_said_in_a_sentence(bestresponse, words, sentence):
    done = bestresponse("simulate", *words)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
