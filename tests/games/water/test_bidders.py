"""Bidders without a model, and the fast path that plays many of their games at once."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from bestresponse.core.ask import PASS, Choice
from bestresponse.core.conformance import check_player
from bestresponse.core.episode import Episode, play
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE, View
from bestresponse.core.player import Nature
from bestresponse.games.water.bidders import (
    BIDDERS,
    SOLVED,
    BidderPlayer,
    bidder,
    play_many,
    policy_of,
    prices_to_win,
    search_bidder,
    seat_seed,
    serve_many,
)
from bestresponse.games.water.game import Water, water
from bestresponse.games.water.rules import Resident, WaterRules, allocate, with_abundance

FIVE = ("random", "share:0.3", "need", "myopic", "share")


def played_one_by_one(rules, names, seed):
    """The same game through the episode: (supplies, bids, evenings)."""
    game = Water(rules)
    seats = {
        role: BidderPlayer(name, seat_seed(seed, role))
        for role, name in zip(game.roles, names, strict=True)
    }
    record = play(game, {**seats, NATURE: Nature(seed)})
    return Episode(game, record.submissions).state


@pytest.mark.parametrize(
    "names",
    [FIVE, ("myopic",) * 5, ("solver", "need", "need", "random", "need")],
)
@pytest.mark.parametrize("abundance", ["low", "high"])
def test_the_fast_path_plays_the_same_games_to_the_last_digit(names, abundance):
    rules = with_abundance(WaterRules(), abundance)
    seeds = [11, 12, 13]
    many = play_many(rules, names, seeds)
    for row, seed in enumerate(seeds):
        for day in played_one_by_one(rules, names, seed).past:
            at = (row, day.number - 1)
            assert many.supply[at] == day.supply
            assert [None if math.isnan(bid) else bid for bid in many.bids[at]] == list(day.bids)
            assert many.served[at].tolist() == list(day.winners)
            assert many.balance[at].tolist() == [s.balance for s in day.after]
            assert many.health[at].tolist() == [s.health for s in day.after]
            assert many.dry[at].tolist() == [s.dry_days for s in day.after]


def test_the_fast_path_takes_other_rosters_and_constants():
    rules = WaterRules(
        (Resident("z", 3, 5.5), Resident("a", 3, 5.25), Resident("m", 1.5, 2)),
        1,
        6,
        9,
        3,
        4,
        1,
        0.5,
    )
    names = ("random", "myopic", "need")
    many = play_many(rules, names, [4])
    end = played_one_by_one(rules, names, 4)
    assert many.health[0, len(end.past) - 1].tolist() == [s.health for s in end.standings]


offers = st.lists(st.none() | st.integers(0, 20).map(float), min_size=5, max_size=5)


@given(offers, st.integers(0, 60))
def test_many_are_served_as_one_is(bids, supply):
    rules = WaterRules()
    array = np.array([[math.nan if bid is None else bid for bid in bids]])
    assert tuple(serve_many(rules, array, np.array([float(supply)]))[0]) == allocate(
        rules.residents, bids, supply
    )


@settings(max_examples=60)
@given(offers, st.integers(0, 60), st.integers(0, 4))
def test_the_price_to_win_wins_and_a_cent_less_does_not(bids, supply, seat):
    rules = WaterRules()
    array = np.array([[math.nan if bid is None else bid for bid in bids]])
    price = prices_to_win(rules, array, np.array([float(supply)]))[0, seat]
    others = [bid if other != seat else None for other, bid in enumerate(bids)]

    def wins(bid):
        return allocate(
            rules.residents, [bid if other == seat else b for other, b in enumerate(others)], supply
        )[seat]

    if math.isinf(price):
        assert not wins(1000.0)
    else:
        assert wins(price)
        assert price == 0 or not wins(price - 0.01)


@pytest.mark.parametrize("name", [*(name for name in BIDDERS if name != "solver"), "share:0.25"])
def test_every_bidder_keeps_the_promises_of_a_player(name):
    check_player(BidderPlayer(name, 3), water("low"))


def test_the_formulas_by_hand():
    game = water("medium")
    state = game.apply(game.start(), {NATURE: 15})
    first = {
        name: BidderPlayer(name).decide(game.view(state, "Alex"), game.asks(state)["Alex"]).action
        for name in FIVE
    }
    assert first["share:0.3"] == 21.0
    assert first["need"] == 8.75  # one of eight health points is at stake: 70 / 8
    assert first["myopic"] == 35.0
    bids = dict(zip(game.roles, (10.0, 20.0, 30.0, 40.0, PASS), strict=True))
    state = game.apply(game.apply(state, bids), {NATURE: 25})
    ask = game.asks(state)
    # 25 units: David's 40 and Cindy's 30 leave 4, so Alex (8) must outbid Cindy, and wins a tie
    # against her
    assert BidderPlayer("myopic").decide(game.view(state, "Alex"), ask["Alex"]).action == 30.0
    # Eric (12) loses ties against everybody: above Cindy's 30 there are 14 units left after David
    assert BidderPlayer("myopic").decide(game.view(state, "Eric"), ask["Eric"]).action == 30.01


def test_the_solver_lives_longer_than_the_bidders_it_was_solved_against():
    rules = with_abundance(WaterRules(), "low")
    seeds = range(500, 700)

    def survival(name):
        rates = [
            play_many(rules, [name, *[rival] * 4], seeds).survived[:, 0].mean()
            for rival in ("random", "need")
        ]
        return float(np.mean(rates))

    others = {name: survival(name) for name in ("random", "share", "need", "myopic")}
    assert survival("solver") > max(others.values()) + 0.1


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("rondom", "Did you mean random"),
        ("share:2", "a share from 0 to 1"),
        ("share:x", "from 0 to 1"),
        ("need:1", "no bidder named"),
    ],
)
def test_unknown_bidders_are_explained(name, why):
    with pytest.raises(UsageError, match=why):
        bidder(name)


def test_a_bidder_in_another_game_says_so():
    with pytest.raises(UsageError, match="plays the water game only"):
        BidderPlayer("need").decide(View("x"), Choice(("a",)))
    with pytest.raises(UsageError, match="5 residents need as many bidders, got 1"):
        play_many(WaterRules(), ["need"], [1])


@pytest.mark.slow
def test_the_kept_policies_are_what_solving_gives():
    for abundance, seat in (("low", 0), ("high", 4)):
        solved = search_bidder(with_abundance(WaterRules(), abundance), seat)
        assert np.allclose(solved, SOLVED[abundance][seat], atol=1e-4)


def test_other_rules_are_solved_when_they_come_up():
    rules = WaterRules((Resident("a", 2, 10), Resident("b", 2, 10)), 2, 3, 4)
    assert policy_of(rules, 0).shape == (5,)
    assert play_many(rules, ["solver", "random"], [1, 2]).survived.shape == (2, 2)
