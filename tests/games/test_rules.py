"""The other games of the playground, with what theory says about them."""

import pytest
from daily import share_out

from bestresponse.core.conformance import check_game
from bestresponse.core.errors import TooLarge, UsageError
from bestresponse.core.game import NATURE
from bestresponse.core.registry import games
from bestresponse.games.blotto.rules import Blotto
from bestresponse.games.guessing.rules import Guessing
from bestresponse.games.public_goods.rules import PublicGoods
from bestresponse.games.sealed_bid.rules import AuctionState, SealedBid, second_price
from bestresponse.games.trust.rules import Trust
from bestresponse.games.ultimatum.rules import Ultimatum
from bestresponse.games.water.game import survival
from bestresponse.telling.render import write_history
from bestresponse.theory import catalogue
from bestresponse.theory.catalogue.trees import tree_names
from bestresponse.theory.generators import families
from bestresponse.theory.zero_sum.solve import solve_zero_sum

NAMES = (
    "colonel-blotto",
    "first-price-auction",
    "guessing",
    "public-goods-punishment",
    "second-price-auction",
    "survival-auction",
    "trust",
    "ultimatum",
    "water",
)


@pytest.mark.parametrize("seed", share_out(range(3)))
@pytest.mark.parametrize("name", NAMES)
def test_every_game_is_registered_says_what_it_is_and_keeps_its_promises(name, seed):
    thing = games.load(name)
    assert thing.__doc__.strip()
    check_game(thing(), seed)


def test_no_registered_name_is_hidden_by_a_game_or_family_of_the_catalogue():
    taken = {*catalogue.names(), *tree_names(), *families()}
    assert not taken & set(NAMES)


def test_whoever_is_closest_to_the_fraction_of_the_average_wins_and_equals_share():
    game = Guessing(("a", "b", "c"), rounds=2)
    state = game.apply((), {"a": 10, "b": 20, "c": 60})
    assert game.target(state[0]) == pytest.approx(24)
    assert game.payoffs(state) == {"a": 0.0, "b": 1.0, "c": 0.0}
    assert game.payoffs(game.apply(state, {"a": 5, "b": 5, "c": 50})) == {
        "a": 0.5,
        "b": 1.5,
        "c": 0.0,
    }
    assert "the target was 24; you got 0." in write_history(game.view(state, "a"))


def test_in_the_public_goods_game_giving_nothing_is_dominant_and_giving_all_is_best_for_all():
    game = PublicGoods(rounds=1, punishment=False)

    def earned(*given):
        return game.payoffs(game.apply((), dict(zip(game.roles, given, strict=True))))

    assert earned(0, 0, 0, 0)["player 1"] == 20
    assert earned(20, 20, 20, 20)["player 1"] == 32
    assert earned(0, 20, 20, 20)["player 1"] == 44
    assert earned(20, 0, 0, 0)["player 1"] == 8


def test_a_point_of_punishment_costs_the_giver_one_and_the_other_three():
    game = PublicGoods(rounds=1)
    state = game.apply((), dict.fromkeys(game.roles, 0))
    points = {role: {other: 0 for other in game.roles if other != role} for role in game.roles}
    points["player 2"]["player 1"] = 2
    assert list(game.payoffs(game.apply(state, points)).values()) == [14, 18, 20, 20]
    assert "player 2 gave player 1 2" in write_history(
        game.view(game.apply(state, points), "player 3")
    )


def test_the_winner_of_an_auction_pays_the_first_or_the_second_price():
    state = AuctionState((80, 50, 20), (40.0, 45.0, 10.0))
    assert SealedBid().payoffs(state) == {"bidder 1": 0.0, "bidder 2": 5.0, "bidder 3": 0.0}
    assert second_price().payoffs(state) == {"bidder 1": 0.0, "bidder 2": 10.0, "bidder 3": 0.0}


def test_bidders_know_only_their_own_value():
    game = SealedBid()
    state = game.start()
    for value in (80, 50, 20):
        state = game.apply(state, {NATURE: value})
    assert "Your value is 50." in write_history(game.view(state, "bidder 2"))
    assert "80" not in game.view(state, "bidder 2").key


def test_the_ultimatum_is_taken_or_both_get_nothing():
    game = Ultimatum()
    offered = game.apply((), {"proposer": 3})
    assert game.payoffs(game.apply(offered, {"responder": "accept"})) == {
        "proposer": 7.0,
        "responder": 3.0,
    }
    assert game.payoffs(game.apply(offered, {"responder": "reject"})) == {
        "proposer": 0.0,
        "responder": 0.0,
    }


def test_what_is_sent_in_trust_is_tripled():
    game = Trust()
    assert game.payoffs(game.apply(game.apply((), {"sender": 4}), {"receiver": 5})) == {
        "sender": 11.0,
        "receiver": 17.0,
    }


def test_blotto_is_won_field_by_field_and_worth_nothing_to_either_side():
    game = Blotto(6, 3)
    assert len(game.plans) == 28
    assert game.payoffs(("2-2-2", "0-1-5")) == {"Blotto": 1.0, "Enemy": -1.0}
    assert solve_zero_sum(game.normal_form.payoffs[0]).values[0] == pytest.approx(0, abs=1e-9)


def test_one_ration_has_one_winner():
    game = survival(3)
    state = game.apply(
        game.apply(game.start(), {NATURE: 1}), dict(zip(game.roles, (5, 7, 7), strict=True))
    )
    assert state.past[0].winners == (False, True, False)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Guessing(("a",)),
        lambda: PublicGoods(rounds=0),
        lambda: SealedBid(highest=0),
        lambda: Ultimatum(0),
        lambda: Trust(0),
        lambda: Blotto(0),
        lambda: survival(0),
    ],
)
def test_settings_that_make_no_sense_are_refused(make):
    with pytest.raises(UsageError):
        make()
    with pytest.raises(TooLarge):
        Blotto(100, 5)
