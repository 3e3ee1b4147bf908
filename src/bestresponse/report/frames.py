"""Frames: the named tables of typed rows that a study measures; every number of a report is in one.

A row is a TypedDict. Its annotations say how a column is titled, explained and formatted, once for
the page, the terminal, notebooks and files:

    class ShareRow(TypedDict):
        strategy: str
        share: Annotated[float, column("share of agents", ".3f")]
        '''mean over repetitions'''

Columns without such an annotation are called as their field is; the text below a field explains it
to the reader.

The metrics of a study are data too: one `Metric` is a column of its table, a field of its JSON and
of its CSV file.

A study lists its metrics once and says of which groups (players, seats, settings) they are
computed; `MetricTable` then is its table on the page and in the terminal, `metrics` of
summary.json, metrics.csv and the list in the documentation. Where a study has the metrics of a
group in a row, the annotations of the row's type are its metrics (`list_metrics`).
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import pairwise
from operator import methodcaller
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    Literal,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from bestresponse.core.errors import UsageError
from bestresponse.report import tables
from bestresponse.report.document import Cell, Column, Table, cell_json
from bestresponse.report.numbers import NOISE
from bestresponse.report.stats.statistics import Interval

if TYPE_CHECKING:
    import pandas


Row: TypeAlias = Mapping[str, object]
"""One row of a frame; each study types its own as a TypedDict."""
R = TypeVar("R", bound=Row, covariant=True)
_NUMBERS = (int, float, Interval)


def column(
    title: str = "",
    format: str = "",
    help: str = "",
    *,
    noise: float = NOISE,
) -> Column:
    """Say how a field of a row is shown; without a title it is called as its field is."""
    return Column(title, "left", help=help, format=format, noise=noise)


@dataclass(frozen=True)
class Frame(Generic[R]):
    """A table of rows of one type.

    `more` describes columns that only this run has, such as one for each seat.
    """

    row: type[R]
    rows: Sequence[R]
    more: Mapping[str, Column] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[R]:
        return iter(self.rows)

    def __getitem__(self, number: int) -> R:
        return self.rows[number]

    def __repr__(self) -> str:
        return f"Frame({self.row.__name__}, {len(self.rows)} rows)"

    def _repr_html_(self) -> str:
        return self.to_table().embed(repr(self))

    @property
    def columns(self) -> Mapping[str, Column]:
        """Every column by the name of its field, in the order of the row's type."""
        return {**describe_columns(self.row), **self.more}

    def select(self, **values: object) -> Frame[R]:
        """Return the rows whose fields have these values."""
        rows = self.rows
        for name, value in values.items():
            rows = [row for row in rows if row.get(name) == value]
        return replace(self, rows=rows)

    def list_values(self, name: str) -> list[object]:
        """List the different values of a column, in order of appearance."""
        return list(dict.fromkeys(row[name] for row in self.rows))

    def to_table(self, names: Sequence[str] = (), caption: str = "") -> Table:
        """Build the table of these columns, of all that some row has where none are named."""
        known = self.columns
        if not names:
            filled: set[str] = set()
            for row in self.rows:
                filled.update(name for name, value in row.items() if value is not None)
            names = [name for name in known if name in filled]
        missing = [name for name in names if name not in known]
        if missing:
            raise UsageError(
                f"{self.row.__name__} has no column {missing[0]!r}; it has {', '.join(known)}"
            )
        rows = []
        for row in self.rows:
            rows.append(tuple(_as_cell(row.get(name)) for name in names))
        columns = tuple(known[name] for name in names)
        return Table(columns, tuple(rows), caption)

    def to_json(self) -> list[dict[str, object]]:
        """Return the rows as plain JSON data.

        Intervals say their ends and what they were computed from.
        """
        return [{name: _as_json(value) for name, value in row.items()} for row in self.rows]

    def to_csv(self) -> str:
        """Write the rows as CSV; an interval fills three columns."""
        return tables.to_csv(self._flatten())

    def to_parquet(self) -> bytes:
        """Write the rows as Parquet."""
        return tables.to_parquet(self._flatten())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Offer the rows to whatever reads Arrow: polars, duckdb, altair, pyarrow."""
        return tables.to_arrow(self._flatten()).__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows as a pandas data frame."""
        try:
            import pandas
        except ImportError:
            raise UsageError("pandas is not installed: pip install pandas") from None
        return pandas.DataFrame([dict(row) for row in self.rows])

    def _flatten(self) -> list[dict[str, Cell]]:
        return [{name: _as_cell(value) for name, value in row.items()} for row in self.rows]


@lru_cache(maxsize=256)
def describe_columns(row: type) -> dict[str, Column]:
    """Describe the fields of a row's type as columns; numbers are on the right."""
    described = {}
    help = read_help(row)
    for name, hint in get_type_hints(row, include_extras=True).items():
        kind, *marks = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        shown = next((mark for mark in marks if isinstance(mark, Column)), Column(""))
        number = any(part in _NUMBERS for part in (kind, *get_args(kind)))
        title = shown.name or name.replace("_", " ")
        about = shown.help or help.get(name, "")
        described[name] = replace(
            shown,
            name=title,
            align="right" if number else "left",
            help=about,
        )
    return described


def read_help(kind: type) -> dict[str, str]:
    """Return the text below each field of a class and of those that it extends.

    This text explains the field.
    """
    classes = [cls for cls in reversed(kind.__mro__) if cls.__module__ != "builtins"]
    texts: dict[str, str] = {}
    for cls in classes:
        by_class = _read_module(cls.__module__)
        texts.update(by_class.get(cls.__name__, {}))
    return texts


@cache
def _read_module(module: str) -> dict[str, dict[str, str]]:
    """Return, by class, the text below each field.

    Returns nothing where the source is not at hand, as in a notebook.
    """
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError):
        return {}
    texts: dict[str, dict[str, str]] = {}
    for row in tree.body:
        if isinstance(row, ast.ClassDef):
            bases = [base.id for base in row.bases if isinstance(base, ast.Name)]
            texts[row.name] = {
                name: text for base in bases for name, text in texts.get(base, {}).items()
            }
            for field_, below in pairwise(row.body):
                match field_, below:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(
                        value=ast.Constant(value=str(text))
                    ):
                        texts[row.name][name] = " ".join(text.split())
    return texts


def _as_cell(value: Any) -> Cell:
    """Return a number, a text or an interval as it is, and anything nested as JSON text."""
    if isinstance(value, Cell) or hasattr(value, "item"):
        return value  # type: ignore[no-any-return]
    return json.dumps(value, ensure_ascii=False, default=str)


def _as_json(value: object) -> object:
    """Return a value of a row as plain JSON data."""
    if isinstance(value, Cell):
        return cell_json(value)
    return json.loads(json.dumps(value, default=str))


Group = TypeVar("Group")
Value = float | Interval | None
Heads = tuple[str | int, ...]
BASELINE = "baseline"
"""What the group of a player that needs no model has in place of the way of asking."""
NumberColumn: TypeAlias = Annotated[float | None, column(format=".3f")]
"""A number with three decimals, or none."""
MeanColumn: TypeAlias = Annotated[float, column(format=".2f")]
"""A number with two decimals, such as a mean count."""
ShareColumn: TypeAlias = Annotated[Interval | None, column(format=".0%")]
"""A share with its interval, in percent, or none."""
IntervalColumn: TypeAlias = Annotated[Interval | None, column(format=".3f")]
"""An estimate with its interval, or none."""
ValueColumn: TypeAlias = Annotated[Value, column(format=".3f")]
"""A number or an estimate with its interval, or none."""


def is_baseline(heads: Heads) -> bool:
    """Tell whether a group is that of a baseline, which is measured beside the models."""
    return BASELINE in heads


def find_estimate(value: Value) -> float | None:
    """Return a value without its interval."""
    return value.estimate if isinstance(value, Interval) else value


@dataclass(frozen=True, slots=True)
class Metric(Generic[Group]):
    """A number computed for a group, such as the rows of one player.

    `name` is the field in JSON and CSV, `title` the head of the column, `help` explains it to the
    reader, `format` is a format specification for its numbers, and `compute` returns None where
    there is none. Numbers smaller than `noise` are shown as 0. `better` says whether lower or
    higher numbers are better, where either is.
    """

    name: str
    title: str
    help: str
    format: str
    compute: Callable[[Group], Value]
    noise: float = NOISE
    better: Literal["lower", "higher", ""] = ""

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise UsageError(
                f"the metric {self.name!r} needs a name of letters, digits and underscores"
            )

    @property
    def column(self) -> Column:
        """Describe the metric as a column of a table."""
        return Column(self.title, "right", self.help, self.format, self.noise)


@dataclass(frozen=True)
class MetricTable:
    """Computed metrics of several groups, in order.

    `heads` of a group hold a cell for each of `labels`.
    """

    columns: Sequence[Metric[Any]]
    labels: tuple[str, ...]
    groups: Sequence[tuple[Heads, Mapping[str, Value]]]

    def __post_init__(self) -> None:
        names = [*self.labels, *(metric.name for metric in self.columns)]
        if len(set(names)) < len(names):
            raise UsageError(f"the columns {', '.join(names)} are not all different")

    def __repr__(self) -> str:
        return f"MetricTable({len(self.columns)} metrics, {len(self.groups)} groups)"

    def _repr_html_(self) -> str:
        return self.to_table().embed(repr(self))

    def to_table(self, caption: str = "") -> Table:
        """Build the table; metrics that no group has are left out."""
        known: set[str] = set()
        for _, row in self.groups:
            known.update(name for name, value in row.items() if value is not None)
        shown = [metric for metric in self.columns if metric.name in known]
        rows = []
        for heads, row in self.groups:
            rows.append((*heads, *(row.get(metric.name) for metric in shown)))
        columns = [*map(Column, self.labels), *(metric.column for metric in shown)]
        return Table(tuple(columns), tuple(rows), caption)

    def to_json(self) -> list[dict[str, object]]:
        """Return plain JSON data: for each group its labels, then every metric by its name."""
        return [{name: cell_json(cell) for name, cell in row.items()} for row in self.to_rows()]

    def to_rows(self) -> list[dict[str, Cell]]:
        """Return rows for `tables.to_csv`, one a group."""
        labels = [label.replace(" ", "_") for label in self.labels]
        rows = []
        for heads, values in self.groups:
            row: dict[str, Cell] = dict(zip(labels, heads, strict=True))
            for metric in self.columns:
                row[metric.name] = values.get(metric.name)
            rows.append(row)
        return rows


def list_metrics(row: type, *names: str) -> tuple[Metric[object], ...]:
    """Return the fields of a row's type as metrics of groups that are such rows.

    All fields are returned if none are named.
    """
    columns = describe_columns(row)
    metrics: list[Metric[object]] = []
    for name in names or columns:
        described = columns[name]
        metric = Metric(
            name,
            described.name,
            help=described.help,
            format=described.format,
            compute=methodcaller("get", name),
        )
        metrics.append(metric)
    return tuple(metrics)


def compute_metrics(
    metrics: Sequence[Metric[Group]],
    labels: tuple[str, ...],
    groups: Mapping[Heads, Group],
) -> MetricTable:
    """Compute every metric for every group.

    What a baseline loses in a game is known, so that its metrics have no intervals.
    """
    computed = []
    for heads, group in groups.items():
        values = {metric.name: metric.compute(group) for metric in metrics}
        if is_baseline(heads):
            values = {name: find_estimate(value) for name, value in values.items()}
        computed.append((heads, values))
    return MetricTable(metrics, labels, computed)
