"""What sampled plays leave open: errors worked out by hand, and intervals and places that hold the
truth."""

import numpy as np
import pytest

import bestresponse as br
from bestresponse.core.seeds import split
from bestresponse.report.page import render
from bestresponse.report.stats.statistics import Interval
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.matches import draw_rounds
from bestresponse.studies.tournament.uncertainty import SampledMeans, measure_error
from bestresponse.theory.catalogue.tables import load
from bestresponse.theory.repeated.automaton import classic_strategy
from bestresponse.theory.repeated.repetition import Repetition
from bestresponse.theory.repeated.round_robin import exact_round_robin


def test_the_error_of_a_match_is_that_of_a_mean():
    # Payoffs per round 1, 2, 3 and 3, 2, 1 over two rounds each: variance 1, so 1/3 of the mean;
    # the seats vary in opposite directions.
    plays = np.array([[2.0, 6.0, 2.0], [4.0, 4.0, 2.0], [6.0, 2.0, 2.0]])
    assert measure_error(plays) == pytest.approx(np.array([[1, -1], [-1, 1]]) / 3)
    assert np.isnan(measure_error(plays[:1])).all()


def test_two_who_met_share_the_error_of_their_match():
    # Each averages over four cells: two seats against itself and two against the other. Only the
    # match of 0 in the first seat against 1 varies, by 1 in both seats, in opposite directions.
    errors = np.zeros((2, 2, 2, 2))
    errors[0, 1] = [[1.0, -1.0], [-1.0, 1.0]]
    found = SampledMeans(
        np.array([2.08, 1.0]), errors, np.ones((2, 2, 2), dtype=bool), np.full((2, 2), 11)
    )
    assert found.variances == pytest.approx([1 / 16, 1 / 16])
    # t(10) = 2.2281 times 1/4 on each side, cut at what the game allows.
    interval = found.estimate(0, (0.0, 2.5))
    assert (interval.low, interval.high) == (pytest.approx(2.08 - 0.5570, abs=1e-4), 2.5)
    # The difference of 1.08 has variance 4/16 and, being that of one match, 10 degrees of freedom:
    # it takes 2.2281 / 2 = 1.114.
    assert [places.tolist() for places in found.places] == [[1, 1], [2, 2]]
    apart = SampledMeans(np.array([2.12, 1.0]), errors, found.counted, found.plays)
    assert [places.tolist() for places in apart.places] == [[1, 2], [1, 2]]


def test_both_seats_of_a_match_against_oneself_are_one_sample():
    # Both earn the same in two plays: one degree of freedom, t = 12.706, of a mean with variance 1.
    found = SampledMeans(
        np.zeros(1), np.ones((1, 1, 2, 2)), np.ones((1, 1, 2), dtype=bool), plays=np.array([[2]])
    )
    assert found.variances == pytest.approx([1.0])
    assert found.estimate(0, (-20.0, 20.0)).high == pytest.approx(12.706, abs=1e-3)


def test_plays_that_broke_off_leave_fewer_degrees_of_freedom():
    """Two plays of the only match that varies: t = 12.706, however many the others have."""
    errors = np.zeros((2, 2, 2, 2))
    errors[0, 1, 0, 0] = 16.0
    counted = np.ones((2, 2, 2), dtype=bool)
    found = SampledMeans(np.zeros(2), errors, counted, np.array([[10, 2], [10, 10]]))
    interval = found.estimate(0, (-20.0, 20.0))
    assert interval.high == pytest.approx(12.706, abs=1e-3)
    assert interval.n == 32


def test_a_match_that_is_played_once_for_both_seats_is_one_sample(tmp_path, monkeypatch):
    """Four plays have three degrees of freedom, t = 3.1824, although they fill two cells."""
    monkeypatch.setattr(TournamentConfig, "is_mirrored", lambda config, first, second: True)
    entries = ["random", "defector"]
    settings = {"rounds": 50, "repetitions": 4, "against": "defector", "output_dir": tmp_path}
    run = br.tournament("prisoners-dilemma", entries, **settings)
    (match,) = [row for row in run.frame("matches") if row["first"] == "random"]
    (row,) = [row for row in run.rows() if row["name"] == "random"]
    error = match["first_deviation"] / 4**0.5 / 50
    assert row["per_round"].half_width == pytest.approx(3.1824 * error, rel=1e-4)


@pytest.mark.parametrize("continuation", [1.0, 0.9])
def test_intervals_and_places_hold_the_truth(continuation):
    names = ("tit-for-tat", "grim", "defector", "cooperator", "tit-for-tat")
    players = [classic_strategy(name) for name in names]
    repetition = Repetition(10, noise=0.1, continuation=continuation)
    game = load("prisoners-dilemma")

    def average(totals, rounds):
        per_round = totals / rounds[..., None]
        return (per_round[..., 0].sum(axis=1) + per_round[..., 1].sum(axis=0)) / (2 * len(players))

    def sample(first, second, seed):
        """The payoffs of both and the rounds of a play that is drawn round by round."""
        rounds = draw_rounds((first, second), repetition, seed)
        earned = sum(game.payoffs[:, one.made[0], one.made[1]] for one in rounds)
        return [*earned, len(rounds)]

    exact = exact_round_robin(players, game, repetition)
    truth = average(exact.totals, exact.rounds).round(9)
    best = 1 + (truth > truth[:, None]).sum(axis=1)
    worst = len(truth) - (truth < truth[:, None]).sum(axis=1)
    held, placed = [], []
    for seed in range(60):
        shape = (len(players), len(players), 2)
        plays = np.array(
            [
                [
                    [sample(first, second, split(seed, i, j, k)) for k in range(5)]
                    for j, second in enumerate(players)
                ]
                for i, first in enumerate(players)
            ]
        )
        means = plays.mean(axis=2)
        found = SampledMeans(
            average(means[..., :2], means[..., 2]),
            measure_error(plays),
            np.ones(shape, dtype=bool),
            np.full(shape[:2], 5),
        )
        low, high = found.places
        placed += ((low <= worst) & (high >= best)).tolist()
        for index, mean in enumerate(truth):
            held.append(found.estimate(index, (0.0, 5.0)).contains(mean))
    assert np.mean(held) >= 0.92
    assert np.mean(placed) >= 0.95


def test_standings_have_intervals_and_places_where_plays_are_sampled(tmp_path):
    entries = ["grim", "tit-for-tat", "always:defect"]
    game = "prisoners-dilemma with repeated(noise=0.1)"
    settings = {"output_dir": tmp_path}
    sampled = br.tournament(game, entries, repetitions=5, **settings)
    for row in sampled.rows():
        earned = row["per_round"]
        assert isinstance(earned, Interval)
        assert 0.0 <= earned.low < earned.estimate < earned.high <= 5.0
        assert 1 <= row["best_place"] <= row["worst_place"] <= 3
        assert (row["first"], row["second"]) == (None, None)  # seats of a symmetric game are pooled
    # Grim and tit-for-tat are as good as each other here: who comes first is chance.
    assert "(first may be " in render(sampled.report())
    exact = br.tournament(game, entries, **settings)
    assert "first may be" not in render(exact.report())
    for row in exact.rows():
        assert isinstance(row["per_round"], float)
        assert row["best_place"] is None


def test_ratings_of_a_copy_are_those_of_the_original(tmp_path):
    entries = ["tit-for-tat", "grim", "defector", "cooperator"]
    alone = br.tournament("prisoners-dilemma", entries, rounds=8, output_dir=tmp_path / "a")
    twice = br.tournament(
        "prisoners-dilemma", ["tit-for-tat:2", *entries[1:]], rounds=8, output_dir=tmp_path / "b"
    )
    rated = [
        {row["strategy"]: row["nash_averaging"] for row in run.frame("ratings")}
        for run in (alone, twice)
    ]
    for name, rating in rated[0].items():
        assert rated[1][name] == pytest.approx(rating)
    assert rated[1]["tit-for-tat 2"] == rated[1]["tit-for-tat"]
    assert sum(row["alpha_rank"] for row in twice.frame("ratings")) == pytest.approx(1.0)
    assert not any(isinstance(row["bradley_terry"], Interval) for row in alone.frame("ratings"))


def test_luck_of_noise_and_of_the_other_is_taken_out_of_a_models_payoffs(tmp_path):
    """A model that cooperates against `random`: all that varies is luck, but for later rounds."""
    run = br.tournament(
        "prisoners-dilemma with repeated(rounds=2, noise=0.1)",
        [lambda prompt: "ANSWER: cooperate", "random"],
        repetitions=40,
        output_dir=tmp_path,
    )
    rows = [row for row in run.frame("luck") if row["player"] != "random"]
    assert rows
    # Of a round, cooperating 9 times in 10 against a fair coin: (.9 * 1.5 + .1 * 3); two rounds.
    for row in rows:
        assert row["without_luck"].half_width < row["payoff"].half_width
        assert row["needed"] > row["plays"]
