"""Hard positions are told from easy ones by theory alone.

Nim with piles of 1 and 2 has two positions at which moves matter: two of three moves lose at the
start (uniform play loses 2/3 of what there is to lose), and one of two at the end (1/2).
"""

import numpy as np
import pytest
import running

from bestresponse.analysis.truth import Values
from bestresponse.core.errors import SettingError
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.decisions import find_hardness
from bestresponse.studies.bench.study import bench, plan_questions

ONE = "take 1 from pile 2"


@pytest.mark.parametrize(
    ("worths", "hardness"),
    [((1, -1, -1), 2 / 3), ((1, 1, 1, -1), 1 / 4), ((1, 0, -1), 1 / 2), ((3, 3), 0)],
)
def test_hard_is_where_uniform_play_loses_much(worths, hardness):
    values = Values(tuple(map(str, worths)), np.array([worths], dtype=float), 0.0)
    assert find_hardness(values) == pytest.approx(hardness)


def find_all(difficulty, game="tic-tac-toe", count=40):
    config = BenchConfig(model="random", game=game, num_games=count, difficulty=difficulty)
    plan = plan_questions(config)
    return [find_hardness(plan.find_values(number)) for number in plan.decisions]


def test_only_hard_positions_are_asked_about():
    assert min(find_all("hard")) >= 0.5
    assert min(find_all("any")) < 0.5 <= max(find_all("any"))
    assert len(find_all("hard")) == 40


def test_every_answer_says_how_hard_its_position_was(tmp_path):
    config = BenchConfig(model="scripted", game="nim(piles=1-2)", num_games=2)
    model = ScriptedModel(lambda request: "ANSWER: take 1 from pile 2")
    run = running.run(bench, config, tmp_path, {"scripted": model})
    rows = run.frame("plays").rows
    found = [row["hardness"] for row in rows if row["model"] == "scripted"]
    assert found == [pytest.approx(2 / 3), pytest.approx(1 / 2)]
    # It loses nothing at one of the two, and all there is at the other: a curve over hardness.
    assert "Which positions are hard" in [one.title for one in run.report().sections]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"game": "kuhn-poker"}, "no effect on a game played in turn"),
        ({"game": None}, "no effect on games that are drawn"),
        ({"game": "nim(piles=1-1)"}, "no position at which a move matters"),
    ],
)
def test_what_has_no_positions_of_that_kind_is_refused(changes, problem):
    settings = {"model": "random", "difficulty": "hard", **changes}
    with pytest.raises(SettingError, match=problem):
        plan_questions(BenchConfig(**settings)).total  # noqa: B018
