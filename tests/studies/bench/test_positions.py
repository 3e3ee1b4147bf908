"""The benchmark on Nim with piles of 1 and 2, where everything can be worked out by hand.

At the start only taking one object from the pile of 2 wins; the two other moves lose 2. After the
pile of 1 is gone, the second player has to take both objects; taking one loses 2. At all other
positions there is one move, or both lose: there is nothing to ask.
"""

import json

import pytest
import running

from bestresponse.core.errors import SettingError
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.report.page import render
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.study import bench, plan_questions

ONE = "take 1 from pile 2"


def config(**changes):
    return BenchConfig(**{"model": "scripted", "game": "nim(piles=1-2)", **changes})


def run(tmp_path, answer, **changes):
    model = ScriptedModel(lambda request: answer(request.messages[-1].content))
    return running.run(bench, config(**changes), tmp_path, {"scripted": model})


def figures(ran, player="scripted", way="pure"):
    (found,) = [
        f for f in ran.summary()["metrics"] if (f["player"], f["asked_for"]) == (player, way)
    ]
    return found


def test_a_game_with_positions_is_asked_about_position_by_position():
    plan = plan_questions(config())
    assert [
        (one.role, plan.find_values(number).by_answer) for number, one in plan.decisions.items()
    ] == [
        (
            "player 1",
            {"take 1 from pile 1": -1, "take 1 from pile 2": 1, "take 2 from pile 2": -1},
        ),
        ("player 2", {"take 1 from pile 2": -1, "take 2 from pile 2": 1}),
    ]
    assert plan.total == 2


def test_regrets_and_optimal_moves_are_those_worked_out_by_hand(tmp_path):
    ran = run(tmp_path, lambda told: json.dumps({"choice": ONE}) if "JSON" in told else ONE)
    found = figures(ran)
    assert found["regret"]["estimate"] == 1
    assert found["regret_normalised"]["estimate"] == 0.5
    assert found["optimal"]["estimate"] == 0.5
    assert (found["asked"], found["answered"]) == (2, 2)
    even = figures(ran, "uniform", "baseline")
    assert even["regret"] == pytest.approx((4 / 3 + 1) / 2)
    assert even["optimal"] == pytest.approx((1 / 3 + 1 / 2) / 2)
    rows = sorted(ran.frame("plays").rows, key=lambda row: row["decision"])
    assert [(row["answer"], row["best"], row["regret"]) for row in rows] == [
        (ONE, ONE, 0),
        (ONE, "take 2 from pile 2", 2),
    ]
    assert rows[1]["infoset"] == "Objects left: pile 1: 0; pile 2: 2."
    assert "How far from optimal" in render(ran.report())


def test_a_mixture_loses_what_its_moves_lose_on_average(tmp_path):
    def answer(told):
        even = {"take 1 from pile 2": 0.5, "take 2 from pile 2": 0.5}
        return json.dumps(even | ({"take 1 from pile 1": 0.0} if "pile 1: 1" in told else {}))

    found = figures(run(tmp_path, answer, elicit="mixed"), way="mixed")
    assert found["regret"]["estimate"] == 1
    assert found["optimal"]["estimate"] == 0.5


def test_an_answer_that_cannot_be_read_has_no_regret(tmp_path):
    found = figures(run(tmp_path, lambda told: "I pass"))
    assert found["regret"] is None
    assert (found["asked"], found["answered"]) == (2, 0)


def test_players_without_a_model_play_best_or_anyhow(tmp_path):
    ran = running.run(bench, config(model=("random", "uniform", "equilibrium")), tmp_path, {})
    # Its moves lose nothing anywhere: there is no doubt that an interval could state. Uniform play
    # draws its moves, and which ones is chance.
    assert figures(ran, "equilibrium")["regret"]["high"] == 0
    assert figures(ran, "equilibrium")["optimal"]["low"] == 1
    assert figures(ran, "uniform")["optimal"]["method"] != "exact"
    assert figures(ran, "random")["asked"] == 2


def test_everybody_is_asked_the_same_and_moves_come_in_other_orders():
    c = config(model=("scripted", "random"), game="nim(piles=1-2-3)", num_games=12)
    plays = list(plan_questions(c).list_plays())
    by_model = {
        name: [play["decision"] for play in plays if play["model"] == name] for name in c.labels
    }
    assert by_model["scripted"] == by_model["random"] == list(range(12))
    firsts = [play["moves"][0] for play in plays[::2]]
    assert len(set(firsts)) > 3
    told = {decision.view.question for decision in plan_questions(c).decisions.values()}
    assert len(told) == 12


def test_only_the_seats_that_are_wanted_are_asked():
    plan = plan_questions(config(seat="player 2"))
    assert {decision.role for decision in plan.decisions.values()} == {"player 2"}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"suite": "invariance"}, "no effect on a game"),
        ({"trials": 2}, "no effect on a game"),
        ({"max_infosets": 3}, "no effect on a game"),
        ({"seat": "row"}, "expected one of player 1, player 2"),
        ({"game": "nim(piles=1-1)"}, "no position at which a move matters"),
    ],
)
def test_settings_that_mean_nothing_here_are_refused(changes, problem):
    with pytest.raises(SettingError, match=problem):
        plan_questions(config(**changes)).total  # noqa: B018
