"""`bestresponse simulate water`, as it is typed."""

import csv
import io
import json
import re
import threading

import pytest
from waiting import wait_until


@pytest.fixture
def simulate(bestresponse):
    """Type `simulate water` and more."""
    return lambda *words: bestresponse("simulate", "water", *words)


def a_bid(body):
    """An answer in the form that is asked for, within the balance that the prompt names."""
    text = body["messages"][-1]["content"]
    most = float(re.findall(r"(?:between 0 and|from 0 to) (\d+(?:\.\d+)?)", text)[-1])
    bid = round(most / 3, 2)
    return json.dumps({"answer": bid}) if "JSON" in text else f"I will bid ${bid}."


def records_in(folder):
    (run,) = folder.glob("water-*")
    return [json.loads(line) for line in (run / "records.jsonl").read_text().splitlines()]


def test_bidders_fill_a_grid_and_the_report_and_data_files_are_there(simulate, tmp_path):
    done = simulate("--model", "need", "--grid", "--repeats", 3, "--output-dir", tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert [row["condition"] for row in summary["metrics"]] == [
        "low (10-20), without personas",
        "medium (15-25), without personas",
        "high (20-30), without personas",
        "low (10-20), with personas",
        "medium (15-25), with personas",
        "high (20-30), with personas",
    ]
    assert [row["rsr_start"] for row in summary["metrics"][:3]] == [0.3, 0.4, 0.5]
    (run,) = tmp_path.glob("water-*")
    assert {p.name for p in run.iterdir()} >= {
        "report.html",
        "report.json",
        "games.csv",
        "days.csv",
        "finished",
    }
    assert len((run / "games.csv").read_text().splitlines()) == 19


def test_model_seats_play_and_the_same_command_again_calls_nobody(
    simulate, bestresponse, serve, tmp_path
):
    server = serve(a_bid)
    words = (
        "--model",
        server.model,
        "--settings",
        "with_personas=on",
        "--repeats",
        1,
        "--days",
        2,
        "--seat",
        "Eric=myopic",
        "--output-dir",
        tmp_path,
        "--json",
    )
    first = simulate(*words)
    assert first.returncode == 0, first.stderr
    assert len(server.delivered) == 8
    assert "mathematician" in "".join(server.delivered)
    assert simulate(*words).stdout == first.stdout
    assert len(server.delivered) == 8
    assert "plays: 1 were the same, 0 were not" in bestresponse("replay", tmp_path).stdout
    assert "survivors" in bestresponse("report", tmp_path).stdout


def test_the_seats_of_one_day_are_asked_at_the_same_time(simulate, serve, tmp_path):
    together = threading.Barrier(5)

    def bid_together(body):
        together.wait(timeout=300)
        return a_bid(body)

    server = serve(bid_together)
    done = simulate("--model", server.model, "--repeats", 1, "--days", 2, "--output-dir", tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(server.delivered) == 10


def test_killed_in_the_middle_of_a_grid_the_same_command_plays_the_rest(
    simulate, start, serve, tmp_path
):
    server = serve(a_bid)
    words = (
        "--model",
        server.model,
        "--grid",
        "--repeats",
        3,
        "--days",
        2,
        "--output-dir",
        tmp_path,
    )
    server.answer_only(60)
    running = start("simulate", "water", *words)
    wait_until(lambda: len(server.delivered) >= 60)
    running.kill()
    running.wait(120)
    server.answer_only()
    assert len(records_in(tmp_path)) < 18
    assert simulate(*words).returncode == 0
    records = records_in(tmp_path)
    assert len(records) == len({row["spec"] for row in records}) == 18
    in_flight = 16 * 5
    assert len(server.delivered) - len(set(server.delivered)) <= in_flight


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--low", "25", "--high", "15", "--model", "need"],
            "goes from 25 to 15; expected 0 <= lowest <= highest",
        ),
        (["--model", "neeed"], "there is no strategy named 'neeed' for water. Did you mean need?"),
        (
            ["--model", "need", "--seat", "Zoe=need"],
            "--seat: there is no seat 'Zoe'; expected one of Alex, Bob",
        ),
        (["--model", "need", "--abundance", "huge"], "--abundance: there is no 'huge'"),
        (
            ["--model", "need", "--settings", "with_personas=maybe"],
            "--settings with_personas: expected one of off, on, both",
        ),
        (["--model", "need", "--abundance", "low", "--low", "3"], "the supply is given twice"),
        (["--model", "need", "--repeats", "0"], "--repeats: expected a whole number from 1"),
        (["--model", "need", "--memory", "elephant"], "there is no memory named 'elephant'"),
    ],
)
def test_what_makes_no_sense_is_said_in_a_sentence(simulate, words, sentence, tmp_path):
    done = simulate(*words, "--output-dir", tmp_path)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_files_that_are_wrong_are_explained(simulate, tmp_path):
    persona, rules = tmp_path / "p.toml", tmp_path / "r.toml"
    persona.write_text("[Alex]\nprofession='x'\npersonality='y'\nbackground='z'\nage=3\n")
    done = simulate("--model", "need", "--personas", persona)
    assert (done.returncode, "[Alex] has no key 'age'" in done.stderr) == (2, True)
    rules.write_text("[[residents]]\nname='A'\nsalary=3\n")
    assert "exactly name, need and salary" in simulate("--model", "need", "--rules", rules).stderr
    rules.write_text("[[residents]]\nname='A'\nneed='x'\nsalary=3\n")
    assert "A: the need is 'x'" in simulate("--model", "need", "--rules", rules).stderr


def test_a_town_of_ones_own(simulate, tmp_path):
    rules = tmp_path / "r.toml"
    towns = "".join(
        f"[[residents]]\nname='r{i}'\nneed={i + 1}\nsalary={10 * i + 5}\n" for i in range(7)
    )
    rules.write_text("low = 3\nhigh = 9\ndays = 6\nhealth = 3\n" + towns)
    done = simulate(
        "--model", "share:0.4", "--rules", rules, "--repeats", 4, "--output-dir", tmp_path, "--json"
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert [row["resident"] for row in summary["survival"]] == [f"r{i}" for i in range(7)]
    assert summary["metrics"][0]["rsr_start"] == pytest.approx(6 / 28)


def test_sheets_go_out_come_back_and_models_judge(simulate, bestresponse, serve, tmp_path):
    assert (
        simulate(
            "--model", "need", "--repeats", 1, "--days", 1, "--output-dir", tmp_path
        ).returncode
        == 0
    )

    def run(*words):
        return bestresponse("simulate", *words)

    out = tmp_path / "a.csv"
    assert "Use of information" in run("sheet", tmp_path, "--output", out).stdout
    assert run("scores", out).returncode == 2
    rows = list(csv.DictReader(io.StringIO(out.read_text())))
    with out.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        rows[0]["remark"] = "It waits."
        writer.writerows({**row, "planning": 1 + number % 5} for number, row in enumerate(rows))
    found = json.loads(run("scores", out, "--json").stdout)
    assert found["scales"][0]["median"] == 3
    assert found["reasons"] == [
        {**{name: rows[0][name] for name in ("judge", "game", "resident")}, "remark": "It waits."}
    ]
    assert "It waits." in run("scores", out).stdout
    assert "third quartile" in run("scores", out).stdout
    server = serve(
        lambda body: json.dumps(
            dict.fromkeys(
                ("information", "reasoning", "effectiveness", "adaptability", "planning"), 2
            )
        )
    )
    judged = run(
        "judge", tmp_path, "--model", server.model, "--output", tmp_path / "b.csv", "--json"
    )
    assert judged.returncode == 0, judged.stderr
    assert [one["median"] for one in json.loads(judged.stdout)["scales"]] == [2] * 5
    planning = json.loads(run("scores", out, tmp_path / "b.csv", "--json").stdout)["scales"][4]
    # people gave 1 to 5, the model 2 to all five residents
    assert (planning["judges"], planning["models_minus_people"]) == (2, -1)
