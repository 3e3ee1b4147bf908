"""One list of metrics becomes the columns of a table, the fields of JSON and the columns of CSV."""

import json
import math
from typing import Annotated, TypedDict

import pytest

from bestresponse.core.errors import UsageError
from bestresponse.report import tables
from bestresponse.report.document import Column, Table
from bestresponse.report.frames import Metric, MetricTable, column, compute_metrics, list_metrics
from bestresponse.report.stats.statistics import Interval


def mean_gap(rows):
    gaps = [row["gap"] for row in rows if row["gap"] is not None]
    return sum(gaps) / len(gaps) if gaps else None


def interval_of_payoff(rows):
    payoffs = [row["payoff"] for row in rows]
    return Interval(
        sum(payoffs) / len(payoffs), min(payoffs), math.inf, 0.95, "range", len(payoffs)
    )


METRICS = [
    Metric("gap", "Mean gap", "Given away; 0 is best.", ".3f", mean_gap),
    Metric("payoff", "Payoff", "What it earned.", ".1f", interval_of_payoff, noise=0.0),
]
GROUPS = {
    ("a",): [{"gap": 0.25, "payoff": 1.0}, {"gap": 0.75, "payoff": 2.0}],
    ("b",): [{"gap": None, "payoff": 4.0}],
}
PAYOFF_A = Interval(1.5, 1.0, math.inf, 0.95, "range", 2)
PAYOFF_B = Interval(4.0, 4.0, math.inf, 0.95, "range", 1)


TABLE = compute_metrics(METRICS, ("told by",), GROUPS)


def test_a_table_has_a_column_for_every_metric():
    assert TABLE.to_table("All") == Table(
        (
            Column("told by"),
            Column("Mean gap", "right", "Given away; 0 is best.", ".3f"),
            Column("Payoff", "right", "What it earned.", ".1f", 0.0),
        ),
        (("a", 0.5, PAYOFF_A), ("b", None, PAYOFF_B)),
        "All",
    )


def test_a_table_leaves_out_metrics_that_no_group_has():
    found = compute_metrics(METRICS, ("player",), {("b",): GROUPS[("b",)]})
    assert [column.name for column in found.to_table().columns] == ["player", "Payoff"]
    assert found.to_rows()[0]["gap"] is None


def test_json_has_a_field_for_every_metric_and_intervals_have_their_one_shape():
    found = TABLE.to_json()
    a = {"estimate": 1.5, "low": 1.0, "high": None, "level": 0.95, "n": 2, "method": "range"}
    b = {"estimate": 4.0, "low": 4.0, "high": None, "level": 0.95, "n": 1, "method": "range"}
    assert found == [
        {"told_by": "a", "gap": 0.5, "payoff": a},
        {"told_by": "b", "gap": None, "payoff": b},
    ]
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_figure_that_is_no_number_is_null_in_json(value):
    metric = Metric("x", "X", "", "", lambda rows: value)
    assert compute_metrics([metric], ("run",), {("a",): []}).to_json() == [{"run": "a", "x": None}]
    assert Interval(value, 0.0, 1.0, 0.9, "t", 3).to_json()["estimate"] is None


def test_csv_has_a_column_for_every_metric():
    assert (
        tables.to_csv(TABLE.to_rows())
        == "told_by,gap,payoff,payoff_low,payoff_high\r\na,0.5,1.5,1.0,\r\nb,,4.0,4.0,\r\n"
    )


def test_columns_of_one_name_are_refused():
    with pytest.raises(UsageError, match="gap, gap, payoff are not all different"):
        MetricTable(METRICS, ("gap",), [])
    with pytest.raises(UsageError, match="'mean gap' needs a name of letters"):
        Metric("mean gap", "", "", "", mean_gap)


class PlainMetrics(TypedDict):
    """Figures of a player."""

    payoff: Annotated[float, column("mean payoff", ".2f")]
    """over all
    plays"""


class MoreMetrics(PlainMetrics):
    """Further figures of a player."""

    wins: int


def test_fields_of_a_row_are_metrics_explained_by_the_text_below_them():
    payoff, wins = list_metrics(MoreMetrics)
    assert (payoff.name, payoff.title, payoff.help, payoff.format) == (
        "payoff",
        "mean payoff",
        "over all plays",
        ".2f",
    )
    assert (wins.title, wins.help) == ("wins", "")
    assert [metric.compute(MoreMetrics(payoff=2.5, wins=3)) for metric in (payoff, wins)] == [
        2.5,
        3,
    ]
    assert [metric.name for metric in list_metrics(MoreMetrics, "wins")] == ["wins"]
