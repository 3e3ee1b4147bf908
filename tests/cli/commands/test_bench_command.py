import csv
import json
import os
import random
import re
import signal
import subprocess
import sys
from collections import Counter

import faulty
import pytest
from closed_port import closed_port
from held_calls import PORTIONS, HoldingServer, Killer
from model_server import stated_mix
from waiting import wait_until

from bestresponse.models.wrappers.limits import RetryPolicy
from bestresponse.theory import load_tree, write_game_file

STATED = faulty.say('{"A": 0.5, "B": 0.5}')


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    """What this machine's owner has set changes nothing."""
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)


def figures_in(folder):
    """The figures of the model in the run below a folder."""
    (path,) = folder.glob("*/summary.json")
    return json.loads(path.read_text())["metrics"][0]


def test_a_run_prints_a_table_and_leaves_its_files(bestresponse, serve, tmp_path):
    server = serve()
    done = bestresponse(
        "bench", "--model", server.model, "--num-games", 6, "--seed", 1, "--output-dir", tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "exploitability / range" in done.stdout
    assert "equilibrium" in done.stdout
    (run,) = tmp_path.glob("bench-*")
    assert {p.name for p in run.iterdir()} >= {
        "manifest.json",
        "submissions.jsonl",
        "calls.jsonl",
        "records.jsonl",
        "report.html",
        "report.json",
        "plays.csv",
    }
    figures = figures_in(tmp_path)
    assert figures["asked"] == 6
    with (run / "plays.csv").open(encoding="utf-8", newline="") as file:
        gaps = [float(row["nash_gap"]) for row in csv.DictReader(file)]
    assert figures["nash_gap"]["estimate"] == pytest.approx(sum(gaps) / 6)
    assert len(server.delivered) == 6
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["replies.sqlite"]


def test_the_same_command_again_calls_nobody_and_says_the_same(bestresponse, serve, tmp_path):
    server = serve()
    words = (
        "bench",
        "--model",
        server.model,
        "--num-games",
        5,
        "--seed",
        1,
        "--output-dir",
        tmp_path,
        "--json",
    )
    first, second = bestresponse(*words), bestresponse(*words)
    assert json.loads(first.stdout) == json.loads(second.stdout)
    assert len(server.delivered) == 5
    (run,) = tmp_path.glob("bench-*")
    assert "plays: 5 were the same, 0 were not" in bestresponse("replay", run).stdout
    assert bestresponse("report", tmp_path).returncode == 0


def test_the_same_command_goes_on_with_a_run_that_was_stopped_and_another_seed_begins_another(
    bestresponse, serve, tmp_path
):
    server = serve()
    words = ("bench", "--model", server.model, "--num-games", 5, "--output-dir", tmp_path)
    stopped = bestresponse(*words, "--budget", "2 calls")
    assert stopped.returncode == 1
    assert "stopped" in stopped.stderr
    assert bestresponse(*words).returncode == 0
    assert len(list(tmp_path.glob("bench-*"))) == 1
    assert len(server.delivered) == 5
    assert "0 calls to make" in bestresponse(*words).stderr
    assert bestresponse(*words, "--seed", 2).returncode == 0
    assert len(list(tmp_path.glob("bench-*"))) == 2


def test_killed_inside_requests_a_run_asks_only_those_again_and_ends_with_the_same_figures(
    bestresponse, start, tmp_path
):
    server = HoldingServer(stated_mix)
    words = ("bench", "--model", server.model, "--num-games", 30, "--seed", 7, "--workers", 2)
    assert bestresponse(*words, "--output-dir", tmp_path / "whole").returncode == 0
    unbroken = Counter(server.asked)
    assert unbroken.total() == 30
    killer = Killer(server)
    # Nothing of a reply has come at the first kill, half of one at the second, one at the third.
    for replies, portion in zip((0, 9, 5), PORTIONS, strict=True):
        process = start(*words, "--output-dir", tmp_path / "killed")
        assert killer.kill(process, replies, portion)
    assert (killer.unanswered.total(), killer.answered.total()) == (5, 1)
    assert bestresponse(*words, "--output-dir", tmp_path / "killed").returncode == 0
    assert killer.count_wrongly_asked(unbroken, unbroken) == (0, 0)
    (run,) = (tmp_path / "killed").glob("bench-*")
    specs = [json.loads(line)["spec"] for line in (run / "records.jsonl").read_text().splitlines()]
    assert len(specs) == len(set(specs)) == 30
    assert figures_in(tmp_path / "killed") == figures_in(tmp_path / "whole")
    server.close()


def kill_after(server, replies, process, end=signal.SIGKILL):
    """Let the process have that many replies, and no more, and end it then."""
    delivered = len(server.delivered)
    server.answer_only(replies)
    wait_until(lambda: len(server.delivered) >= delivered + replies)
    process.send_signal(end)
    server.answer_only(
        10
    )  # also those in flight, for which an interrupted run waits, but never all
    said = process.communicate(timeout=300)[1]
    server.answer_only()
    return said


def test_several_models_ways_of_asking_and_suites_go_through(bestresponse, serve, tmp_path):
    def answer(body):
        text = body["messages"][-1]["content"]
        labels = re.search(r"Your possible actions: (.*)\.", text)[1].split(", ")
        if "<p>" in text:
            return json.dumps({label: float(k == 1) for k, label in enumerate(labels)})
        return json.dumps({"answer": labels[0]})

    one, two = serve(answer), serve(answer)
    done = bestresponse(
        "bench",
        "--model",
        one.model,
        "--model",
        two.model,
        "--num-games",
        3,
        "--seed",
        2,
        "--elicit",
        "mixed",
        "--elicit",
        "pure",
        "--elicit",
        "sampled",
        "--samples",
        2,
        "--suite",
        "invariance",
        "--output-dir",
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert len(one.delivered) == len(two.delivered) == 3 * 8 * (1 + 1 + 2)
    html = next(tmp_path.glob("bench-*/report.html")).read_text()
    for title in (
        "Same game, told otherwise",
        "Players compared",
        "How the answers were read",
        "Costs",
    ):
        assert title in html


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["bench", "--model", "gpt-4o"], 2, "Did you mean openai/gpt-4o"),
        (["bench", "--model", "openai/gpt-4o"], 2, "OPENAI_API_KEY"),
        (
            ["bench", "--num-rows", "99"],
            2,
            "--num-rows: expected a whole number from 1 to 12, got 99",
        ),
        (["bench", "--cache", "maybe", "--model", "http://127.0.0.1:9/v1#x"], 2, "--cache"),
        (["bench", "--family", "zero"], 2, "Did you mean zero-sum"),
        (["report", "nowhere"], 2, "there is no folder nowhere"),
        (["replay", "nowhere"], 2, "there is no folder nowhere"),
        (["models", "pull", "smollm3"], 2, "Did you mean smollm2"),
        (["bench", "--model", "README.gguf"], 2, "README.gguf"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(bestresponse, words, code, sentence, tmp_path):
    words = [*words, "--output-dir", str(tmp_path)] if words[0] == "bench" else words
    done = bestresponse(*words)
    assert done.returncode == code
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_an_output_folder_that_cannot_be_written_is_named(bestresponse, serve, tmp_path):
    (tmp_path / "file").write_text("")
    done = bestresponse(
        "bench",
        "--model",
        serve().model,
        "--num-games",
        1,
        "--output-dir",
        tmp_path / "file" / "below",
    )
    assert done.returncode == 1
    assert "below" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_is_no_model_is_named(bestresponse, tmp_path):
    (tmp_path / "fake.gguf").write_bytes(b"not a model at all")
    done = bestresponse("bench", "--model", tmp_path / "fake.gguf", "--output-dir", tmp_path)
    assert done.returncode == 1
    assert "GGUF" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_server_that_is_not_there_ends_with_a_sentence(bestresponse, tmp_path, monkeypatch):
    monkeypatch.setattr(RetryPolicy, "wait", lambda *_: 0.0)
    with closed_port() as port:
        model = f"http://127.0.0.1:{port}/v1#nobody"
        done = bestresponse(
            "bench", "--model", model, "--num-games", 2, "--output-dir", tmp_path, "--seed", 1
        )
    assert done.returncode == 1
    assert "not everything was played" in done.stderr
    assert "Traceback" not in done.stderr


BAD_ANSWERS = [
    faulty.break_off,
    faulty.reset,
    faulty.answer(b""),
    faulty.answer(b"<html>busy</html>", kind="text/html"),
    faulty.answer({"error": "busy"}),
    faulty.answer(b"\x00\xff"),
    faulty.answer({}, status=429),
    faulty.answer(b"busy", status=503),
]


@pytest.mark.parametrize("plays", [30, pytest.param(200, marks=pytest.mark.soak)])
def test_a_run_with_three_bad_answers_in_ten_ends_in_one_start(
    bestresponse, tmp_path, monkeypatch, plays
):
    monkeypatch.setattr(RetryPolicy, "wait", lambda *_: 0.0)
    rng = random.Random(1)
    sent = Counter()

    def act(handler):
        is_bad = rng.random() < 0.3
        sent["bad" if is_bad else "good"] += 1
        return (rng.choice(BAD_ANSWERS) if is_bad else faulty.answer(STATED))(handler)

    with faulty.serving(act) as server:
        done = bestresponse(
            "bench", "--model", f"{server.url}#m", "--num-games", plays, "--num-rows", 2,
            "--workers", 1, "--seed", 1, "--output-dir", tmp_path,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert sent["good"] == plays
    assert sent["bad"] > plays / 4
    (path,) = tmp_path.glob("*/summary.json")
    (costs,) = json.loads(path.read_text())["costs"]
    assert costs["calls"] == sent.total()  # also those that failed


def test_half_a_reply_is_asked_for_again(bestresponse, serve, tmp_path):
    server = serve(lies=(3,))
    done = bestresponse(
        "bench", "--model", server.model, "--num-games", 6, "--seed", 1, "--output-dir", tmp_path
    )
    assert done.returncode == 0
    assert (figures_in(tmp_path)["asked"], server.calls) == (6, 7)


def test_a_key_never_reaches_a_file_or_the_screen(bestresponse, serve, tmp_path, monkeypatch):
    key = "sk-very-secret-0123456789"
    for name in ("BESTRESPONSE_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, key)
    done = bestresponse(
        "bench", "--model", serve().model, "--num-games", 2, "--seed", 1, "--output-dir", tmp_path
    )
    assert done.returncode == 0
    assert key not in done.stdout + done.stderr
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert key.encode() not in path.read_bytes(), path


def test_dry_run_says_what_it_would_take_and_calls_nobody(bestresponse, serve, tmp_path):
    server = serve()
    done = bestresponse(
        "bench", "--model", server.model, "--num-games", 50, "--dry-run", "--output-dir", tmp_path
    )
    assert re.match(
        r"50 games, seed \d+; 50 plays; at most 50 calls; about [\d,]+ tokens", done.stdout
    )
    assert server.delivered == []


def test_dry_run_shows_dollars_where_the_price_is_known_and_says_where_it_is_not(
    bestresponse, serve
):
    pytest.importorskip("genai_prices")
    known = bestresponse(
        "bench", "--model", "openai/gpt-4o", "--num-games", 1, "--dry-run", "--json"
    )
    tokens = json.loads(known.stdout)
    # 2.50 dollars a million prompt tokens, 10 dollars a million of the reply
    expected = (2.5 * tokens["prompt_tokens"] + 10 * tokens["reply_tokens"]) / 1e6
    assert tokens["dollars"] == pytest.approx(expected)
    assert tokens["reply_tokens"] == 4000
    assert (
        "; dollars not known" in bestresponse("bench", "--model", serve().model, "--dry-run").stdout
    )


def test_the_embedded_model_is_shown_20_games_and_the_minutes_are_said(bestresponse):
    said = bestresponse("bench", "--dry-run").stdout
    assert said.startswith(
        "20 games, seed 0; smollm2 takes about 3 minutes; 20 plays; at most 20 calls"
    )


def test_every_command_has_help_and_nothing_heavy_is_imported_for_it(bestresponse):
    for words in ([], ["bench"], ["models"], ["report"], ["replay"], ["games"]):
        done = bestresponse(*words, "--help")
        assert done.returncode == 0
        assert "Usage: " in done.stdout
    shown = subprocess.run(
        [sys.executable, "-m", "bestresponse", "--help"],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert "Usage: " in shown.stdout
    heavy = ("numpy", "scipy", "httpx", "matplotlib")
    code = (
        f"import sys; from bestresponse.cli import app; print([m for m in {heavy} if m in"
        " sys.modules])"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    assert loaded.stdout.strip() == "[]"


def test_an_interrupt_says_what_is_kept_and_the_same_command_goes_on(
    bestresponse, start, serve, tmp_path
):
    server = serve()
    words = (
        "bench",
        "--model",
        server.model,
        "--num-games",
        40,
        "--seed",
        3,
        "--workers",
        2,
        "--output-dir",
        tmp_path,
    )
    process = start(*words)
    said = kill_after(server, 5, process, signal.SIGINT)
    assert process.returncode == 130
    assert "waiting for the plays under way, which are kept; Ctrl-C again does not wait" in said
    assert "what was finished is kept" in said
    assert "Traceback" not in said
    assert bestresponse(*words).returncode == 0
    assert figures_in(tmp_path)["asked"] == 40


GAME = """NFG 1 R "Prices" { "Krume" "Brezel" } { 2 2 } 80 80 100 20 20 100 50 50
"""


def test_a_game_played_in_turn_is_asked_at_every_information_set(bestresponse, serve, tmp_path):
    server = serve(lambda body: '{"pass": 0.5, "bet": 0.5}')
    words = ("bench", "kuhn-poker", "--model", server.model, "--output-dir", tmp_path)
    done = bestresponse(*words, "--json")
    assert done.returncode == 0, done.stderr
    assert len(server.delivered) == 12
    player = json.loads(done.stdout)["metrics"][0]
    assert abs(player["nash_conv"]["estimate"] - 11 / 12) < 1e-9
    dry = bestresponse(
        "bench", "leduc-poker", "--model", server.model, "--max-infosets", 30, "--dry-run"
    )
    assert "30 of 288 information sets" in dry.stdout
    seeded = bestresponse("bench", "kuhn-poker", "--model", server.model, "--seed", 1, "--dry-run")
    assert "12 of 12 information sets of kuhn-poker" in seeded.stdout
    useless = bestresponse("bench", "kuhn-poker", "--family", "uniform").stderr
    assert "--family: this has no effect on a game played in turn" in useless
    assert (
        "--max-infosets: this has no effect on" in bestresponse("bench", "--max-infosets", 3).stderr
    )


def test_a_tree_in_a_file_is_asked_like_one_of_the_catalogue_and_its_shards_merge(
    bestresponse, serve, tmp_path
):
    server = serve(lambda body: '{"pass": 0.5, "bet": 0.5}')
    write_game_file(load_tree("kuhn-poker"), tmp_path / "cards.efg")
    words = ("bench", tmp_path / "cards.efg", "--model", server.model)
    for part in ("1/2", "2/2"):
        done = bestresponse(*words, "--shard", part, "--output-dir", tmp_path / f"part {part[0]}")
        assert done.returncode in (0, 1), done.stderr
    merged = bestresponse(
        "merge", tmp_path / "part 1", tmp_path / "part 2", "-o", tmp_path / "all", "--json"
    )
    assert merged.returncode == 0, merged.stderr
    assert len(server.delivered) == 12
    (summary,) = (tmp_path / "all").glob("*/summary.json")
    player = json.loads(summary.read_text())["metrics"][0]
    assert player["nash_conv"]["estimate"] == pytest.approx(11 / 12)


def test_a_tree_of_openspiel_is_asked_at_every_information_set(bestresponse, serve, tmp_path):
    pytest.importorskip("pyspiel", reason="the extra `openspiel` is not installed")
    server = serve(lambda body: '{"Pass": 0.5, "Bet": 0.5}')
    words = (
        "bench",
        "openspiel:kuhn_poker",
        "--model",
        server.model,
        "--output-dir",
        tmp_path,
        "--json",
    )
    done = bestresponse(*words)
    assert done.returncode == 0, done.stderr
    player = json.loads(done.stdout)["metrics"][0]
    assert player["nash_conv"]["estimate"] == pytest.approx(11 / 12)


def test_one_game_is_put_to_a_model_with_its_actions_in_every_order(bestresponse, serve, tmp_path):
    (tmp_path / "prices.nfg").write_text(GAME)
    server = serve(lambda body: '{"1": 0.25, "2": 0.75}')
    words = (
        "bench",
        tmp_path / "prices.nfg",
        "--model",
        server.model,
        "--seed",
        1,
        "--output-dir",
        tmp_path,
    )
    done = bestresponse(*words)
    assert done.returncode == 0, done.stderr
    assert "wrote" in done.stderr
    assert server.model in done.stdout
    assert len(server.delivered) == 4
    (run,) = tmp_path.glob("bench-*")
    assert "with its actions in 4 orders" in (run / "report.html").read_text()
    refused = bestresponse("bench", tmp_path / "prices.nfg", "--scale", 2)
    assert (
        refused.returncode,
        "--scale: this has no effect on one payoff table" in refused.stderr,
    ) == (2, True)
    assert "no game or file named 'matirx'" in bestresponse("bench", "matirx").stderr
