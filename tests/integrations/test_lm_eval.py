"""The task of lm-evaluation-harness gives the numbers of the benchmark."""

import json
import subprocess
import sys
from importlib.util import find_spec
from math import isnan, nan
from pathlib import Path

import pytest

import bestresponse as br
from bestresponse.integrations.lm_eval import nash_gap as task

ANSWERS = ["ANSWER: A: 0.33, B: 0.33, C: 0.33", "ANSWER: A: 1, B: 0, C: 0", "no idea", "ANSWER: A: 33%, B: 33%, C: 34%"]
FOLDER = Path(task.__file__).parent


@pytest.fixture
def benched(tmp_path):
    """The rows of `bench` for the same answers."""
    left = list(ANSWERS)
    run = br.bench(lambda prompt: left.pop(0), num_games=4, seed=5, workers=1, output_dir=tmp_path)
    return run.rows()


def test_every_figure_is_that_of_bench_for_the_same_answers(benched):
    questions = task.list_nash_gap_questions(num_games=4, seed=5)
    results = [task.measure_results(question, [text]) for question, text in zip(questions, ANSWERS, strict=True)]
    assert [result["read"] for result in results] == [1.0, 1.0, 0.0, 1.0]
    for result, row in zip(results, benched, strict=True):
        if row["gap_normalised"] is None:
            assert isnan(result["gap_normalised"])
        else:
            assert result["gap_normalised"] == pytest.approx(row["gap_normalised"], abs=1e-12)


def test_the_average_is_over_the_answers_that_could_be_read():
    assert task.average_read([0.5, nan, 0.25]) == 0.375
    assert isnan(task.average_read([nan]))


def test_the_folder_is_printed_for_the_harness():
    words = [sys.executable, "-m", "bestresponse.integrations.lm_eval"]
    printed = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
    assert (Path(printed) / "nash_gap.yaml").exists()


@pytest.mark.slow
@pytest.mark.skipif(find_spec("lm_eval") is None, reason="lm-evaluation-harness is not installed: pip install lm_eval")
def test_the_harness_itself_reports_the_mean_of_bench(benched, monkeypatch):
    from lm_eval import simple_evaluate
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    class Scripted(LM):
        def generate_until(self, requests, disable_tqdm=False):
            return [ANSWERS[request.doc["number"]] for request in requests]

        def loglikelihood(self, requests, disable_tqdm=False):
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    manager = TaskManager(include_path=str(FOLDER), include_defaults=False, metadata={"num_games": 4, "seed": 5})
    done = simple_evaluate(Scripted(), tasks=["bestresponse_nash_gap"], task_manager=manager, bootstrap_iters=0)
    results = {name.split(",")[0]: value for name, value in done["results"]["bestresponse_nash_gap"].items()}
    gaps = [row["gap_normalised"] for row in benched if row["gap_normalised"] is not None]
    assert results["gap_normalised"] == pytest.approx(sum(gaps) / 3, abs=1e-12), json.dumps(results, default=str)
    assert results["read"] == 0.75
