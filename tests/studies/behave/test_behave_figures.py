"""Every figure of what was played, worked out by hand from a few recorded plays."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize

from bestresponse.core.errors import SettingError
from bestresponse.report.blocks import intervals
from bestresponse.report.figures import charts
from bestresponse.report.stats.statistics import Interval
from bestresponse.runs.store.folder import encode_rows
from bestresponse.studies.behave.config import BehaveConfig
from bestresponse.studies.behave.estimates import (
    PlayerGroup,
    _bound_parameter,
    _list_parameters,
    as_float,
)
from bestresponse.studies.behave.moves import SeatMoves, list_sequences
from bestresponse.studies.behave.study import (
    _stand_beside,
    behave,
    measure_behaviour,
)
from bestresponse.theory.behaviour.choices import ChoiceFit
from bestresponse.theory.games.normal_form import NormalForm

DILEMMA = {
    "name": "dilemma",
    "actions": [["C", "D"], ["C", "D"]],
    "payoffs": [[[3, 0], [5, 1]], [[3, 5], [0, 1]]],
    "players": ["row", "col"],
}
PENNIES = {
    "name": "pennies",
    "actions": [["heads", "tails"], ["heads", "tails"]],
    "payoffs": [[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]],
    "players": ["row", "col"],
}


def write_play(spec, own, other, players=("ann", "bob"), form=DILEMMA, **data):
    """Make the line of one match; `own` and `other` are the actions of both seats, or mixtures, in
    their order."""
    roles = form["players"]
    submissions = [{"role": roles[0], "action": action} for action in own]
    submissions += [{"role": roles[1], "action": action} for action in other]
    seats = {role: player for role, player in zip(roles, players, strict=True) if player}
    kept = {"form": form, "treatment": {}, "run": "recorded", **data}
    return {"spec": spec, "data": kept, "record": {"players": seats, "submissions": submissions}}


def store_plays(tmp_path, plays):
    """Write the lines as a run keeps them."""
    (tmp_path / "records.jsonl").write_bytes(encode_rows(plays))
    (tmp_path / "unused.jsonl").write_text("")
    return SimpleNamespace(path=tmp_path)


def measure(tmp_path, plays, **settings):
    """Measure these plays with 20 resamples."""
    options = {"by": ("player",), "bootstraps": 20, **settings}
    return measure_behaviour(BehaveConfig(("recorded",), **options), store_plays(tmp_path, plays))


def find_row(measured, frame, **cells):
    (row,) = measured.frames[frame].select(**cells)
    return row


def list_moves(*own, match="m", seat=0, form=None):
    form = form or NormalForm(DILEMMA["payoffs"], ("row", "col"), DILEMMA["actions"], "dilemma")
    return SeatMoves({"run": "r", "seat": form.players[seat]}, form, seat, own, (), match, None)


# What a match says about its seats.


def test_both_seats_of_a_match_know_their_moves_their_opponent_and_their_treatment(tmp_path):
    play = write_play(
        "1", "CD", "DD", subjects=["s1"], treatment={"tone": "kind", "persona": ["meek", "bold"]}
    )
    # A move of nature belongs to neither seat.
    play["record"]["submissions"].insert(0, {"role": "nature", "action": "C"})
    first, second = list_sequences(store_plays(tmp_path, [play]))
    assert (first.seat, first.own, first.other) == (0, (0, 1), (1, 1))
    assert (second.seat, second.own, second.other) == (1, (1, 1), (0, 1))
    assert first.labels == {
        "player": "ann",
        "opponent": "bob",
        "game": "dilemma",
        "seat": "row",
        "run": "recorded",
        "tone": "kind",
        "persona": "meek",
        "treatment": "kind, meek",
    }
    assert (second.labels["opponent"], second.labels["seat"]) == ("ann", "col")
    assert second.labels["treatment"] == "kind, bold"
    assert (first.subject, first.rival, second.subject, second.rival) == ("s1", None, None, "s1")


def test_a_seat_without_a_player_is_met_but_not_described(tmp_path):
    (first,) = list_sequences(
        store_plays(tmp_path, [write_play("1", "C", "D", players=("ann", None))])
    )
    assert (first.labels["opponent"], first.other) == ("", (1,))


def test_a_mixture_is_kept_whole_and_is_no_move_that_the_other_could_answer(tmp_path):
    first, second = list_sequences(store_plays(tmp_path, [write_play("1", [[0.25, 0.75]], ["D"])]))
    assert (first.own, first.other) == (((0.25, 0.75),), (1,))
    assert (second.own, second.other) == ((1,), (-1,))


# Cooperation.


def test_cooperation_has_a_row_for_every_round_of_the_longest_match(tmp_path):
    plays = [write_play("1", "CDC", "CCC"), write_play("2", "CC", "DD")]
    measured = measure(tmp_path, plays, fit=("qre",))
    rows = measured.frames["rounds"].select(who="ann")
    # Round 1: both matches, 2 of 2. Round 2: 1 of 2. Round 3: one match, so no interval.
    assert [row["round"] for row in rows] == [1, 2, 3]
    assert [as_float(row["cooperation"]) for row in rows] == [1.0, 0.5, 1.0]
    assert [isinstance(row["cooperation"], Interval) for row in rows] == [True, True, False]
    assert measured.groups["ann",]["matches"] == 2
    assert measured.groups["ann",]["first"].estimate == 1.0
    assert measured.groups["ann",]["first"].high == 1.0
    assert measured.groups["ann",]["cooperation"].estimate == pytest.approx(4 / 5)
    assert measured.groups["bob",]["cooperation"].estimate == pytest.approx(3 / 5)
    assert measured.groups["ann",]["error"] is None
    assert measured.answered == 4


# Strategies.

PAIR = {"fit": ("strategies",), "strategies": ("cooperator", "defector")}


def test_the_shares_of_two_strategies_and_their_likelihood_are_those_of_a_hand(tmp_path):
    plays = [
        write_play(str(k), own, "CDCD", players=("ann", None))
        for k, own in enumerate(["CCCC"] * 3 + ["DDDD"])
    ]
    measured = measure(tmp_path, plays, **PAIR)
    cooperator = find_row(measured, "strategies", strategy="cooperator")
    defector = find_row(measured, "strategies", strategy="defector")
    assert (cooperator["share"].estimate, cooperator["classified"]) == (
        pytest.approx(3 / 4, abs=1e-6),
        3,
    )
    assert (defector["share"].estimate, defector["classified"]) == (
        pytest.approx(1 / 4, abs=1e-6),
        1,
    )
    assert cooperator["share"].n == 4
    group = find_row(measured, "groups", group="ann")
    # 3 ln(3/4) + ln(1/4) = -0.8630 - 1.3863; BIC is twice that, with ln 4 for each of two
    # parameters; every match is surely of one class, so ICL is the same.
    assert group["log_likelihood"] == pytest.approx(-2.2493, abs=1e-3)
    assert group["bic"] == pytest.approx(4.4987 + 2 * 1.3863, abs=1e-3)
    assert group["icl"] == pytest.approx(group["bic"], abs=1e-6)
    assert (group["units"], group["unit"], group["best_bic"], group["best_icl"]) == (
        4,
        "match",
        2,
        2,
    )
    assert group["remark"] == "every move is prescribed, so the error is 0"
    classes = [
        (row["unit"], row["strategy"], row["probability"]) for row in measured.frames["classes"]
    ]
    assert classes == [(f"{k} row", "cooperator", pytest.approx(1.0)) for k in range(3)] + [
        ("3 row", "defector", pytest.approx(1.0))
    ]
    # With the cooperator alone 4 of 16 moves are errors: 12 ln(3/4) + 4 ln(1/4) = -8.9974, and one
    # parameter.
    both, alone = measured.frames["numbers"]
    assert (both["strategies"], both["left_out"]) == (2, "defector")
    assert (alone["strategies"], alone["left_out"]) == (1, None)
    assert alone["bic"] == pytest.approx(17.9947 + 1.3863, abs=1e-3)


def test_a_strategy_that_nobody_plays_can_have_been_missed_in_half_a_match_of_four(tmp_path):
    plays = [write_play(str(k), "CCCC", "CDCD", players=("ann", None)) for k in range(4)]
    measured = measure(tmp_path, plays, **PAIR)
    # Every resample says 0 and 1. Half a match not seen beside 4 weighs Beta(1/2, 4), 0.484 at most
    # in 97.5 % of cases.
    played, other = (
        find_row(measured, "strategies", strategy=name)["share"]
        for name in ("cooperator", "defector")
    )
    assert (played.low, played.high) == (
        pytest.approx(1 - 0.484, abs=2e-3),
        pytest.approx(1.0, abs=1e-6),
    )
    assert (other.low, other.high) == (pytest.approx(0.0, abs=1e-6), pytest.approx(0.484, abs=2e-3))


def test_an_error_of_a_quarter_has_an_interval_on_both_sides_and_no_remark(tmp_path):
    plays = [write_play(str(k), "CCDC", "CDCD", players=("ann", None)) for k in range(2)]
    measured = measure(tmp_path, plays, fit=("strategies",), strategies=("cooperator",))
    error = measured.groups["ann",]["error"]
    # One of four moves in either match, so in every resample. Half a move not seen beside 8 weighs
    # Beta(1/2, 8), 0.275 at most in 97.5 % of cases: from 0.25 * (1 - 0.275) up to 0.25 + 0.275 *
    # (0.5 - 0.25), one half being the largest error there is.
    assert (error.estimate, error.n) == (pytest.approx(0.25, abs=1e-4), 8)
    assert error.low == pytest.approx(0.25 * (1 - 0.275), abs=1e-3)
    assert error.high == pytest.approx(0.25 + 0.25 * 0.275, abs=1e-3)
    assert find_row(measured, "groups", group="ann")["remark"] is None


def test_a_single_match_has_no_interval_of_the_error(tmp_path):
    measured = measure(tmp_path, [write_play("1", "CCDC", "CDCD", players=("ann", None))], **PAIR)
    error = measured.groups["ann",]["error"]
    assert (error.method, error.n) == ("none", 1)


def test_matches_of_one_player_are_one_unit(tmp_path):
    plays = [
        write_play(str(k), own, "CDCD", players=("ann", None), subjects=[subject])
        for k, (own, subject) in enumerate([("CCCC", "s1"), ("CCCC", "s1"), ("DDDD", "s2")])
    ]
    measured = measure(tmp_path, plays, **PAIR)
    group = find_row(measured, "groups", group="ann")
    assert (group["units"], group["unit"]) == (2, "subject")
    assert find_row(measured, "strategies", strategy="cooperator")[
        "share"
    ].estimate == pytest.approx(1 / 2, abs=1e-6)
    assert [row["unit"] for row in measured.frames["classes"]] == ["recorded s1", "recorded s2"]


def test_persons_in_both_seats_are_one_unit_each_however_often_they_play(tmp_path):
    # Ann always cooperates, in three matches and both seats; bob, cat and dan always defect, once
    # each.
    plays = [
        write_play("1", "CCCC", "DDDD", ("x", "x"), subjects=["ann", "bob"]),
        write_play("2", "DDDD", "CCCC", ("x", "x"), subjects=["cat", "ann"]),
        write_play("3", "CCCC", "DDDD", ("x", "x"), subjects=["ann", "dan"]),
    ]
    measured = measure(tmp_path, plays, **PAIR)
    group = find_row(measured, "groups", group="x")
    assert (group["units"], group["unit"], group["log_likelihood"]) == (
        4,
        "subject",
        pytest.approx(-2.2493, abs=1e-3),
    )
    # One person of four, though three seats of six: the log likelihood is ln 1/4 + 3 ln 3/4.
    share = find_row(measured, "strategies", strategy="cooperator")["share"]
    assert (share.estimate, share.n) == (pytest.approx(1 / 4, abs=1e-6), 4)
    assert sorted(row["unit"] for row in measured.frames["classes"]) == [
        f"recorded {s}" for s in ("ann", "bob", "cat", "dan")
    ]
    assert measured.groups["x",]["cooperation"].n == 4
    assert measured.groups["x",]["cooperation"].estimate == pytest.approx(1 / 2)


def test_the_likelihood_by_person_is_that_of_an_independent_maximisation(tmp_path):
    rng = np.random.default_rng(5)
    persons = [f"s{k}" for k in range(12)]
    kinds = {person: k % 3 for k, person in enumerate(persons)}  # cooperator, defector, tit-for-tat
    counts = {
        person: np.zeros((3, 2)) for person in persons
    }  # moves as the strategy has them, and others
    plays = []
    for number in range(30):
        pair = [str(name) for name in rng.choice(persons, 2, replace=False)]
        made = []
        for turn in range(5):
            meant = [[0, 1, made[-1][1 - seat] if turn else 0] for seat in range(2)]
            moves = [
                int(meant[seat][kinds[name]] ^ (rng.random() < 0.15))
                for seat, name in enumerate(pair)
            ]
            for seat, name in enumerate(pair):
                for kind in range(3):
                    counts[name][kind, int(moves[seat] != meant[seat][kind])] += 1
            made.append(moves)
        texts = ["".join("CD"[moves[seat]] for moves in made) for seat in range(2)]
        plays.append(write_play(str(number), *texts, ("x", "x"), subjects=pair))

    def lose(point):
        shares = np.exp([*point[:2], 0.0])
        error = 1 / (2 + 2 * np.exp(-point[2]))
        chances = [np.exp(table @ np.log([1 - error, error])) for table in counts.values()]
        return -sum(np.log(chance @ shares / shares.sum()) for chance in chances)

    best = minimize(
        lose,
        [0.0, 0.0, 0.0],
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-11, "maxiter": 9999},
    )
    measured = measure(
        tmp_path, plays, fit=("strategies",), strategies=("cooperator", "defector", "tit-for-tat")
    )
    group = find_row(measured, "groups", group="x")
    assert (group["units"], group["log_likelihood"]) == (12, pytest.approx(-best.fun, abs=1e-4))
    shares = np.exp([*best.x[:2], 0.0])
    for name, share in zip(
        ("cooperator", "defector", "tit-for-tat"), shares / shares.sum(), strict=True
    ):
        assert find_row(measured, "strategies", strategy=name)["share"].estimate == pytest.approx(
            share, abs=2e-3
        )


def test_named_and_nameless_units_are_told_apart(tmp_path):
    plays = [
        write_play("1", "CCCC", "DDDD", ("x", "x"), subjects=["ann"]),
        write_play("2", "CCCC", "DDDD", ("x", "x"), subjects=["ann"]),
    ]
    group = find_row(measure(tmp_path, plays, **PAIR), "groups", group="x")
    assert (group["units"], group["unit"]) == (3, "subject or match")


def test_names_that_come_up_again_are_remarked_where_they_are_not_the_units(tmp_path):
    seats = [("ann", "bob"), ("bob", "cat"), ("dan", "ann")]

    def find_remark(by, **data):
        plays = [
            write_play(str(k), "CCCCCCCD", "DDDDDDDC", pair, **data) for k, pair in enumerate(seats)
        ]
        return measure(tmp_path, plays, **PAIR, by=(by,)).frames["groups"].rows[0]["remark"]

    assert (
        find_remark("game", study="import")
        == "2 of 4 names appear in several matches, but every match counts as a new player; "
        "if the names are people, list their columns under `subjects` in the mapping"
    )
    # A group of one name is what was asked for, and other runs have no mapping.
    assert find_remark("player", study="import") is None
    assert find_remark("game") is None


def test_names_that_are_the_units_are_not_remarked(tmp_path):
    seats = [("ann", "bob"), ("bob", "ann"), ("ann", "bob")]
    texts = [("CCCC", "DDDD"), ("DDDD", "CCCC"), ("CCCD", "DDDD")]
    plays = [
        write_play(str(k), *text, pair, study="import", subjects=pair)
        for k, (pair, text) in enumerate(zip(seats, texts, strict=True))
    ]
    group = find_row(measure(tmp_path, plays, **PAIR, by=("game",)), "groups", group="dilemma")
    assert (group["units"], group["remark"]) == (2, None)


def test_seats_are_the_units_where_both_of_a_match_are_of_the_group(tmp_path):
    plays = [write_play(str(k), "CCCC", "DDDD") for k in range(2)]
    measured = measure(tmp_path, plays, **PAIR, by=("game",))
    group = find_row(measured, "groups", group="dilemma")
    assert (group["units"], group["unit"]) == (4, "seat")
    assert [row["unit"] for row in measured.frames["classes"]] == [
        "0 row",
        "1 row",
        "0 col",
        "1 col",
    ]


def test_both_seats_of_a_match_are_drawn_together_and_with_all_matches_of_a_player(tmp_path):
    plays = [write_play(str(k), "CCCC", "DDDD") for k in range(8)]
    share = find_row(
        measure(tmp_path, plays, **PAIR, by=("game",)), "strategies", strategy="cooperator"
    )["share"]
    # Half of the seats of every match cooperate, so that all resamples agree; half a match that was
    # not seen remains, which weighs Beta(1/2, 8): 0.277 at 97.5 %, and half of that to either side.
    assert (share.estimate, share.n) == (pytest.approx(0.5, abs=1e-3), 8)
    assert (share.low, share.high) == pytest.approx((0.5 - 0.138, 0.5 + 0.138), abs=5e-3)
    # Two people with two matches each, whom nobody knows sits opposite.
    known = [write_play(str(k), "CCCC", "DDDD", subjects=[f"s{k % 2}"]) for k in range(4)]
    share = find_row(
        measure(tmp_path, known, **PAIR, by=("game",)), "strategies", strategy="cooperator"
    )["share"]
    assert share.n == 2


def test_a_single_match_with_oneself_has_no_interval(tmp_path):
    measured = measure(tmp_path, [write_play("0", "CCCC", "DDDD")], **PAIR, by=("game",))
    assert find_row(measured, "strategies", strategy="cooperator")["share"].method == "none"


def test_matches_of_different_length_are_followed_to_their_own_end(tmp_path):
    # Tit-for-tat in both, the second shorter than the first and broken off before the other's last
    # move.
    plays = [
        write_play("1", "CCDC", "CDCC", players=("ann", None)),
        write_play("2", "CD", "DCC", players=("ann", None)),
    ]
    measured = measure(
        tmp_path, plays, fit=("strategies",), strategies=("tit-for-tat", "cooperator")
    )
    assert find_row(measured, "strategies", strategy="tit-for-tat")[
        "share"
    ].estimate == pytest.approx(1.0, abs=1e-6)
    assert measured.groups["ann",]["error"].n == 6


def test_what_cannot_be_followed_is_counted_by_its_reason(tmp_path):
    half = [0.5, 0.5]
    plays = [write_play(str(k), [half], ["C"], players=("ann", None)) for k in range(3)]
    plays += [write_play(str(k), "", "C", players=("ann", None)) for k in (3, 4)]
    measured = measure(tmp_path, plays, **PAIR)
    assert measured.frames["left_out"].rows == [
        {"what": "ann: strategies", "why": "the answers are mixtures and no moves", "times": 3},
        {"what": "ann: strategies", "why": "no move was made", "times": 2},
    ]
    assert measured.groups["ann",]["error"] is None
    assert len(measured.frames["strategies"]) == 0


def test_every_group_has_its_own_estimates(tmp_path):
    plays = [write_play(str(k), "CCCC", "DDDD") for k in range(2)]
    measured = measure(tmp_path, plays, **PAIR)
    assert [row["group"] for row in measured.frames["groups"]] == ["ann", "bob"]
    assert [row["units"] for row in measured.frames["groups"]] == [2, 2]
    shares = {
        (row["group"], row["strategy"]): row["share"].estimate
        for row in measured.frames["strategies"]
    }
    assert shares["ann", "cooperator"] == pytest.approx(1.0, abs=1e-6)
    assert shares["bob", "cooperator"] == pytest.approx(0.0, abs=1e-6)


def test_strategies_that_are_no_automata_are_refused(tmp_path):
    def meek(own, other):
        return "C"

    with pytest.raises(SettingError, match="none of them is an automaton"):
        measure(tmp_path, [write_play("1", "C", "C")], fit=("strategies",), strategies=(meek,))


# Single choices.


def test_precision_is_that_of_first_rounds_unless_all_rounds_count(tmp_path):
    # 1 of 4 first moves is to cooperate, and where both do so with 1/4 defecting earns 2/4 + 3/4 =
    # 1.25 more: lambda is ln 3 / 1.25 = 0.879. Of all moves 92 of 128 are to cooperate, which no
    # precision explains.
    plays = [write_play(f"a{k}", "CCCC", "CCCC") for k in range(4)] + [
        write_play(f"b{k}", "DCCD", "DCCC") for k in range(12)
    ]
    first = measure(tmp_path, plays, fit=("qre",), by=("game",))
    every = measure(tmp_path, plays, fit=("qre",), by=("game",), rounds="all")
    assert first.groups["dilemma",]["qre"].estimate == pytest.approx(0.879, rel=0.03)
    assert every.groups["dilemma",]["qre"] == 0.0


def make_dilemmas(count):
    """Make dilemmas whose temptation grows."""
    return [
        {**DILEMMA, "name": f"game {k}", "payoffs": [[[3, 0], [5 + k, 1]], [[3, 5 + k], [0, 1]]]}
        for k in range(count)
    ]


@pytest.mark.parametrize(("games", "few"), [(7, True), (8, False)])
def test_with_eight_games_the_intervals_resample_games_and_with_fewer_matches(tmp_path, games, few):
    plays = [
        write_play(f"{number}-{k}", move, move, form=form)
        for number, form in enumerate(make_dilemmas(games))
        for k, move in enumerate("CDD")
    ]
    measured = measure(tmp_path, plays, fit=("qre",), by=("run",))
    (row,) = measured.frames["models"]
    assert row["estimate"].n == (21 if few else 8)
    assert row["remark"] == ("intervals resample matches: few games" if few else None)


def test_choices_that_are_the_same_in_every_match_leave_levels_an_interval(tmp_path):
    # Everybody defects: levels 1, 2 and 3 all do, so level 0 has no share, whatever is resampled.
    plays = [write_play(str(k), "D", "D") for k in range(4)]
    measured = measure(tmp_path, plays, fit=("level-k", "qre", "cognitive-hierarchy"), by=("game",))
    level = find_row(measured, "models", parameter="share of level 0")
    # Half a match not seen beside 4: Beta(1/2, 4), 0.484 at most.
    assert (level["estimate"].low, level["estimate"].high) == (
        pytest.approx(0.0, abs=1e-4),
        pytest.approx(0.484, abs=2e-3),
    )
    # Levels 1, 2 and 3 do the same, so any shares of them with the sum 1 are as likely.
    assert (
        level["remark"]
        == "other shares fit as well; intervals resample matches: few games; one game, nothing to"
        " hold out"
    )
    assert level["score"] is None
    # The more precise, the more they defect, without end; so with steps of reasoning.
    for parameter in ("lambda", "tau"):
        row = find_row(measured, "models", parameter=parameter)
        assert isinstance(row["estimate"], float)
        assert row["remark"].startswith(
            "the likelihood grows with it without end; intervals resample matches"
        )
    figures = measured.groups["dilemma",]
    assert (figures["qre"], figures["hierarchy"]) == (
        find_row(measured, "models", parameter="lambda")["estimate"],
        find_row(measured, "models", parameter="tau")["estimate"],
    )
    assert figures["level"] is None  # anything from 1 to 3
    parameters = [row["parameter"] for row in measured.frames["models"]]
    assert "mean level" not in parameters


def test_more_matches_of_the_same_players_make_no_interval_of_precision_narrower(tmp_path):
    # Four players, of whom one always cooperates and three always defect, in one match each and in
    # five.
    (tmp_path / "five").mkdir()

    def list_plays(matches):
        return [
            write_play(
                f"{player} {k}", "D" if player else "C", "D", ("ann", ""), subjects=[str(player)]
            )
            for player in range(4)
            for k in range(matches)
        ]

    once = find_row(measure(tmp_path, list_plays(1), fit=("qre",)), "models", parameter="lambda")
    often = find_row(
        measure(tmp_path / "five", list_plays(5), fit=("qre",)), "models", parameter="lambda"
    )
    # The other seat counts as no choice, so 1 of 4 cooperates against whoever plays the same
    # equilibrium: ln 3 / 1.25.
    assert often["estimate"].estimate == pytest.approx(0.87889, abs=5e-4)
    assert often["estimate"].n == 4
    assert (often["estimate"].low, often["estimate"].high) == pytest.approx(
        (once["estimate"].low, once["estimate"].high)
    )
    assert (
        often["remark"] == "intervals resample subjects: few games; one game, nothing to hold out"
    )


def test_mixtures_are_parts_of_a_choice(tmp_path):
    # 1/4 of a choice to cooperate, as in three plays of four: lambda = ln 3 / 1.25 = 0.879.
    measured = measure(
        tmp_path, [write_play("1", [[0.25, 0.75]], [[0.25, 0.75]])], fit=("qre",), by=("game",)
    )
    value = measured.groups["dilemma",]["qre"]
    assert as_float(value) == pytest.approx(0.879, rel=0.03)


def test_the_parameters_of_levels_are_their_mean_and_their_shares():
    resampled = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]])
    fit = ChoiceFit(
        "level-k", np.array([0.1, 0.2, 0.3, 0.4]), resampled, -1.0, False, False, None, None
    )
    listed = {
        name: (estimate, draws.tolist(), bounds)
        for name, estimate, draws, bounds in _list_parameters(fit)
    }
    # 0.2 + 2 * 0.3 + 3 * 0.4 = 2, and of the resamples 0 and (2 + 3) / 2.
    assert listed == {
        "mean level": (pytest.approx(2.0), [0.0, 2.5], (0.0, 3.0)),
        "share of level 0": (0.1, [1.0, 0.0], (0.0, 1.0)),
        "share of level 1": (0.2, [0.0, 0.0], (0.0, 1.0)),
        "share of level 2": (0.3, [0.0, 0.5], (0.0, 1.0)),
        "share of level 3": (0.4, [0.0, 0.5], (0.0, 1.0)),
    }


@pytest.mark.parametrize(("model", "name"), [("qre", "lambda"), ("cognitive-hierarchy", "tau")])
def test_the_other_models_have_one_parameter_that_is_not_below_0(model, name):
    fit = ChoiceFit(
        model, np.array([1.5]), np.array([[1.0], [2.0]]), -1.0, False, False, None, None
    )
    ((parameter, estimate, draws, bounds),) = _list_parameters(fit)
    assert (parameter, estimate, draws.tolist(), bounds) == (
        name,
        1.5,
        [1.0, 2.0],
        (0.0, np.inf),
    )


# The path of logit equilibria.

FORM = NormalForm(DILEMMA["payoffs"], ("row", "col"), DILEMMA["actions"], "dilemma")
OTHER_FORM = NormalForm(PENNIES["payoffs"], ("row", "col"), PENNIES["actions"], "pennies")


# People beside.


def stand_beside(group, strategies=(), rounds=()):
    frames = {"strategies": list(strategies), "rounds": list(rounds), "beside": [], "left_out": []}
    _stand_beside("x", group, frames)
    return frames


def test_a_group_is_compared_with_people_in_its_most_played_game():
    moves = [list_moves(0, match=match, form=FORM) for match in "ab"]
    moves += [list_moves(1, match=match, form=FORM) for match in "cd"] + [
        list_moves(0, form=OTHER_FORM)
    ]
    names = (
        "cooperator",
        "grim",
        "tit-for-tat",
        "suspicious-tit-for-tat",
        "tit-for-two-tats",
        "win-stay-lose-shift",
    )
    strategies = [{"group": "x", "strategy": name, "share": 0.0} for name in names]
    strategies.append(
        {"group": "x", "strategy": "defector", "share": Interval(1.0, 0.0, 1.0, 0.95, "drawn", 4)}
    )
    strategies.append({"group": "y", "strategy": "other", "share": 1.0})
    frames = stand_beside(PlayerGroup(moves, 1), strategies)
    two, four = frames["beside"][:2]
    # Two of four first moves, and 0.1399 and 0.3475 of people in the dilemmas DB 23 and DB 24.
    assert (two["people_first"], two["difference"]) == (0.1399, pytest.approx(0.3601))
    assert (four["people_first"], four["difference"]) == (0.3475, pytest.approx(0.1525))
    assert two["first"].estimate == 0.5
    # Two rounds do not tell all strategies of people apart. In DB 24 0.5715 defect: as much as the
    # others have is too much at the defector, so half of the sum is 1 - 0.5715.
    assert two["distance"] is None
    assert four["distance"] == pytest.approx(0.4285, abs=1e-3)
    people = [row for row in frames["rounds"] if row["who"] == four["people"]]
    assert [(row["round"], row["cooperation"]) for row in people] == [
        (1, 0.3475),
        (2, 0.2563),
        (3, 0.2248),
        (4, 0.1305),
    ]
    assert frames["left_out"] == []


def test_the_rounds_of_people_are_listed_once_for_all_groups():
    group = PlayerGroup([list_moves(0, match=match, form=FORM) for match in "ab"], 1)
    before = stand_beside(group)["rounds"]
    assert stand_beside(group, rounds=before)["rounds"] == before


def test_a_group_that_answers_in_mixtures_has_no_difference_from_people():
    frames = stand_beside(PlayerGroup([list_moves((0.5, 0.5), form=FORM)], 1))
    assert {(row["first"], row["difference"]) for row in frames["beside"]} == {(None, None)}


def test_a_game_that_is_no_dilemma_has_no_people_beside_it():
    frames = stand_beside(
        PlayerGroup([list_moves(0, match=match, form=OTHER_FORM) for match in "abc"], 1)
    )
    assert frames["left_out"] == [
        {"what": "x: people beside", "why": "the game is not a symmetric dilemma", "times": 3}
    ]
    assert frames["beside"] == []


def test_a_value_without_an_interval_counts_as_itself_and_a_missing_one_as_0():
    assert [
        as_float(value) for value in (Interval(0.3, 0.1, 0.5, 0.95, "drawn", 9), 0.7, None)
    ] == [0.3, 0.7, 0.0]


def test_only_strategies_that_somebody_plays_are_drawn(tmp_path, monkeypatch):
    drawn, draw_intervals = [], charts.draw_intervals

    def draw(rows, **options):
        drawn.extend(name for name, _ in rows)
        return draw_intervals(rows, **options)

    monkeypatch.setattr(charts, "draw_intervals", draw)
    plays = [write_play(str(k), "CCCC", "CDCD", players=("ann", None)) for k in range(4)]
    measured = measure(tmp_path, plays, **PAIR)
    (block,) = (block for block in behave.report if isinstance(block, intervals))
    assert len(list(block.build(measured.frames["strategies"], ""))) == 1
    assert drawn == ["ann, cooperator"]


def test_matches_of_one_person_have_no_interval_and_it_is_said(tmp_path):
    plays = [
        write_play(str(k), "CCCD", "CDCD", players=("ann", None), subjects=["s1"]) for k in range(3)
    ]
    measured = measure(tmp_path, plays, **PAIR)
    remark = find_row(measured, "groups", group="ann")["remark"]
    assert "all moves are of one subject, so that there is no interval" in remark


def test_variances_between_persons_and_between_games_are_added_less_that_of_both():
    persons = np.tile([-2.0, 2.0], 50)  # variance 4
    both = np.tile([-1.0, 1.0], 50)  # variance 1
    numbers = [np.arange(20), np.arange(10), np.arange(200)]
    bounds = (-1e6, 1e6)
    one_way = _bound_parameter(0.0, persons, numbers[:1], bounds)
    two_way = _bound_parameter(0.0, np.concatenate([persons, persons, both]), numbers, bounds)
    # (4 + 4 - 1) / 4 times the variance
    assert two_way.half_width / one_way.half_width == pytest.approx(np.sqrt(7 / 4))
    # Where games add nothing to what persons differ by, they change nothing.
    without = _bound_parameter(0.0, np.concatenate([persons, both, both]), numbers, bounds)
    assert without == one_way


def test_the_interval_of_a_parameter_without_bounds_is_that_of_students_t():
    draws = np.tile([1.0, 3.0], 50)
    found = _bound_parameter(2.0, draws, [np.arange(10)], (0.0, np.inf))
    # sqrt(10 / 9) * 2.262157 / 1.959964 = 1.216617, around 2
    assert (found.low, found.high) == pytest.approx((0.783383, 3.216617), abs=1e-5)
    near_zero = _bound_parameter(0.1, draws - 1, [np.arange(10)], (0.0, np.inf))
    assert near_zero.low == 0.0
