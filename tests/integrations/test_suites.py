"""The questions of a suite for other tools: the same questions, and the numbers of `bench`."""

import json
import re
import runpy
import sys
import types

import pytest

import bestresponse as br
from bestresponse.core.errors import UsageError
from bestresponse.integrations.bench_questions import SCORED, measure_results, read_questions
from bestresponse.integrations.suites import SUITE_FORMS, publish_suite

ANSWERS = ["ANSWER: A: 0.33, B: 0.67", "no idea", "ANSWER: A: 0.6, B: 0.4"]


@pytest.fixture(scope="module")
def benched(tmp_path_factory):
    """A run of `bench` with an own size and scale, and the prompts that it asked."""
    left = list(ANSWERS)
    prompts = []

    def answer(prompt):
        prompts.append(prompt)
        return left.pop(0)

    folder = tmp_path_factory.mktemp("bench")
    settings = {"num_games": 3, "num_rows": 2, "num_cols": 2, "seed": 5, "scale": 9}
    return br.bench(answer, workers=1, output_dir=folder, **settings), prompts


@pytest.mark.parametrize("form", SUITE_FORMS)
def test_questions_and_figures_are_those_of_the_run(form, benched, tmp_path):
    run, prompts = benched
    files = publish_suite(str(run.path), form, tmp_path)
    questions = read_questions(files[0])
    asked = [f"{question['system']}\n\n{question['prompt']}" for question in questions]
    assert asked == prompts
    results = [
        measure_results(question, [text]) for question, text in zip(questions, ANSWERS, strict=True)
    ]
    assert [result["read"] for result in results] == [1.0, 0.0, 1.0]
    for result, row in zip(results, run.rows(), strict=False):
        known = {name: row[name] for name in SCORED if row[name] is not None}
        assert {name: result[name] for name in SCORED if name in result} == known


def test_a_suite_is_published_by_its_name(tmp_path):
    [questions, *_] = publish_suite("invariance", "hf-dataset", tmp_path)
    assert len(read_questions(questions)) > 100
    evaluation = json.loads((tmp_path / "eval.yaml").read_text("utf-8"))
    fields = evaluation["tasks"][0]["field_spec"]
    assert set(fields.values()) <= set(read_questions(questions)[0])


def test_the_task_of_the_harness_names_functions_that_are_there(benched, tmp_path, monkeypatch):
    run, _ = benched
    _, task, helper = publish_suite(str(run.path), "lm-eval", tmp_path)
    datasets = types.ModuleType("datasets")
    datasets.Dataset = types.SimpleNamespace(from_list=list)
    monkeypatch.setitem(sys.modules, "datasets", datasets)
    made = runpy.run_path(str(helper))
    named = re.findall(rf"!function {helper.stem}\.(\w+)", task.read_text("utf-8"))
    assert set(named) == {"load", "write_prompt", "measure_results"} & set(made)
    [first, *_] = made["load"]()["test"]
    assert made["write_prompt"](first) == f"{first['system']}\n\n{first['prompt']}"


@pytest.mark.parametrize("form", ["inspect-task", "verifiers", "lm-eval"])
def test_what_is_written_for_a_tool_is_python(form, benched, tmp_path):
    for file in publish_suite(str(benched[0].path), form, tmp_path):
        if file.suffix == ".py":
            compile(file.read_text("utf-8"), file.name, "exec")


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"game": "kuhn-poker"}, "game played in turn"), ({"elicit": "pure"}, None)],
    ids=["tree", "pure"],
)
def test_runs_of_other_questions(settings, message, tmp_path):
    run = br.bench("random", num_games=1, output_dir=tmp_path / "runs", **settings)
    if message is None:  # asked for mixed strategies, as every tool is
        [questions, *_] = publish_suite(str(run.path), "hf-dataset", tmp_path / "out")
        assert "With which probability" in read_questions(questions)[0]["prompt"]
        return
    with pytest.raises(UsageError, match=message):
        publish_suite(str(run.path), "hf-dataset", tmp_path / "out")


def test_what_is_no_suite_is_refused_with_the_names(tmp_path):
    with pytest.raises(UsageError, match="expected one of standard, invariance"):
        publish_suite("nonsense", "hf-dataset", tmp_path)
    run = br.tournament("prisoners-dilemma", ["tit-for-tat", "defector"], output_dir=tmp_path)
    with pytest.raises(UsageError, match="only those of `bench` have questions"):
        publish_suite(str(run.path), "hf-dataset", tmp_path / "out")


def test_a_file_without_questions_is_refused(tmp_path):
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(UsageError, match="holds no questions"):
        read_questions(tmp_path / "empty.jsonl")
