"""Hard positions are told from easy ones by theory alone.

Nim with piles of 1 and 2 has two positions at which moves matter: two of three moves lose at the
start (uniform play loses 2/3 of what there is to lose), and one of two at the end (1/2).
"""

import json

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


def test_only_positions_of_the_wanted_kind_are_asked_about():
    assert min(find_all("hard")) >= 0.5
    assert max(find_all("easy")) < 0.5
    assert min(find_all("any")) < 0.5 <= max(find_all("any"))
    assert len(find_all("hard")) == len(find_all("easy")) == 40


def test_a_table_shows_loss_by_hardness(tmp_path):
    """Taking one from the pile of two is right at the start and loses everything later."""
    model = ScriptedModel(
        lambda request: (
            json.dumps({"choice": ONE}) if "JSON" in request.messages[-1].content else ONE
        )
    )
    config = BenchConfig(model="scripted", game="nim(piles=1-2-3)", num_games=6)
    ran = running.run(bench, config, tmp_path, {"scripted": model})
    rows = ran.frame("hardness").rows
    plays = [row for row in ran.frame("plays").rows if row["regret"] is not None]
    assert sum(row["answers"] for row in rows) == len(plays) > 2
    assert [row["hardness"] for row in rows] == sorted(row["hardness"] for row in rows)
    total = sum(row["answers"] * row["lost"].estimate for row in rows)
    assert total == pytest.approx(sum(row["regret"] / row["range"] for row in plays))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"game": "kuhn-poker"}, "no effect on a game played in turn"),
        ({"game": None}, "no effect on games that are drawn"),
        ({"game": "nim(piles=1-2)", "difficulty": "easy"}, "of difficulty easy"),
    ],
)
def test_what_has_no_positions_of_that_kind_is_refused(changes, problem):
    settings = {"model": "random", "difficulty": "hard", **changes}
    with pytest.raises(SettingError, match=problem):
        plan_questions(BenchConfig(**settings)).total  # noqa: B018
