"""Blocks of a report as data: what is shown of which frame, and how.

A report is a list of blocks; each is called with what was measured and returns what it shows, or
None where there is nothing to show. A block with a title begins a section, one without goes on with
the section before it; what stands before the first title opens the report. Any function from
`Measurement` to one `Shown` or several is a block too.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from itertools import product
from typing import Any, Literal, Protocol

import numpy as np
from jinja2 import Environment, StrictUndefined, Template

from bestresponse.report.document import (
    Block,
    Cell,
    Column,
    Figure,
    KeyValues,
    Note,
    Paragraph,
    Section,
    Table,
    format_cell,
)
from bestresponse.report.figures import charts
from bestresponse.report.frames import Frame, MetricTable, Row, is_baseline
from bestresponse.report.numbers import NOISE
from bestresponse.report.stats.statistics import Interval, as_interval

_MOST_LED = 20


class Measurement(Protocol):
    """What a report is made from: the settings, the frames and the metrics of a run."""

    @property
    def config(self) -> Any:
        """The settings of the run."""

    @property
    def metrics(self) -> MetricTable:
        """The metrics of the study."""

    @property
    def total(self) -> int | None:
        """How many plays were planned; None where that is not settled beforehand."""

    @property
    def answered(self) -> int:
        """How many plays have a result."""

    def frame(self, name: str) -> Frame[Any]:
        """Return the frame of that name; an empty one where the run has none."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Blocks of a document under a title; without a title they belong to the section before."""

    title: str
    blocks: tuple[Block, ...]


ReportBlock = Callable[[Measurement], "Shown | Sequence[Shown] | None"]


@dataclass(frozen=True)
class FrameBlock:
    """Show the rows of a frame `where` columns have these values.

    They are shown once for each value of the column `split`.
    """

    frame: str
    title: str = field(default="", kw_only=True)
    caption: str = field(default="", kw_only=True)
    split: str = field(default="", kw_only=True)
    where: Mapping[str, object] = field(default_factory=dict, kw_only=True)

    def __call__(self, measured: Measurement) -> Shown | None:
        """Build what is shown, or nothing where the frame is empty."""
        frame = measured.frame(self.frame).select(**self.where)
        blocks: list[Block] = []
        if not len(frame):
            return None
        values = frame.list_values(self.split) if self.split else [None]
        for value in values:
            label = str(value) if len(values) > 1 else ""
            caption = fill_template(self.caption, measured, label=label)
            if label:
                caption = f"{label}: {caption}".strip(": ")
            part = frame.select(**{self.split: value}) if self.split else frame
            blocks += self.build(part, caption)
        return Shown(self.title, tuple(blocks)) if blocks else None

    def build(self, frame: Frame[Row], caption: str) -> Iterator[Block]:
        """Yield what is shown of these rows."""
        raise NotImplementedError


@dataclass(frozen=True)
class table(FrameBlock):
    """Show columns of a frame, all where none are named; of more than `most` rows the first."""

    columns: Sequence[str] = ()
    most: int = 200

    def build(self, frame: Frame[Row], caption: str) -> Iterator[Block]:
        """Build the table of the columns that some row has."""
        head = replace(frame, rows=frame.rows[: self.most])
        names = self.columns or [name for name in head.columns if name != self.split]
        known: set[str] = set()
        for row in head:
            filled = [name for name in names if row.get(name) is not None]
            known.update(filled)
        kept = [name for name in names if name in known]
        if len(kept) < min(2, len(names)):  # nothing is known but what the rows are called
            return
        yield head.to_table(kept, caption)
        if len(frame) > self.most:
            yield Note(f"{len(frame) - self.most:,} more rows are in {self.frame}.csv.")


@dataclass(frozen=True)
class metrics_table:
    """Show the metrics of the study, a row for each group.

    Shows `only` these if some are named, and never those of `but`. Those of `last`, such as counts,
    come after the others.
    """

    title: str = ""
    caption: str = ""
    only: Sequence[str] = ()
    but: Sequence[str] = ()
    last: Sequence[str] = ()

    def __call__(self, measured: Measurement) -> Shown | None:
        """Build the table, or none where nothing was computed."""
        table = measured.metrics
        chosen = [metric for metric in table.columns if metric.name not in self.but]
        if self.only:
            chosen = [metric for metric in chosen if metric.name in self.only]
        places = {name: place for place, name in enumerate(self.last, 1)}
        chosen.sort(key=lambda metric: places.get(metric.name, 0))
        cells = [values.get(metric.name) for _, values in table.groups for metric in chosen]
        if all(cell is None for cell in cells):
            return None
        groups = table.groups
        if self.only:  # whoever has none of these is in the table of all
            groups = [
                (heads, values)
                for heads, values in groups
                if any(values.get(metric.name) is not None for metric in chosen)
            ]
        shown = replace(table, columns=chosen, groups=groups)
        made = shown.to_table(fill_template(self.caption, measured))
        return Shown(self.title, (made,))


@dataclass(frozen=True)
class headline:
    """Show these metrics as large numbers, each with its interval.

    They are those of the first group that has any.
    """

    metrics: Sequence[str]

    def __call__(self, measured: Measurement) -> Shown | None:
        """Build the numbers, or none where no group has one."""
        metrics = {metric.name: metric for metric in measured.metrics.columns}
        groups = measured.metrics.groups
        models = [heads for heads, _ in groups if not is_baseline(heads)]
        for heads, values in groups:
            known = [metrics[name] for name in self.metrics if values.get(name) is not None]
            if not known:
                continue
            items: list[tuple[str, Cell]] = [(one.title, values[one.name]) for one in known]
            formats = [one.format for one in known]
            if len(models) > 1:  # whose numbers these are
                items.insert(0, (measured.metrics.labels[0], str(heads[0])))
                formats.insert(0, "")
            return Shown("", (KeyValues(tuple(items), prominent=True, formats=tuple(formats)),))
        return None


@dataclass(frozen=True)
class lead:
    """Open a report: say in a sentence who is best and last by a metric, and draw it for all.

    It is the first of these metrics that some player has. With the `verb` loses the least is best.
    `labels` are those of the heads that name a player, all where none are given.
    """

    metrics: Sequence[str]
    verb: Literal["loses", "earns"]
    labels: Sequence[str] = ()

    def __call__(self, measured: Measurement) -> Shown | None:
        """Write the sentence and draw the picture; nothing where no player has such a metric."""
        table = measured.metrics
        if any(label not in table.labels for label in self.labels):
            return None
        places = [table.labels.index(label) for label in self.labels or table.labels]
        metrics = {metric.name: metric for metric in table.columns}
        for metric in filter(None, map(metrics.get, self.metrics)):
            known: list[tuple[str, Interval]] = []
            for heads, values in table.groups:
                value = values.get(metric.name)
                if value is not None and not is_baseline(heads):
                    name = " / ".join(str(heads[place]) for place in places)
                    known.append((name, as_interval(value)))
            if known:
                break
        else:
            return None
        sign = 1 if self.verb == "loses" else -1
        known.sort(key=lambda one: sign * one[1].estimate)
        told = [(name, _tell(value, metric.column)) for name, value in known]
        player, best = told[0]
        sentence = f"{player} {self.verb} {best} ({metric.title})"
        if len(told) > 1:
            last, worst = told[-1]
            end = "least" if self.verb == "loses" else "most"
            sentence = f"Of {len(told)} players, {sentence}, the {end}; {last} {worst}"
        picture = charts.draw_intervals(
            known[:_MOST_LED],
            x_label=metric.title,
            reference=0.0 if sign > 0 else None,
        )
        caption = "Estimates, with 95 % intervals where something is sampled."
        figure = Figure(picture, caption, f"{metric.title} of all")
        return Shown("", (Paragraph(f"{sentence}."), figure))


def _tell(value: Interval, shown: Column) -> str:
    """Write a value, with its interval if it has one."""
    cell = value if value.low < value.high else value.estimate
    return format_cell(cell, shown.format, shown.noise)


@dataclass(frozen=True)
class pivot(FrameBlock):
    """Spread a column of a frame over the values of another.

    `heat` draws the numbers as a shaded picture instead.
    """

    rows: str
    columns: str
    value: str
    heat: bool = False

    def build(self, frame: Frame[Row], caption: str) -> Iterator[Block]:
        """Build the table or the picture."""
        cells: dict[object, Any] = {
            (row[self.rows], row[self.columns]): row[self.value] for row in frame
        }
        down = frame.list_values(self.rows)
        across = frame.list_values(self.columns)
        if self.heat:
            numbers = []
            for row in down:
                found = [cells.get((row, name)) for name in across]
                numbers.append(list(map(_estimate, found)))
            image = charts.draw_heatmap(
                numbers,
                list(map(str, down)),
                list(map(str, across)),
                label=frame.columns[self.value].name,
            )
            yield Figure(image, caption, f"{self.value} by {self.rows} and {self.columns}")
            return
        style = frame.columns[self.value]
        heads = [Column(str(name), style.align, "", style.format, style.noise) for name in across]
        rows: list[tuple[Cell, ...]] = []
        for row in down:
            label = row if isinstance(row, int | float | str) else str(row)
            rows.append((label, *(cells.get((row, name)) for name in across)))
        yield Table((frame.columns[self.rows], *heads), tuple(rows), caption)


@dataclass(frozen=True)
class lines(FrameBlock):
    """Draw a column against another, a line for each value of `by` (or one).

    Bands and what theory expects are drawn too.

    Bands are two columns, or the ends of the intervals where `y` holds such; rows without `y` are
    left out. Of more than `most` lines those with the largest values are drawn.
    """

    x: str
    y: str
    by: str = ""
    band: tuple[str, str] | None = None
    expected: str = ""
    most: int = 10

    def build(self, frame: Frame[Row], caption: str) -> Iterator[Block]:
        """Draw the picture, or none where no row has a value."""
        groups: dict[str, list[Row]] = {}
        for row in frame:
            if row[self.y] is not None:
                name = str(row[self.by]) if self.by else ""
                groups.setdefault(name, []).append(row)
        if not groups:
            return

        heights = {name: max(_take(rows, self.y)) for name, rows in groups.items()}
        by_height = sorted(groups, key=lambda name: -heights[name])
        tallest = by_height[: self.most]
        drawn = {name: rows for name, rows in groups.items() if name in tallest}
        expected = {}
        if self.expected:
            expected = {name: _take(rows, self.expected) for name, rows in drawn.items()}
        titles = frame.columns
        image = charts.draw_lines(
            {name: (_take(rows, self.x), _take(rows, self.y)) for name, rows in drawn.items()},
            dict(self._find_bands(drawn)),
            expected=expected,
            x_label=titles[self.x].name,
            y_label=titles[self.y].name,
        )
        yield Figure(image, caption, f"{titles[self.y].name} by {titles[self.x].name}")

    def _find_bands(
        self, groups: Mapping[str, Sequence[Row]]
    ) -> Iterator[tuple[str, tuple[np.ndarray, np.ndarray]]]:
        """Yield the bands; one value alone has none, so there the band shrinks to the line."""
        for name, rows in groups.items():
            if self.band:
                low, high = (_take(rows, end) for end in self.band)
            else:
                ends = []
                for row in rows:
                    cell = row[self.y]
                    # The interval of a single value tells nothing.
                    if isinstance(cell, Interval) and cell.n > 1:
                        ends.append((cell.low, cell.high))
                    else:
                        ends.append((np.nan, np.nan))
                low, high = np.array(ends).T
            known = np.isfinite(low) & np.isfinite(high)
            middle = _take(rows, self.y)
            if known.any():
                yield name, (np.where(known, low, middle), np.where(known, high, middle))


@dataclass(frozen=True)
class box_series(FrameBlock):
    """Draw a box with whiskers for each value of `x`, and a dashed `level`.

    A line goes through the medians.

    `box` names five columns: the least, the first quartile, the median, the third quartile, the
    most.
    """

    x: str
    box: tuple[str, str, str, str, str]
    level: str = ""

    def build(self, frame: Frame[Row], caption: str) -> Iterator[Block]:
        """Draw the picture."""
        titles = frame.columns
        y_label = titles[self.box[2]].name
        level = float(_take(frame, self.level)[0]) if self.level else None
        boxes = [_take(frame, name) for name in self.box]
        image = charts.draw_box_series(
            _take(frame, self.x),
            np.array(boxes),
            level=level,
            x_label=titles[self.x].name,
            y_label=y_label,
        )
        yield Figure(image, caption, f"{y_label} by {titles[self.x].name}")


@dataclass(frozen=True)
class intervals(FrameBlock):
    """Draw a row for each row of a frame: its estimate and interval.

    `label` names the columns that name it.

    Rows whose estimate is below `least` are left out.
    """

    label: Sequence[str]
    value: str
    reference: float | None = 0.0
    least: float = -math.inf

    def build(self, frame: Frame[Row], caption: str) -> Iterator[Block]:
        """Draw the picture, or none where no row has an interval."""
        rows = []
        for row in frame:
            value = row[self.value]
            if isinstance(value, Interval) and value.estimate >= self.least:
                names = [str(row[name]) for name in self.label]
                rows.append((", ".join(names), value))
        if rows:
            title = frame.columns[self.value].name
            image = charts.draw_intervals(rows, x_label=title, reference=self.reference)
            yield Figure(image, caption, f"{title} with intervals")


@dataclass(frozen=True)
class boxes(FrameBlock):
    """Draw a row for each value of `by`.

    Every value is a dot, the quartiles are a box, and the mean is a diamond.

    Groups without a number in the column `known_of_models` are baselines, and grey.
    """

    by: str
    value: str
    zero: bool = True
    known_of_models: str = ""
    caption: str = field(
        default=(
            "Every value a dot, the box from the first to the third quartile, the diamond the mean."
        ),
        kw_only=True,
    )

    def build(self, frame: Frame[Row], caption: str) -> Iterator[Block]:
        """Draw the picture, or none where there is no value but 0."""
        groups: dict[str, list[float]] = {}
        models: set[str] = set()
        for row in frame:
            name = str(row[self.by])
            if row.get(self.value) is not None:
                groups.setdefault(name, []).append(_estimate(row[self.value]))
            if not self.known_of_models or row[self.known_of_models] is not None:
                models.add(name)
        sizes = [abs(value) for values in groups.values() for value in values]
        if any(size > NOISE for size in sizes):
            title = frame.columns[self.value].name
            image = charts.draw_distribution(
                groups,
                x_label=title,
                zero=self.zero,
                baselines=groups.keys() - models,
            )
            yield Figure(image, caption, f"{title} by {frame.columns[self.by].name}")


@dataclass(frozen=True)
class bars(FrameBlock):
    """Draw a bar for each value of `by`, of `parts` side by side in it.

    If not `stacked`, a thin bar for each part.

    The column `beside` has a bar of its own below each. Nothing is drawn where a bar would have
    more than `most` parts, which cannot be told apart.
    """

    by: str
    value: str
    parts: str
    beside: str = ""
    most: int = 8
    stacked: bool = True

    def build(self, frame: Frame[Row], caption: str) -> Iterator[Block]:
        """Draw the picture."""
        titles = frame.columns
        stacks = dict[str, dict[str, float]]()
        for row, name in product(frame, filter(None, (self.value, self.beside))):
            if row[name] is not None:
                bar = f"{row[self.by]}, {titles[name].name}" if self.beside else str(row[self.by])
                stacks.setdefault(bar, {})[str(row[self.parts])] = _estimate(row[name])
        if not stacks:
            return
        parts = max(map(len, stacks.values()))
        if parts <= self.most:
            title = titles[self.value].name
            image = charts.draw_bars(stacks, x_label=title, stacked=self.stacked)
            yield Figure(image, caption, f"{title} by {titles[self.by].name}")


@dataclass(frozen=True)
class scatter(FrameBlock):
    """Draw a dot for each row of a frame, coloured by `by`, with the mean of `y` along `x`."""

    x: str
    y: str
    by: str = ""

    def build(self, frame: Frame[Row], caption: str) -> Iterator[Block]:
        """Draw the picture, or none if it has no finding.

        None is drawn if no row has both numbers or all have the same: axes without a finding.
        """
        rows = []
        for row in frame:
            if row.get(self.x) is not None and row.get(self.y) is not None:
                rows.append(row)
        spread = np.ptp(_take(rows, self.y)) if rows else 0.0
        if spread > NOISE:
            x_label = frame.columns[self.x].name
            y_label = frame.columns[self.y].name
            groups = None
            if self.by:
                groups = [str(row[self.by]) for row in rows]
            dots = _take(rows, self.x), _take(rows, self.y)
            image = charts.draw_scatter(*dots, groups, x_label=x_label, y_label=y_label)
            yield Figure(image, caption, f"{y_label} by {x_label}")


@dataclass(frozen=True)
class text:
    """Prose with numbers of the run in it, a Jinja template; nothing if it is empty.

    The template sees `config`, `metrics` (by the names of the metrics' groups) and every frame by
    `frame(name)`.
    """

    template: str
    title: str = ""
    kind: Literal["paragraph", "info", "warning"] = "paragraph"

    def __call__(self, measured: Measurement) -> Shown | None:
        """Fill in the template."""
        filled = fill_template(self.template, measured)
        if not filled:
            return None
        block = Paragraph(filled) if self.kind == "paragraph" else Note(filled, self.kind)
        return Shown(self.title, (block,))


def build_sections(
    blocks: Iterable[ReportBlock], measured: Measurement
) -> tuple[tuple[Block, ...], tuple[Section, ...]]:
    """Call every block and gather what they show: what opens the report, and its sections."""
    opening: list[Block] = []
    sections: list[tuple[str, list[Block]]] = []
    current_title = ""
    current = opening
    for block in blocks:
        result = block(measured)
        for shown in [result] if isinstance(result, Shown) else result or ():
            if shown.title and shown.title != current_title:
                current_title = shown.title
                current = []
                sections.append((current_title, current))
            current.extend(shown.blocks)
    made = [Section(title, tuple(inside)) for title, inside in sections]
    return tuple(opening), tuple(made)


@dataclass(frozen=True, slots=True)
class TextNames:
    """What a text of a report may use; `label` is the part of a frame that its caption is for."""

    config: Any
    metrics: MetricTable
    frame: Callable[[str], Frame[Any]]
    label: str


def fill_template(template: str, measured: Measurement, label: str = "") -> str:
    """Fill in a Jinja template with the settings and frames of a run, in one line."""
    if "{" in template:  # what holds no braces is no template, and compiling one takes time
        names = TextNames(measured.config, measured.metrics, measured.frame, label)
        known = {field.name: getattr(names, field.name) for field in fields(names)}
        template = _compile_template(template).render(known)
    return " ".join(template.split())


@cache
def _compile_template(template: str) -> Template:
    # Nothing is escaped here: the text becomes a paragraph of a document, which the page escapes
    # when it is drawn.
    return Environment(undefined=StrictUndefined, autoescape=False).from_string(template)


def _take(rows: Iterable[Row], name: str) -> np.ndarray:
    cells = [row[name] for row in rows]
    return np.array(list(map(_estimate, cells)), dtype=np.float64)


def _estimate(value: Any) -> float:
    """Return the number of a cell, that of an interval its estimate; NaN where there is none."""
    if isinstance(value, Interval):
        return value.estimate
    return float("nan") if value is None else float(value)
