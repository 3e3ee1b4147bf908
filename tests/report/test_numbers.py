"""Numbers and cells as text: noise is 0, zero has no sign, and the scale of a column decides what
noise is."""

import math

import pytest

from bestresponse.report.document import (
    Column,
    Document,
    Section,
    Table,
    format_cell,
    measure_column_noise,
)
from bestresponse.report.numbers import format_number, measure_noise
from bestresponse.report.page import render
from bestresponse.report.stats.statistics import Interval


@pytest.mark.parametrize(
    ("value", "spec", "shown"),
    [
        (9.99e-16, "", "0"),
        (-9.99e-16, ".3f", "0.000"),
        (-0.0, "", "0"),
        (-0.0004, ".3f", "0.000"),
        (-0.0006, ".3f", "-0.001"),
        (9.9e-10, ".2e", "0.00e+00"),
        (1.1e-9, ".1e", "1.1e-09"),
        (-0.0001, ".1%", "0.0%"),
        (1234567, "", "1,234,567"),
        (3, ".2f", "3.00"),
        (0.123456, "", "0.1235"),
        (math.nan, ".3f", "–"),
        (math.inf, ".3f", "∞"),
        (-math.inf, "", "-∞"),
    ],
)
def test_numbers_print_without_noise_and_without_negative_zeros(value, spec, shown):
    assert format_number(value, spec) == shown


def test_a_metric_may_say_that_tiny_numbers_are_no_noise():
    assert format_number(3e-12, ".0e", noise=0.0) == "3e-12"


def test_noise_grows_with_the_scale_of_the_column():
    assert measure_noise([1e6, 0.5]) == 1e-6
    assert measure_noise([math.inf, math.nan]) == 1e-9
    table = Table(
        (Column("who"), Column("gain"), Column("p", noise=0.0)),
        (("a", 2e9, 1e-12), ("b", 1e-4, None)),
    )
    assert measure_column_noise(table) == (1e-9, 2e-3, 1e-24)


def test_the_page_shows_noise_beside_large_numbers_as_0():
    table = Table((Column("gain"),), ((3e9,), (Interval(-1e-4, -2e-4, 5.0, 0.95, "t", 9),)))
    page = render(Document("t", sections=(Section("s", (table,)),)))
    assert '<span class="number">0</span> <span class="aside">[0, 5]</span>' in page


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        (None, "–"),
        (True, "yes"),
        (False, "no"),
        ("text", "text"),
        (12, "12"),
        (Interval(0.5, 0.25, 0.75, 0.95, "bca", 9), "0.5 [0.25, 0.75]"),
        (Interval(1e-17, -1e-17, 0.75, 0.95, "bca", 9), "0 [0, 0.75]"),
        (Interval(2.0, -math.inf, math.inf, 0.95, "t", 1), "2 [no interval: n = 1]"),
    ],
)
def test_cells_as_text(cell, shown):
    assert format_cell(cell) == shown
