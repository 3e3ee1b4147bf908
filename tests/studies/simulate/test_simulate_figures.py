"""The figures of plays that are written down move by move, worked out by hand."""

import json

import numpy as np
import pytest
from courses import name_course

from bestresponse.analysis.beliefs import NO_BELIEF
from bestresponse.analysis.costs import value_best_reply
from bestresponse.analysis.decisions import Judged, JudgedPlay
from bestresponse.analysis.truth import name_answer
from bestresponse.core.ask import Amount, Choice, Form, Words
from bestresponse.core.episode import Void
from bestresponse.report.stats.statistics import Interval
from bestresponse.runs.reporting.answers import Readings
from bestresponse.studies.simulate import regrets
from bestresponse.studies.simulate.config import SimulateConfig
from bestresponse.studies.simulate.plays import (
    Plays,
    _list_parts,
    _read_value,
    find_nearest,
)
from bestresponse.studies.simulate.regrets import (
    _find_frequencies,
    judge_seats,
)
from bestresponse.studies.simulate.study import (
    _describe_game,
    _list_amounts,
    _list_equilibria,
    _list_seats,
    _list_shares,
    measure_simulation,
    show_rules,
    simulate,
)
from bestresponse.theory.trees.tree import uniform_policy

C, D = "cooperate", "defect"
PAID = {(C, C): (3, 3), (C, D): (0, 5), (D, C): (5, 0), (D, D): (1, 1)}


def make_row(repeat, seat, move, turn=1, place="", part="", cost=None):
    return {
        "repeat": repeat,
        "seat": seat,
        "player": "random",
        "turn": turn,
        "place": place,
        "part": part,
        "move": move,
        "meant": move,
        "cost": cost,
        "reply_cost": None,
        **NO_BELIEF,
    }


def write_matches(config, *matches):
    """Write down matches of the dilemma, each a list of the moves of both, as (row, col)."""
    payoffs, weights, moves = [], [], []
    for repeat, rounds in enumerate(matches):
        factors = [config.course.weigh(number) for number in range(len(rounds))]
        paid = np.array([PAID[pair] for pair in rounds], dtype=float)
        weights.append(sum(factors))
        payoffs.append((np.array(factors) @ paid / sum(factors)).tolist())
        for turn, pair in enumerate(rounds, 1):
            moves += [
                make_row(repeat, seat, move, turn)
                for seat, move in zip(("row", "col"), pair, strict=True)
            ]
    options = {(seat, "", ""): (C, D) for seat in ("row", "col")}
    numbers = tuple(range(len(matches)))
    return Plays(config, numbers, np.array(payoffs), np.array(weights), moves, Readings(), options)


def make_config(**settings):
    name = name_course("prisoners-dilemma", settings)
    return SimulateConfig(name, seat={"row": "random", "col": "random"}, **settings)


# Regret and the Nash gap.


def test_regret_of_plays_of_different_length_counts_every_round_alike():
    plays = write_matches(
        make_config(rounds=3, continuation=0.5), [(C, C)], [(D, D), (C, D), (D, D)]
    )
    judged = judge_seats(plays)
    # Four rounds. Row: defecting throughout gains 2 in the first play, and 1 in the second. Column:
    # defecting throughout gains 2 in the first play, and nothing in the second.
    assert {seat: value.estimate for seat, value in judged.regrets.items()} == pytest.approx(
        {"row": 3 / 4, "col": 0.5}
    )
    assert judged.regrets["row"].n == 2
    # Row cooperates in 2 of 4 rounds, column in 1. Against 1/4 defecting gains 2 * 1/4 + 3/4 = 5/4
    # on cooperating, so row could gain half of that; against 1/2 it gains (2 + 1) / 2, and column
    # could gain a quarter of that.
    assert judged.gap.estimate == pytest.approx(5 / 8 + 3 / 8)
    assert (judged.places, judged.unseen) == (1, 0)


def test_a_discounted_round_weighs_less_in_regret_and_gap():
    judged = judge_seats(write_matches(make_config(rounds=2, discount=0.5), [(C, C), (D, D)]))
    # Weights 2/3 and 1/3: defecting in the first round gains 2, in the second nothing.
    assert judged.regrets["row"].estimate == pytest.approx(4 / 3)
    # Both cooperate with 2/3, and could gain 2/3 of 2 * 2/3 + 1/3 = 5/3.
    assert judged.gap.estimate == pytest.approx(2 * 10 / 9)


def test_intervals_of_regret_and_gap_have_a_width_although_every_play_was_alike():
    # In every play row regrets 1 and column nothing. Half a play more was not seen: beside six its
    # weight is below 0.3477 in 97.5 % of cases (Beta(1/2, 6)), and in it a seat may lose nothing or
    # 2, the most that cooperating loses to defecting; both seats together lose 4.
    judged = judge_seats(write_matches(make_config(), *[[(C, D)]] * 6))
    row, col = judged.regrets["row"], judged.regrets["col"]
    assert (row.estimate, col.estimate, judged.gap.estimate) == (1.0, 0.0, 1.0)
    assert (row.low, row.high) == pytest.approx((1 - 0.3477, 1 + 0.3477), abs=5e-3)
    assert (col.low, col.high) == pytest.approx((0.0, 2 * 0.3477), abs=1e-2)
    assert (judged.gap.low, judged.gap.high) == pytest.approx(
        (1 - 0.3477, 1 + 3 * 0.3477), abs=2e-2
    )


def test_intervals_of_regret_reach_from_play_to_play():
    # Row regrets 2 where both cooperate and nothing where both defect.
    judged = judge_seats(write_matches(make_config(), *[[(C, C)]] * 5, *[[(D, D)]] * 5))
    assert judged.regrets["row"].estimate == pytest.approx(1.0)
    assert 0 <= judged.regrets["row"].low < 0.7
    assert 1.3 < judged.regrets["row"].high <= 2


def test_what_is_lost_to_the_best_reply_counts_every_round_alike():
    # Against grim, with another round in one case of four, defecting at once is best: 5 and then
    # 1/4 + 1/16 + ... of 1, over 1 + 1/4 + 1/16 + ... rounds, 4 per round. Row cooperated in the
    # last of three rounds, after grim had turned to defection: that cost 1 in 4 rounds.
    config = SimulateConfig(
        "prisoners-dilemma with repeated(rounds=50,continuation=0.25)",
        seat={"row": "model/m", "col": "grim"},
        repeats=2,
    )
    plays = write_matches(config, [(D, C)], [(D, C), (D, D), (C, D)])
    for row in plays.moves:
        if row["seat"] == "row":
            row["reply_cost"] = 1.0 if row["move"] == C else 0.0
    figures = _list_seats(plays, None, None)["row", "model/m"]
    assert figures["best_reply"] == pytest.approx(4.0)
    assert figures["best_reply_regret"].estimate == pytest.approx(1 / 4)
    assert _list_seats(plays, None, None)["col", "grim"]["best_reply"] is None


def test_void_plays_are_taken_to_be_as_long_as_the_others():
    plays = write_matches(
        make_config(rounds=3, continuation=0.5), [(D, C)], [(D, D), (D, D), (D, D)]
    )
    plays.readings.voids.append({"repeat": 2})
    figures = _list_seats(plays, None, None)["row", "random"]
    # 5 + 3 in four rounds, two a play; two more rounds of 0 or of 5 make six.
    assert figures["payoff"].estimate == pytest.approx(2.0)
    assert (figures["payoff_least"], figures["payoff_most"]) == pytest.approx((8 / 6, 18 / 6))


def test_the_best_reply_of_the_second_seat_is_that_of_its_own_payoffs():
    config = SimulateConfig(
        "prisoners-dilemma", seat={"row": "cooperator", "col": "random"}, rounds=4
    )
    plays = write_matches(config, [(C, D)] * 4)
    figures = _list_seats(plays, None, None)["col", "random"]
    assert (figures["best_reply"], figures["best_reply_regret"].estimate) == (
        pytest.approx(5.0),
        pytest.approx(0.0),
    )


def test_there_is_no_best_reply_over_one_round_and_in_larger_tables_that_to_a_mixture():
    once = SimulateConfig("prisoners-dilemma", seat={"row": "random", "col": "random"})
    assert value_best_reply(once.make_game(), "row", once.strategies) is None
    rock = SimulateConfig(
        "rock-paper-scissors", seat={"row": "random", "col": "always:rock"}, rounds=5
    )
    assert value_best_reply(rock.make_game(), "row", rock.strategies) == 1.0
    assert value_best_reply(rock.make_game(), "col", rock.strategies) == 0.0


# Trees.


def write_centipede(*plays):
    """Write down plays of the centipede, each a list of (seat, move)."""
    config = SimulateConfig("centipede", seat={"player 1": "random", "player 2": "random"})
    tree = config.theory.tree
    labels = {
        seat: [infoset.label for infoset in tree.infosets if tree.players[infoset.player] == seat]
        for seat in tree.players
    }
    moves = []
    for repeat, decisions in enumerate(plays):
        seen = dict.fromkeys(labels, 0)
        for seat, move in decisions:
            moves.append(make_row(repeat, seat, move, place=labels[seat][seen[seat]]))
            seen[seat] += 1
    count = len(plays)
    options = {(row["seat"], row["place"], ""): () for row in moves}
    return (
        Plays(
            config,
            tuple(range(count)),
            np.ones((count, 2)),
            np.ones(count),
            moves,
            Readings(),
            options,
        ),
        tree,
    )


def test_places_of_a_tree_are_counted_and_large_trees_have_no_interval(monkeypatch):
    plays, tree = write_centipede(
        [("player 1", "pass"), ("player 2", "take")], [("player 1", "take")]
    )
    judged = judge_seats(plays)
    assert (judged.places, judged.unseen) == (4, 2)
    assert isinstance(judged.gap, Interval)
    assert judged.gap.n == 2
    monkeypatch.setattr(regrets, "_MOST_NODES_RESAMPLED", tree.num_nodes)
    assert isinstance(judge_seats(plays).gap, Interval)
    monkeypatch.setattr(regrets, "_MOST_NODES_RESAMPLED", tree.num_nodes - 1)
    alone = judge_seats(plays)
    assert alone.gap == pytest.approx(judged.gap.estimate)
    assert alone.regrets == pytest.approx(
        {seat: value.estimate for seat, value in judged.regrets.items()}
    )
    assert alone.gap == pytest.approx(sum(alone.regrets.values()))


def test_rounds_of_a_tree_are_one_and_so_are_those_of_no_moves():
    plays, _ = write_centipede([("player 1", "pass"), ("player 2", "pass"), ("player 1", "take")])
    assert plays.rounds == 1
    assert write_matches(make_config()).rounds == 1
    assert write_matches(make_config(rounds=2), [(C, C), (D, D)]).rounds == 2


def test_shares_of_moves_are_those_of_the_place_and_assumed_where_nobody_came():
    _, tree = write_centipede([("player 1", "take")])
    counts = np.zeros(len(uniform_policy(tree).probabilities))
    first, second = tree.first_move[0], tree.first_move[1]
    counts[first : first + 2] = 1.0, 3.0
    shares = _find_frequencies(tree, counts, np.full(len(counts), 0.2))
    assert shares[first : first + 2].tolist() == [0.25, 0.75]
    assert shares[second : second + 2].tolist() == [0.2, 0.2]
    single = np.zeros(len(counts))
    single[first] = 1.0
    assert _find_frequencies(tree, single, np.full(len(counts), 0.2))[
        first : first + 2
    ].tolist() == [1.0, 0.0]


def test_moves_of_a_tree_are_listed_place_by_place_with_those_nobody_made():
    plays, tree = write_centipede(
        [("player 1", "pass"), ("player 2", "take")], [("player 1", "take")]
    )
    rows = [
        (row["seat"], row["place"], row["move"], row["times"])
        for row in _list_shares(plays, None, by_round=False)
    ]
    first, second = (tree.infosets[k].label for k in (0, 1))
    moves = tree.infosets[0].moves
    assert sorted(rows) == sorted(
        [("player 1", first, move, 1) for move in moves]
        + [("player 2", second, move, int(move == "take")) for move in tree.infosets[1].moves]
    )
    assert [row[0] for row in rows] == ["player 1", "player 1", "player 2", "player 2"]


# Equilibria.


def play_stag_hunt(*pairs):
    config = SimulateConfig("stag-hunt", seat={"row": "random", "col": "random"})
    moves = [
        make_row(repeat, seat, move)
        for repeat, pair in enumerate(pairs)
        for seat, move in zip("rc", pair, strict=True)
    ]
    for row in moves:
        row["seat"] = {"r": "row", "c": "col"}[row["seat"]]
    count = len(pairs)
    return Plays(config, tuple(range(count)), np.ones((count, 2)), np.ones(count), moves)


@pytest.mark.parametrize(
    ("pairs", "shares"),
    [
        ([("stag", "stag")] * 3, {"stag": 1.0, "hare": 0.0}),
        ([("hare", "hare")] * 3, {"stag": 0.0, "hare": 1.0}),
    ],
)
def test_the_nearest_equilibrium_is_the_one_that_was_played(pairs, shares):
    plays = play_stag_hunt(*pairs)
    nearest = find_nearest(plays)
    assert nearest.shares["row"][""] == pytest.approx(shares)
    rows = _list_equilibria(plays, nearest)
    assert [row["nearest"] for row in rows].count(True) == 1
    assert [row["equilibrium"].partition(",")[0] for row in rows] == [
        str(k + 1) for k in range(len(rows))
    ]


def test_half_of_either_is_nearest_to_the_mixed_equilibrium():
    nearest = find_nearest(play_stag_hunt(("stag", "stag"), ("hare", "hare")))
    assert all(0 < share < 1 for share in nearest.shares["row"][""].values())


# Moves and amounts.


def test_shares_by_round_stand_in_the_order_of_rounds_and_seats():
    plays = write_matches(make_config(rounds=2), [(C, D), (D, D)], [(C, D), (C, D)])
    rows = [
        (row["seat"], row["turn"], row["move"], row["times"])
        for row in _list_shares(plays, None, by_round=True)
    ]
    assert rows == [
        ("row", 1, C, 2),
        ("row", 1, D, 0),
        ("row", 2, C, 1),
        ("row", 2, D, 1),
        ("col", 1, C, 0),
        ("col", 1, D, 2),
        ("col", 2, C, 0),
        ("col", 2, D, 2),
    ]
    together = [
        (row["seat"], row["turn"], row["times"])
        for row in _list_shares(plays, None, by_round=False)
    ]
    assert together == [("row", None, 3), ("row", None, 1), ("col", None, 0), ("col", None, 4)]
    shares = list(_list_shares(plays, None, by_round=False))
    # Four answers in two plays are drawn play by play, those of one round as they are.
    assert {(row["share"].n, row["share"].method == "wilson") for row in shares} == {(2, False)}
    assert {row["share"].method for row in _list_shares(plays, None, by_round=True)} == {"wilson"}
    assert {(row["place"], row["part"], row["in_equilibrium"]) for row in shares} == {
        (None, None, None)
    }


def test_amounts_have_a_mean_a_median_and_both_ends_by_seat_and_part():
    config = SimulateConfig("first-price-auction", seat={"bidder 1": "random"})
    moves = [
        make_row(repeat, "bidder 1", amount, part=part)
        for repeat, part, amount in [(0, "", 1.0), (1, "", 2.0), (2, "", 9.0), (0, "x", 5.0)]
    ]
    plays = Plays(config, (0, 1, 2), np.ones((3, 2)), np.ones(3), moves)
    nameless, named = _list_amounts(plays, by_round=False)
    assert (nameless["seat"], nameless["part"], nameless["turn"], nameless["answers"]) == (
        "bidder 1",
        "own choice",
        None,
        3,
    )
    assert (nameless["least"], nameless["median"], nameless["most"]) == (1.0, 2.0, 9.0)
    assert (nameless["mean"].estimate, nameless["mean"].n) == (4.0, 3)
    assert (named["part"], named["answers"], named["mean"].estimate) == ("x", 1, 5.0)
    alone = Plays(config, (0, 1, 2), np.ones((3, 2)), np.ones(3), moves[:3])
    (row,) = _list_amounts(alone, by_round=True)
    assert (row["part"], row["turn"]) == (None, 1)


def test_values_are_words_numbers_or_json():
    assert _read_value("stag") == "stag"
    assert _read_value(3) == 3.0
    assert isinstance(_read_value(3), float)
    assert json.loads(_read_value([1, 2])) == [1, 2]
    asked = Form((("a", Amount(0, 2)), ("said", Words()), ("b", Choice(("x", "y")))))
    answer = {"a": 1, "said": "hello", "b": "x"}
    assert list(_list_parts(asked, answer)) == [("a", 1.0), ("b", "x")]
    assert list(_list_parts(None, "stag")) == [("", "stag")]
    assert (name_answer("stag"), name_answer(2.0), name_answer(2.5)) == ("stag", "2", "2.5")


# The game as a whole.


def test_welfare_stands_beside_the_best_equilibrium_and_the_most_that_all_could_have():
    plays = write_matches(make_config(), [(C, C)], [(D, D)])
    row = _describe_game(plays, judge_seats(plays))
    assert (row["plays"], row["void"]) == (2, 0)
    # 6 and 2, so 4 on average; 2 in equilibrium and 6 at most.
    assert (row["welfare"].estimate, row["equilibrium_welfare"], row["best_welfare"]) == (
        4.0,
        2.0,
        6.0,
    )
    assert row["price_of_anarchy"] == 1.5
    assert (row["places"], row["unseen"]) == (1, 0)


def test_of_several_equilibria_the_best_one_is_shown():
    # The stag pays both 4, the hare 3: 8 at the best equilibrium, 6 at the others.
    config = SimulateConfig("stag-hunt", seat={"row": "random", "col": "random"})
    earned = Plays(config, (0,), np.full((1, 2), 3.0), np.ones(1), [])
    row = _describe_game(earned, None)
    assert (row["welfare"].estimate, row["equilibrium_welfare"]) == (6.0, 8.0)


def test_the_price_of_anarchy_needs_something_that_was_earned():
    # Two doves have 1 each; 0.25 each is a quarter of it, two hawks lose 1 each.
    config = SimulateConfig("hawk-dove", seat={"row": "random", "col": "random"})
    for paid, price in ((-1.0, None), (0.0, None), (0.25, 4.0)):
        earned = Plays(config, (0,), np.full((1, 2), paid), np.ones(1), [])
        assert _describe_game(earned, None)["price_of_anarchy"] == price


def test_plays_that_all_pay_the_same_do_not_prove_that_the_next_will():
    # Both cooperate in 4 plays of 4. Half a play was not seen, whose weight is 0.484 at most in
    # 97.5 % (Beta(1/2, 4)): it may have paid 0, so that 3 (1 - 0.484) = 1.55 are the least, or 5, 3
    # + 2 x 0.484 = 3.97 the most.
    measured = measure_simulation(write_matches(make_config(), *[[(C, C)]] * 4))
    payoff = measured.groups["row", "random"]["payoff"]
    assert payoff.estimate == 3.0
    assert (payoff.low, payoff.high) == (
        pytest.approx(1.55, abs=0.1),
        pytest.approx(3.97, abs=0.07),
    )
    # Together they have 6 of the 2 to 6 that two can have.
    (game,) = measured.frames["game"]
    assert (game["welfare"].estimate, game["welfare"].high) == (6.0, 6.0)
    assert game["welfare"].low == pytest.approx(6 - 4 * 0.484, abs=0.13)


def test_without_a_play_that_counts_only_void_ones_are_told():
    empty = Plays(make_config(), (), np.empty((0, 2)), np.empty(0), [])
    empty.readings.voids.append({"repeat": 3})
    measured = measure_simulation(empty)
    assert measured.frames["payoffs"].rows == [
        {"repeat": 3, "seat": "row", "player": "random", "payoff": None},
        {"repeat": 3, "seat": "col", "player": "random", "payoff": None},
    ]
    (game,) = measured.frames["game"]
    assert (game["plays"], game["void"]) == (0, 1)
    names = (
        "nash_gap",
        "places",
        "unseen",
        "welfare",
        "equilibrium_welfare",
        "best_welfare",
        "price_of_anarchy",
    )
    assert {game[name] for name in names} == {None}
    assert (measured.groups, len(measured.frames["equilibria"]), measured.answered) == ({}, 0, 0)


def test_one_round_has_no_frames_of_rounds():
    single = measure_simulation(write_matches(make_config(), [(C, C)], [(D, C)]))
    assert [len(single.frames[name]) for name in ("shares_by_round", "amounts_by_round")] == [0, 0]
    repeated = measure_simulation(
        write_matches(make_config(rounds=2), [(C, C), (D, D)], [(D, C), (D, D)])
    )
    assert [len(repeated.frames[name]) for name in ("shares_by_round", "amounts_by_round")] == [
        8,
        0,
    ]


def test_regrets_are_averaged_over_the_decisions_of_a_seat():
    config = SimulateConfig("trust", seat={"sender": "random", "receiver": "random"})

    def judge(number, **lost):
        seats = dict.fromkeys(("sender", "receiver"), "random")
        decisions = [Judged(seat, "", "", "", cost, 10.0) for seat, cost in lost.items()]
        return JudgedPlay(str(number), seats, dict.fromkeys(seats, 10.0), decisions)

    judged = [judge(0, sender=6.0), judge(1, sender=0.0, receiver=1.0)]
    plays = Plays(config, (0, 1), np.full((2, 2), 10.0), np.full(2, 20.0), [], judged=judged)
    groups = _list_seats(plays, None, None)
    assert groups["sender", "random"]["regret_per_move"].estimate == 3.0
    assert groups["receiver", "random"]["regret_per_move"].estimate == 1.0
    assert groups["sender", "random"]["regret"] is None
    # Nothing is sent in the equilibrium known in words, so the sender keeps its 10.
    assert groups["sender", "random"]["equilibrium_payoff"] == 10.0
    assert groups["receiver", "random"]["equilibrium_payoff"] == 10.0
    assert _describe_game(plays, None)["equilibrium_welfare"] == 20.0
    # A void play can have paid the sender from 0 to 30, beside two that paid 10.
    plays.readings.voids.append({"repeat": 2})
    sender = _list_seats(plays, None, None)["sender", "random"]
    assert (sender["payoff_least"], sender["payoff_most"]) == (20 / 3, 50 / 3)


# What a repeated game sustains.


def test_the_rules_are_those_of_the_first_seat():
    shown = show_rules(type("Measured", (), {"config": make_config()}))
    assert shown.blocks[0].text == "As row is told them:"
    assert len(shown.blocks) == 2
    assert simulate.count_tables(None) == 2


def test_a_void_play_counts_at_the_ends_of_what_the_game_can_pay():
    plays = write_matches(make_config(), [(C, C)], [(D, D)])
    plays.readings.voids.append({"repeat": 2, "void": Void("row", "left")})
    figures = _list_seats(plays, None, None)["row", "random"]
    # 3 and 1, and a third play that could have paid 0 or 5.
    assert (figures["payoff_least"], figures["payoff_most"]) == (
        pytest.approx(4 / 3),
        pytest.approx(3.0),
    )


def test_a_void_play_of_a_tree_counts_at_the_ends_of_what_it_can_pay():
    plays, _ = write_centipede([("player 1", "take")])
    plays.readings.voids.append({"repeat": 1})
    figures = _list_seats(plays, None, None)["player 1", "random"]
    # The first player gets 0.4, 0.2, 1.6, 0.8 or 6.4; the play that counts is written down with 1.
    assert (figures["payoff_least"], figures["payoff_most"]) == (
        pytest.approx(1.2 / 2),
        pytest.approx(7.4 / 2),
    )


@pytest.mark.parametrize(
    ("words", "most"),
    [
        # Against tit-for-tat cooperation to the last round, then defection: (39 x 3 + 5) / 40.
        ({"rounds": 40, "others": "tit-for-tat"}, 3.05),
        ({"rounds": 2, "others": "tit-for-tat"}, 4.0),
        ({"rounds": 12, "others": "grim", "noise": 0.1}, None),
        ({"rounds": 30, "others": "tit-for-tat", "continuation": 0.8}, None),
        ({"rounds": 20, "others": "random", "discount": 0.9}, 3.0),
    ],
)
def test_what_is_lost_to_the_best_reply_is_within_what_there_is_to_lose(tmp_path, words, most):
    name = name_course("prisoners-dilemma", words := dict(words))
    run = simulate(name, "random", repeats=10, seed=5, output_dir=tmp_path, **words)
    figures = next(each for each in run.summary()["metrics"] if each["seat"] == "row")
    if most is not None:
        assert figures["best_reply"] == pytest.approx(most)
    lost = figures["best_reply_regret"]
    # The worst that a round can pay is 0, so nobody can lose more than the best reply earns.
    assert 0 <= lost["low"] <= lost["estimate"] <= lost["high"] <= figures["best_reply"]
