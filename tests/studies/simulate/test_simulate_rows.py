"""Rows that stand beside the figures of a simulation: rounds and what a repeated game sustains, by
hand."""

import running

from bestresponse.studies.simulate.config import SimulateConfig
from bestresponse.studies.simulate.study import simulate


def play(path, game, **settings):
    return running.run(simulate, SimulateConfig(game, **{"repeats": 1} | settings), path)


def test_moves_are_numbered_by_round(tmp_path):
    seats = {"row": "always:cooperate", "col": "always:defect"}
    two = play(tmp_path / "two", "prisoners-dilemma", seat=seats, rounds=2)
    assert [(row["seat"], row["turn"], row["move"]) for row in two.frame("moves")] == [
        ("row", 1, "cooperate"),
        ("col", 1, "defect"),
        ("row", 2, "cooperate"),
        ("col", 2, "defect"),
    ]
    one = play(tmp_path / "one", "prisoners-dilemma", seat=seats)
    assert len(one.frame("shares_by_round")) == 0
    assert [row["payoff"] for row in one.frame("payoffs")] == [0.0, 5.0]
    # A play of one round is one answer; the rounds of one play are not independent, and a single
    # play has no interval.
    assert {row["share"].method for row in one.frame("shares")} == {"wilson"}
    assert {(row["share"].method, row["share"].n) for row in two.frame("shares")} == {("none", 1)}


def test_the_first_who_speaks_rules_in_a_dialogue_unless_somebody_is_named():
    roles = SimulateConfig("debate", "m").make_game().roles
    assert SimulateConfig("debate", "m").referee == "m"
    assert SimulateConfig("debate", seat={roles[0]: "simulated", roles[1]: "n"}).referee == "n"
    assert SimulateConfig("debate", "simulated").referee == "simulated"
    named = SimulateConfig("debate", "m", referee="judge")
    assert (named.referee, named.models) == ("judge", ("m", "judge"))
