"""Offers and counter-offers about a price, beside a backward induction of their own."""

from dataclasses import replace
from fractions import Fraction

import pytest

from bestresponse.analysis.theory import describe_theory
from bestresponse.analysis.truth import find_truth
from bestresponse.core.capabilities import HasPositions
from bestresponse.core.errors import UsageError
from bestresponse.games.haggling.rules import Haggling, HiddenHaggling
from bestresponse.games.kit import check_game
from bestresponse.games.lookup import find_game


def settle(game, made=0, standing=None):
    """What both earn in subgame-perfect play, in fractions, by the rules as they are told."""
    left = Fraction(100 - game.delay, 100) ** max(made - 1, 0)
    outcomes = []
    if standing is not None:
        outcomes += [((standing - game.cost) * left, (game.value - standing) * left), (0, 0)]
    if made < game.offers:
        outcomes += [settle(game, made + 1, price) for price in range(0, game.most + 1, game.step)]
    return max(outcomes, key=lambda earned: earned[made % 2])


def value(game):
    return tuple(describe_theory(game).positions.values[0])


def test_the_deal_of_the_usual_game_is_that_worked_out_by_hand():
    # Backwards: the buyer's last offer is 15 (3 to the seller); before it the seller asks for 35,
    # as 88 - 35 >= 0.7 * 73; the buyer offers 30, as 30 - 12 >= 0.7 * 23; the seller opens with 45,
    # as 88 - 45 >= 0.7 * 58, and the buyer accepts.
    assert value(Haggling()) == (33.0, 43.0)
    assert find_truth(Haggling()).values(Haggling().start(), "seller").lose("45").least == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"offers": 1},
        {"offers": 2, "delay": 10},
        {"offers": 3, "delay": 55, "step": 10},
        {"offers": 3, "cost": 33, "value": 71, "step": 9},
        {"offers": 2, "cost": 90, "value": 10, "step": 20},
    ],
)
def test_every_game_is_worth_what_backward_induction_says(changes):
    game = replace(Haggling(step=10), **changes)
    assert value(game) == pytest.approx([float(x) for x in settle(game)], abs=1e-9)


def test_an_offer_is_worth_more_than_accepting_by_so_much():
    game = Haggling()
    state = game.apply(game.start(), {"seller": "60"})
    worth = find_truth(game).values(state, "buyer").by_answer
    # 88 - 60 at once, or 0.7 * (88 - 30): the seller accepts 30, as 0.7 * 18 > 0.49 * 23.
    assert worth["accept"] == 28
    assert worth["30"] == pytest.approx(0.7 * 58)
    assert find_truth(game).values(state, "buyer").lose("accept").least == pytest.approx(12.6)


def test_nobody_can_expect_more_than_whoever_is_bound_to_one_price():
    # Seller at 10: 50 sells for sure, 90 half the time: 40 both; at 50: 90 half the time, 20. The
    # buyer at 90: 50 buys for sure, 40; at 50: 10 half the time, 20.
    game = HiddenHaggling()
    bounds = game.bound_payoffs()
    assert bounds == {"seller": 30.0, "buyer": 30.0}
    for predicted in describe_theory(game).predicted:
        assert all(predicted.payoffs[role] <= bounds[role] + 1e-9 for role in game.roles)
    assert "more than 30" in game.theory_remark
    other = replace(game, low_cost=0, high_cost=80, low_value=20, high_value=100)
    # at 0: max(20, 50) = 50; at 80: max(-60, 10) = 10; at 100: max(50, 20) = 50; at 20: max(10, -60)
    assert other.bound_payoffs() == {"seller": 30.0, "buyer": 30.0}
    uneven = replace(game, low_cost=0, high_cost=0)
    # at 0: max(50, 45) = 50; at 90: 90; at 50: 50
    assert uneven.bound_payoffs() == {"seller": 50.0, "buyer": 70.0}


def test_secrets_are_told_to_their_owner_alone():
    game = HiddenHaggling()
    state = game.apply(game.start(), {"nature": "10,90"})
    told = [str(game.view(state, role).position) for role in game.roles]
    assert ["10" in text for text in told] == [True, False]
    assert ["90" in text for text in told] == [False, True]
    assert not isinstance(game, HasPositions)


@pytest.mark.parametrize("game", [Haggling(), HiddenHaggling(), Haggling(offers=1, step=50)])
def test_the_game_keeps_every_promise_and_tells_it_in_every_language(game):
    for seed in range(5):
        check_game(game, seed)


def test_who_walks_away_or_refuses_the_last_offer_earns_nothing():
    game = Haggling(offers=2)
    state = game.start()
    for role, move in (("seller", "60"), ("buyer", "40")):
        state = game.apply(state, {role: move})
    assert game.asks(state)["seller"].options == ("accept", "walk away")
    assert game.payoffs(game.apply(state, {"seller": "walk away"})) == {"seller": 0, "buyer": 0}
    # (40 - 12) * 0.7 and (88 - 40) * 0.7
    ended = game.payoffs(game.apply(state, {"seller": "accept"}))
    assert ended == pytest.approx({"seller": 19.6, "buyer": 33.6})


@pytest.mark.parametrize("name", ["haggling(offers=0)", "haggling(delay=100)", "haggling(step=0)"])
def test_settings_that_mean_no_game_are_refused(name):
    with pytest.raises(UsageError, match="haggling"):
        find_game(name)
