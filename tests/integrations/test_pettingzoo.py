"""Games as PettingZoo environments keep its promises, and infos carry regret and best response."""

import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pettingzoo", reason="PettingZoo is not installed: pip install '.[pettingzoo]'")

import pettingzoo
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

from bestresponse.core.errors import InvalidMove, UsageError
from bestresponse.integrations.pettingzoo.environments import env, parallel_env
from bestresponse.theory import catalogue
from bestresponse.theory.catalogue.trees import tree_names
from bestresponse.theory.games.normal_form import NormalForm

DILEMMA = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]], actions=(("C", "D"), ("C", "D")))


@pytest.mark.parametrize("name", ["kuhn-poker", "centipede", "kuhn-poker-3", "trust"])
def test_trees_keep_the_promises_of_turns(name):
    api_test(env(name), num_cycles=100)
    seed_test(lambda: env(name), num_cycles=20)


@pytest.mark.parametrize("rounds", [1, 20])
def test_tables_keep_the_promises_of_both_interfaces(rounds):
    three = NormalForm(np.arange(36.0).reshape(3, 2, 3, 2))
    for form in (DILEMMA, three):
        parallel_api_test(parallel_env(form, rounds), num_cycles=100)
        parallel_seed_test(lambda form=form: parallel_env(form, rounds), num_cycles=20)
        api_test(env(form, rounds), num_cycles=100)


def test_a_round_tells_rewards_regrets_and_best_responses():
    game = parallel_env(DILEMMA, rounds=2)
    seen, _ = game.reset()
    assert seen["row"].tolist() == [0, 0, 0, 0]
    seen, rewards, over, _, infos = game.step({"row": 0, "col": 1})
    assert seen["col"].tolist() == [1, 0, 0, 1]
    assert rewards == {"row": 0.0, "col": 5.0}
    assert infos == {"row": {"regret": 1.0, "best_response": "D"}, "col": {"regret": 0.0, "best_response": "D"}}
    assert over == {"row": False, "col": False}
    assert game.step({"row": 1, "col": 1})[2] == {"row": True, "col": True}
    assert game.agents == []


def test_a_move_in_a_tree_costs_what_the_equilibrium_says():
    game = env("centipede")
    game.reset(seed=0)
    first = game.agent_selection
    moves = game.tree.infosets[0].moves
    best = game.infos[first]["best_response"]
    assert best in moves
    game.step(moves.index(best))
    assert game.infos[first]["regret"] == 0.0


def test_a_move_that_is_not_there_is_refused():
    game = env("centipede")
    game.reset()
    with pytest.raises(InvalidMove, match="has 2 moves here"):
        game.step(7)


def test_a_game_in_turn_has_no_parallel_environment():
    with pytest.raises(UsageError, match="use env"):
        parallel_env("kuhn-poker")


def test_the_rewards_of_a_play_are_the_payoffs_of_its_end():
    game = env("kuhn-poker")
    earned = dict.fromkeys(game.possible_agents, 0.0)
    game.reset(seed=3)
    for agent in game.agent_iter():
        seen, reward, over, _, _ = game.last()
        earned[agent] += reward
        game.step(None if over else int(seen["action_mask"].sum()) - 1)
    assert earned == dict(zip(game.tree.players, game.tree.payoffs[game._node].tolist(), strict=True))
    assert abs(earned["player 1"]) == 2.0


def test_pettingzoo_makes_every_game_of_the_catalogue_by_its_id():
    for name in (*catalogue.names(), *tree_names()):
        assert pettingzoo.make("aec", f"bestresponse/{name}-v0").possible_agents
    for name in catalogue.names():
        assert pettingzoo.make("parallel", f"bestresponse/{name}-v0").possible_agents


def test_a_registered_game_takes_its_options_and_needs_no_version():
    game = pettingzoo.make("parallel", "bestresponse/rock-paper-scissors", rounds=7)
    assert game.rounds == 7
    row, col = game.possible_agents
    game.reset()
    assert game.step({row: 0, col: 1})[1] == {row: -1.0, col: 1.0}


def test_the_learners_of_the_tutorial_come_close_to_what_the_solver_knows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "tutorials" / "learning.md").read_text("utf-8")
    values = {}
    for cell in re.findall(r"^```\{code-cell\} python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        exec(compile(cell, "learning.md", "exec"), values)
    assert values["exploitability"] < 0.05
    assert np.mean(values["first"]) == pytest.approx(0.5, abs=0.1)
