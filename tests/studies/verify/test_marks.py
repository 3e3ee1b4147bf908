"""Marks of people and of models in a rater's place: every one is used or counted as missing."""

import csv
import json

import pytest
from model_server import ModelServer
from typer.testing import CliRunner

import bestresponse as br
from bestresponse.cli.app import app

GAMES = ["hawk-dove-lelma", "prisoners-dilemma-lelma"]


def reason(prompt):
    """Be right about the first game, where both choosing R pays 0, and wrong about the second."""
    pays = "0" if "chooses R, you get 0, Player 2 gets 0" in prompt else "9"
    return f"If both pick R, I get {pays}.\nANSWER: R"


def mark(first, last, errors):
    return "ANSWER: " + json.dumps({"first": first, "last": last, "errors": errors})


def judge(prompt):
    """Mark the sample of the dilemma as wrong and the other one as right, without errors."""
    if "I get 0." in prompt:
        return mark("correct", "correct", "")
    return mark("incorrect", "incorrect", "pa")


def refuser(prompt):
    return judge(prompt) if "I get 0." in prompt else "I would rather not."


def confused(prompt):
    return mark("correct", "incorrect", "none")


@pytest.fixture
def run(tmp_path):
    run = br.verify_model(
        reason,
        GAMES,
        repeats=1,
        attempts=1,
        translator="rules",
        output_dir=tmp_path,
        cache="off",
    )
    run.publish()
    return run


def list_marks(run):
    rows = br.load_run(run.path).frame("marks").rows
    return {
        row["rater"]: (row["samples"], row["used"], row["blank"], row["contradictory"])
        for row in rows
    }


def test_a_model_that_names_no_error_by_nothing_keeps_its_correct_samples(run):
    (sheet,) = br.reasoning.judge(run, judge)
    rows = csv.DictReader(sheet.read_text("utf-8-sig").splitlines())
    assert {row["game"]: row["first_correct"] for row in rows} == dict(
        zip(GAMES, "10", strict=True)
    )
    assert list_marks(run) == {"model-judge": (2, 2, 0, 0)}


def test_refused_and_contradictory_marks_of_models_are_counted_and_not_used(run):
    br.reasoning.judge(run, [refuser, confused])
    assert list_marks(run) == {"model-refuser": (2, 1, 1, 0), "model-confused": (2, 0, 0, 2)}
    figures = {row["metric"]: row["value"] for row in br.load_run(run.path).frame("agreement").rows}
    assert figures["share that confused calls correct"] is None


def test_blank_and_contradictory_marks_of_people_are_counted_and_not_used(run):
    first, second = (row["run"] for row in run.rows())
    head = "sample,first_correct,last_correct,error_kinds"
    # One attempt: both texts are the same.
    sheets = {
        1: [f"{first},1,0,", f"{second},0,0,pa"],
        2: [f"{first},1,1,pa", f"{second},,,"],
        3: [f"{first},1,1,", f"{second},0,0,"],
    }
    for number, lines in sheets.items():
        (run.path / f"sheet-rater-{number}.csv").write_text("\n".join([head, *lines]))
    assert list_marks(run) == {
        "rater-1": (2, 1, 0, 1),
        "rater-2": (2, 0, 1, 1),
        "rater-3": (2, 2, 0, 0),
    }
    rows = br.load_run(run.path).frame("correctness").select(game=GAMES[0])
    # Only the third rater's mark of the first sample can be meant.
    (row,) = rows
    assert (row["first_by_people"].estimate, row["last_by_people"].estimate) == (1.0, 1.0)


def test_a_text_of_two_samples_that_is_marked_differently_is_counted_and_used(tmp_path):
    run = br.verify_model(
        lambda prompt: "If both pick R, I get 9.\nANSWER: R",
        GAMES,
        repeats=2,
        attempts=1,
        translator="rules",
        output_dir=tmp_path,
        cache="off",
    )
    run.publish()
    marks = dict(zip((row["run"] for row in run.rows()), "0110", strict=True))
    lines = [f"{sample},{mark},{mark}" for sample, mark in marks.items()]
    sheet = run.path / "sheet-rater-1.csv"
    head = "sample,first_correct,last_correct"
    sheet.write_text("\n".join([head, *lines]))
    (row,) = br.load_run(run.path).frame("marks").rows
    assert (row["used"], row["contradictory"], row["unsteady"]) == (4, 0, 2)
    # A sample that stands in the sheet twice may not have two marks.
    sheet.write_text("\n".join([head, *lines, f"{next(iter(marks))},1,1"]))
    with pytest.raises(br.BestResponseError, match=r"line 6: .* other marks further above"):
        br.load_run(run.path).frame("marks")


def test_the_command_prints_how_many_samples_are_marked(run):
    def answer(body):
        return refuser(json.dumps(body["messages"], ensure_ascii=False))

    server = ModelServer(answer)
    words = ("verify", "--judge", run.path, "--model", server.model)
    shown = CliRunner().invoke(app, [str(word) for word in words])
    server.close()
    assert shown.exit_code == 0, shown.output
    told = " ".join(shown.stdout.split())
    assert "marks used: 1 of 2 samples; blank or refused: 1; contradictory: 0" in told
