"""Models that are asked by the workers of an executor."""

from functools import partial

import pytest
from model_server import ModelServer
from waiting import run_at_once

from bestresponse.core.errors import OverBudget, UsageError
from bestresponse.models.base import ask
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.runs.execution import Job, Threads
from bestresponse.runs.executors.driver import lend_workers
from bestresponse.runs.executors.processes import Processes
from bestresponse.runs.inputs import NamedModel
from bestresponse.runs.models import ModelLimits, open_models
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.study import bench as bench_study

QUESTIONS = [ask(f"Question {number}") for number in range(6)]


@pytest.fixture
def server():
    opened = ModelServer()
    yield opened
    opened.close()


def note_answer(texts, model, question):
    texts[question] = model.complete(question).text


def make_job(name, opened):
    return Job(
        bench_study, BenchConfig(model=(name,), num_games=1), opened.models, 4, opened.shared
    )


def test_workers_answer_what_the_model_would_with_one_call_a_question(server, tmp_path):
    name = server.model
    with open_models((name,), tmp_path, ModelLimits(4)) as opened:
        model = opened.models[name]
        with lend_workers(Processes(2), make_job(name, opened)):
            texts = {}
            run_at_once(*(partial(note_answer, texts, model, question) for question in QUESTIONS))
            assert model.complete(QUESTIONS[0]).text == texts[QUESTIONS[0]]
        assert server.calls == opened.meter.spent.calls == 6
        assert texts == {question: model.complete(question).text for question in QUESTIONS}
        assert server.calls == 6


def test_an_error_of_a_call_is_raised_where_it_was_asked_for(server, tmp_path):
    name = server.model
    with (
        open_models((name,), tmp_path, ModelLimits(4, spent="1 call")) as opened,
        lend_workers(Processes(1), make_job(name, opened)),
    ):
        opened.models[name].complete(QUESTIONS[0])
        with pytest.raises(OverBudget, match="2 calls of 1"):
            opened.models[name].complete(QUESTIONS[1])


def test_an_executor_that_cannot_work_says_so(server, tmp_path):
    class Broken:
        def play(self, job, tasks, keep):
            raise UsageError("no cluster")

    with open_models((server.model,), tmp_path) as opened:
        lending = lend_workers(Broken(), make_job(server.model, opened))
        with pytest.raises(UsageError, match="no cluster"), lending:
            pass


@pytest.mark.parametrize("executor", [Threads(), Processes(1)], ids=["threads", "processes"])
def test_models_given_as_objects_answer_here(executor, tmp_path):
    mine = ScriptedModel(lambda request: "A")
    with (
        open_models((NamedModel("mine", mine),), tmp_path) as opened,
        lend_workers(executor, make_job("mine", opened)),
    ):
        assert opened.models["mine"].complete(QUESTIONS[0]).text == "A"
