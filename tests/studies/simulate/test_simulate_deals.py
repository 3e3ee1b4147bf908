"""Deals beside all that could have been agreed."""

import pytest
from running import run

from bestresponse.games.dialogue.offers import make_dialogue
from bestresponse.games.haggling.rules import Haggling
from bestresponse.studies.simulate.config import SimulateConfig
from bestresponse.studies.simulate.deals import find_frontier, judge_deal
from bestresponse.studies.simulate.study import simulate


def test_the_frontier_leaves_out_what_somebody_loses_by_and_what_can_be_improved():
    deals = [(4.0, 0.0), (3.0, 2.0), (3.0, 1.0), (1.0, 3.0), (-1.0, 9.0), (0.0, 3.0)]
    assert find_frontier(deals) == [(4.0, 0.0), (3.0, 2.0), (1.0, 3.0)]
    assert find_frontier([(-1.0, 5.0)]) == [(0.0, 0.0)]
    assert find_frontier([]) == []


def test_a_deal_is_measured_by_hand():
    game = Haggling()
    state = game.start()
    # Prices in steps of 5 between 12 and 88 share 76; the largest product is 38 * 38, at 50.
    row = judge_deal(0, game, state, (33.0, 43.0))  # 45
    assert (row["surplus"], row["possible"], row["to_frontier"]) == (76.0, 76.0, 0.0)
    assert row["share"] == pytest.approx(33 / 76)
    assert row["to_nash"] == pytest.approx(50**0.5)  # 5 less and 5 more
    nothing = judge_deal(0, game, state, (0.0, 0.0))
    assert nothing["share"] is None
    assert nothing["to_nash"] == pytest.approx(2**0.5 * 38)
    # The nearest deal to nobody's gain is 50 as well: on a line of slope -1 it is the middle.
    assert nothing["to_frontier"] == pytest.approx(2**0.5 * 38)


def test_a_dialogue_lists_every_deal_that_can_be_carried_out():
    for name, most in (("meeting", 5), ("job-offer", 27), ("bargaining", 101)):
        game = make_dialogue(name, {})
        assert len(game.list_deals(game.start())) == most
    game = make_dialogue("fruit", {"seed": 0})
    (case,) = game.talk.cases
    deals = game.list_deals(game.start())
    owned = [one + 1 for person in case.private for one in person["endowment"].values()]
    most = 1
    for pieces in owned:
        most *= pieces
    assert len(deals) in (0, most - 1)  # without the trade of nothing; none where they are too many


def test_equilibrium_play_is_reported_with_all_of_the_surplus(tmp_path):
    made = run(simulate, SimulateConfig("haggling", "equilibrium", repeats=3), tmp_path)
    (row,) = made.frame("bargaining")
    assert (row["deals"], row["plays"]) == (3, 3)
    assert row["surplus"].estimate == pytest.approx(1.0)
    assert row["share"].estimate == pytest.approx(33 / 76)
    assert row["to_nash"].estimate == pytest.approx(50**0.5)
    assert "Deals" in [section.title for section in made.report().sections]


def test_games_without_deals_have_no_such_table(tmp_path):
    made = run(simulate, SimulateConfig("chicken", "random", repeats=2), tmp_path)
    assert not made.frame("bargaining")
