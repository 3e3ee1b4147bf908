"""A figure of a study is one `Metric`: it is in the terminal, the report, the summary, the CSV file
and the docs."""

import csv

import pytest
from sample_runs import MAKERS


@pytest.fixture(scope="module", params=list(MAKERS))
def sample(request, tmp_path_factory):
    made = MAKERS[request.param][0](tmp_path_factory.mktemp(request.param))
    made.publish()
    return made


def test_every_study_has_metrics(sample):
    assert sample.figures.metrics
    assert {metric.name for metric in sample.study.metrics} <= {
        metric.name for metric in sample.figures.metrics
    }


def test_the_first_table_of_the_report_holds_the_figures(sample):
    shown = sample.figures.to_table()
    table = sample.report().tables[0][1]
    assert table.columns == shown.columns
    assert table.rows == shown.rows


def test_the_summary_holds_the_figures(sample):
    names = [metric.name for metric in sample.figures.metrics]
    for one in sample.summary()["figures"]:
        assert list(one)[-len(names) :] == names


def test_figures_csv_holds_a_row_for_every_group(sample):
    with (sample.path / "figures.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(sample.figures.groups)
    assert {metric.name for metric in sample.figures.metrics} <= set(rows[0])


def test_every_row_has_the_same_columns(sample):
    assert len({tuple(row) for row in sample.rows()}) == 1
