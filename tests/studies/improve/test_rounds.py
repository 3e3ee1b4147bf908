"""The loop of measuring and training: what is weak is found and trained, and a stopped run goes
on."""

import json

import numpy as np
import pytest

import bestresponse as br
from bestresponse.core.errors import SettingError, UsageError
from bestresponse.studies.improve.examples import classify, split_classes
from bestresponse.studies.improve.export import ExportConfig, draw_test_examples
from bestresponse.studies.improve.rounds import (
    AnsweredQuestion,
    ImproveConfig,
    Kind,
    draw_questions,
    list_kinds,
    share_examples,
    summarize_round,
    weigh_formats,
)


def choose(**settings):
    return ImproveConfig("smollm2", **{"games": ("zero-sum", "replies"), "sizes": "2", **settings})


def answer(kind, right, wrong, shown_as="table"):
    """Answers of a kind, so many right and so many wrong."""
    return [
        AnsweredQuestion(kind=kind, format=shown_as, right=k < right) for k in range(right + wrong)
    ]


def test_kinds_are_games_by_size_and_zero_sum_games_by_what_is_played():
    names = [kind.name for kind in list_kinds(choose(sizes="2-3", games=("zero-sum", "claims")))]
    assert names == [
        "zero-sum 2x2, 1 played",
        "zero-sum 2x2, 2 played",
        "zero-sum 3x3, 1 played",
        "zero-sum 3x3, 2 played",
        "zero-sum 3x3, 3 played",
        "claims 2x2",
        "claims 3x3",
    ]


def test_most_examples_go_to_the_weakest_kinds_and_some_to_all():
    answered = [
        *answer("zero-sum 2x2, 1 played", 9, 1),
        *answer("zero-sum 2x2, 2 played", 4, 6),
        *answer("general-sum 2x2", 8, 2),
        *answer("replies 2x2", 8, 2),
        *answer("claims 2x2", 6, 4),
    ]
    games = ("zero-sum", "general-sum", "replies", "claims")
    shares = share_examples(choose(examples=10_000, games=games), answered)
    # 3,000 for all five alike; of 7,000 the four weakest get 6/14, 2/14, 2/14 and 4/14.
    assert shares == {
        Kind("zero-sum", 2, 1): 600,
        Kind("zero-sum", 2, 2): 600 + 3000,
        Kind("general-sum", 2): 600 + 1000,
        Kind("replies", 2): 600 + 1000,
        Kind("claims", 2): 600 + 2000,
    }


def test_a_model_without_failures_gets_examples_of_every_kind_alike():
    answered = [
        *answer("zero-sum 2x2, 1 played", 5, 0),
        *answer("zero-sum 2x2, 2 played", 5, 0),
        *answer("replies 2x2", 5, 0),
    ]
    assert set(share_examples(choose(examples=1000), answered).values()) == {100}


def test_formats_that_fail_are_asked_more_often():
    answered = [*answer("a", 0, 4, "prose"), *answer("a", 2, 2, "json"), *answer("a", 4, 0)]
    weights = weigh_formats(choose(formats=("table", "prose", "json")), answered)
    # 1 + 7 x failures: 0, 1 and a half, where 4.5 is rounded to the even 4
    assert weights == {"table": 1, "prose": 8, "json": 5}


def test_a_student_is_kept_only_where_it_gains():
    row = summarize_round(2, answer("a", 5, 5), answer("a", 7, 3))
    assert row == {"round": 2, "asked": 10, "old": 0.5, "new": 0.7, "gain": 0.2, "kept": True} | {
        "gain": pytest.approx(0.2)
    }
    before = answer("a", 500, 500)
    assert not summarize_round(1, before, before)["kept"]
    assert not summarize_round(1, before, answer("a", 504, 496))["kept"]
    assert summarize_round(1, before, answer("a", 506, 494))["kept"]


def test_questions_are_of_the_test_split_and_of_the_support_that_is_asked_for():
    config = ExportConfig("unused", sizes="3", support=2, count=30, rectangular=0, varied=0.5)
    examples = draw_test_examples(config)
    assert len(examples) == 30
    for example in examples:
        payoffs = np.array([example.task["payoffs"]])
        assert split_classes(classify(payoffs)).tolist() == [2]
        assert sum(share > 0 for share in example.task["opponent"]) == 2


def test_every_step_of_a_round_asks_about_other_games():
    config = choose(questions=5)
    tasks = [
        {row["task"] for _, row in draw_questions(config, number, step)}
        for number, step in ((1, "before"), (1, "fresh"), (2, "before"))
    ]
    assert [len(asked) for asked in tasks] == [15, 15, 15]
    assert len(set.union(*tasks)) == 45


def test_settings_that_no_round_could_follow_are_refused_at_once():
    with pytest.raises(SettingError, match="expected some of zero-sum"):
        choose(games=("chess",))
    with pytest.raises(SettingError, match="expected table"):
        choose(formats=("riddle",))
    with pytest.raises(SettingError, match="expected sizes from 2"):
        choose(sizes="1")


def improve(base, folder, **settings):
    """Improve a tiny network on a processor."""
    chosen = {
        "rounds": 1,
        "games": "zero-sum",
        "sizes": "2",
        "formats": "table",
        "answers": "direct",
        "questions": 6,
        "examples": 600,
        "steps": 2,
        "learning_rate": 0.02,
        "batch_tokens": 1024,
        **settings,
    }
    return br.improve(
        base, output=folder / "improved", device="cpu", output_dir=folder / "runs", **chosen
    )


def test_a_round_without_a_gain_leaves_the_model_as_it_is(base, tmp_path):
    # Two steps teach nothing: the first round ends it.
    run = improve(base, tmp_path, rounds=3)
    (row,) = run.frame("rounds")
    assert (row["old"], row["new"], row["kept"]) == (0.0, 0.0, False)
    kinds = {row["kind"]: row["examples"] for row in run.frame("kinds")}
    # 180 for both kinds alike, 420 shared by equal failures
    assert kinds == {
        "zero-sum 2x2, 1 played": 300,
        "zero-sum 2x2, 2 played": 300,
        "told as table": 600,
    }
    assert not (tmp_path / "improved").exists()
    assert "0 of 1 rounds gained" in run.path.joinpath("report.html").read_text("utf-8")


def test_without_a_gpu_nothing_is_begun(base, tmp_path, monkeypatch):
    monkeypatch.setattr("bestresponse.studies.improve.making.choose_device", lambda: "cpu")
    with pytest.raises(UsageError, match="there is no GPU here: the device cpu trains"):
        br.improve(base, output=tmp_path / "improved", output_dir=tmp_path / "runs")
    assert not list(tmp_path.glob("runs/*/round-1"))


def test_a_stopped_run_goes_on_and_a_gain_is_kept(base, tmp_path, monkeypatch):
    from bestresponse.studies.improve import making

    train_student = making.train_student
    trained = []

    def train_or_die(config, work, on_row):
        trained.append(work.name)
        if len(trained) == 1:
            raise KeyboardInterrupt
        train_student(config, work, on_row)

    monkeypatch.setattr(making, "train_student", train_or_die)
    with pytest.raises((KeyboardInterrupt, br.BestResponseError)):
        improve(base, tmp_path)
    (before,) = (tmp_path / "runs").glob("*/round-1/before.jsonl")
    first = before.read_bytes()
    # The student is asked the same fresh questions as the model; here it is said to know all.
    answer_questions = making.answer_questions

    def answer_as_a_master(name, device, rows):
        if name.endswith("student"):
            return [0.0] * len(rows)
        return answer_questions(name, device, rows)

    monkeypatch.setattr(making, "answer_questions", answer_as_a_master)
    run = improve(base, tmp_path)
    assert before.read_bytes() == first
    assert trained == ["round-1", "round-1"]
    (row,) = run.frame("rounds")
    assert (row["old"], row["new"], row["kept"]) == (0.0, 1.0, True)
    about = json.loads((tmp_path / "improved" / "student.json").read_text())
    assert about["last"]["step"] == 2
    # The same command again finds everything made.
    improve(base, tmp_path)
    assert trained == ["round-1", "round-1"]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("the only copy")
    with pytest.raises(UsageError, match="holds something else"):
        br.improve(
            base, output=tmp_path / "other", device="cpu", output_dir=tmp_path / "more", steps=1
        )
