"""Dialogues are simulated like any other game: people talk, a referee rules, payoffs are
measured."""

import pytest
from running import run

from bestresponse.core.errors import UsageError
from bestresponse.studies.simulate.config import SimulateConfig
from bestresponse.studies.simulate.study import simulate


def config(name, **settings):
    return SimulateConfig(name, "simulated", repeats=4, **settings)


@pytest.mark.parametrize("name", ["bargaining", "rps-talk"])
def test_a_dialogue_is_simulated_and_replayed_without_a_model(name, tmp_path):
    made = run(simulate, config(name), tmp_path)
    (game,) = made.frame("game")
    assert (game["plays"], game["void"]) == (4, 0)
    assert simulate.estimate(config(name)).total_calls == 0
    assert made.replay().same == 4


def test_the_first_model_that_speaks_rules_where_nobody_is_named():
    assert config("debate").referee == "simulated"
    assert SimulateConfig("debate", "m", others="simulated").referee == "m"
    assert SimulateConfig("meeting", "m", others="simulated", referee="r").models == ("m", "r")


def test_moves_decide_where_there_is_something_to_offer_and_nobody_is_named_to_rule():
    offered = config("meeting")
    assert offered.referee is None
    assert offered.make_game().name == "meeting dialogue with offers"
    ruled = config("meeting", referee="simulated")
    assert ruled.make_game().name == "meeting dialogue"


def test_what_is_written_beside_a_move_is_no_move(tmp_path):
    made = run(simulate, config("job-offer"), tmp_path)
    assert {row["part"] for row in made.frame("shares")} == {"move", "salary", "leave", "place"}


@pytest.mark.parametrize(
    ("name", "value"),
    [("memory", "window:1"), ("reasons", False), ("temperature", 0.0), ("about_others", "truth")],
)
def test_how_models_are_asked_is_refused_where_none_plays(name, value):
    with pytest.raises(UsageError, match=f"{name}: this has no effect where no model plays"):
        SimulateConfig("stag-hunt", "random", **{name: value})
    assert (
        getattr(SimulateConfig("stag-hunt", "m", others="random", **{name: value}), name) == value
    )


def test_rules_of_moves_are_refused_in_a_dialogue_and_a_referee_elsewhere():
    with pytest.raises(UsageError, match="meeting dialogue with offers cannot be repeated"):
        config("meeting", rounds=2)
    with pytest.raises(UsageError, match="about_others: it belongs to games with moves"):
        config("debate", about_others="truth")
    with pytest.raises(UsageError, match="nobody rules in stag-hunt"):
        SimulateConfig("stag-hunt", "random", referee="simulated")
