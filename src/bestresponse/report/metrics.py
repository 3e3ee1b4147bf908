"""Figures of a study as data: one `Metric` is a column of its tables, a field of its JSON and of its CSV files.

A study lists its metrics once. Rows are grouped (by player, say), every metric is computed for every group, and the
functions here turn the same list into a table for the report, plain JSON, and rows for CSV.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from bestresponse.core.errors import UsageError
from bestresponse.report.document import Cell, Column, Table
from bestresponse.report.numbers import NOISE
from bestresponse.report.stats.interval import Interval

__all__ = [
    "JsonValue",
    "Metric",
    "Value",
    "build_json",
    "build_rows",
    "build_table",
    "compute_figures",
    "describe_metrics",
    "figures_to_json",
    "tabulate_figures",
]

Row = TypeVar("Row")
Value = float | Interval | None
JsonValue = float | dict[str, float | int | None] | None


@dataclass(frozen=True, slots=True)
class Metric(Generic[Row]):
    """A figure computed from the rows of a group.

    `name` is the field in JSON and CSV, `title` the head of the column, `help` explains it to the reader, `unit` may
    be empty, `format` is a format specification for its numbers, and `compute` returns None where there is no figure.
    Numbers smaller than `noise` are shown as 0.
    """

    name: str
    title: str
    help: str
    unit: str
    format: str
    compute: Callable[[Sequence[Row]], Value]
    noise: float = NOISE

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise UsageError(f"the metric {self.name!r} needs a name of letters, digits and underscores")

    @property
    def column(self) -> Column:
        """Describe the metric as a column of a table."""
        title = f"{self.title} ({self.unit})" if self.unit else self.title
        return Column(title, "right", self.help, self.format, self.noise)


def build_table(
    metrics: Sequence[Metric[Row]], groups: Mapping[str, Sequence[Row]], *, label: str, caption: str = ""
) -> Table:
    """Build a table with a row for every group; `label` is the head of the first column."""
    rows = tuple((name, *(metric.compute(rows) for metric in metrics)) for name, rows in groups.items())
    return Table((Column(label), *(metric.column for metric in metrics)), rows, caption)


def compute_figures(metrics: Sequence[Metric[Row]], rows: Sequence[Row]) -> dict[str, Value]:
    """Compute every metric for the rows of one group."""
    return {metric.name: metric.compute(rows) for metric in metrics}


def figures_to_json(figures: Mapping[str, Value]) -> dict[str, JsonValue]:
    """Return computed figures as plain JSON data."""
    return {name: _to_json(value) for name, value in figures.items()}


def tabulate_figures(
    metrics: Sequence[Metric[Row]],
    groups: Sequence[tuple[tuple[Cell, ...], Mapping[str, Value]]],
    *,
    labels: tuple[str, ...],
    caption: str = "",
) -> Table:
    """Build a table of computed figures; a group starts with a cell for every label, and empty columns are left out."""
    shown = [metric for metric in metrics if any(figures.get(metric.name) is not None for _, figures in groups)]
    rows = tuple((*heads, *(figures.get(metric.name) for metric in shown)) for heads, figures in groups)
    return Table((*map(Column, labels), *(metric.column for metric in shown)), rows, caption)


def describe_metrics(metrics: Sequence[Metric[Row]]) -> str:
    """Describe metrics as a table in Markdown, for documentation."""
    lines = [f"| {metric.title} | `{metric.name}` | {metric.help} |" for metric in metrics]
    return "\n".join(("| figure | field | meaning |", "|---|---|---|", *lines))


def build_json(metrics: Sequence[Metric[Row]], groups: Mapping[str, Sequence[Row]]) -> dict[str, dict[str, JsonValue]]:
    """Build plain JSON data: the value of every metric by its name, for every group."""
    return {name: {metric.name: _to_json(metric.compute(rows)) for metric in metrics} for name, rows in groups.items()}


def build_rows(
    metrics: Sequence[Metric[Row]], groups: Mapping[str, Sequence[Row]], *, label: str
) -> list[dict[str, Cell]]:
    """Build rows for `tables.to_csv`: the group under `label`, then a column for every metric by its name."""
    if len({label, *(metric.name for metric in metrics)}) <= len(metrics):
        raise UsageError(
            f"the columns {', '.join([label, *(metric.name for metric in metrics)])} are not all different"
        )
    return [{label: name, **{metric.name: metric.compute(rows) for metric in metrics}} for name, rows in groups.items()]


def _to_json(value: Value) -> JsonValue:
    if isinstance(value, Interval):
        return value.to_json()
    return value if value is None or value - value == 0 else None
