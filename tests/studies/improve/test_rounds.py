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
)


def choose(**settings):
    return ImproveConfig("smollm2", **{"games": ("zero-sum", "replies"), "sizes": "2", **settings})


def answer(kind, right, wrong):
    """Answers of a kind, so many right and so many wrong."""
    return [AnsweredQuestion(kind=kind, right=k < right) for k in range(right + wrong)]


def test_kinds_are_games_by_size():
    names = [kind.name for kind in list_kinds(choose(sizes="2-3", games=("zero-sum", "claims")))]
    assert names == ["zero-sum 2x2", "zero-sum 3x3", "claims 2x2", "claims 3x3"]


def test_most_examples_go_to_the_weakest_kinds_and_some_to_all():
    answered = [
        *answer("zero-sum 2x2", 9, 1),
        *answer("zero-sum 3x3", 4, 6),
        *answer("general-sum 2x2", 8, 2),
        *answer("general-sum 3x3", 10, 0),
        *answer("claims 2x2", 8, 2),
        *answer("claims 3x3", 6, 4),
    ]
    games = ("zero-sum", "general-sum", "claims")
    shares = share_examples(choose(examples=10_000, games=games, sizes="2-3"), answered)
    # 3,000 for all six alike; of 7,000 the four weakest get 6/14, 2/14, 2/14 and 4/14.
    assert shares == {
        Kind("zero-sum", 2): 500,
        Kind("zero-sum", 3): 500 + 3000,
        Kind("general-sum", 2): 500 + 1000,
        Kind("general-sum", 3): 500,
        Kind("claims", 2): 500 + 1000,
        Kind("claims", 3): 500 + 2000,
    }


def test_a_model_without_failures_gets_examples_of_every_kind_alike():
    answered = [
        *answer("zero-sum 2x2", 5, 0),
        *answer("replies 2x2", 5, 0),
    ]
    assert set(share_examples(choose(examples=1000), answered).values()) == {150}


def test_a_student_is_kept_only_where_it_gains():
    row = summarize_round(2, answer("a", 5, 5), answer("a", 7, 3))
    assert row == {"round": 2, "asked": 10, "old": 0.5, "new": 0.7, "gain": 0.2, "kept": True} | {
        "gain": pytest.approx(0.2)
    }
    before = answer("a", 500, 500)
    assert not summarize_round(1, before, before)["kept"]
    assert not summarize_round(1, before, answer("a", 504, 496))["kept"]
    assert summarize_round(1, before, answer("a", 506, 494))["kept"]


def test_questions_are_of_the_test_split():
    config = ExportConfig("unused", sizes="3", count=30, rectangular=0, varied=0.5)
    examples = draw_test_examples(config)
    assert len(examples) == 30
    for example in examples:
        payoffs = np.array([example.task["payoffs"]])
        assert split_classes(classify(payoffs)).tolist() == [2]


def test_every_step_of_a_round_asks_about_other_games():
    config = choose(questions=5)
    tasks = [
        {row["task"] for _, row in draw_questions(config, number, step)}
        for number, step in ((1, "before"), (1, "fresh"), (2, "before"))
    ]
    assert [len(asked) for asked in tasks] == [10, 10, 10]
    assert len(set.union(*tasks)) == 30


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
    assert kinds == {"zero-sum 2x2": 600}
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
