"""Blocks of a report as data: what is shown of which frame, and how.

A report is a list of blocks; each is called with what was measured and returns what it shows, or None where there is
nothing to show. A block with a title begins a section, one without goes on with the section before it; what stands
before the first title opens the report. Any function from `Measurement` to one `Shown` or several is a block too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, Protocol

import numpy as np
from jinja2 import Environment, StrictUndefined, Template

from bestresponse.report.document import Block, Cell, Column, Figure, KeyValues, Note, Paragraph, Section, Table
from bestresponse.report.figures import charts
from bestresponse.report.frames import Frame
from bestresponse.report.metrics import Figures
from bestresponse.report.stats.interval import Interval


class Measurement(Protocol):
    """What a report is made from: the settings, the frames and the figures of a run."""

    @property
    def config(self) -> Any:
        """The settings of the run."""
        ...

    @property
    def figures(self) -> Figures:
        """The metrics of the study."""
        ...

    @property
    def total(self) -> int | None:
        """How many plays were planned; None where that is not settled beforehand."""
        ...

    @property
    def answered(self) -> int:
        """How many plays have a result."""
        ...

    def frame(self, name: str) -> Frame[Any]:
        """Return the frame of that name; an empty one where the run has none."""
        ...


@dataclass(frozen=True, slots=True)
class Shown:
    """Blocks of a document under a title; without a title they belong to the section before."""

    title: str
    blocks: tuple[Block, ...]


ReportBlock = Callable[[Measurement], "Shown | Sequence[Shown] | None"]


@dataclass(frozen=True)
class table:
    """Show columns of a frame, all where none are named; `split` makes a table for each value of a column."""

    frame: str
    columns: Sequence[str] = ()
    title: str = ""
    caption: str = ""
    split: str = ""
    where: Mapping[str, object] = field(default_factory=dict)
    most: int = 200

    def __call__(self, measured: Measurement) -> Shown | None:
        """Build the table, or none where the frame is empty."""
        blocks: list[Block] = []
        for label, part in _split(measured.frame(self.frame).select(**self.where), self.split):
            caption = fill_template(self.caption, measured, label=label)
            head = Frame(part.row, part.rows[: self.most], part.more)
            names = self.columns or [name for name in head.columns if name != self.split]
            kept = [name for name in names if any(row.get(name) is not None for row in head)]
            if not kept:
                continue
            blocks.append(head.to_table(kept, f"{label}: {caption}".strip(": ") if label else caption))
            if len(part) > self.most:
                blocks.append(Note(f"{len(part) - self.most:,} more rows are in {self.frame}.csv."))
        return Shown(self.title, tuple(blocks)) if blocks else None


@dataclass(frozen=True)
class metrics_table:
    """Show the metrics of the study, a row for each group."""

    title: str = ""
    caption: str = ""

    def __call__(self, measured: Measurement) -> Shown | None:
        """Build the table, or none where nothing was computed."""
        if not measured.figures.groups:
            return None
        return Shown(self.title, (measured.figures.to_table(fill_template(self.caption, measured)),))


@dataclass(frozen=True)
class headline:
    """Show these metrics of the first group that has any as large figures, without their intervals."""

    metrics: Sequence[str]

    def __call__(self, measured: Measurement) -> Shown | None:
        """Build the figures, or none where no group has one."""
        titles = {metric.name: metric.title for metric in measured.figures.metrics}
        for _, values in measured.figures.groups:
            known = [name for name in self.metrics if values.get(name) is not None]
            if known:
                items = tuple((titles[name], _estimate(values[name])) for name in known)
                return Shown("", (KeyValues(items, prominent=True, format=".3g"),))
        return None


@dataclass(frozen=True)
class pivot:
    """Spread a column of a frame over the values of another; `heat` draws the numbers as a shaded picture instead."""

    frame: str
    rows: str
    columns: str
    value: str
    title: str = ""
    caption: str = ""
    split: str = ""
    where: Mapping[str, object] = field(default_factory=dict)
    heat: bool = False

    def __call__(self, measured: Measurement) -> Shown | None:
        """Build the table or the picture, or none where the frame is empty."""
        frame = measured.frame(self.frame).select(**self.where)
        blocks: list[Block] = []
        for label, part in _split(frame, self.split):
            cells = {(row[self.rows], row[self.columns]): row[self.value] for row in part}
            across = part.list_values(self.columns)
            down = part.list_values(self.rows)
            caption = fill_template(self.caption, measured, label=label)
            caption = f"{label}: {caption}".strip(": ") if label else caption
            if self.heat:
                numbers = [[_estimate(cells.get((row, name))) for name in across] for row in down]
                image = charts.heatmap(numbers, [str(row) for row in down], [str(name) for name in across])
                blocks.append(Figure(image, caption, f"{self.value} by {self.rows} and {self.columns}"))
                continue
            style = frame.columns[self.value]
            head = frame.columns[self.rows]
            columns = (head, *(Column(str(name), style.align, "", style.format, style.noise) for name in across))
            lines_ = tuple((_as_text(row), *(cells.get((row, name)) for name in across)) for row in down)
            blocks.append(Table(columns, lines_, caption))
        return Shown(self.title, tuple(blocks)) if blocks else None


@dataclass(frozen=True)
class lines:
    """Draw a column against another, a line for each value of `by`, with bands and what theory expects.

    Bands are two columns, or the ends of the intervals where `y` holds such; rows without `y` are left out. Of more
    than `most` lines those with the largest values are drawn.
    """

    frame: str
    x: str
    y: str
    by: str
    band: tuple[str, str] | None = None
    expected: str = ""
    title: str = ""
    caption: str = ""
    split: str = ""
    where: Mapping[str, object] = field(default_factory=dict)
    most: int = 10

    def __call__(self, measured: Measurement) -> Shown | None:
        """Draw the picture, or none where the frame is empty."""
        blocks: list[Block] = []
        frame = measured.frame(self.frame).select(**self.where)
        for label, part in _split(frame, self.split):
            groups: dict[str, list[Mapping[str, Any]]] = {}
            for row in part:
                if row[self.y] is not None:
                    groups.setdefault(str(row[self.by]), []).append(row)
            if not groups:
                continue
            tallest = sorted(groups, key=lambda name: -max(_estimate(row[self.y]) for row in groups[name]))[: self.most]
            drawn = {name: rows for name, rows in groups.items() if name in tallest}
            image = charts.lines(
                {name: (_take(rows, self.x), _take(rows, self.y)) for name, rows in drawn.items()},
                dict(self._find_bands(drawn)),
                expected={name: _take(rows, self.expected) for name, rows in drawn.items()} if self.expected else {},
                x_label=frame.columns[self.x].name,
                y_label=frame.columns[self.y].name,
            )
            caption = fill_template(self.caption, measured, label=label)
            alt = f"{frame.columns[self.y].name} by {frame.columns[self.x].name}"
            blocks.append(Figure(image, f"{label}: {caption}" if label else caption, alt))
        return Shown(self.title, tuple(blocks)) if blocks else None

    def _find_bands(
        self, groups: Mapping[str, Sequence[Mapping[str, Any]]]
    ) -> Iterator[tuple[str, tuple[np.ndarray, np.ndarray]]]:
        """Yield the bands; one value alone has none, so there the band shrinks to the line."""
        for name, rows in groups.items():
            if self.band:
                low, high = (_take(rows, end) for end in self.band)
            else:
                ends = [_find_ends(row[self.y]) for row in rows]
                low, high = np.array(ends, dtype=np.float64).T
            known, middle = np.isfinite(low) & np.isfinite(high), _take(rows, self.y)
            if known.any():
                yield name, (np.where(known, low, middle), np.where(known, high, middle))


@dataclass(frozen=True)
class intervals:
    """Draw a row for each row of a frame: its estimate and interval; `label` names the columns that name it."""

    frame: str
    label: Sequence[str]
    value: str
    title: str = ""
    caption: str = ""
    reference: float | None = 0.0

    def __call__(self, measured: Measurement) -> Shown | None:
        """Draw the picture, or none where no row has an interval."""
        frame = measured.frame(self.frame)
        rows = [
            (", ".join(str(row[name]) for name in self.label), row[self.value])
            for row in frame
            if isinstance(row[self.value], Interval)
        ]
        if not rows:
            return None
        image = charts.intervals(rows, x_label=frame.columns[self.value].name, reference=self.reference)
        alt = f"{frame.columns[self.value].name} with intervals"
        return Shown(self.title, (Figure(image, fill_template(self.caption, measured), alt),))


@dataclass(frozen=True)
class boxes:
    """Draw a row for each value of `by`: every value a dot, the quartiles as a box, the mean as a diamond."""

    frame: str
    by: str
    value: str
    title: str = ""
    caption: str = "Every value a dot, the box from the first to the third quartile, the diamond the mean."
    zero: bool = True

    def __call__(self, measured: Measurement) -> Shown | None:
        """Draw the picture, or none where there is no value."""
        frame = measured.frame(self.frame)
        groups: dict[str, list[float]] = {}
        for row in frame:
            if row.get(self.value) is not None:
                groups.setdefault(str(row[self.by]), []).append(_estimate(row[self.value]))
        if not groups:
            return None
        image = charts.distribution(groups, x_label=frame.columns[self.value].name, zero=self.zero)
        alt = f"{frame.columns[self.value].name} by {frame.columns[self.by].name}"
        return Shown(self.title, (Figure(image, fill_template(self.caption, measured), alt),))


@dataclass(frozen=True)
class bars:
    """Draw a bar for each value of `by`, stacked where `parts` names a column whose values share the bar."""

    frame: str
    by: str
    value: str
    parts: str = ""
    title: str = ""
    caption: str = ""

    def __call__(self, measured: Measurement) -> Shown | None:
        """Draw the picture, or none where the frame is empty."""
        frame = measured.frame(self.frame)
        if not len(frame):
            return None
        alt = f"{frame.columns[self.value].name} by {frame.columns[self.by].name}"
        if self.parts:
            stacks: dict[str, dict[str, float]] = {}
            for row in frame:
                stacks.setdefault(str(row[self.by]), {})[str(row[self.parts])] = _estimate(row[self.value])
            image = charts.bars(stacks, x_label=frame.columns[self.value].name)
        else:
            image = charts.bars(
                {str(row[self.by]): row[self.value] for row in frame}, x_label=frame.columns[self.value].name
            )
        return Shown(self.title, (Figure(image, fill_template(self.caption, measured), alt),))


@dataclass(frozen=True)
class scatter:
    """Draw a dot for each row of a frame, coloured by `by`, with the mean of `y` along `x`."""

    frame: str
    x: str
    y: str
    by: str = ""
    title: str = ""
    caption: str = ""

    def __call__(self, measured: Measurement) -> Shown | None:
        """Draw the picture, or none where no row has both numbers."""
        frame = measured.frame(self.frame)
        rows = [row for row in frame if row.get(self.x) is not None and row.get(self.y) is not None]
        if not rows:
            return None
        image = charts.scatter(
            _take(rows, self.x),
            _take(rows, self.y),
            [str(row[self.by]) for row in rows] if self.by else None,
            x_label=frame.columns[self.x].name,
            y_label=frame.columns[self.y].name,
        )
        alt = f"{frame.columns[self.y].name} by {frame.columns[self.x].name}"
        return Shown(self.title, (Figure(image, fill_template(self.caption, measured), alt),))


@dataclass(frozen=True)
class text:
    """Prose with figures of the run in it, a Jinja template; nothing where it comes out empty.

    The template sees `config`, `figures` (by the names of the metrics' groups) and every frame by `frame(name)`.
    """

    template: str
    title: str = ""
    kind: Literal["paragraph", "info", "warning"] = "paragraph"

    def __call__(self, measured: Measurement) -> Shown | None:
        """Fill in the template."""
        filled = fill_template(self.template, measured)
        if not filled:
            return None
        return Shown(self.title, (Paragraph(filled) if self.kind == "paragraph" else Note(filled, self.kind),))


def build_sections(
    blocks: Iterable[ReportBlock], measured: Measurement
) -> tuple[tuple[Block, ...], tuple[Section, ...]]:
    """Call every block and gather what they show: what opens the report, and its sections."""
    opening: list[Block] = []
    sections: list[tuple[str, list[Block]]] = []
    for block in blocks:
        result = block(measured)
        for shown in [result] if isinstance(result, Shown) else result or ():
            if shown.title and (not sections or sections[-1][0] != shown.title):
                sections.append((shown.title, []))
            (sections[-1][1] if sections else opening).extend(shown.blocks)
    return tuple(opening), tuple(Section(title, tuple(inside)) for title, inside in sections)


def fill_template(template: str, measured: Measurement, **values: object) -> str:
    """Fill in a Jinja template with the settings and frames of a run; plain text comes back as it is."""
    if "{" not in template:
        return template
    filled = _compile_template(template).render(
        config=measured.config, figures=measured.figures, frame=measured.frame, **values
    )
    return " ".join(filled.split())


@cache
def _compile_template(template: str) -> Template:
    # Nothing is escaped here: the text becomes a paragraph of a document, which the page escapes when it is drawn.
    return Environment(undefined=StrictUndefined, autoescape=False).from_string(template)


def _split(frame: Frame[Any], name: str) -> Iterator[tuple[str, Frame[Any]]]:
    """Yield the rows of a frame by the values of a column, all together where none is named."""
    if not len(frame):
        return
    if not name:
        yield "", frame
        return
    values = frame.list_values(name)
    for value in values:
        yield (str(value) if len(values) > 1 else ""), frame.select(**{name: value})


def _take(rows: Iterable[Mapping[str, Any]], name: str) -> np.ndarray:
    return np.array([_estimate(row[name]) for row in rows], dtype=np.float64)


def _find_ends(value: Any) -> tuple[float, float]:
    """Return the ends of an interval; NaN where it tells nothing, as that of a single value."""
    return (value.low, value.high) if isinstance(value, Interval) and value.n > 1 else (float("nan"), float("nan"))


def _estimate(value: Any) -> float:
    """Return the number of a cell, that of an interval its estimate; NaN where there is none."""
    if isinstance(value, Interval):
        return value.estimate
    return float("nan") if value is None else float(value)


def _as_text(value: Any) -> Cell:
    return value if isinstance(value, int | float | str) else str(value)
