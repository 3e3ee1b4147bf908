"""The Water Allocation Challenge in a browser: days, supply and residents are parameters of the
file."""

import csv
import io
import json
from pathlib import Path

import pytest

from bestresponse.core.errors import UsageError
from bestresponse.web.experiments.reading import check_experiment
from bestresponse.web.sessions.setup import (
    GameChoice,
    count_rounds,
    list_parameters,
    list_placeholders,
    make_game,
)
from bestresponse.web.trial import TrialSettings, try_experiment

EXAMPLE = Path(__file__).parents[3] / "examples" / "experiments" / "water.toml"


def choose(rounds=None, **parameters):
    return GameChoice("water", rounds=rounds, parameters=parameters)


def read_table(trial, name):
    return list(csv.DictReader(io.StringIO(trial.files[name].decode())))


def refuse_models(name):
    raise UsageError(f"no model {name}")


def test_a_drought_lasts_20_days_unless_the_file_says_otherwise():
    assert make_game(choose()).rules.days == 20
    assert make_game(choose(rounds=3)).rules.days == 3
    assert make_game(choose(days=4)).rules.days == 4
    assert [count_rounds(choice) for choice in (choose(), choose(rounds=3), choose(days=4))] == [
        20,
        3,
        4,
    ]
    assert count_rounds(GameChoice("chicken")) == 1
    with pytest.raises(
        UsageError, match="the days are given twice: by rounds and by the parameter days"
    ):
        make_game(choose(rounds=3, days=4))


def test_the_parameters_of_the_drought_are_its_days_supply_and_residents():
    known = list_parameters(make_game(choose()))
    assert list(known) == [
        "days",
        "low",
        "high",
        "abundance",
        "residents",
        "health",
        "most_health",
        "gain",
        "thirst",
    ]
    assert (known["days"], known["low"], known["high"], known["abundance"]) == (
        20,
        15,
        25,
        "medium",
    )
    assert known["residents"][0] == "Alex: need 8, salary 70"
    assert "abundance" not in list_parameters(make_game(GameChoice("survival-auction")))


def test_the_supply_is_set_by_its_ends_or_by_name():
    assert make_game(choose(low=10, high=20)).rules.supplies == tuple(range(10, 21))
    assert make_game(choose(abundance="high")).rules.supplies == tuple(range(20, 31))
    assert list_placeholders(choose(abundance="low"))["high"] == "20"
    assert list_parameters(make_game(choose(low=3, high=9)))["abundance"] == "own"


def test_residents_are_texts_with_need_and_salary():
    game = make_game(choose(residents=("Old Mill: need 2.5, salary 30", "Farm: need 4, salary 12")))
    assert [(r.name, r.need, r.salary) for r in game.rules.residents] == [
        ("Old Mill", 2.5, 30),
        ("Farm", 4, 12),
    ]
    assert game.roles == ("Old Mill", "Farm")


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({"abundance": "huge"}, "there is no abundance named 'huge'; known: low, medium, high"),
        (
            {"abundance": "low", "low": 12},
            "the supply is given twice: by abundance, and by low or high",
        ),
        ({"low": 30}, "the supply goes from 30 to 25; expected 0 <= lowest <= highest"),
        ({"days": 0}, "the drought lasts 0 days; expected 1 to 10000"),
        (
            {"residents": ("Mill 4 30",)},
            "'Mill 4 30' is not a resident; expected a text like \"Alex: need 8, salary 70\"",
        ),
        ({"residents": ("Mill: need 1.2.3, salary 30",)}, "is not a resident"),
        ({"usual_rounds": 3}, "water has no parameter 'usual_rounds'; it has days, low, high"),
    ],
)
def test_a_drought_that_cannot_be_is_refused_with_the_reason(parameters, why):
    with pytest.raises(UsageError) as error:
        make_game(choose(**parameters))
    assert why in str(error.value)


def test_the_two_games_that_people_played_can_be_put_to_people():
    experiment = check_experiment(EXAMPLE.read_text("utf-8"))
    games = [make_game(choose(**game["parameters"])) for game in experiment.games]
    assert [(game.rules.days, game.rules.low, game.rules.high) for game in games] == [
        (20, 10, 20),
        (20, 20, 30),
    ]
    asked = [item.name for item in experiment.questionnaire]
    assert asked == ["information", "reasoning", "effectiveness", "adaptability", "planning"]


TWO = """
title = "Two"
[[games]]
game = "water"
seats = ["person", "person"]
quiz = false
[games.parameters]
days = 3
low = 4
high = 4
health = 9
residents = ["Mill: need 4, salary 30", "Farm: need 4, salary 30"]
"""


def test_programs_play_the_days_of_the_file_and_the_values_are_those_worked_out_by_hand():
    # Both bid a share of what they have by `need`: 1/9 of 30 dollars each on the first day. The tie
    # goes to the first of the list. Mill: 9 + 2 is more than the 10 that anybody can have. Farm: 9
    # - 1. On the second day Farm bids 2/8 of 60 and Mill 1/10 of 56.67, so Farm is served.
    trial = try_experiment(TWO, TrialSettings(2, player="strategy:need"), refuse_models)
    assert (trial.finished, trial.wrong) == (2, [])
    decisions = read_table(trial, "decisions.csv")
    by_hand = {("Mill", "1"): 3.33, ("Farm", "1"): 3.33, ("Mill", "2"): 5.67, ("Farm", "2"): 15.0}
    bids = {(row["role"], row["round"]): float(row["action"]) for row in decisions}
    assert {key: bids[key] for key in by_hand} == pytest.approx(by_hand, abs=0.011)
    assert sorted({row["round"] for row in decisions}) == ["1", "2", "3"]
    assert {row["rounds"] for row in decisions} == {"3"}
    assert json.loads(decisions[0]["parameters"])["low"] == 4
    assert {row["payoff"] for row in read_table(trial, "parts.csv")} == {"1.0"}
    assert [row["action"] for row in read_table(trial, "draws.csv")] == ["4", "4", "4"]
