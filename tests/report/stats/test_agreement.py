"""Agreement measures against the worked examples of their sources."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bestresponse.core.errors import UsageError
from bestresponse.report.stats.agreement import cohen_kappa, fleiss_kappa, icc, krippendorff_alpha

NAN = float("nan")

# Krippendorff 2011, section C: four observers, twelve units, gaps.
KRIPPENDORFF = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]

# Shrout & Fleiss 1979, table 2: six targets, four judges.
SHROUT_FLEISS = [
    [9, 2, 5, 8],
    [6, 1, 3, 2],
    [8, 4, 6, 8],
    [7, 1, 2, 6],
    [10, 5, 6, 9],
    [6, 2, 4, 7],
]

# The example of fourteen raters, ten items, five categories that Fleiss' kappa is commonly taught
# with.
FLEISS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def test_cohens_kappa_of_fifty_proposals_is_two_fifths():
    """Yes/yes 20, yes/no 5, no/yes 10, no/no 15: observed 0.7, chance 0.5 * 0.6 + 0.5 * 0.4 =
    0.5."""
    first = "y" * 25 + "n" * 25
    second = "y" * 20 + "n" * 5 + "y" * 10 + "n" * 15
    assert cohen_kappa(first, second) == pytest.approx(0.4)


def test_fleiss_kappa_of_the_textbook_table():
    assert fleiss_kappa(FLEISS) == pytest.approx(0.210, abs=5e-4)


@pytest.mark.parametrize(
    ("scale", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_krippendorffs_alpha_of_his_own_data(scale, alpha):
    assert krippendorff_alpha(KRIPPENDORFF, scale) == pytest.approx(alpha, abs=5e-4)


def test_icc_of_shrout_and_fleiss():
    assert icc(SHROUT_FLEISS) == pytest.approx(0.17, abs=5e-3)
    assert icc(SHROUT_FLEISS, average=True) == pytest.approx(0.44, abs=5e-3)


@given(
    st.lists(st.integers(1, 4), min_size=4, max_size=12).filter(lambda items: len(set(items)) > 1)
)
def test_raters_who_always_agree_score_one(items):
    assert cohen_kappa(items, items) == pytest.approx(1)
    for scale in ("nominal", "ordinal", "interval"):
        assert krippendorff_alpha([items, items, items], scale) == pytest.approx(1)
    assert icc(np.column_stack([items, items])) == pytest.approx(1)


@given(st.permutations(range(4)))
def test_the_order_of_the_raters_does_not_matter(order):
    shuffled = np.array(KRIPPENDORFF)[list(order)]
    assert krippendorff_alpha(shuffled, "ordinal") == pytest.approx(
        krippendorff_alpha(KRIPPENDORFF, "ordinal")
    )


def test_a_constant_shift_between_judges_costs_absolute_agreement():
    items = np.array([1.0, 2, 3, 4, 5])
    assert icc(np.column_stack([items, items + 3])) < 0.5


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: cohen_kappa("aaa", "aaa"),
        lambda: cohen_kappa("aa", "a"),
        lambda: fleiss_kappa([[3, 0], [3, 0]]),
        lambda: fleiss_kappa([[3, 0], [1, 1]]),
        lambda: krippendorff_alpha([[1, 1], [1, 1]]),
        lambda: krippendorff_alpha([1, 2]),
        lambda: icc([[1, 1], [1, 1]]),
        lambda: icc([[1, NAN], [1, 1]]),
    ],
)
def test_undefined_agreement_is_an_error_and_not_a_number(attempt):
    with pytest.raises(UsageError):
        attempt()
