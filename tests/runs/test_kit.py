"""The kits for plug-ins: what keeps its promises passes, and each broken promise is named."""

import itertools
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bestresponse.core.conformance import Broken
from bestresponse.models import ScriptedModel, Usage
from bestresponse.models.kit import check_model
from bestresponse.report.frames import Metric
from bestresponse.runs.kit import check_metric, check_study

STUDY = Path(__file__).parents[2] / "examples" / "plugins" / "study"
COUNT = itertools.count()


@pytest.fixture
def heads(monkeypatch):
    monkeypatch.syspath_prepend(str(STUDY))
    import heads_study

    yield heads_study.heads
    del sys.modules["heads_study"]


def make_config(study):
    return study.settings(ScriptedModel(lambda request: "ANSWER: heads", name="mine"), repeats=3)


def test_the_study_of_the_examples_keeps_its_promises(heads, tmp_path):
    check_study(heads, make_config(heads), tmp_path)


def list_two_alike(config):
    return [{"study": "heads", "model": "mine", "repeat": 0}] * 2


def list_others_each_time(config):
    return [{"study": "heads", "model": "mine", "repeat": next(COUNT)}]


def measure_by_chance(config, folder):
    from heads_study import measure

    measured = measure(config, folder)
    return replace(measured, answered=next(COUNT))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"name": "my heads"}, "no name of letters"),
        ({"specs": list_two_alike}, "a play is listed twice"),
        ({"specs": list_others_each_time}, "the plays change"),
        ({"measure": measure_by_chance}, "measures something else"),
        (
            {"metrics": (Metric("half", "half", "a half", "", lambda rows: float("inf")),)},
            "half is inf",
        ),
    ],
)
def test_a_study_that_breaks_a_promise_is_told_which(heads, tmp_path, changes, problem):
    with pytest.raises(Broken, match=problem):
        check_study(replace(heads, **changes), make_config(heads), tmp_path)


def test_a_metric_is_the_same_each_time():
    drifting = Metric("drift", "drift", "drifts", "", lambda rows: float(next(COUNT)))
    with pytest.raises(Broken, match="drift changes"):
        check_metric(drifting, [[]])
    check_metric(Metric("none", "none", "unknown", ".2f", lambda rows: None), [[]])


class Odd:
    """A model that is scripted but for what is given."""

    def __init__(self, **given):
        self.given = given
        self.real = ScriptedModel(lambda request: "yes")

    def __getattr__(self, name):
        return self.given.get(name, getattr(self.real, name))


def answer_with(**changes):
    return lambda request: replace(ScriptedModel(lambda _: "yes").complete(request), **changes)


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        (object(), "object has no `id`, which a model needs"),
        (Odd(id=" "), "needs an id"),
        (Odd(abilities=None), "no Abilities"),
        (Odd(complete=lambda request: "yes"), "returned str"),
        (Odd(complete=answer_with(text=None)), "no text"),
        (Odd(complete=answer_with(usage=Usage(-1, 1))), "-1 tokens"),
    ],
)
def test_a_model_that_breaks_a_promise_is_told_which(model, problem):
    check_model(Odd())
    with pytest.raises(Broken, match=problem):
        check_model(model)
