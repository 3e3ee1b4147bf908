"""Rows that stand beside the figures of a simulation: rounds and what a repeated game sustains, by
hand."""

import numpy as np
import running

from bestresponse.studies.simulate import regrets
from bestresponse.studies.simulate.config import SimulateConfig
from bestresponse.studies.simulate.regrets import list_sustained
from bestresponse.studies.simulate.study import simulate


def play(path, game, **settings):
    return running.run(simulate, SimulateConfig(game, **{"repeats": 1} | settings), path)


def test_regrets_are_numbered_by_round_and_there_are_none_of_a_single_one(tmp_path):
    seats = {"row": "always:cooperate", "col": "always:defect"}
    two = play(tmp_path / "two", "prisoners-dilemma", seat=seats, rounds=2)
    # Defecting would have earned 1 instead of 0 in every round; the other can do no better.
    assert [(row["seat"], row["turn"], row["regret"].estimate) for row in two.frame("regrets")] == [
        ("row", 1, 1.0),
        ("row", 2, 1.0),
        ("col", 1, 0.0),
        ("col", 2, 0.0),
    ]
    assert [(row["seat"], row["turn"], row["move"]) for row in two.frame("moves")] == [
        ("row", 1, "cooperate"),
        ("col", 1, "defect"),
        ("row", 2, "cooperate"),
        ("col", 2, "defect"),
    ]
    one = play(tmp_path / "one", "prisoners-dilemma", seat=seats)
    assert len(one.frame("regrets")) == 0
    assert len(one.frame("shares_by_round")) == 0
    assert [row["payoff"] for row in one.frame("payoffs")] == [0.0, 5.0]
    # A play of one round is one answer; the rounds of one play are not independent, and a single
    # play has no interval.
    assert {row["share"].method for row in one.frame("shares")} == {"wilson"}
    assert {(row["share"].method, row["share"].n) for row in two.frame("shares")} == {("none", 1)}


def test_cooperation_needs_one_half_where_there_is_no_last_round():
    # Whoever leaves cooperation has 5 once instead of 3, and 1 ever after instead of 3: (5 - 3) /
    # (5 - 1) = 1/2.
    config = SimulateConfig("prisoners-dilemma", "random", rounds=50, continuation=0.5)
    (row,) = list_sustained(config)
    assert (row["profile"], row["welfare"], row["needed"]) == ("cooperate, cooperate", 6.0, 0.5)


def test_the_first_who_speaks_rules_in_a_dialogue_unless_somebody_is_named():
    roles = SimulateConfig("meeting", "m").make_game().roles
    assert SimulateConfig("meeting", "m").referee == "m"
    assert SimulateConfig("meeting", seat={roles[0]: "simulated", roles[1]: "n"}).referee == "n"
    assert SimulateConfig("meeting", "simulated").referee == "simulated"
    named = SimulateConfig("meeting", "m", referee="judge")
    assert (named.referee, named.models) == ("judge", ("m", "judge"))


def test_the_first_round_of_a_profile_may_have_less_to_lose_than_its_last():
    # Whoever leaves gains 4.9 - 2 = 2.9, and each later round counts half. In round 2 of 3 leaving
    # costs (10 - 1) / 2 = 4.5, but in round 1 only (2 - 1) / 2 + 4.5 / 2 = 2.75. For one round it
    # lasts: the two that follow are worth 9 (1 / 2 + 1 / 4) = 6.75.
    paid, best = np.array([2.0]), np.array([4.9])
    equilibria = np.array([[1.0], [10.0]])
    assert regrets.count_sustained_rounds(paid, best, equilibria, rounds=3, weight=0.5) == 1
