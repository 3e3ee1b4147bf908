"""What theory says of the registered rules, and what it costs to leave the equilibrium."""

import pytest

from bestresponse.analysis.theory import describe_theory
from bestresponse.core.capabilities import (
    find_equilibrium_moves,
    find_known_equilibrium,
    measure_decision_cost,
)
from bestresponse.core.registry import games
from bestresponse.games.guessing.rules import Guessing
from bestresponse.games.public_goods.rules import PublicGoods
from bestresponse.games.sealed_bid.rules import AuctionState, SealedBid, second_price
from bestresponse.games.trust.rules import Trust
from bestresponse.games.ultimatum.rules import Ultimatum
from bestresponse.games.water.game import Water
from bestresponse.telling.language import find_home, load_language
from bestresponse.telling.render import write_rules


@pytest.mark.parametrize(
    ("game", "payoffs", "better"),
    [
        (PublicGoods(rounds=2), 2 * 20.0, 2 * 32.0),
        (Guessing(rounds=5), 1.0, None),
    ],
)
def test_everybody_earns_the_same_in_a_symmetric_equilibrium(game, payoffs, better):
    known = find_known_equilibrium(game)
    assert set(known.payoffs.values()) == {payoffs}
    assert (set(known.better_payoffs.values()) if known.better_payoffs else None) == (
        {better} if better else None
    )


def test_trust_and_ultimatum_end_with_everything_where_it_began():
    assert find_known_equilibrium(Trust(endowment=8)).payoffs == {"sender": 8.0, "receiver": 8.0}
    assert find_known_equilibrium(Trust(endowment=8, factor=3)).better_payoffs == {
        "sender": 16.0,
        "receiver": 16.0,
    }
    assert find_known_equilibrium(Ultimatum(pie=5)).payoffs == {"proposer": 5.0, "responder": 0.0}


def test_nothing_is_said_where_nothing_is_known():
    for game in (Water(), Guessing(factor=1.2), PublicGoods(factor=4.5)):
        assert find_known_equilibrium(game) is None
        assert find_equilibrium_moves(game, game.start()) == {}
        assert measure_decision_cost(game, game.start(), game.roles[0], 0) is None


@pytest.mark.parametrize(
    ("game", "state", "role", "action", "cost"),
    [
        (PublicGoods(), (), "player 2", 20, 12.0),
        (
            PublicGoods(),
            ({f"player {k}": 5 for k in range(1, 5)},),
            "player 1",
            {"player 2": 2, "player 3": 0},
            2.0,
        ),
        (Trust(), (), "sender", 4.0, 4.0),
        (Trust(), (4.0,), "receiver", 5.0, 5.0),
        (Ultimatum(), (), "proposer", 2, 2.0),
        (Ultimatum(), (2,), "responder", "reject", 2.0),
        (Ultimatum(), (2,), "responder", "accept", 0.0),
        (Guessing(rounds=1), (), "player 1", 50.0, 0.2),
    ],
)
def test_another_answer_costs_what_the_rules_say(game, state, role, action, cost):
    if isinstance(action, dict):
        action = {"player 4": 0, **action}
    assert measure_decision_cost(game, state, role, action) == pytest.approx(cost)


def test_the_cost_of_a_bid_is_an_expectation_over_the_values_of_the_others():
    two = SealedBid(("first", "second"), "second", highest=1)
    assert (
        measure_decision_cost(two, AuctionState((1, 0)), "first", 0.0) == 0.0
    )  # the tie at 0 goes to the first of the list
    assert (
        measure_decision_cost(two, AuctionState((0, 1)), "second", 0.0) == 0.5
    )  # here it goes to the other, half of the time
    first = SealedBid(("first", "second"), "first", highest=100)
    assert measure_decision_cost(first, AuctionState((80, 0)), "first", 80.0) == pytest.approx(
        (80 - 40) * 81 / 101
    )
    assert find_equilibrium_moves(second_price(), AuctionState((10, 20, 30))) == {
        "bidder 1": 10,
        "bidder 2": 20,
        "bidder 3": 30,
    }


def test_nobody_is_charged_for_playing_the_equilibrium():
    for name in games.names():
        game = games.load(name)()
        state = game.start()
        if isinstance(game, SealedBid):
            state = AuctionState((30, 60, 90))
        while moves := find_equilibrium_moves(game, state):
            assert all(
                measure_decision_cost(game, state, role, move) == 0.0
                for role, move in moves.items()
            ), name
            state = game.apply(state, moves)


def test_whole_bids_make_a_first_price_auction_a_tree_that_is_solved():
    auction = SealedBid(("Ann", "Bob"), highest=2, whole=True)
    assert find_known_equilibrium(auction) is None
    shares = describe_theory(auction).predicted[0].shares

    def pay(values, bids):
        winner = 0 if bids[0] >= bids[1] else 1
        return values[winner] - bids[winner], winner

    def find_bids(role, value):
        (mix,) = [mix for label, mix in shares[role].items() if f"value is {value}." in label]
        return {int(bid): share for bid, share in mix.items() if share}

    for seat, (role, other) in enumerate((("Ann", "Bob"), ("Bob", "Ann"))):
        for value in range(3):
            earned = []
            for bid in range(3):
                gain = 0.0
                for theirs in range(3):
                    for reply, share in find_bids(other, theirs).items():
                        bids = (bid, reply) if seat == 0 else (reply, bid)
                        paid, winner = pay((value, value), bids)
                        gain += share * paid * (winner == seat)
                earned.append(gain)
            kept = sum(share * earned[bid] for bid, share in find_bids(role, value).items())
            assert kept == pytest.approx(max(earned), abs=1e-9)


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", "Bids are whole numbers."), ("de", "Gebote sind ganze Zahlen.")],
)
def test_bidders_are_told_that_bids_are_whole(language, words):
    spoken = load_language(language).within(find_home(SealedBid))
    for whole in (True, False):
        auction = SealedBid(whole=whole)
        told = write_rules(auction.view(auction.start(), "bidder 1"), spoken)
        assert (words in told) == whole
