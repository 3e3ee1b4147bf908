"""The statistics at their edges: bounds, tolerances and defaults, each with a value worked out by
hand."""

import math

import numpy as np
import pytest

from bestresponse.core.errors import UsageError
from bestresponse.report.stats.agreement import (
    RatingSummary,
    cohen_kappa,
    fleiss_kappa,
    icc,
    krippendorff_alpha,
    read_sheet,
    summarise_ratings,
)
from bestresponse.report.stats.statistics import (
    Interval,
    _bca_tails,
    as_sample,
    bound_mean,
    cluster_bootstrap,
    cluster_codes,
    games_needed,
    interval_of_draws,
    normal_quantile,
    wilson,
)

NAN = float("nan")


def generator(seed=0):
    return np.random.default_rng(seed)


def test_an_interval_holds_its_ends_and_writes_open_ones_as_nothing():
    interval = Interval(2.0, 1.0, math.inf, 0.95, "t", 3)
    assert [interval.contains(value) for value in (0.9, 1.0, 5.0)] == [False, True, True]
    assert Interval(2.0, 1.0, 4.0, 0.95, "t", 3).half_width == 1.5
    assert Interval(2.0, 1.0, 4.0, 0.95, "t", 3).contains(4.0)
    assert interval.to_json() == {
        "estimate": 2.0,
        "low": 1.0,
        "high": None,
        "level": 0.95,
        "n": 3,
        "method": "t",
    }


def test_quantiles_are_infinite_at_the_ends():
    assert (normal_quantile(0.0), normal_quantile(1.0)) == (-math.inf, math.inf)
    assert normal_quantile(0.975) == pytest.approx(1.959964)


def test_the_first_number_that_is_none_is_named_and_clusters_are_numbered_as_they_come():
    with pytest.raises(UsageError, match="xs: expected finite numbers, got inf at position 2;"):
        as_sample([0.0, 1.0, math.inf, NAN], "xs")
    assert cluster_codes("baab", 4).tolist() == [0, 1, 1, 0]
    assert cluster_codes(None, 3).tolist() == [0, 1, 2]


def test_resamples_equal_to_the_estimate_but_for_rounding_count_half():
    # One of five below and three equal: 1/5 + 3/10 = 1/2, no bias; pulls of -1 and 1 have no
    # skewness either.
    draws = np.array([1e6 - 1e-7, 1e6 - 1e-7, 1e6 + 1e-7, 1e6 + 1, 1e6 - 1])
    assert _bca_tails(1e6, draws, np.array([1e6 - 1, 1e6 + 1])) == pytest.approx((0.025, 0.975))
    # At one half the rounding is a trillionth: 1.5 trillionths below is below. Three of four: z =
    # 0.67449, and 2 * 0.67449 - 1.95996 = -0.61098 lies at 0.27060, 2 * 0.67449 + 1.95996 = 3.30894
    # at 0.99953.
    draws = np.array([0.5 - 1.5e-12, 0.4, 0.3, 0.6])
    assert _bca_tails(0.5, draws, np.array([0.4, 0.6])) == pytest.approx(
        (0.27060, 0.99953), abs=1e-5
    )


def test_the_correction_is_not_defined_where_the_estimate_lies_outside_its_resamples_or_nothing_moves_it():
    assert _bca_tails(0.0, np.array([1.0, 2.0]), np.array([0.0, 1.0])) is None
    assert _bca_tails(3.0, np.array([1.0, 2.0]), np.array([0.0, 1.0])) is None
    assert _bca_tails(1.5, np.array([1.0, 2.0]), np.array([1.5, 1.5])) is None
    assert _bca_tails(1.5, np.array([1.0, 2.0]), np.array([1.5, 1.5 + 1e-7])) == pytest.approx(
        (0.025, 0.975)
    )


def test_skewness_shifts_the_percentiles_as_efron_says():
    # Pulls -2, 1, 1 from the mean 2: acceleration (-8 + 1 + 1) / (6 * 6 ** 1.5) = -0.0680414; no
    # bias. -1.959964 / (1 - 0.0680414 * 1.959964) = -2.261570 lies at 0.011862; 1.959964 / 1.133359
    # = 1.729341 at 0.958126.
    tails = _bca_tails(0.5, np.array([0.0, 1.0]), np.array([4.0, 1.0, 1.0]))
    assert tails == pytest.approx((0.011862, 0.958126), abs=1e-6)


def test_twenty_thousand_resamples_are_drawn_unless_said_otherwise():
    values = generator(3).normal(size=20)
    assert cluster_bootstrap(values, rng=generator()) == cluster_bootstrap(
        values, rng=generator(), resamples=20_000
    )
    bounds = (-9.0, 9.0)
    assert bound_mean(values, bounds, rng=generator()) == bound_mean(
        values, bounds, rng=generator(), resamples=20_000
    )


def test_a_number_in_place_of_a_generator_draws_the_same_resamples():
    values = generator(3).uniform(size=20)
    drawn = bound_mean(values, (0.0, 1.0), rng=generator(5))
    assert bound_mean(values, (0.0, 1.0), rng=5) == drawn
    assert bound_mean(values, (0.0, 1.0), rng=5) == drawn  # kept, and not changed by their use


def test_what_is_beyond_the_bounds_by_more_than_rounding_is_refused():
    assert bound_mean([1 + 0.5e-9, 0.0], (0.0, 1.0), rng=generator()).n == 2
    with pytest.raises(UsageError, match="expected numbers from 0 to 1"):
        bound_mean([1 + 1.5e-9, 0.0], (0.0, 1.0), rng=generator())
    with pytest.raises(UsageError, match="expected numbers from 0 to 1"):
        bound_mean([1.0, -1.5e-9], (0.0, 1.0), rng=generator())
    assert bound_mean([100 + 0.5e-7, 0.0], (0.0, 100.0), rng=generator()).n == 2
    assert bound_mean([-100 - 0.5e-7, 0.0], (-100.0, 0.0), rng=generator()).n == 2


def test_half_an_unseen_unit_is_put_at_either_bound():
    # With two units its weight is at most 0.7533 in 97.5 % of cases: 1 - 0.7533 * (1 - 0.5) and 1 +
    # 0.7533 * (2 - 1).
    interval = interval_of_draws(1.0, np.ones(200), 2, (0.5, 2.0))
    assert (interval.low, interval.high) == (
        pytest.approx(0.6234, abs=5e-3),
        pytest.approx(1.7533, abs=5e-3),
    )
    assert (interval.n, interval.level, interval.method) == (2, 0.95, "percentile bootstrap")


def test_rates_of_none_and_all_end_exactly_at_zero_and_one():
    # z = 1.959964: of one yes in one the lower end is 1 / (1 + z ** 2) = 0.206549.
    assert (wilson(1, 1).low, wilson(1, 1).high) == (pytest.approx(0.206549, abs=1e-6), 1.0)
    assert (wilson(0, 1).low, wilson(0, 1).high) == (0.0, pytest.approx(0.793451, abs=1e-6))
    assert (wilson(2, 3).n, wilson(2, 3).level, wilson(2, 3).method) == (3, 0.95, "wilson")


def test_a_plan_of_a_trillion_games_is_made_and_one_of_more_is_not():
    # (1.959964 / w) ** 2 is 10 ** 12 at w = 1.959964e-6.
    with pytest.raises(UsageError, match=r"would need about 4e\+12 games; ask for less precision"):
        games_needed(1.0, 1e-6)
    assert games_needed(1.0, 1.96e-6) == pytest.approx(1e12, rel=1e-3)
    # t(1) = 12.706 and t(2) = 4.303: at 12.706 / sqrt(2) = 8.985 two games do, a hair below three
    # are needed.
    assert (games_needed(1.0, 8.99), games_needed(1.0, 8.98)) == (2, 3)


def test_two_raters_are_summarised():
    # Kappa: agreement 1, 1, 0 on three items, 2/3; both levels half of all: (2/3 - 1/2) / (1/2) =
    # 1/3. Alpha of two levels: 1 - 5 * 1 / (3 * 3) = 4/9. ICC: mean squares 1/2 between items, 1/6
    # of judges and of error, (1/2 - 1/6) / (1/2 + 1/6) = 1/2. The item that one rater left out
    # counts in neither kappa nor ICC.
    table = np.array([[1.0, 2.0, 2.0, 2.0], [1.0, 2.0, 1.0, NAN]])
    summary = summarise_ratings(table, (1, 2))
    # Of 1, 1, 1, 2, 2, 2, 2 the mean is 11/7, the squares of the deviations sum to 3 * 16/49 + 4 *
    # 9/49 = 84/49.
    assert summary == RatingSummary(
        7,
        2,
        1.0,
        2.0,
        2.0,
        pytest.approx(11 / 7),
        pytest.approx((84 / 49 / 6) ** 0.5),
        pytest.approx(1 / 3),
        pytest.approx(4 / 9),
        pytest.approx(1 / 2),
    )
    assert summarise_ratings(table, (1, 2), "nominal").icc is None


def test_one_rater_has_no_agreement_and_one_rating_no_deviation():
    two = summarise_ratings(np.array([[1.0, 3.0]]), (1, 2, 3))
    assert two == RatingSummary(2, 1, 1.5, 2.0, 2.5, 2.0, pytest.approx(2**0.5), None, None, None)
    assert summarise_ratings(np.array([[1.0]]), (1,)).deviation is None
    assert summarise_ratings(np.array([[NAN]]), (1,)) == RatingSummary(0, 1, *[None] * 8)


def test_agreement_needs_two_items_two_raters_and_ratings_that_differ():
    for table in ([[1, 2]], [[1], [2]]):
        with pytest.raises(UsageError):
            icc(table)
    # Two items, each rated alike by both: all of the variance is between items.
    assert icc([[1, 1], [2, 2]]) == 1.0
    with pytest.raises(UsageError, match="two at least"):
        fleiss_kappa([[1, 0], [0, 1]])
    with pytest.raises(UsageError, match="no negative counts"):
        fleiss_kappa([[3, -1], [1, 1]])
    # Two raters: alike on the first item, apart on the second. Observed 1/2, chance (3/4)^2 +
    # (1/4)^2 = 5/8.
    assert fleiss_kappa([[2, 0], [1, 1]]) == pytest.approx((1 / 2 - 5 / 8) / (3 / 8))
    with pytest.raises(UsageError, match="a full table of finite numbers, got shape"):
        fleiss_kappa([[]])
    with pytest.raises(UsageError, match="gave 0 and 0 ratings"):
        cohen_kappa([], [])
    # Two of three say 1: with the two levels apart on one item, alpha = 1 - (3 - 1) * 1 / (2 * 1) =
    # 0 of three ratings.
    assert krippendorff_alpha([[1], [1], [2]]) == pytest.approx(0.0)


def test_a_sheet_needs_its_columns_and_one_of_those_of_which_one_will_do():
    assert list(read_sheet("\ufeffa,b\n1,'=2\n3\n", ["a"], some_of=["b", "c"])) == [
        (2, {"a": "1", "b": "=2"}),
        (3, {"a": "3", "b": ""}),
    ]
    for text in ("b,c\n", "a,d\n", ""):
        with pytest.raises(
            UsageError, match="x is not a sheet; expected a CSV file with the columns a, b, c"
        ):
            list(read_sheet(text, ["a"], "x", ["b", "c"]))
    with pytest.raises(UsageError, match="x, line 2: "):
        list(read_sheet("a\n" + "1" * 200_000, ["a"], "x"))
