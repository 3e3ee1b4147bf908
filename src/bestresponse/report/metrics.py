"""Figures of a study as data: one `Metric` is a column of its table, a field of its JSON and of its CSV file.

A study lists its metrics once and says of which groups (players, seats, settings) they are computed; `Figures` then is
its table on the page and in the terminal, `figures` of summary.json, figures.csv and the list in the documentation.
Where a study has the figures of a group in a row, the annotations of the row's type are its metrics (`list_metrics`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import methodcaller
from typing import Any, Generic, TypeVar

from bestresponse.core.errors import UsageError
from bestresponse.core.json import JsonObject
from bestresponse.core.notebook import format_html
from bestresponse.report.codec import cell_json
from bestresponse.report.document import Cell, Column, Table
from bestresponse.report.frames import describe_columns
from bestresponse.report.numbers import NOISE
from bestresponse.report.stats.interval import Interval

Group = TypeVar("Group")
Value = float | Interval | None
Heads = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Metric(Generic[Group]):
    """A figure computed for a group, such as the rows of one player.

    `name` is the field in JSON and CSV, `title` the head of the column, `help` explains it to the reader, `unit` may
    be empty, `format` is a format specification for its numbers, and `compute` returns None where there is no figure.
    Numbers smaller than `noise` are shown as 0.
    """

    name: str
    title: str
    help: str
    unit: str
    format: str
    compute: Callable[[Group], Value]
    noise: float = NOISE

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise UsageError(f"the metric {self.name!r} needs a name of letters, digits and underscores")

    @property
    def column(self) -> Column:
        """Describe the metric as a column of a table."""
        title = f"{self.title} ({self.unit})" if self.unit else self.title
        return Column(title, "right", self.help, self.format, self.noise)


@dataclass(frozen=True)
class Figures:
    """Computed metrics of several groups, in order; `heads` of a group hold a cell for each of `labels`."""

    metrics: Sequence[Metric[Any]]
    labels: tuple[str, ...]
    groups: Sequence[tuple[Heads, Mapping[str, Value]]]

    def __post_init__(self) -> None:
        names = [*self.labels, *(metric.name for metric in self.metrics)]
        if len(set(names)) < len(names):
            raise UsageError(f"the columns {', '.join(names)} are not all different")

    def __repr__(self) -> str:
        groups = "1 group" if len(self.groups) == 1 else f"{len(self.groups)} groups"
        return f"Figures({len(self.metrics)} metrics of {groups})"

    def _repr_html_(self) -> str:
        table = self.to_table()
        return format_html(repr(self), [column.name for column in table.columns], table.rows)

    def to_table(self, caption: str = "") -> Table:
        """Build the table; metrics that no group has are left out."""
        shown = [metric for metric in self.metrics if any(own.get(metric.name) is not None for _, own in self.groups)]
        rows = tuple((*heads, *(own.get(metric.name) for metric in shown)) for heads, own in self.groups)
        return Table((*map(Column, self.labels), *(metric.column for metric in shown)), rows, caption)

    def to_json(self) -> list[JsonObject]:
        """Return plain JSON data: for each group its labels, then every metric by its name."""
        return [{name: cell_json(cell) for name, cell in row.items()} for row in self.to_rows()]

    def to_rows(self) -> list[dict[str, Cell]]:
        """Return rows for `tables.to_csv`, one a group."""
        names = [*(label.replace(" ", "_") for label in self.labels), *(metric.name for metric in self.metrics)]
        groups = ((*heads, *(own.get(metric.name) for metric in self.metrics)) for heads, own in self.groups)
        return [dict(zip(names, cells, strict=True)) for cells in groups]


def list_metrics(row: type, *names: str) -> tuple[Metric[Any], ...]:
    """Return the fields of a row's type as metrics of groups that are such rows, all where none are named."""
    columns = describe_columns(row)
    return tuple(
        Metric(name, columns[name].name, columns[name].help, "", columns[name].format, methodcaller("get", name))
        for name in names or columns
    )


def compute_figures(
    metrics: Sequence[Metric[Group]], labels: tuple[str, ...], groups: Mapping[Heads, Group]
) -> Figures:
    """Compute every metric for every group."""
    found = [(heads, {metric.name: metric.compute(group) for metric in metrics}) for heads, group in groups.items()]
    return Figures(metrics, labels, found)


def describe_metrics(metrics: Sequence[Metric[Any]]) -> str:
    """Describe metrics as a table in Markdown, for documentation."""
    lines = [f"| {metric.column.name} | `{metric.name}` | {metric.help} |" for metric in metrics]
    return "\n".join(("| figure | field | meaning |", "|---|---|---|", *lines))
