"""Sheets go out safe and come back whole, and agreement is worked out in one place."""

import numpy as np
import pytest

from bestresponse.core.errors import UsageError
from bestresponse.report.stats.agreement import read_sheet, summarise_ratings
from bestresponse.report.tables import to_csv

FORMULAS = [
    "=cmd()",
    "\t=cmd()",
    " =cmd()",
    "\uff1dcmd()",
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "\uff0bcmd()",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_sheet_holds_a_cell_that_a_spreadsheet_runs_and_what_was_written_is_read_back(text):
    sheet = to_csv([{"item": "a", "text": text}])
    assert f"'{text}" in sheet
    ((_, row),) = read_sheet(sheet, ("item", "text"))
    assert row == {"item": "a", "text": text}


def test_half_a_surrogate_pair_does_not_reach_a_file():
    sheet = to_csv([{"item": "a", "text": "half \ud83d of a pair"}])
    assert "half ⟦U+D83D⟧ of a pair" in sheet
    sheet.encode("utf-8")


def test_rows_come_with_the_line_they_end_on_and_short_rows_with_empty_cells():
    rows = list(read_sheet('\ufeffitem,score\r\n"two\nlines",3\r\nb\r\n', ("item", "score")))
    assert rows == [(3, {"item": "two\nlines", "score": "3"}), (4, {"item": "b", "score": ""})]


def test_what_is_no_sheet_is_refused_with_the_columns_expected():
    with pytest.raises(
        UsageError,
        match=r"ada\.csv is not a sheet; expected a CSV file with the columns item, score",
    ):
        list(read_sheet("a,b\n1,2\n", ("item", "score"), "ada.csv"))
    with pytest.raises(UsageError, match=r"ada\.csv, line"):
        list(read_sheet("item,score\n" + "x" * 200_000 + ",1\n", ("item", "score"), "ada.csv"))


def test_two_raters_who_differ_once_by_hand():
    found = summarise_ratings(np.array([[1.0, 2, 5, 4], [1, 2, 5, 3]]), range(1, 6))
    assert (found.scores, found.raters, found.median) == (8, 2, 2.5)
    # three of four items agree; chance = (4 + 4 + 4 + 1 + 1) / 64
    assert found.fleiss == pytest.approx((0.75 - 14 / 64) / (1 - 14 / 64))


def test_where_agreement_is_not_defined_it_is_none_and_levels_without_order_have_no_icc():
    alone = summarise_ratings(np.array([[3.0]]), range(1, 6))
    assert (alone.median, alone.fleiss, alone.krippendorff, alone.icc) == (3.0, None, None, None)
    nobody = summarise_ratings(np.array([[np.nan, np.nan]]), (1, 2))
    assert (nobody.scores, nobody.median, nobody.mean) == (0, None, None)
    yes_no = summarise_ratings(np.array([[1.0, 2, 2], [1, 2, 1]]), (1, 2), "nominal")
    assert yes_no.icc is None
    assert yes_no.fleiss == pytest.approx((2 / 3 - 1 / 2) / (1 / 2))


# Six items, each rated by three of five raters: nobody rated all of them.
OWN_RATERS = np.array(
    [
        [1, np.nan, 4, np.nan, 5, 2],
        [2, 2, np.nan, 4, np.nan, 2],
        [1, 3, 4, np.nan, 4, np.nan],
        [np.nan, 2, 5, 4, np.nan, np.nan],
        [np.nan, np.nan, np.nan, 3, 5, 1],
    ]
)


def test_items_may_have_raters_of_their_own_by_hand():
    found = summarise_ratings(OWN_RATERS, range(1, 6))
    # Pairs of raters that agree: 1 of 3 on each of the six items.
    within = 1 / 3
    # Of 18 ratings 3 are 1, 5 are 2, 2 are 3, 5 are 4 and 3 are 5.
    chance = (9 + 25 + 4 + 25 + 9) / 18**2
    assert found.fleiss == pytest.approx((within - chance) / (1 - chance))
    # Means 4/3, 7/3, 13/3, 11/3, 14/3, 5/3 about 3; every item's squares about its mean sum to 2/3.
    between = 3 * (25 + 4 + 16 + 4 + 25 + 16) / 9 / 5
    error = 6 * (2 / 3) / (6 * 2)
    assert found.icc == pytest.approx((between - error) / (between + 2 * error))
    assert found.scores == 18


def test_an_item_that_one_rater_left_out_takes_part_in_no_kappa_but_the_others_do():
    table = OWN_RATERS.copy()
    table[0, 0] = np.nan
    whole = summarise_ratings(OWN_RATERS[:, 1:], range(1, 6))
    found = summarise_ratings(table, range(1, 6))
    assert (found.fleiss, found.icc) == (whole.fleiss, whole.icc)
    # An item that one rater alone has rated is no reason to leave out those that several have.
    alone = np.hstack([OWN_RATERS, np.diag([3.0] * 5) + np.where(np.eye(5), 0, np.nan)])
    assert (
        summarise_ratings(alone, range(1, 6)).fleiss
        == summarise_ratings(OWN_RATERS, range(1, 6)).fleiss
    )
