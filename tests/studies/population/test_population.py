"""Agents who imitate or reply follow what theory expects, and a run of them is a run like any
other."""

import numpy as np
import pytest
from running import run

import bestresponse as br
from bestresponse.core.errors import UsageError
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.studies.population.study import (
    PopulationConfig,
    _meet,
    population,
    predict_shares,
    run_agents,
)


def settings(game, strategies=(), **more):
    return PopulationConfig(
        game, strategies, **{"repeats": 1, "generations": 40, "repetitions": 10} | more
    )


def measured(config, path):
    return run(population, config, path)


def list_shares(made, strategy, column="share"):
    values = [row[column] for row in made.frame("shares").select(strategy=strategy)]
    return [value.estimate for value in values] if column == "share" else values


@pytest.mark.parametrize(
    ("rule", "far"), [("imitation", 0.03), ("logit", 0.03), ("best-reply", 0.12)]
)
def test_a_large_population_follows_the_dynamics_of_its_rule(rule, far, tmp_path):
    # Best replies jump at the mixed equilibrium, where finite populations and the limit part a
    # little.
    config = settings(
        "hawk-dove", rule=rule, agents=2000, start={"always:hawk": 0.9, "always:dove": 0.1}
    )
    made = measured(config, tmp_path)
    assert max(figures["farthest"] for _, figures in made.figures.groups) < far
    hawks, doves = list_shares(made, "always:hawk"), list_shares(made, "always:dove")
    assert np.allclose(np.add(hawks, doves), 1.0)
    assert list_shares(made, "always:hawk", "predicted")[0] == 0.9


def test_defection_takes_over_the_dilemma_by_best_replies(tmp_path):
    made = measured(
        settings("prisoners-dilemma", rule="best-reply", revise=1.0, generations=2), tmp_path
    )
    assert list_shares(made, "always:defect")[1:] == [1.0, 1.0]
    cooperators, defectors = (figures for _, figures in made.figures.groups)
    assert (cooperators["start"], cooperators["end"].estimate, cooperators["died_out"]) == (
        0.5,
        0.0,
        1.0,
    )
    assert (defectors["start"], defectors["expected"], defectors["died_out"]) == (0.5, 1.0, 0.0)


def test_logit_choice_rests_at_the_quantal_response_equilibrium(tmp_path):
    # In the dilemma (3, 0, 5, 1) defection earns 1 + cooperators' share more, so p = 1 / (1 +
    # exp(-(2 - p))).
    made = measured(settings("prisoners-dilemma", rule="logit", generations=100), tmp_path)
    defect = list_shares(made, "always:defect", "predicted")[-1]
    assert defect == pytest.approx(1 / (1 + np.exp(-(2 - defect))), abs=1e-6)


def test_other_games_have_a_population_for_each_role(tmp_path):
    config = settings("matching-pennies", generations=3)
    assert list(config.populations) == ["row", "col"]
    made = measured(config, tmp_path)
    assert made.frame("shares").list_values("population") == ["row", "col"]
    assert len(made.frame("shares")) == 2 * 4 * 2
    assert [section.title for section in made.report().sections][:2] == [
        "How the shares changed",
        "What strategies earn against each other",
    ]


def test_automata_meet_in_repeated_matches(tmp_path):
    made = measured(
        settings("prisoners-dilemma", ["tit-for-tat", "always:defect"], rounds=10), tmp_path
    )
    # Tit for tat earns 3 a round with itself; against it defection earns 5 once and then 1.
    assert [(row["strategy"], row["against"], row["mean"]) for row in made.frame("matches")] == [
        ("tit-for-tat", "tit-for-tat", 30.0),
        ("tit-for-tat", "always:defect", 9.0),
        ("always:defect", "tit-for-tat", 14.0),
        ("always:defect", "always:defect", 10.0),
    ]
    assert list_shares(made, "tit-for-tat", "predicted")[-1] > 0.9


def test_bands_hold_the_mean_of_the_repetitions(tmp_path):
    made = measured(settings("hawk-dove", generations=3, agents=20), tmp_path)
    config = made.config
    rng = np.random.default_rng(br.core.seeds.split(config.seed, "population"))
    payoffs = np.array([[[-1.0, -1.0], [2.0, 2.0]], [[0.0, 0.0], [1.0, 1.0]]])
    (seen,) = run_agents(config, (payoffs,), rng)
    hawks = seen[:, 3, 0]
    # Ten repetitions: the mean's error is the deviation over the root of ten, and 1.96 of it on
    # each side hold 95 %.
    reach = 1.959964 * hawks.std(ddof=1) / 10**0.5
    row = made.frame("shares").select(strategy="always:hawk", generation=3)[0]
    assert row["share"].estimate == pytest.approx(hawks.mean())
    assert row["share"].low == pytest.approx(max(hawks.mean() - reach, 0))
    assert row["share"].high == pytest.approx(min(hawks.mean() + reach, 1))


def test_replicator_step_by_hand():
    # Two strategies that earn 1 and 0 whatever the other does: dx = 0.5 * x * (1 - mean) with mean
    # = x.
    payoffs = np.array([[[1.0], [1.0]], [[0.0], [0.0]]])
    start = {"always:cooperate": 0.4, "always:defect": 0.6}
    (path,) = predict_shares(
        settings("prisoners-dilemma", generations=1, revise=0.5, start=start), (payoffs,)
    )
    assert path[1].tolist() == pytest.approx([0.4 + 0.5 * 0.4 * 0.6, 0.6 - 0.5 * 0.4 * 0.6])


def test_a_run_goes_on_where_it_was_stopped_and_replays(tmp_path):
    config = settings("hawk-dove", generations=5)
    first = measured(config, tmp_path)
    again = measured(config, tmp_path)
    assert (first.outcome.played, again.outcome.played) == (4, 0)
    assert again.summary()["figures"] == first.summary()["figures"]
    assert again.replay().same == 4
    assert "How the shares changed" in [section.title for section in again.report().sections]
    assert PopulationConfig.from_json(config.to_json()).to_json() == config.to_json()


def test_the_study_is_a_function_and_leaves_a_file_for_each_frame(tmp_path):
    made = br.simulate_population(
        "hawk-dove", agents=20, generations=3, repetitions=2, output_dir=tmp_path
    )
    assert made.config.agents == 20
    assert {path.name for path in made.path.iterdir()} >= {
        "shares.csv",
        "matches.csv",
        "equilibria.csv",
        "figures.csv",
    }
    assert (made.path / "matches.csv").read_text().splitlines()[
        0
    ] == "population,strategy,against,matches,mean"


def test_void_matches_are_named_and_enter_no_figure(tmp_path):
    def answer(request):
        return "hm" if "is a language model." in request.messages[-1].content else "ANSWER: hawk"

    model = ScriptedModel(answer, name="m")
    config = settings(
        "hawk-dove", [model, "always:dove"], repeats=2, attempts=1, about_others="truth"
    )
    made = run(population, config, tmp_path, {"m": model})
    assert [row["players"] for row in made.frame("voids")] == ["m, m"] * 2
    matches = {
        (row["strategy"], row["against"]): (row["matches"], row["mean"])
        for row in made.frame("matches")
    }
    # between themselves the models say nothing usable; against doves in both roles the hawk earns 2
    assert matches["m", "m"] == (0, None)
    assert matches["m", "always:dove"] == (4, 2.0)
    assert (
        "1 pairs of strategies have no match that counts (m against m)"
        in made.report().opening[0].text
    )
    told = "".join(request.messages[-1].content for request in model.asked)
    assert "Col is a program that always answers dove." in told


def test_shares_at_the_start_are_rounded_to_whole_agents():
    config = settings("hawk-dove", agents=10, start={"always:hawk": 1, "always:dove": 2})
    assert config.first_shares[0].tolist() == [0.3, 0.7]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"rule": "luck"}, "rule: expected one of imitation, best-reply, logit, got 'luck'"),
        ({"agents": 1}, "agents: expected a whole number from 2 to 1,000,000, got 1"),
        ({"revise": 0.0}, "revise: expected a number above 0 and of at most 1, got 0.0"),
        (
            {"start": {"always:eagle": 1.0}},
            "start: there is no strategy 'always:eagle' here; expected one of always:hawk, always:dove",
        ),
        ({"start": {"always:hawk": 0.0}}, "one of them above 0"),
        ({"strategies": ["always:hawk"]}, "expected at least two strategies"),
        ({"strategies": ["always:hawk", "always:eagle"]}, "eagle"),
        ({"agnets": 3}, "population has no setting 'agnets'. Did you mean agents?"),
    ],
)
def test_settings_that_cannot_be_are_refused(more, why):
    with pytest.raises(UsageError) as refused:
        settings("hawk-dove", **more)
    assert why in str(refused.value)


def test_games_without_a_table_are_refused():
    with pytest.raises(UsageError, match="no payoff table"):
        settings("kuhn-poker")


def test_each_population_earns_by_its_own_strategy_against_that_of_the_other():
    # Everybody of the rows plays the first of two strategies, everybody of the columns the second.
    held = [np.array([[0, 0, 0]]), np.array([[1, 1, 1]])]
    of_rows = np.array([[[1.0], [7.0]], [[2.0], [3.0]]])
    of_columns = np.array([[[4.0], [5.0]], [[9.0], [6.0]]])
    earned = _meet(held, [of_rows, of_columns], np.random.default_rng(1))
    # A row that plays 1 meets 2 and earns 7; a column that plays 2 meets 1 and earns 9.
    assert [row.tolist() for row in earned] == [[[7.0, 7.0, 7.0]], [[9.0, 9.0, 9.0]]]
