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
    assert config("meeting").referee == "simulated"
    assert SimulateConfig("meeting", "m", others="simulated").referee == "m"
    assert SimulateConfig("meeting", "m", others="simulated", referee="r").models == ("m", "r")


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
    with pytest.raises(UsageError, match="meeting dialogue cannot be repeated"):
        config("meeting", rounds=2)
    with pytest.raises(UsageError, match="about_others: it belongs to games with moves"):
        config("meeting", about_others="truth")
    with pytest.raises(UsageError, match="nobody rules in stag-hunt"):
        SimulateConfig("stag-hunt", "random", referee="simulated")
