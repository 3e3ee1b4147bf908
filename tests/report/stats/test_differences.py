"""Differences: the test and its interval agree, hold the truth, and are those worked out by hand."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bestresponse.core.errors import UsageError
from bestresponse.report.stats.differences import compare_sums, holm, paired_difference

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def generator(seed=0):
    return np.random.default_rng(seed)


def compare(differences, **more):
    return paired_difference(differences, np.zeros(len(differences)), rng=generator(), **more)


# The interval of the test


def is_rejected(differences, mean):
    """Test a mean by all patterns of signs, each a sum of its own."""
    shifted = np.subtract(differences, mean)
    patterns = list(product((1, -1), repeat=len(shifted)))
    extreme = [abs(np.dot(signs, shifted)) >= abs(shifted.sum()) - 1e-12 for signs in patterns]
    return np.mean(extreme) <= 0.05


def test_six_games_of_one_sign_are_the_fewest_that_exclude_zero():
    # Of 64 patterns of signs two are as extreme, p = 1/32. A mean is rejected if it is below all
    # subsets' means, of which the least is 1, or above them.
    six = compare([1, 2, 3, 4, 5, 6])
    assert (six.p_value, six.difference.low, six.difference.high) == (1 / 32, 1.0, 6.0)
    five = compare([1, 2, 3, 4, 5])
    assert (five.p_value, five.difference.low, five.difference.method) == (
        1 / 16,
        -math.inf,
        "none",
    )
    known = compare([1, 2, 3, 4, 5], bounds=(-9, 9)).difference
    assert (known.low, known.high, known.method) == (-9.0, 9.0, "bounds")


def test_the_interval_holds_what_the_test_does_not_reject():
    differences = [0.9, 0.2, 1.4, 0.3, 0.8, 1.1, -0.1, 0.6, 0.7]
    found = compare(differences).difference
    # The end near 0 is that of the test, the other one is put out by half an unseen game.
    assert is_rejected(differences, found.low - 1e-6)
    assert not is_rejected(differences, found.low + 1e-6)
    assert not is_rejected(differences, 0.65)
    assert is_rejected(differences, found.high + 1e-6)


@given(
    st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.1, 0.25, 1.0]), min_size=2, max_size=30),
    st.sampled_from([None, (-1.0, 1.0)]),
)
def test_the_interval_excludes_zero_exactly_if_the_test_finds_a_difference(differences, bounds):
    found = compare(differences, bounds=bounds, flips=399)
    assert found.difference.contains(0.0) is (found.p_value > 0.05)
    assert found.difference.contains(found.difference.estimate)
    if bounds:
        assert -1.0 <= found.difference.low <= found.difference.high <= 1.0


def test_players_that_never_differ_are_not_known_to_be_equal():
    # Half an unseen game beside 20 weighs at most 0.119 in 97.5 % of cases, here of 0.5.
    result = compare([0.0] * 20, bounds=(-0.5, 0.5))
    assert result.p_value == 1.0
    assert result.difference.low == pytest.approx(-0.0597, abs=6e-3)
    assert result.difference.high == pytest.approx(0.0597, abs=6e-3)
    assert compare([0.0] * 20).difference.low == -math.inf


def test_bounds_count_game_by_game():
    # One game in ten can differ by 10, the others by 0.1: 1.09 on average, and not 10.
    most = np.array([10.0] + [0.1] * 9)
    wide = compare([0.0] * 10, bounds=(-10, 10)).difference
    narrow = compare([0.0] * 10, bounds=(-most, most)).difference
    assert narrow.high == pytest.approx(wide.high * 0.109)


@pytest.mark.parametrize("errs", [0.05, 0.2])
def test_intervals_hold_the_truth_of_a_player_that_rarely_errs(errs):
    # It loses half a unit on average where it errs, and the other never does.
    held = 0
    for trial in range(400):
        rng = generator(trial)
        losses = rng.random(50) * (rng.random(50) < errs)
        found = paired_difference(losses, np.zeros(50), rng=rng, bounds=(0.0, 1.0), flips=399)
        held += found.difference.contains(errs / 2)
    assert held / 400 >= 0.93


def test_a_share_of_a_sum_is_tested_as_the_difference_is():
    # 0.6 of 6.0 are lost: by 0.1 in each of six games with a score of 1.
    scores = np.ones(6)
    found = compare_sums(np.full(6, 0.1), scores, rng=generator(), bounds=(-1, 1))
    assert found.difference.estimate == pytest.approx(0.1)
    assert (found.p_value, found.difference.low) == (1 / 32, pytest.approx(0.1))


# The test


def test_darwins_maize_gives_fishers_exact_looking_p_value():
    """Darwin's 15 pairs (Fisher 1935, section 21): 1726 of 32768 sign patterns are as extreme, p =
    0.0527."""
    differences = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    result = paired_difference(differences, [0] * 15, rng=generator(), flips=200_000)
    assert result.p_value == pytest.approx(1726 / 32768, abs=0.002)
    assert result.test == "200000 random sign flips of 15 clusters"
    assert result.difference.estimate == pytest.approx(314 / 15)


def test_three_equal_differences_leave_two_of_eight_patterns():
    result = paired_difference([3, 4, 5], [1, 2, 3], rng=generator())
    assert (result.p_value, result.test) == (0.25, "exact sign flips of 3 clusters")
    assert result.effect is None


def test_the_effect_is_the_mean_in_standard_deviations_of_the_games():
    result = paired_difference([1, 2, 3, 6], [0, 0, 0, 0], "aabc", rng=generator())
    assert result.effect == pytest.approx(3.5 / np.std([1.5, 3, 6], ddof=1))
    assert (result.n, result.difference.n) == (4, 3)


def test_differences_that_are_rounding_have_no_effect():
    result = paired_difference([0.1 + 0.2, 0.7, 0.3], [0.3, 0.7, 0.1 + 0.2], rng=generator())
    assert (result.difference.estimate, result.effect, result.p_value) == (0.0, None, 1.0)


def test_pairs_of_one_game_are_flipped_together():
    assert paired_difference([1] * 20, [0] * 20, "aabb" * 5, rng=generator()).p_value == 0.5


def test_the_sign_flip_test_keeps_its_level_under_the_null():
    rejected = sum(
        paired_difference(
            *generator(seed).normal(size=(2, 20)), rng=generator(seed), flips=199
        ).p_value
        <= 0.05
        for seed in range(300)
    )
    assert rejected / 300 <= 0.085


@pytest.mark.parametrize("games", [8, 30])
def test_swapping_the_players_turns_the_difference_and_keeps_the_p_value(games):
    a, b = generator(8).normal([[0.6], [0.0]], size=(2, games))
    here, there = paired_difference(a, b, rng=generator()), paired_difference(b, a, rng=generator())
    assert there.difference.estimate == pytest.approx(-here.difference.estimate)
    assert 0 < here.p_value == there.p_value < 1


def test_a_random_p_value_is_never_zero():
    assert paired_difference([1.0] * 40, [0.0] * 40, rng=generator(), flips=99).p_value == 0.01


def test_lists_of_different_lengths_are_not_pairs():
    with pytest.raises(UsageError, match="a has 2 values and b has 1"):
        paired_difference([1, 2], [1], rng=generator())


# Many comparisons


def test_holm_steps_down_as_worked_by_hand():
    """Sorted 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1: 0.02, 0.03, 0.06, and 0.04 raised to
    0.06."""
    assert holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_finds_three_of_the_fifteen_p_values_of_benjamini_and_hochberg():
    """Benjamini & Hochberg (1995, section 3.2)."""
    paper = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344]
    paper += [0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0]
    assert np.count_nonzero(holm(paper) <= 0.05) == 3


@given(p_values)
def test_adjusting_raises_p_values_and_keeps_their_order(values):
    adjusted = holm(values)
    assert (adjusted >= np.array(values) - 1e-12).all()
    assert (adjusted <= 1).all()
    assert (np.diff(adjusted[np.argsort(values)]) >= 0).all()


def test_twelve_games_are_flipped_exactly_and_thirteen_at_random():
    # Of 2 ** 12 patterns only the two without a change of sign are as extreme.
    exact = paired_difference([1.0] * 12, [0.0] * 12, rng=generator())
    assert (exact.p_value, exact.test) == (2 / 4096, "exact sign flips of 12 clusters")
    drawn = paired_difference([1.0] * 13, [0.0] * 13, rng=generator(), flips=9)
    assert drawn.test == "9 random sign flips of 13 clusters"


def test_sign_flips_are_drawn_in_blocks_that_change_nothing(monkeypatch):
    values = generator(3).normal(0.3, 1.0, size=20)
    whole = paired_difference(values, np.zeros(20), rng=generator(), flips=99)
    monkeypatch.setattr("bestresponse.report.stats.differences._SIGNS_AT_ONCE", 200)
    assert paired_difference(values, np.zeros(20), rng=generator(), flips=99) == whole


def test_an_effect_needs_three_games_that_vary():
    # Two games: none. Three, 1, 2, 3: mean 2, standard deviation 1.
    assert paired_difference([1.0, 2.0], [0.0, 0.0], rng=generator()).effect is None
    assert paired_difference([1.0, 2.0, 3.0], [0.0] * 3, rng=generator()).effect == pytest.approx(
        2.0
    )
    assert paired_difference([1e6, 1e6 + 1e-8, 1e6], [0.0] * 3, rng=generator()).effect is None
    assert paired_difference(
        [1e-13, 2e-13, 3e-13], [0.0] * 3, rng=generator()
    ).effect == pytest.approx(2.0)


def test_p_values_at_the_ends_are_allowed_and_no_adjusted_one_is_above_one():
    assert holm([0.0, 1.0, 0.6]).tolist() == pytest.approx([0.0, 1.0, 1.0])
    for wrong in (-0.1, 1.1):
        with pytest.raises(UsageError, match="p_values: expected numbers from 0 to 1"):
            holm([wrong, 0.5])
