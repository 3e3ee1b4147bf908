"""The task of lm-evaluation-harness gives the numbers of the benchmark."""

import json
import os
import re
import subprocess
import sys
from contextlib import closing
from importlib.util import find_spec
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from zlib import crc32

import pytest
from model_server import ModelServer

import bestresponse as br
from bestresponse.integrations.bench_questions import SCORED
from bestresponse.integrations.suites import publish_suite

ANSWERS = [
    "ANSWER: A: 0.33, B: 0.33, C: 0.33",
    "ANSWER: A: 1, B: 0, C: 0",
    "no idea",
    "ANSWER: A: 33%, B: 33%, C: 34%",
]
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "evaluation-tools.md"
WITH_HARNESS = pytest.mark.skipif(
    find_spec("lm_eval") is None,
    reason="lm-evaluation-harness is not installed: pip install '.[lm-eval]'",
)


@pytest.fixture
def benched(tmp_path):
    """A run of `bench` for the same answers, and its rows."""
    left = list(ANSWERS)
    run = br.bench(lambda prompt: left.pop(0), num_games=4, seed=5, workers=1, output_dir=tmp_path)
    return run, run.rows()


@pytest.fixture
def published(benched, tmp_path):
    """The folder of the task of that run, and the name of the task."""
    run, _ = benched
    files = publish_suite(str(run.path), "lm-eval", tmp_path / "task")
    return files[0].parent, files[1].stem


@WITH_HARNESS
@pytest.mark.slow
def test_the_harness_itself_reports_the_mean_of_bench_and_its_standard_error(benched, published):
    from lm_eval import simple_evaluate
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    _, rows = benched
    folder, name = published

    class Scripted(LM):
        def generate_until(self, requests, disable_tqdm=False):
            return [ANSWERS[request.doc["id"]] for request in requests]

        def loglikelihood(self, requests, disable_tqdm=False):
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    manager = TaskManager(include_path=str(folder), include_defaults=False)
    done = simple_evaluate(Scripted(), tasks=[name], task_manager=manager)
    results = read_results(done["results"])
    gaps = [row["gap_normalised"] for row in rows if row["gap_normalised"] is not None]
    assert results["gap_normalised"] == pytest.approx(fmean(gaps), abs=1e-12), json.dumps(
        results, default=str
    )
    assert results["gap_normalised_stderr"] == pytest.approx(stdev(gaps) / sqrt(3), abs=1e-12)
    assert results["read"] == 0.75
    # three answers of four were read: a variance of 3/16 * 4/3 = 1/4, and the root of 1/4 by 4
    assert results["read_stderr"] == 0.25


def read_results(found):
    """The metrics of the task, without the names of filters."""
    [figures] = found.values()
    return {name.split(",")[0]: value for name, value in figures.items()}


def answer_by_question(text):
    """A strategy, or for about a third of the questions something that cannot be read."""
    numbers = " ".join(re.findall(r"\d+", text))
    return ["ANSWER: A: 0.34, B: 0.33, C: 0.33", "ANSWER: A: 0, B: 1, C: 0", "no idea"][
        crc32(numbers.encode()) % 3
    ]


@WITH_HARNESS
@pytest.mark.slow
def test_the_command_of_the_page_gives_the_figures_of_bench_with_standard_errors(tmp_path):
    run = br.bench(
        answer_by_question, num_games=100, seed=0, workers=1, output_dir=tmp_path / "bench"
    )
    rows = run.rows()
    section = PAGE.read_text("utf-8").split("\n## lm-evaluation-harness")[1]
    command = re.search(r"^```bash\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)[1].strip()
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    with closing(
        ModelServer(lambda body: answer_by_question(body["messages"][-1]["content"]))
    ) as server:
        typed = command.replace("http://localhost:8000/v1", server.model.split("#")[0])
        assert typed != command
        done = subprocess.run(
            ["bash", "-c", f"{typed} --output_path {tmp_path / 'harness'}"],
            env={**os.environ, "PATH": path},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    [file] = (tmp_path / "harness").rglob("results_*.json")
    results = read_results(json.loads(file.read_text("utf-8"))["results"])
    for figure in SCORED:
        values = [row[figure] for row in rows if row[figure] is not None]
        assert 50 < len(values) < 80
        assert results[figure] == pytest.approx(fmean(values), abs=1e-9)
        assert results[f"{figure}_stderr"] == pytest.approx(
            stdev(values) / sqrt(len(values)), abs=1e-9
        )
    assert results["read"] == len(values) / 100


@WITH_HARNESS
@pytest.mark.slow
def test_a_model_without_a_readable_answer_has_a_share_of_zero_and_no_figures(published, tmp_path):
    folder, name = published
    with closing(ModelServer(lambda body: "no idea")) as server:
        address = f"base_url={server.model.split('#')[0]}/chat/completions,model=fake"
        words = ["--include_path", str(folder), "--tasks", name]
        words += ["--model", "local-chat-completions", "--model_args", address]
        program = Path(sys.executable).with_name("lm_eval")
        done = subprocess.run(
            [str(program), *words, "--apply_chat_template", "--output_path", "harness"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    [file] = (tmp_path / "harness").rglob("results_*.json")
    results = read_results(json.loads(file.read_text("utf-8"))["results"])
    assert results["read"] == 0.0
    assert "gap_normalised" not in results
