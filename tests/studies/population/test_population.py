"""Agents who imitate or reply follow what theory expects, and a run of them is a run like any other."""

import numpy as np
import pytest
from running import run

from bestresponse.core.errors import UsageError
from bestresponse.games.named_game import NamedGame
from bestresponse.studies.population.agents import find_start
from bestresponse.studies.population.config import PopulationConfig, list_moves
from bestresponse.studies.population.study import PopulationStudy


def settings(game, strategies=None, **more):
    source = NamedGame.find(game)
    given = {"repeats": 1, "generations": 40, "repetitions": 10} | more
    return PopulationConfig(source, tuple(strategies or list_moves(source)), **given)


def measured(config, path):
    return run(PopulationStudy(), config, path).results


@pytest.mark.parametrize(("rule", "far"), [("imitation", 0.03), ("logit", 0.03), ("best-reply", 0.12)])
def test_a_large_population_follows_the_dynamics_of_its_rule(rule, far, tmp_path):
    # Best replies jump at the mixed equilibrium, where finite populations and the limit part a little.
    config = settings("hawk-dove", rule=rule, agents=2000, start=(0.9, 0.1))
    found = measured(config, tmp_path)
    assert found.distances[0] < far
    assert np.allclose(found.observed[0].sum(axis=2), 1.0)
    assert found.predicted[0][0].tolist() == [0.9, 0.1]


def test_defection_takes_over_the_dilemma_by_best_replies(tmp_path):
    found = measured(settings("prisoners-dilemma", rule="best-reply", revise=1.0, generations=2), tmp_path)
    assert found.observed[0][:, 1:, 1].tolist() == [[1.0, 1.0]] * 10
    assert [own["died_out"] for _, own in found.figures.groups] == [1.0, 0.0]


def test_logit_choice_rests_at_the_quantal_response_equilibrium(tmp_path):
    # In the dilemma (3, 0, 5, 1) defection earns 1 + cooperators' share more, so p = 1 / (1 + exp(-(2 - p))).
    found = measured(settings("prisoners-dilemma", rule="logit", generations=100), tmp_path)
    defect = found.predicted[0][-1, 1]
    assert defect == pytest.approx(1 / (1 + np.exp(-(2 - defect))), abs=1e-6)


def test_other_games_have_a_population_for_each_role(tmp_path):
    config = settings("matching-pennies", generations=3)
    assert not config.symmetric
    found = measured(config, tmp_path)
    assert found.labels == config.roles
    assert [path.shape for path in found.observed] == [(10, 4, 2)] * 2
    assert {row["population"] for row in found.rows} == set(config.roles)


def test_automata_meet_in_repeated_matches(tmp_path):
    config = settings("prisoners-dilemma", ["tit-for-tat", "always:defect"], rounds=10, start=(0.5, 0.5))
    found = measured(config, tmp_path)
    # Tit for tat earns 3 a round with itself; against it defection earns 5 once and then 1.
    assert found.matches.means[0].tolist() == [[30.0, 9.0], [14.0, 10.0]]
    assert found.predicted[0][-1, 0] > 0.9


def test_a_run_goes_on_where_it_was_stopped_and_replays(tmp_path):
    config = settings("hawk-dove", generations=5)
    first = run(PopulationStudy(), config, tmp_path)
    again = run(PopulationStudy(), config, tmp_path)
    assert (first.outcome.played, again.outcome.played) == (4, 0)
    assert again.summary()["figures"] == first.summary()["figures"]
    assert again.replay().same == 4
    assert "How the shares changed" in [section.title for section in again.report().sections]
    assert PopulationConfig.from_json(config.to_json()) == config


def test_shares_at_the_start_are_rounded_to_whole_agents():
    assert find_start(settings("hawk-dove", agents=10, start=(1, 2)))[0].tolist() == [0.3, 0.7]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"rule": "luck"}, "expected one of imitation, best-reply, logit"),
        ({"agents": 1}, "--agents 1: expected a whole number from 2"),
        ({"revise": 0.0}, "--revise 0: expected a probability above 0"),
        ({"start": (1.0,)}, "expected a share of each strategy"),
        ({"start": (0.0, 0.0)}, "at least one share above 0"),
        ({"strategies": ["always:hawk"]}, "expected at least two strategies"),
        ({"strategies": ["always:hawk", "always:eagle"]}, "eagle"),
    ],
)
def test_settings_that_cannot_be_are_refused(more, why):
    with pytest.raises(UsageError, match=why):
        settings("hawk-dove", **more)


def test_games_without_a_table_are_refused():
    with pytest.raises(UsageError, match="no payoff table"):
        settings("kuhn-poker")
