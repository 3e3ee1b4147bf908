"""A figure of a study is one `Metric`: it is in the terminal, the report, the summary, the CSV file
and the docs."""

import csv

import pytest
from sample_runs import MAKERS

from bestresponse.report.stats.statistics import as_interval


@pytest.fixture(scope="module", params=list(MAKERS))
def sample(request, tmp_path_factory):
    made = MAKERS[request.param][0](tmp_path_factory.mktemp(request.param))
    made.publish()
    return made


def test_every_study_has_metrics(sample):
    assert sample.metrics.columns
    assert {metric.name for metric in sample.study.metrics} <= {
        metric.name for metric in sample.metrics.columns
    }


def test_the_first_tables_of_the_report_hold_the_figures_between_them(sample):
    shown = sample.metrics.to_table()
    heads = len(sample.metrics.labels)
    first, second = (*(table for _, table in sample.report().tables), None, None)[:2]
    assert first.columns[:heads] == shown.columns[:heads]
    assert [row[:heads] for row in first.rows] == [row[:heads] for row in shown.rows]
    missing = [column for column in shown.columns if column not in first.columns]
    assert all(column in second.columns for column in missing)
    for column in shown.columns:
        table = first if column in first.columns else second
        cells = [row[table.columns.index(column)] for row in table.rows]
        assert cells == [row[shown.columns.index(column)] for row in shown.rows]


def test_the_summary_holds_the_figures(sample):
    names = [metric.name for metric in sample.metrics.columns]
    for one in sample.summary()["metrics"]:
        assert list(one)[-len(names) :] == names


def test_metrics_csv_holds_a_row_for_every_group(sample):
    with (sample.path / "metrics.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(sample.metrics.groups)
    assert {metric.name for metric in sample.metrics.columns} <= set(rows[0])


def test_results_csv_holds_every_number_with_its_interval_and_direction(sample):
    with (sample.path / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    known = [value for _, values in sample.metrics.groups for value in values.values()]
    numbers = [as_interval(value) for value in known if value is not None]
    assert [float(row["value"]) for row in rows] == [number.estimate for number in numbers]
    for row, number in zip(rows, numbers, strict=True):
        assert row["metric"].startswith(f"{sample.study.name}.")
        assert row["better"] in ("lower", "higher", "")
        assert (row["run"], row["date"]) == (sample.manifest.run, sample.manifest.created)
        if row["low"]:
            ends = float(row["low"]), float(row["high"]), int(row["n"])
            assert ends == (number.low, number.high, number.n)


def test_every_row_has_the_same_columns(sample):
    assert len({tuple(row) for row in sample.rows()}) == 1
