"""The rules of the Water Allocation Challenge, by hand."""

import math

import pytest
from hypothesis import given, strategies as st

from bestresponse.core.ask import PASS, Amount
from bestresponse.core.conformance import check_game
from bestresponse.core.episode import Episode
from bestresponse.core.errors import InvalidMove, NotAsked, UsageError
from bestresponse.core.game import NATURE
from bestresponse.core.player import Decision, Nature
from bestresponse.core.registry import games
from bestresponse.games.water.game import Water, water
from bestresponse.games.water.rules import RESIDENTS, Resident, Standing, WaterRules, allocate
from bestresponse.telling.render import write_history, write_rules


def day(game, state, supply, *bids):
    state = game.apply(state, {NATURE: supply})
    moves = {role: bid for role, bid in zip(game.roles, bids, strict=True) if bid is not None}
    return game.apply(state, moves)


def test_it_keeps_every_promise_of_a_game():
    for seed, abundance in enumerate(("low", "medium", "high")):
        check_game(water(abundance), seed)
    check_game(Water(WaterRules((Resident("only", 5, 10),), 0, 10, 3)))
    check_game(
        Water(WaterRules(tuple(Resident(f"r{i}", i + 1, 10 * i) for i in range(12)), 20, 20, 5))
    )


def test_it_is_found_by_its_name():
    assert games.load("water")().rules == WaterRules()


def test_the_first_morning_has_one_salary_and_eight_health_points():
    assert Water().start().standings == (
        Standing(70, 8),
        Standing(75, 8),
        Standing(100, 8),
        Standing(120, 8),
        Standing(120, 8),
    )


def test_supply_is_uniform_with_both_ends_and_announced_before_the_bids():
    game = water("low")
    lottery = game.asks(game.start())[NATURE]
    assert [outcome for outcome, _ in lottery.chances] == list(range(10, 21))
    state = game.apply(game.start(), {NATURE: 13})
    assert "There are 13 units of water today." in write_history(game.view(state, "Alex"))
    assert game.asks(state)["Alex"] == Amount(0, 70, may_pass=True)


def test_the_winner_pays_its_own_bid_and_nobody_else_pays():
    game = Water()
    state = day(game, game.start(), 15, 30.5, 20, 20, 20, 20)
    assert state.past[0].winners == (True, False, False, False, False)
    assert state.past[0].after[0] == Standing(39.5, 10, 0)
    assert state.past[0].after[1] == Standing(75, 7, 1)
    assert state.standings[0] == Standing(109.5, 10, 0)


def test_dry_days_cost_more_each_day_and_water_ends_the_row():
    game = Water()
    state = game.start()
    for _ in range(2):
        state = day(game, state, 15, 0, 9, 9, 9, 9)
    assert state.standings[0] == Standing(210, 5, 2)
    state = day(game, state, 15, 100, 9, 9, 9, 9)
    assert state.standings[0] == Standing(180, 7, 0)


def test_a_seat_without_health_drops_out_and_is_asked_no_more():
    game = Water()
    state = game.start()
    for _ in range(4):
        state = day(game, state, 15, 0, 9, 9, 9, 9)
    assert state.past[-1].after[0] == Standing(280, -2, 4)
    state = game.apply(state, {NATURE: 15})
    assert "Alex" not in game.asks(state)
    assert "Alex: out of the game" in write_history(game.view(state, "Bob"))
    assert state.standings[0].balance == 280


def test_where_all_are_out_the_game_is_over_and_no_supply_is_drawn_any_more():
    game = Water()
    state = game.start()
    for _ in range(4):
        state = day(game, state, 15, PASS, PASS, PASS, PASS, PASS)
    assert game.asks(state) == {}
    assert set(game.payoffs(state).values()) == {0.0}


def test_ties_go_to_the_lower_need_whatever_the_seat_order():
    backwards = tuple(reversed(RESIDENTS))
    assert allocate(RESIDENTS, (50, 50, 50, 50, 50), 10) == (True, False, False, False, False)
    assert allocate(backwards, (50, 50, 50, 50, 50), 10) == (False, False, False, False, True)


def test_whoever_does_not_fit_is_skipped_and_the_scan_goes_on():
    assert allocate(RESIDENTS, (1, 2, 3, 4, 5), 20) == (True, False, False, False, True)


@given(st.lists(st.none() | st.floats(0, 100), min_size=5, max_size=5), st.integers(0, 60))
def test_nobody_who_bids_is_left_dry_where_its_need_still_fits(bids, supply):
    served = allocate(RESIDENTS, bids, supply)
    left = supply - sum(r.need for r, won in zip(RESIDENTS, served, strict=True) if won)
    assert left >= 0
    for resident, bid, won in zip(RESIDENTS, bids, served, strict=True):
        assert not won or bid is not None
        assert won or bid is None or resident.need > left


@pytest.mark.parametrize(
    ("bid", "why"),
    [
        (70.01, "70.01 is not between 0 and 70"),
        (-1, "-1 is not between 0 and 70"),
        (math.nan, "nan is not a finite number"),
        (math.inf, "inf is not a finite"),
    ],
)
def test_a_refused_bid_comes_with_a_reason_and_the_seat_may_bid_again(bid, why):
    episode = Episode(Water())
    episode.submit(NATURE, Decision(15))
    with pytest.raises(InvalidMove, match=why):
        episode.submit("Alex", Decision(bid))
    assert "Alex" in episode.pending
    episode.submit("Alex", Decision(12.25))
    assert "Alex" not in episode.pending


def test_a_pass_is_no_bid():
    game = Water()
    state = day(game, game.start(), 50, PASS, 0, 0, 0, 0)
    assert state.past[0].winners == (False, True, True, True, True)
    assert state.past[0].bids[0] is None


def test_everything_is_public_afterwards():
    game = Water()
    state = day(game, game.start(), 15, 30, 20, PASS, 20, 20)
    told = write_history(game.view(state, "Eric"))
    assert "Alex bid $30 and got water. Now $40, health 10, 0 dry days in a row." in told
    assert "Cindy made no bid. Now $100, health 7, 1 dry day." in told


def test_the_payoff_is_to_be_alive_after_the_last_day():
    game = Water(WaterRules(days=4))
    state = game.start()
    for _ in range(4):
        state = day(game, state, 15, PASS, PASS, 1, PASS, PASS)
    assert game.asks(state) == {}
    assert game.payoffs(state) == {"Alex": 0.0, "Bob": 0.0, "Cindy": 1.0, "David": 0.0, "Eric": 0.0}
    assert write_history(game.view(state, "Bob")).endswith("The drought is over. Alive: Cindy.")


def test_nature_draws_the_same_supplies_whatever_the_residents_do():
    game = water("low")
    quiet, loud = game.start(), game.start()
    for _ in range(3):
        drawn = [
            Nature(5).decide(game.view(s, NATURE), game.asks(s)[NATURE]).action
            for s in (quiet, loud)
        ]
        assert drawn[0] == drawn[1]
        quiet, loud = day(game, quiet, drawn[0], *[PASS] * 5), day(game, loud, drawn[1], *[1] * 5)


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        (
            {"residents": ()},
            "no resident needs water; at least one must have a need above 0",
        ),
        ({"residents": (Resident("Alex", 0, 70),)}, "no resident needs water"),
        ({"low": 25, "high": 15}, "the supply goes from 25 to 15; expected 0 <= lowest <= highest"),
        ({"residents": (RESIDENTS[0], RESIDENTS[0])}, "two residents have the same name"),
        ({"days": 0}, "the drought lasts 0 days"),
        ({"low": 3.5}, "low is 3.5; expected a whole number"),
        ({"health": 11}, "11 health points of at most 10"),
    ],
)
def test_rules_that_make_no_sense_are_refused_in_a_sentence(rules, why):
    with pytest.raises(UsageError, match=why):
        WaterRules(**rules)


def test_rules_come_back_from_json_and_unknown_ones_are_named():
    rules = WaterRules(low=1, high=2, thirst=0.5)
    assert WaterRules.from_json(rules.to_json()) == rules
    with pytest.raises(UsageError, match="there is no rule named 'thrist'"):
        WaterRules.from_json({"thrist": 2})


def test_an_answer_nobody_asked_for_is_refused():
    with pytest.raises(NotAsked):
        Episode(Water()).submit("Alex", Decision(1))


def test_the_rules_tell_the_order_of_ties_and_what_death_costs():
    game = Water(WaterRules(residents=(Resident("Mill", 4, 30), Resident("Farm", 4, 12))))
    told = write_rules(game.view(game.start(), "Farm"))
    assert (
        "among equal bids and equal needs the one who comes first in this order: Mill, Farm."
        in told
    )
    assert (
        "At 0 health points or below you are out of the game for good, and all your money is lost."
        in told
    )
    assert "or pass and stay out that day" in told
