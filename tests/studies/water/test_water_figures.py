"""The figures of the water study by hand: means by day, quartiles of prices, comparisons, examples,
baselines."""

import json

import numpy as np
import pytest
import running

from bestresponse.games.water.rules import Resident, WaterRules
from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.studies.water import frames
from bestresponse.studies.water.config import WaterCondition, WaterConfig
from bestresponse.studies.water.frames import ConditionGames, rebuild_games, sum_up_condition
from bestresponse.studies.water.study import water

# Without water a health of 2 is 1 after a day and gone after the second: 2 - 1 - 2. 4 units are
# enough for a alone.
TWO = WaterRules((Resident("a", 4, 10), Resident("b", 6, 10)), 4, 6, 3, health=2)
BOTH_LIVE = [(4, {"a": 3.0}), (6, {"b": 5.0}), (4, {"a": 1.0})]
ONE_LIVES = [(4, {"a": 3.0}), (4, {"a": 3.0}), (4, {"a": 3.0})]
NOBODY_LIVES = [(4, {}), (4, {})]


def gather(games, persona=False, abundance="low", repeats=None, **more):
    """The games of a condition of the town of two, numbered as they come unless `repeats` says
    otherwise."""
    condition = WaterCondition(persona, abundance, TWO)
    return ConditionGames(
        condition, tuple(repeats or range(len(games))), rebuild_games(TWO, games), **more
    )


def ends(interval):
    return interval.low, interval.estimate, interval.high


def test_games_that_all_ended_alike_do_not_prove_that_all_will():
    # Both survive in 4 games of 4. Beside them half a game was not seen, in which nobody may:
    # Beta(4, 1/2) is 0.516 or more in 97.5 % of draws, so 1.03 of 2 survive at least.
    survivors = sum_up_condition(gather([BOTH_LIVE] * 4))["survivors"]
    assert ends(survivors) == (pytest.approx(1.03, abs=0.05), 2.0, 2.0)


def test_a_mean_by_day_leaves_out_who_is_dead_and_has_two_standard_errors_on_both_sides():
    # b lives in the first game only, so that the third day of b is that of one game.
    rows = list(frames._list_residents(gather([BOTH_LIVE, ONE_LIVES, NOBODY_LIVES])))
    assert [(row["resident"], row["day"]) for row in rows] == [
        (name, day) for name in "ab" for day in (1, 2, 3)
    ]
    by_day = {(row["resident"], row["day"]): row for row in rows}
    # In the evening of day 1 a has 7, 7 and 10: mean 8, deviations -1, -1 and 2, variance 6 / 2 =
    # 3, and the standard error is sqrt(3 / 3) = 1.
    first = by_day["a", 1]["balance"]
    assert ends(first) == pytest.approx((6.0, 8.0, 10.0))
    assert (first.n, first.level, first.method) == (3, 0.9545, "two standard errors")
    # Two of them bid, 3 each; nobody bids for b on day 1.
    assert (ends(by_day["a", 1]["bid"]), by_day["a", 1]["bid"].n) == ((3.0, 3.0, 3.0), 2)
    assert by_day["b", 1]["bid"] is None
    # On day 2 all six are still there in the morning. b's health then is 3, -1 and -1 in the
    # evening: mean 1/3, variance (64 + 16 + 16) / 9 / 2 = 16 / 3, standard error sqrt(16 / 9) = 4 /
    # 3.
    assert ends(by_day["b", 2]["health"]) == pytest.approx((1 / 3 - 8 / 3, 1 / 3, 1 / 3 + 8 / 3))
    alone = by_day["b", 3]["health"]
    assert (alone.n, ends(alone), alone.method) == (1, (-np.inf, 2.0, np.inf), "none")


def test_two_standard_errors_end_where_the_game_does():
    # Bids of 10 and 2 have a mean of 6 and a deviation of sqrt(32), so a standard error of 4: two
    # reach from -2 to 14. Nobody bids less than nothing, or more than the salary of the first day.
    rows = frames._list_residents(gather([[(4, {"a": bid}), *NOBODY_LIVES] for bid in (10.0, 2.0)]))
    assert ends(next(rows)["bid"]) == (0.0, 6.0, 10.0)
    # 10 and 8 points of health: 9, and a standard error of 1.
    assert ends(frames._average(np.array([10.0, 8.0]), -np.inf, 10.0)) == (7.0, 9.0, 10.0)


def test_prices_have_quartiles_over_the_games_in_which_somebody_was_served():
    games = [[(4, {"a": bid}), *NOBODY_LIVES] for bid in (8.0, 0.0, 4.0, 2.0, 10.0)] + [
        NOBODY_LIVES
    ]
    (row,) = frames._list_prices(gather(games))
    # Of 0, 2, 4, 8 and 10 the second, third and fourth.
    assert row == {
        "condition": "low (4-6), without personas",
        "day": 1,
        "games": 5,
        "least": 0.0,
        "first_quartile": 2.0,
        "median": 4.0,
        "third_quartile": 8.0,
        "most": 10.0,
        "mean_of_medians": 4.0,
    }


def test_the_mean_of_the_daily_medians_stands_beside_every_day():
    rules = WaterRules(TWO.residents, 4, 10, 3, health=2)
    trace = rebuild_games(
        rules, [[(4, {"a": bid}), (4, {"a": 2 * bid}), (4, {"a": 5.0})] for bid in (1.0, 2.0, 3.0)]
    )
    rows = list(
        frames._list_prices(ConditionGames(WaterCondition(False, "own", rules), (0, 1, 2), trace))
    )
    # The medians are 2, 4 and 5.
    assert [(row["day"], row["games"], row["median"]) for row in rows] == [
        (1, 3, 2.0),
        (2, 3, 4.0),
        (3, 3, 5.0),
    ]
    assert [row["mean_of_medians"] for row in rows] == pytest.approx([11 / 3] * 3)


def test_the_price_of_a_day_is_the_smallest_bid_that_was_served_and_a_game_has_its_median_day():
    # A supply of 10 is enough for both, one of 4 for a alone, whatever b offers.
    rules = WaterRules(TWO.residents, 4, 10, 3, health=2)
    games = [[(10, {"a": 7.0, "b": 2.0}), (4, {"a": 9.0, "b": 10.0}), (10, {"a": 4.0, "b": 5.0})]]
    trace = rebuild_games(rules, [*games, [(4, {"a": 1.0}), (4, {"a": 3.0}), (4, {})]])
    condition = ConditionGames(WaterCondition(False, "own", rules), (0, 1), trace)
    assert frames.find_prices(trace)[0].tolist() == [2.0, 9.0, 4.0]
    # medians 4 of (2, 9, 4) and 2 of (1, 3)
    figures = sum_up_condition(condition)
    assert (figures["median_price"].estimate, figures["median_price"].n) == (3.0, 2)


def test_scarcity_is_the_mean_of_the_games_in_which_somebody_lives():
    rows = list(frames._list_mornings(gather([BOTH_LIVE, ONE_LIVES, NOBODY_LIVES])))
    # Both need 10 of the 5 that are expected, a alone 4. On the third morning: 1/2, 5/4 and nobody.
    assert [(row["day"], row["rsr"].n, row["rsr"].estimate) for row in rows] == [
        (1, 3, 0.5),
        (2, 3, 0.5),
        (3, 2, 0.875),
        (4, 2, 0.875),
    ]
    # mean 7/8, deviations of 3/8 each, variance 2 * 9/64, standard error 3/8
    assert ends(rows[2]["rsr"]) == pytest.approx((0.875 - 0.75, 0.875, 0.875 + 0.75))
    assert {row["rsr_start"] for row in rows} == {0.5}
    assert list(frames._list_mornings(gather([]))) == []


def test_a_condition_without_a_game_has_no_figure_but_its_scarcity_at_the_start():
    figures = sum_up_condition(gather([], void=2))
    assert (figures["games"], figures["void"], figures["rsr_start"]) == (0, 2, 0.5)
    assert (figures["survivors"], figures["rsr_end"], figures["median_price"]) == (None, None, None)


def test_games_are_listed_by_repeat_with_void_ones_among_them():
    rows = list(frames._list_games(gather([ONE_LIVES, NOBODY_LIVES], True, repeats=(4, 7)), [5, 0]))
    shown = [(row["repeat"], row["survivors"], row["rsr_end"], row["alive"]) for row in rows]
    assert shown == [
        (0, None, None, None),
        (4, 1, 1.25, {"a": True, "b": False}),
        (5, None, None, None),
        (7, 0, None, {"a": False, "b": False}),
    ]
    assert {(row["condition"], row["abundance"], row["personas"]) for row in rows} == {
        ("low (4-6), with personas", "low", True)
    }


def test_a_day_is_listed_for_everybody_who_was_alive_in_the_morning():
    rows = list(frames._list_days(gather([ONE_LIVES], repeats=(6,))))
    columns = (
        "repeat",
        "day",
        "supply",
        "resident",
        "bid",
        "served",
        "health",
        "balance",
        "dry_days",
    )
    # b, who makes no bid, dies on the second day: 2 - 1 - 2. a gains 2 points and earns $10 after
    # every day.
    assert [tuple(row[name] for name in columns) for row in rows] == [
        (6, 1, 4, "a", 3.0, True, 4.0, 7.0, 0),
        (6, 1, 4, "b", None, False, 1.0, 10.0, 1),
        (6, 2, 4, "a", 3.0, True, 6.0, 14.0, 0),
        (6, 2, 4, "b", None, False, -1.0, 20.0, 2),
        (6, 3, 4, "a", 3.0, True, 8.0, 21.0, 0),
    ]


LOW = {
    "repeats": (0, 1, 2, 3, 4),
    "games": [BOTH_LIVE, NOBODY_LIVES, NOBODY_LIVES, ONE_LIVES, NOBODY_LIVES],
}
MEDIUM = {
    "repeats": (1, 2, 3, 4, 9),
    "games": [BOTH_LIVE] * 4 + [NOBODY_LIVES],
    "abundance": "medium",
}
TOLD = {"repeats": (0, 1), "games": [BOTH_LIVE, ONE_LIVES], "persona": True}


def test_conditions_are_compared_on_their_common_repeats_and_adjusted_for_all_comparisons():
    config = WaterConfig("m", with_personas="both")
    rows = frames._compare_conditions(config, [gather(**LOW), gather(**MEDIUM), gather(**TOLD)])
    # Medium without personas differs from low with personas in two things, so that there are two
    # comparisons.
    supply, personas = rows
    assert supply["comparison"] == "medium (4-6), without personas - low (4-6), without personas"
    # Survivors of the repeats 1 to 4 are 2, 2, 2, 2 and 0, 0, 1, 0: differences 2, 2, 1, 2 with a
    # mean of 7/4 and a variance of (3 / 16 + 9 / 16) / 3 = 1/4. Two of 2**4 patterns of signs are
    # as extreme.
    assert (supply["games"], supply["difference"].estimate, supply["p"]) == (4, 1.75, 0.125)
    assert supply["effect"] == pytest.approx(3.5)
    assert personas["comparison"] == "low (4-6), with personas - low (4-6), without personas"
    # Of the repeats 0 and 1: 2 - 2 and 1 - 0. Every pattern of signs gives a sum of 1 or -1.
    assert (personas["games"], personas["difference"].estimate, personas["p"]) == (2, 0.5, 1.0)
    # The smaller p counts twice, the larger once.
    assert [row["p_adjusted"] for row in rows] == [0.25, 1.0]


def test_conditions_that_differ_in_two_things_are_not_compared():
    # Both were played in the repeats 1 and 2, but supply and personas differ.
    config = WaterConfig("m", with_personas="both")
    told = gather([BOTH_LIVE, ONE_LIVES], persona=True, repeats=(1, 2))
    assert frames._compare_conditions(config, [gather(**MEDIUM), told]) == []
    (row,) = frames._compare_conditions(config, [gather(**LOW), told])
    assert row["comparison"] == "low (4-6), with personas - low (4-6), without personas"
    # Survivors are 2 and 1 with personas, nobody without them.
    assert (row["games"], row["difference"].estimate) == (2, 1.5)


def test_personas_are_not_compared_among_bidders_nor_conditions_with_a_single_common_repeat():
    config = WaterConfig("need", with_personas="both")
    assert frames._compare_conditions(config, [gather(**LOW), gather(**TOLD)]) == []
    later = gather([BOTH_LIVE, BOTH_LIVE], abundance="medium", repeats=(4, 5))
    assert frames._compare_conditions(config, [gather(**LOW), later]) == []


def test_the_share_of_games_survived_counts_games(tmp_path):
    """A town in which nothing is served: its only resident always dies."""
    config = WaterConfig(
        "need", low=0, high=0, rules=WaterRules((Resident("a", 4, 10),), health=1), repeats=4
    )
    run = running.run(water, config, tmp_path)
    (row,) = run.frame("survival")
    # Wilson's upper end for 0 of 4: z^2 / (4 + z^2) with z = 1.96
    assert (row["survived"].n, row["survived"].estimate, row["survived"].low) == (4, 0.0, 0.0)
    assert row["survived"].high == pytest.approx(1.96**2 / (4 + 1.96**2), abs=1e-3)
    assert (run.answered, [row["survivors"] for row in run.frame("games")]) == (4, [0] * 4)


def explain_on(days, first_game=0):
    """A model of one seat that gives reasons on some days, from some game on, and bids 1 without
    them on others."""
    asked = []

    def script(request):
        asked.append(request)
        game, day = divmod(len(asked) - 1, 6)
        reasons = f"Game {game}, day {day + 1}." if day + 1 in days and game >= first_game else ""
        return json.dumps({"reasons": reasons, "answer": 1})

    return ScriptedModel(script, name="m")


def show_example(tmp_path, days, **more):
    config = WaterConfig(
        "m", rules=WaterRules((Resident("a", 4, 10),), 4, 4, 6), repeats=2, workers=1
    )
    return (
        running.run(water, config, tmp_path, {"m": explain_on(days, **more)}).frame("example").rows
    )


def test_the_example_is_the_first_day_with_reasons_after_a_third_of_the_game(tmp_path):
    # A third of six days is two.
    (row,) = show_example(tmp_path / "every day", range(1, 7))
    assert (row["repeat"], row["day"], row["reasons"], row["need"]) == (0, 2, "Game 0, day 2.", 4)
    (later,) = show_example(tmp_path / "late", (1, 5, 6))
    assert (later["day"], later["reasons"]) == (5, "Game 0, day 5.")


def test_the_example_is_the_last_day_with_reasons_where_there_is_none_later(tmp_path):
    (row,) = show_example(tmp_path, (1,))
    assert (row["day"], row["reasons"], row["bid"]) == (1, "Game 0, day 1.", 1.0)


def test_baselines_play_200_repeats_at_most_and_the_solver_where_it_costs_nothing(monkeypatch):
    played = []
    monkeypatch.setattr(
        frames, "_play_baseline", lambda rules, bidder, seed, games: played.append(games) or 2.5
    )
    names = ["random", "share", "need", "myopic"]
    rows = list(frames._list_baselines(WaterConfig("need", abundance=("low", "high"), repeats=201)))
    # The published rules are solved already, others only where the solver plays itself.
    supplies = ["low (10-20)", "high (20-30)"]
    assert [(row["bidder"], row["supply"]) for row in rows] == [
        (name, supply) for name in (*names, "solver") for supply in supplies
    ]
    assert {row["survivors"] for row in rows} == {2.5}
    assert set(played) == {200}
    other = list(frames._list_baselines(WaterConfig("need", rules=TWO, repeats=199)))
    assert ([row["bidder"] for row in other], played[-1]) == (names, 199)
    solver = list(frames._list_baselines(WaterConfig("need", seat={"b": "solver"}, rules=TWO)))
    assert [row["bidder"] for row in solver] == [*names, "solver"]


def test_every_day_is_listed_unless_there_are_too_many(tmp_path, monkeypatch):
    config = WaterConfig("need", rules=WaterRules((Resident("a", 4, 10),), 4, 4, 3), repeats=2)
    monkeypatch.setattr(frames, "_MOST_DAY_ROWS", 6)
    assert len(running.run(water, config, tmp_path / "all").frame("days")) == 2 * 3
    monkeypatch.setattr(frames, "_MOST_DAY_ROWS", 5)
    assert len(running.run(water, config, tmp_path / "none").frame("days")) == 0


def test_the_games_of_a_run_are_those_of_all_conditions():
    assert water.count(WaterConfig("need", grid=True, repeats=4)) == 24


def test_the_example_is_of_the_first_game_with_reasons_not_of_the_first_with_a_reply(tmp_path):
    (row,) = show_example(tmp_path, range(1, 7), first_game=1)
    assert (row["repeat"], row["day"], row["reasons"]) == (1, 2, "Game 1, day 2.")


def test_whoever_dies_on_the_last_day_does_not_count_at_the_end():
    # With a health of 4, b dies on the third of three dry days: 4 - 1 - 2 - 3. Until then both need
    # 10, then a alone 4.
    rules = WaterRules(TWO.residents, 4, 6, 3, health=4)
    games = ConditionGames(
        WaterCondition(False, "low", rules), (0,), rebuild_games(rules, [ONE_LIVES])
    )
    assert games.rsr[0].tolist() == [0.5, 0.5, 0.5, 1.25]
    assert sum_up_condition(games)["rsr_end"].estimate == 1.25
    assert [(row["survivors"], row["rsr_end"]) for row in frames._list_games(games, [])] == [
        (1, 1.25)
    ]
