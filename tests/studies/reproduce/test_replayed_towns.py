"""What the paper on the Water Allocation Challenge states, decided on small records by hand."""

import json

import pytest

from bestresponse.games.water.rules import Day, Drought, Standing
from bestresponse.studies.reproduce.alympics import (
    ReplayedTown,
    TownSetting,
    _check_reading,
    _check_rules,
    _check_statements,
    _check_survival,
    replay_towns,
    reproduce_alympics,
)

NAMES = ("Alex", "Bob", "Cindy", "David", "Eric")


def make_town(
    alive="01111", prices=(10.0,), ties=(), differences=(), persona=False, abundance="low"
):
    """Make a game at whose end these residents are alive; every day Alex pays this price and Bob
    bids more in vain."""
    after = tuple(Standing(0.0, 8.0 * int(mark)) for mark in alive)
    served = (True, False, False, False, False)
    past = [
        Day(number, 10, (True,) * 5, (price, price + 1, None, None, None), served, after)
        for number, price in enumerate(prices, 1)
    ]
    return ReplayedTown(
        persona, abundance, Drought(after, tuple(past)), tuple(ties), tuple(differences)
    )


def write_days(folder, *days):
    rows = []
    for number, (supply, bids, winners) in enumerate(days, 1):
        listed = dict(zip(NAMES, bids, strict=True))
        row = {
            "persona": False,
            "low": 10,
            "high": 20,
            "number": 1,
            "day": number,
            "supply": supply,
        }
        rows.append(json.dumps(row | {"bids": listed, "winners": winners}))
    (folder / "rounds.jsonl").write_text("\n".join(rows) + "\n")


# Recorded days, played again.


def test_a_tied_bidder_whom_the_record_leaves_out_is_told_apart_from_a_difference(tmp_path):
    # Alex needs 8 and Bob 9, so that both could be served of 17; the record names one of them.
    write_days(tmp_path, (17, (50, 50, 0, 0, 0), ["Alex"]))
    (town,) = replay_towns(tmp_path)
    assert (town.ties, town.differences) == ((1,), ())
    assert town.end.past[0].winners == (True, False, False, False, False)


@pytest.mark.parametrize(
    ("bids", "winners", "served"),
    [
        ((50, 40, 0, 0, 0), ["Alex"], "Alex, Bob"),  # Bob bid less: no tie
        ((50, 50, 0, 0, 0), ["Alex", "Eric"], "Alex, Bob"),  # Eric should not have been served
    ],
)
def test_another_bidder_who_was_served_is_a_difference(tmp_path, bids, winners, served):
    write_days(tmp_path, (17, bids, winners))
    (town,) = replay_towns(tmp_path)
    assert town.ties == ()
    day = "without persona, 10-20, game 1, day 1"
    assert town.differences == (f"{day}: served were {served}, not {', '.join(winners)}",)


def test_bids_above_the_balance_below_nothing_and_of_the_dead_do_not_count(tmp_path):
    # Alex has 70 and Bob 75; without water they have 8 - 1 - 2 - 3 - 4 < 0 health after four days.
    days = [(20, (70, 76, -1, None, 0), ["Alex", "Eric"])]
    days += [(10, (0, 0, 0, 0, 500), ["Alex"])] * 3
    write_days(tmp_path, *days, (10, (1, 2, 3, 4, 5), ["Alex"]))
    (town,) = replay_towns(tmp_path)
    assert town.end.past[0].bids == (70.0, None, None, None, 0.0)
    assert town.end.past[4].bids == (1.0, None, None, None, 5.0)
    # Eric, who needs 12, was served on the first day alone: 8 + 2 - 1 - 2 - 3 - 4 is nothing after
    # the fifth.
    assert [standing.alive for standing in town.end.standings] == [True, False, False, False, False]


# Figures and statements of the paper.


def test_days_that_differ_are_counted_once_and_scarcity_is_supply_over_needs():
    towns = [
        make_town(prices=(1, 2, 3), differences=("a, day 1: x", "a, day 1: y", "a, day 2: z")),
        make_town(ties=(1,)),
    ]
    days, *scarcity = _check_rules(towns)
    # Four days, two of which differ.
    assert (days.published, days.found, days.agrees) == (4, 2, False)
    assert (
        days.remark
        == "in 1 of them the record serves one of two tied bidders twice; first difference: a, day"
        " 1: x"
    )
    # Needs are 8 + 9 + 10 + 11 + 12 = 50, and mean supplies 15, 20 and 25.
    assert [(check.published, check.found, check.agrees) for check in scarcity] == [
        (0.3, 0.3, True),
        (0.4, 0.4, True),
        (0.5, 0.5, True),
    ]


@pytest.mark.parametrize(
    ("right", "wrong", "unread", "agrees"),
    [(196, 0, 4, True), (195, 0, 5, False), (199, 1, 0, False), (200, 1, 0, True)],
)
def test_bids_are_read_where_98_in_100_are_right_and_fewer_than_1_in_200_wrong(
    tmp_path, right, wrong, unread, agrees
):
    replies = [("I will bid $95.", 95)] * right + [("I will bid $95.", 59)] * wrong
    replies += [("I might bid $80 or $95.", 80)] * unread
    rows = [{"who": "Alex", "reply": reply, "bid": bid} for reply, bid in replies]
    (tmp_path / "replies.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (check,) = _check_reading(tmp_path)
    assert (check.found, check.agrees) == (right / (right + wrong + unread), agrees)
    assert check.remark == f"{right} of {len(rows)}; {wrong} read wrongly, {unread} not read"


def test_no_bid_is_read_as_a_bid_of_nothing(tmp_path):
    row = {"who": "Alex", "reply": "I will not participate in today's auction.", "bid": 0}
    (tmp_path / "replies.jsonl").write_text(json.dumps(row) + "\n")
    (check,) = _check_reading(tmp_path)
    assert check.found == 1.0


@pytest.mark.parametrize(
    ("games", "alive", "agrees", "remark"),
    [
        (10, 1, True, ""),
        (10, 0, False, ""),
        (10, 2, False, ""),
        (9, 0, True, "0 of 9 games; 10 were published"),
        (3, 2, False, "2 of 3 games; 10 were published"),
    ],
)
def test_survival_of_one_in_ten_agrees_where_missing_games_can_make_up_the_difference(
    games, alive, agrees, remark
):
    towns = [make_town("11111")] * alive + [make_town("01111")] * (games - alive)
    alex, bob = _check_survival({(False, "low"): TownSetting(False, "low", towns)})
    assert alex.what == "survival of Alex, low (10-20), without personas"
    assert (alex.published, alex.found, alex.agrees, alex.remark) == (
        0.1,
        alive / games,
        agrees,
        remark,
    )
    assert (bob.published, bob.found) == (0.1, 1.0)
    # The paper gives no rate of games with personas.
    assert list(_check_survival({(True, "low"): TownSetting(True, "low", towns)})) == []


def test_statements_are_decided_on_survivors_and_prices():
    # Who is alive at the end of the one game of each setting, and what water cost on the days of
    # it.
    early, late = [40.0, 41.0, 42.0, 43.0, 44.0], [10.0, 11.0, 12.0, 13.0, 14.0]
    falling = [100.0] * 5 + early + [100.0] * 5 + late
    towns = {
        (False, "low"): make_town("00001", falling),
        (False, "medium"): make_town("00111"),
        (False, "high"): make_town("10111", [20.0] * 20),
        (True, "low"): make_town("10001", [50.0] * 5 + [30.0] * 5 + [50.0] * 5 + [30.0] * 5),
        (True, "medium"): make_town("01001"),
        (True, "high"): make_town("00011", [60.0] * 20),
    }
    settings = {key: TownSetting(*key, [town]) for key, town in towns.items()}
    checks = list(_check_statements(settings))
    # Over the three supplies without personas: Alex 1/3, Bob 0, Cindy and David 2/3, Eric 1; with:
    # 1/3, 1/3, 0, 1/3, 1. The median of all 20 prices with low supply lies between 44 and 100, with
    # personas between 30 and 50.
    assert {check.what: check.found for check in checks} == {
        "fewer survive with low supply than with medium": "3.00 > 1.00",
        "fewer survive with low supply than with high": "4.00 > 1.00",
        "without personas Cindy survives more often than Alex": "0.67 > 0.33",
        "without personas David survives more often than Alex": "0.67 > 0.33",
        "without personas Eric survives more often than Alex": "1.00 > 0.33",
        "without personas Cindy survives more often than Bob": "0.67 > 0.00",
        "without personas David survives more often than Bob": "0.67 > 0.00",
        "without personas Eric survives more often than Bob": "1.00 > 0.00",
        "personas raise survival with low supply": "2.00 > 1.00",
        "personas lower survival with medium supply": "3.00 > 2.00",
        "Cindy survives less often with personas": "0.67 > 0.00",
        "David survives less often with personas": "0.67 > 0.33",
        "Eric survives more often with personas": "1.00 <= 1.00",
        "water is dearer with low supply than with high, without personas": "72.00 > 20.00",
        "with low supply the price falls after day 10, without personas": "42.00 > 12.00",
        "water is dearer with low supply than with high, with personas": "40.00 <= 60.00",
        "with low supply the price falls after day 10, with personas": "30.00 <= 30.00",
    }
    assert [check.agrees for check in checks] == ["<=" not in check.found for check in checks]
    # Nothing is said where a setting is missing.
    assert list(_check_statements({key: settings[key] for key in list(settings)[:5]})) == []


def test_the_table_tells_who_survives_in_each_setting(tmp_path):
    write_days(tmp_path, *[(10, (1, 0, 0, 0, 0), ["Alex"])] * 4)
    (table,) = reproduce_alympics(tmp_path).tables
    # Served every day; the others have lost 1 + 2 + 3 + 4 of 8 health after four days.
    assert table.rows == (("low (10-20), without personas", 1, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0),)
