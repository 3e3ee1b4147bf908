"""How agents revise, worked out by hand, and what a run is told to cost."""

import numpy as np
import pytest

from bestresponse.models.providers.scripted import ScriptedModel
from bestresponse.studies.population.study import (
    PopulationConfig,
    _compare_shares,
    _list_equilibria,
    _meet,
    _revise,
    average_matches,
    population,
    run_agents,
)

HELD = np.array([[0, 0, 1, 1]])


def configure(**settings):
    return PopulationConfig(
        "hawk-dove", **{"repeats": 1, "generations": 3, "repetitions": 10, "revise": 1.0} | settings
    )


def revise(payoffs, rule, rivals=((0.5, 0.5),), earned=((0.0, 0.0, 0.0, 0.0),), **settings):
    payoffs = np.array(payoffs, dtype=float)[:, :, None]
    rng = np.random.default_rng(0)
    return _revise(
        configure(rule=rule, **settings), payoffs, HELD, np.array(earned), np.array(rivals), rng
    )


def test_everybody_takes_the_best_reply_unless_it_is_a_tie_but_for_rounding():
    assert revise([[1, 1], [0, 0]], "best-reply").tolist() == [[0, 0, 0, 0]]
    # A billionth and a half apart is no tie near 1, but at 1,000 it is one.
    assert revise([[0, 0], [1.5e-9, 1.5e-9]], "best-reply").tolist() == [[1, 1, 1, 1]]
    large = np.full((2, 2, 1), 1000.0) + np.array([[[0.0]], [[1.5e-9]]])
    held, rng = np.zeros((1, 1000), dtype=np.int64), np.random.default_rng(0)
    tied = _revise(
        configure(rule="best-reply"), large, held, 0.0 * held, np.array([[0.5, 0.5]]), rng
    )
    assert tied.mean() == pytest.approx(0.5, abs=0.05)
    assert revise([[1, 1], [0, 0]], "best-reply", revise=1e-12).tolist() == HELD.tolist()


def test_logit_choice_weighs_replies_by_what_they_earn():
    # exp(-50) against 1: nobody takes the worse reply.
    assert revise([[0, 0], [50, 50]], "logit").tolist() == [[1, 1, 1, 1]]
    # Nothing is too large: of 2,000 and 1,999 the first is e times as likely, 0.7311 of all.
    large, many = (
        np.full((2, 2, 1), 2000.0) - np.array([[[0.0]], [[1.0]]]),
        np.zeros((1, 20_000), dtype=np.int64),
    )
    revised = _revise(
        configure(rule="logit"),
        large,
        many,
        0.0 * many,
        np.array([[0.5, 0.5]]),
        np.random.default_rng(0),
    )
    assert 1 - revised.mean() == pytest.approx(0.7311, abs=0.01)
    config = configure(rule="logit", precision=np.log(3))
    payoffs, held = (
        np.array([[[1.0], [1.0]], [[0.0], [0.0]]]),
        np.zeros((1, 20_000), dtype=np.int64),
    )
    revised = _revise(
        config, payoffs, held, 0.0 * held, np.array([[0.5, 0.5]]), np.random.default_rng(0)
    )
    # A unit of payoff more is three times as likely: one in four takes the other.
    assert revised.mean() == pytest.approx(0.25, abs=0.01)


def test_imitators_switch_with_the_share_of_the_range_by_which_the_other_earned_more():
    # Those who hold 0 earned all there is, those who hold 1 nothing: whoever meets the other kind
    # switches to it.
    after = revise([[1, 1], [0, 0]], "imitation", earned=((1.0, 1.0, 0.0, 0.0),))
    assert after[0, :2].tolist() == [0, 0]
    held = np.array([[0, 1] * 10_000])
    payoffs, earned = np.array([[[4.0], [0.0]], [[3.0], [3.0]]]), np.where(held == 0, 4.0, 3.0)
    revised = _revise(
        configure(), payoffs, held, earned, np.array([[0.5, 0.5]]), np.random.default_rng(0)
    )
    # One of two of those who hold 1 meets the other kind and switches with (4 - 3) / 4: an eighth
    # of them.
    assert (revised[held == 1] == 0).mean() == pytest.approx(1 / 8, abs=0.01)
    assert (revised[held == 0] == 0).all()


def test_bands_stay_between_nobody_and_everybody(monkeypatch):
    # Hawks are 0.9 and 0.3 of all in two repetitions: 0.6 on average, deviation 0.6 / sqrt(2), over
    # sqrt(2) 0.3; 1.96 of it reach from 0.0120 to 1.1880, those of doves from -0.1880 to 0.9880.
    seen = np.array([[[0.5, 0.5], [0.9, 0.1]], [[0.5, 0.5], [0.3, 0.7]]])
    monkeypatch.setattr(
        "bestresponse.studies.population.study.run_agents", lambda *arguments: (seen,)
    )
    payoffs = np.array([[[-1.0], [2.0]], [[0.0], [1.0]]])
    config = configure(generations=1)
    rows, groups = _compare_shares(config, [payoffs])
    assert [(row["generation"], row["strategy"]) for row in rows] == [
        (0, "always:hawk"),
        (0, "always:dove"),
        (1, "always:hawk"),
        (1, "always:dove"),
    ]
    hawks, doves = rows[2]["share"], rows[3]["share"]
    assert (hawks.estimate, hawks.low, hawks.high) == (
        pytest.approx(0.6),
        pytest.approx(0.0120, abs=1e-4),
        1.0,
    )
    assert (doves.estimate, doves.low, doves.high) == (
        pytest.approx(0.4),
        0.0,
        pytest.approx(0.9880, abs=1e-4),
    )
    assert (hawks.level, hawks.n) == (0.95, 2)
    figures = groups["all", "always:hawk"]
    # An even start: hawks earn (2 - 1) / 2, doves (0 + 1) / 2, so theory expects no change, and 0.1
    # is the farthest.
    assert (figures["start"], figures["end"], figures["died_out"]) == (0.5, hawks, 0.0)
    assert (figures["expected"], figures["farthest"]) == (pytest.approx(0.5), pytest.approx(0.1))


def test_two_populations_are_averaged_each_over_its_own_matches():
    # Two matches of every pair; the second's payoffs have its own strategies as rows.
    first = np.array([[[1.0, 3.0], [0.0, 0.0]], [[0.0, 2.0], [4.0, 4.0]]])
    second = np.array([[[5.0, 7.0], [1.0, 1.0]], [[2.0, 2.0], [8.0, 8.0]]])
    form = average_matches([first, second])
    assert form.payoffs.tolist() == [[[2, 0], [1, 4]], [[6, 2], [1, 8]]]


def test_equilibria_between_strategies_are_listed_with_what_is_played_in_them():
    # Hawk and dove at -1, 2, 0, 1: two pure equilibria and an even mix.
    payoffs = [np.array([[[-1.0], [2.0]], [[0.0], [1.0]]])]
    rows = list(_list_equilibria(configure(), payoffs))
    mixed = [row for row in rows if row["probability"] < 1]
    assert {row["equilibrium"] for row in rows} == {1, 2, 3}
    assert len(rows) == 2 + 2 + 4
    assert [row["probability"] for row in mixed] == pytest.approx([0.5] * 4)


def test_an_estimate_counts_the_matches_of_all_pairs():
    model = ScriptedModel(lambda request: "hawk", name="m")
    estimate = population.estimate(
        configure(strategies=[model, "always:dove"], repeats=2, attempts=3)
    )
    # Four pairs in order, of which the model sits once in two and twice in one: 4 seats, 2 matches,
    # 3 attempts.
    assert (estimate.plays, estimate.what) == (8, "8 matches of hawk-dove, 4 pairs of strategies")
    assert estimate.calls == {"m": 4 * 2 * 3}


def test_agents_of_two_populations_meet_each_other_and_those_of_one_the_next():
    # Strategy 0 of the first meets strategy 1 of the second: 2 for the first, and 7 for the second,
    # whose own is a row.
    first = np.array([[[1.0], [2.0]], [[3.0], [4.0]]])
    second = np.array([[[5.0], [6.0]], [[7.0], [8.0]]])
    rng = np.random.default_rng(0)
    earned = _meet([np.array([[0]]), np.array([[1]])], [first, second], rng)
    assert [array.tolist() for array in earned] == [[[2.0]], [[7.0]]]
    # In a single population of two each meets the other.
    (alone,) = _meet([np.array([[0, 1]])], [first], rng)
    assert alone.tolist() == [[2.0, 3.0]]
    # Of two matches that a pair played either may be drawn.
    drawn = _meet([np.zeros((1, 1000), dtype=np.int64)], [np.array([[[0.0, 1.0]]])], rng)[0]
    assert drawn.mean() == pytest.approx(0.5, abs=0.06)


def test_there_are_as_many_agents_repetitions_and_generations_as_asked_for():
    payoffs = np.array([[[-1.0], [2.0]], [[0.0], [1.0]]])
    (seen,) = run_agents(
        configure(agents=6, repetitions=4, generations=5), [payoffs], np.random.default_rng(0)
    )
    # The start and five generations of two strategies; every share is of six agents.
    assert seen.shape == (4, 6, 2)
    assert np.allclose(seen * 6, np.rint(seen * 6))
    assert (seen * 6 % 2).any()
    assert np.allclose(seen.sum(axis=2), 1.0)
    assert (seen[:, 0] == 0.5).all()
