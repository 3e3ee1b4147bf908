"""Dialogues are simulated like any other game: people talk, a referee rules, payoffs are measured."""

import pytest
from running import run

from bestresponse.core.errors import UsageError
from bestresponse.games.named_game import NamedGame
from bestresponse.studies.simulate.config import SimulateConfig
from bestresponse.studies.simulate.study import SimulateStudy


def config(name, **settings):
    game = NamedGame.find(name)
    seats = tuple((role, "simulated") for role in game.game().roles)
    return SimulateConfig(game, seats, repeats=4, **settings)


@pytest.mark.parametrize("name", ["bargaining", "rps-talk"])
def test_a_dialogue_is_simulated_and_replayed_without_a_model(name, tmp_path):
    found = run(SimulateStudy(), config(name), tmp_path)
    assert found.results.summary["plays"] == 4
    assert found.results.summary["void"] == 0
    assert SimulateStudy().estimate(config(name)).total_calls == 0


def test_rules_of_moves_are_refused_in_a_dialogue_and_a_referee_elsewhere():
    with pytest.raises(UsageError, match="belong to games with moves"):
        config("meeting", noise=0.1)
    with pytest.raises(UsageError, match="nobody rules in stag-hunt"):
        SimulateConfig(NamedGame.find("stag-hunt"), (("row", "random"), ("col", "random")), referee="simulated")
