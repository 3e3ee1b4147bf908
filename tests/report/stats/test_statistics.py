"""Intervals, comparisons, stopping rules and bounds: values worked by hand or cited, and coverage
by simulation."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bestresponse.core.errors import UsageError
from bestresponse.report.stats.statistics import (
    Interval,
    bound_mean,
    cluster_bootstrap,
    games_needed,
    interval_of_draws,
    missing_bounds,
    wilson,
)


def generator(seed=0):
    return np.random.default_rng(seed)


# Cluster bootstrap


def test_the_mean_of_unequal_clusters_is_the_mean_of_all_values():
    assert cluster_bootstrap([0, 0, 0, 4], "aaab", rng=generator()).estimate == 1.0


def test_repeating_each_game_does_not_narrow_the_interval():
    values = generator(3).normal(size=40)
    once = cluster_bootstrap(values, rng=generator(1))
    tenfold = cluster_bootstrap(
        np.repeat(values, 10), np.repeat(np.arange(40), 10), rng=generator(1)
    )
    assert (once.low, once.high) == pytest.approx((tenfold.low, tenfold.high))


def test_bca_agrees_with_scipy_on_a_skewed_sample():
    from scipy.stats import bootstrap

    values = np.array([0.02, 0.05, 0.11, 0.13, 0.2, 0.26, 0.37, 0.5, 0.74, 1.1, 1.9, 4.2])
    ours = cluster_bootstrap(values, rng=generator(1), resamples=40_000)
    theirs = bootstrap(
        (values,), np.mean, n_resamples=40_000, method="BCa", rng=generator(2)
    ).confidence_interval
    assert ours.method == "bca"
    assert (ours.low, ours.high) == (
        pytest.approx(theirs.low, abs=0.01),
        pytest.approx(theirs.high, abs=0.03),
    )


def test_values_that_never_vary_have_no_interval_rather_than_one_of_no_width():
    alike = Interval(pytest.approx(0.3), -math.inf, math.inf, 0.95, "none", 9)
    assert cluster_bootstrap([0.3] * 9, rng=generator()) == alike
    # Sums of 0.1 that differ in their last bits only.
    assert cluster_bootstrap([0.1 + 0.2] * 5 + [0.3] * 4, rng=generator()) == alike
    drawn = interval_of_draws(0.3, np.full(50, 0.3), 9)
    assert (drawn.low, drawn.high, drawn.method) == (-math.inf, math.inf, "none")


def test_a_weight_counts_as_so_many_values_of_a_cluster():
    # (1 * 3 + 5 * 1) / 4; and the interval is that of the values written out.
    weighted = cluster_bootstrap([1.0, 5.0], weights=[3.0, 1.0], rng=np.random.default_rng(1))
    assert weighted.estimate == pytest.approx(2.0)
    assert weighted == cluster_bootstrap([1, 1, 1, 5], "aaab", rng=np.random.default_rng(1))


def test_one_cluster_says_nothing_about_the_spread():
    interval = cluster_bootstrap([1, 2, 3], "aaa", rng=generator())
    assert (interval.estimate, interval.low, interval.high, interval.method) == (
        2.0,
        -math.inf,
        math.inf,
        "none",
    )


def test_the_same_generator_gives_the_same_interval():
    values = generator(9).normal(size=25)
    assert cluster_bootstrap(values, rng=generator(1)) == cluster_bootstrap(
        values, rng=generator(1)
    )


def test_resampling_in_blocks_is_bounded_and_exact(monkeypatch):
    values, clusters = generator(6).normal(size=50), np.arange(50) // 2
    whole = cluster_bootstrap(values, clusters, rng=generator(1), resamples=101)
    monkeypatch.setattr("bestresponse.report.stats.statistics._CELLS_AT_ONCE", 200)
    assert cluster_bootstrap(values, clusters, rng=generator(1), resamples=101) == whole


def test_clustered_answers_are_covered_at_about_the_level_and_naive_ones_are_not():
    clusters, covered, naive = np.arange(200) // 5, 0, 0
    for trial in range(200):
        rng = generator(1000 + trial)
        values = np.repeat(rng.exponential(size=40), 5) + 0.1 * rng.normal(size=200)
        covered += cluster_bootstrap(values, clusters, rng=rng, resamples=400).contains(1.0)
        naive += cluster_bootstrap(values, rng=rng, resamples=400).contains(1.0)
    assert 0.88 <= covered / 200 <= 0.99
    assert naive / 200 < 0.75


def test_the_acceleration_leaves_out_whole_clusters_of_unequal_size():
    # Means without each cluster: of 6, 8, 9 they are 23 / 3, of 1, 2, 3, 9 15 / 4, of 1, 2, 3, 6, 8
    # 4; their pulls from the mean of the three are -2.527778, 1.388889, 1.138889, and the
    # acceleration is (-16.1518 + 2.6792 + 1.4772) / (6 * 9.61574 ** 1.5) = -0.067050.
    values, clusters = [1, 2, 3, 6, 8, 9], "aaabbc"
    interval = cluster_bootstrap(values, clusters, rng=generator(1))
    drawn = generator(1).integers(3, size=(2000, 3))
    sums, sizes = np.array([6, 14, 9]), np.array([3, 2, 1])
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    below = np.mean(means < 29 / 6 - 1e-9) + np.mean(np.abs(means - 29 / 6) < 1e-9) / 2
    bias = NormalDist().inv_cdf(below)
    tails = [
        NormalDist().cdf(bias + (bias + z) / (1 + 0.067050 * (bias + z)))
        for z in (-1.959964, 1.959964)
    ]
    assert interval.method == "bca"
    assert (interval.low, interval.high) == pytest.approx(
        tuple(np.quantile(means, tails)), abs=1e-3
    )


@given(st.lists(st.integers(-50, 50), min_size=3, max_size=15), st.integers(-100, 100))
def test_shifting_all_values_shifts_the_interval(values, shift):
    here = cluster_bootstrap(values, rng=generator(), resamples=100)
    there = cluster_bootstrap(np.add(values, shift), rng=generator(), resamples=100)
    assert (there.low, there.high) == (
        pytest.approx(here.low + shift),
        pytest.approx(here.high + shift),
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([],), "at least one number, got none"),
        (([1.0, math.nan],), "nan at position 1"),
        (([[1.0]],), r"shape \(1, 1\)"),
        ((["a"],), "a list of numbers"),
        (([1.0, 2.0], "abc"), "each of the 2 values, got 3"),
    ],
)
def test_bad_samples_are_refused_with_a_sentence(arguments, sentence):
    with pytest.raises(UsageError, match=sentence):
        cluster_bootstrap(*arguments, rng=generator())


# Bounded means


def test_without_a_loss_the_upper_end_is_that_of_half_a_game_lost():
    # With weights Gamma(20) of the games and Gamma(1/2) of the half game, the mean is Beta(1/2,
    # 20): its 97.5 % point is 0.11941; it is scaled by the most that can be lost.
    whole = bound_mean([0.0] * 20, (0.0, 1.0), rng=generator(), resamples=200_000)
    assert whole.high == pytest.approx(0.1194, abs=1.5e-3)
    half = bound_mean([0.0] * 20, (0.0, 0.5), rng=generator(), resamples=200_000)
    assert (half.estimate, half.low, half.method, half.n) == (0.0, 0.0, "bounded", 20)
    assert half.high == pytest.approx(0.0597, abs=1e-3)


def test_of_yes_and_no_the_ends_are_quantiles_of_beta_distributions():
    from scipy.stats import beta

    interval = bound_mean([1.0] * 3 + [0.0] * 7, (0.0, 1.0), rng=generator(), resamples=200_000)
    assert interval.low == pytest.approx(beta.ppf(0.025, 3, 7.5), abs=2e-3)
    assert interval.high == pytest.approx(beta.ppf(0.975, 3.5, 7), abs=2e-3)


def test_a_game_asked_about_ten_times_is_one_game():
    values = generator(3).random(12)
    once = bound_mean(values, (0.0, 1.0), rng=generator(1))
    tenfold = bound_mean(
        np.repeat(values, 10), (0.0, 1.0), np.repeat(np.arange(12), 10), rng=generator(1)
    )
    assert (once.low, once.high) == pytest.approx((tenfold.low, tenfold.high))


def test_one_game_has_no_interval_and_values_beyond_the_bounds_are_refused():
    assert bound_mean([0.1, 0.2], (0.0, 1.0), "aa", rng=generator()).high == math.inf
    with pytest.raises(UsageError, match=r"expected numbers from 0 to 0\.5"):
        bound_mean([0.1, 0.6], (0.0, 0.5), rng=generator())


@pytest.mark.parametrize("errs", [0.0, 0.1, 0.3, 1.0])
@pytest.mark.parametrize("games", [4, 20])
def test_a_player_that_rarely_errs_is_covered_however_few_its_games(errs, games):
    # Where it errs it loses half a unit on average, of at most one.
    held = 0
    for trial in range(400):
        rng = generator(trial)
        losses = rng.random(games) * (rng.random(games) < errs)
        held += bound_mean(losses, (0.0, 1.0), rng=rng, resamples=400).contains(errs / 2)
    assert held / 400 >= 0.93


# Precision


def test_games_needed_uses_the_t_quantile():
    """n = 99: t(98) = 1.98447, 1.98447 * 0.1 / sqrt(99) = 0.01994; n = 98 gives 0.02005. Normal
    theory says 97."""
    assert games_needed(0.1, 0.02) == 99
    assert games_needed(0.0, 0.02) == 2


def test_an_absurd_precision_is_refused_at_once():
    with pytest.raises(UsageError, match="less precision"):
        games_needed(1.0, 1e-9)


# Rates and missing answers


def test_wilson_matches_newcombes_table():
    """Newcombe (1998, Stat. Med. 17:857-872, table I, method 3): 81/263, 15/148, 0/20, 1/29."""
    for successes, n, low, high in [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ]:
        interval = wilson(successes, n)
        assert (interval.low, interval.high) == (
            pytest.approx(low, abs=5e-5),
            pytest.approx(high, abs=5e-5),
        )


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_contains_its_estimate_and_mirrors(case):
    successes, n = case
    here, mirrored = wilson(successes, n), wilson(n - successes, n)
    assert 0 <= here.low <= here.estimate <= here.high <= 1
    assert here.low == pytest.approx(1 - mirrored.high)


@pytest.mark.parametrize("case", [(0, 0), (3, 2), (-1, 2)])
def test_impossible_rates_are_refused(case):
    with pytest.raises(UsageError):
        wilson(*case)


def test_missing_answers_are_put_at_both_ends():
    assert missing_bounds([0.0, 0.2], missing=2, worst=1.0, best=0.0) == pytest.approx((0.05, 0.55))


def test_every_missing_answer_may_have_its_own_ends():
    assert missing_bounds([0.5], missing=2, worst=[1.0, 3.0], best=0.0) == pytest.approx(
        (0.5 / 3, 1.5)
    )


def test_a_player_that_never_answered_gets_bounds():
    assert missing_bounds([], missing=5, worst=2.0, best=0.0) == (0.0, 2.0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.lists(st.floats(0, 1), max_size=20))
def test_the_bounds_contain_whatever_the_missing_answers_were(seen, hidden):
    low, high = missing_bounds(seen, len(hidden), worst=1.0, best=0.0)
    assert low - 1e-12 <= np.mean(seen + hidden) <= high + 1e-12


def test_resamples_that_all_agree_leave_half_an_unseen_unit():
    # With two units the weight x of the unseen half has the distribution function 1.5 sqrt(x) - 0.5
    # x^1.5 (Beta of 1/2 and 2), which is 0.975 at 0.7533: 1.5 * 0.86793 - 0.5 * 0.65381.
    nobody = interval_of_draws(0.0, np.zeros(200), 2, (0.0, 1.0))
    assert (nobody.low, nobody.high) == (0.0, pytest.approx(0.7533, abs=5e-3))
    everybody = interval_of_draws(1.0, np.ones(200), 2, (0.0, 1.0))
    assert (everybody.low, everybody.high) == (pytest.approx(0.2467, abs=5e-3), 1.0)


def test_resamples_without_bounds_give_their_percentiles_and_a_single_unit_nothing():
    draws = np.arange(41.0)  # 2.5 % of 40 steps is one step
    interval = interval_of_draws(20.0, draws, 16)
    assert (interval.low, interval.high) == (pytest.approx(1.0), pytest.approx(39.0))
    assert interval_of_draws(20.0, draws, 1).low == -math.inf
