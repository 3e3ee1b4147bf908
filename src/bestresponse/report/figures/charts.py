"""The figures of a report: SVG bytes, deterministic, readable on light and on dark ground.

Each function takes numbers and names and returns an SVG file; `bestresponse.report.document.Figure`
holds it. The ground is transparent. matplotlib writes colours as they are given; those below are
replaced in the finished SVG file by CSS variables that a style inside it sets for light and for
dark ground. The same figure always gives the same bytes: fixed hash salt, no date. Names are plain
text: a "$" is a dollar, not mathematics. The series colours keep their order and can be told apart
under the common colour-vision deficiencies (after Okabe & Ito 2008); marks and line styles differ
as well.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.report.numbers import format_number
from bestresponse.report.stats.statistics import Floats, Interval, as_sample
from bestresponse.report.text import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# On light ground: (CSS variable, on dark ground)
_COLOURS = {
    "#1b2026": ("ink", "#e4e8ec"),
    "#5b6570": ("quiet", "#9ba6b1"),
    "#e1e5e9": ("grid", "#2a323a"),
    "#2a6ca8": ("s0", "#6cabe6"),
    "#c2571a": ("s1", "#f0955c"),
    "#17806d": ("s2", "#4cc4ab"),
    "#a8437d": ("s3", "#e08cbb"),
    "#8a6d00": ("s4", "#d9bb4a"),
    "#6a4fb0": ("s5", "#ab95ea"),
    "#3d7f9c": ("s6", "#7cc8e6"),
    "#6b6f76": ("s7", "#b4b9c0"),
    "#b3261e": ("level", "#f2857d"),
}
INK = "#1b2026"
QUIET = "#5b6570"
GRID = "#e1e5e9"
_LEVEL = "#b3261e"
_SERIES = tuple(colour for colour, (name, _) in _COLOURS.items() if name.startswith("s"))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "h")
# They change when the colours have been used up, and between neighbours.
_LINES = ("-", "--", "-.", ":")
_FONT = (
    "-apple-system, BlinkMacSystemFont, 'Segoe UI', Inter, Roboto, "
    "'Helvetica Neue', 'Liberation Sans', Arial, sans-serif"
)

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "bestresponse",
    "pdf.fonttype": 42,  # TrueType, which publishers ask for
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "text.parse_math": False,
    "text.color": INK,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "axes.edgecolor": QUIET,
    "axes.labelcolor": QUIET,
    "axes.linewidth": 0.8,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.labelpad": 7,
    "axes.formatter.use_mathtext": False,
    "axes.unicode_minus": True,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
}


MODEL_COLOUR = _SERIES[0]
"""Of every model: their names are on the axis, so that more colours would say nothing."""
BASELINE_COLOUR = _SERIES[7]
"""Of baselines, in grey behind the models."""


def series_colour(number: int) -> str:
    """Return the colour of a series; after eight they repeat."""
    return _SERIES[number % len(_SERIES)]


def clip(text: str, limit: int = 60) -> str:
    """Prepare a name for a figure: one line, nothing hidden, not too long."""
    line = " ".join(visible(text).split())
    if len(line) <= limit:
        return line
    return line[: limit - 1].rstrip() + "…"


@contextmanager
def canvas(
    *,
    height: float,
    width: float = 7.6,
    grid: Literal["x", "both", "none"] = "x",
) -> Iterator[Axes]:
    """Empty axes of so many inches; draw inside the block."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        axes = Figure(figsize=(width, height), layout="constrained").add_subplot()
        if grid != "none":
            axes.grid(True, axis=grid)
        yield axes


def to_svg(axes: Axes) -> bytes:
    """Return the finished chart as an SVG file; call it inside the `canvas` block."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    target = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    figure: Any = axes.get_figure(root=True)
    # as SVG files count, so that the layout is made once and not again when the file is written
    figure.dpi = 72
    drawn: Any = FigureCanvasSVG(figure)
    figure.get_layout_engine().execute(figure)
    figure.set_layout_engine("none")
    drawn.print_svg(target, metadata=nothing)
    text = target.getvalue()
    for colour, (name, _) in _COLOURS.items():
        for attribute in ("fill", "stroke"):
            text = text.replace(f"{attribute}: {colour}", f"{attribute}: var(--{name})")
    text = text.replace("'DejaVu Sans'", "var(--font)")
    head, tail = text.split("<defs>", 1)
    light = "".join(f"--{name}:{colour};" for colour, (name, _) in _COLOURS.items())
    dark = "".join(f"--{name}:{colour};" for name, colour in _COLOURS.values())
    theme = f":root{{--font:{_FONT};{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    finished = f"{head}<style>{theme}</style>\n <defs>{tail}".encode()
    kept = _PDFS.get()
    if kept is not None:
        kept[finished] = _to_pdf(axes)
    return finished


_PDFS: ContextVar[dict[bytes, bytes] | None] = ContextVar("pdfs of figures", default=None)


@contextmanager
def keep_pdfs() -> Iterator[Mapping[bytes, bytes]]:
    """Draw every figure of the block as PDF too; returns the PDF files by their SVG files."""
    kept: dict[bytes, bytes] = {}
    token = _PDFS.set(kept)
    try:
        yield kept
    finally:
        _PDFS.reset(token)


def _to_pdf(axes: Axes) -> bytes:
    """Return the finished chart as a PDF file on white; text stays text, in embedded fonts."""
    from matplotlib.backends.backend_pdf import FigureCanvasPdf

    figure: Any = axes.get_figure(root=True)
    target = io.BytesIO()
    drawn: Any = FigureCanvasPdf(figure)
    drawn.print_pdf(target, metadata={"CreationDate": None, "Producer": None, "Creator": None})
    return target.getvalue()


def to_png(axes: Axes) -> bytes:
    """Return the finished chart in pixels, on white.

    Call it inside the `canvas` block, as the last thing.
    """
    figure: Any = axes.get_figure(root=True)
    target = io.BytesIO()
    figure.savefig(
        target,
        format="png",
        dpi=160,
        facecolor="white",
        metadata={"Software": None},
    )
    return target.getvalue()


_MOST_LINES = 6
"""In one pair of axes: more cannot be told apart."""
_PANELS = 3
"""Side by side, where every line has a panel of its own."""
_TITLE = 28
"""Characters per line above a panel."""
_FEW_COLUMNS = 16  # of a heat map: more names do not fit side by side

_STRIP_POINTS = 400


def draw_distribution(
    groups: Mapping[str, ArrayLike],
    *,
    x_label: str = "",
    zero: bool = True,
    baselines: Collection[str] = (),
) -> bytes:
    """Draw one row per group: every value as a dot, the quartile box, and the mean.

    If there are many values, a fixed sample of them is drawn.

    `zero` keeps 0 in view, as the best a gap can be. Groups are in one colour, `baselines` in grey.
    """
    samples = {name: as_sample(values, name) for name, values in groups.items()}
    colours = [BASELINE_COLOUR if name in baselines else MODEL_COLOUR for name in samples]
    with canvas(height=0.9 + 0.58 * len(samples)) as axes:
        for row, values in enumerate(samples.values()):
            _strip(axes, row, values, colours[row])
        _name_rows(axes, list(samples))
        axes.use_sticky_edges = False
        axes.margins(x=0.03)
        if zero:
            axes.axvline(0, color=QUIET, linewidth=0.9, zorder=1)
        axes.set_xlabel(clip(x_label))
        return to_svg(axes)


def compute_fences(values: ArrayLike) -> tuple[float, float]:
    """Compute how far values may lie from the box before they are outliers.

    This is one and a half times its width (Tukey).

    >>> compute_fences([0, 1, 2, 3, 4])
    (-2.0, 6.0)
    """
    first, third = np.quantile(as_sample(values), [0.25, 0.75])
    reach = 1.5 * (third - first)
    return float(first - reach), float(third + reach)


def _strip(axes: Axes, row: int, values: Floats, colour: str) -> None:
    rng = np.random.default_rng(row)
    dots = (
        rng.choice(values, _STRIP_POINTS, replace=False) if values.size > _STRIP_POINTS else values
    )
    heights = row + rng.uniform(-0.28, 0.28, dots.size)
    axes.scatter(dots, heights, s=13, color=colour, alpha=0.5, linewidths=0, zorder=2)
    first, median, third = np.quantile(values, [0.25, 0.5, 0.75])
    low, high = compute_fences(values)
    inside = values[(values >= low) & (values <= high)]
    for ends in ((min(inside.min(), first), first), (third, max(inside.max(), third))):
        axes.plot(ends, [row, row], color=QUIET, linewidth=1.0, zorder=3)
    axes.barh(row, third - first, 0.36, first, facecolor=colour, alpha=0.16, zorder=1)
    axes.barh(
        row,
        third - first,
        0.36,
        first,
        facecolor="none",
        edgecolor=QUIET,
        linewidth=1.0,
        zorder=3,
    )
    axes.plot(
        [median, median],
        [row - 0.18, row + 0.18],
        color=INK,
        linewidth=2.2,
        zorder=4,
        solid_capstyle="butt",
    )
    axes.plot(
        [values.mean()],
        [row],
        marker="D",
        markersize=5,
        color=INK,
        linestyle="none",
        zorder=5,
    )


def draw_intervals(
    rows: Sequence[tuple[str, Interval]],
    *,
    x_label: str = "",
    reference: float | None = 0.0,
) -> bytes:
    """Draw a forest plot: one row each with its estimate and interval.

    An open end runs to the edge as an arrow.
    """
    with canvas(height=0.9 + 0.36 * len(rows)) as axes:
        estimates = [interval.estimate for _, interval in rows]
        ends = [
            end for _, interval in rows for end in (interval.low, interval.high) if np.isfinite(end)
        ]
        shown = [*estimates, *ends, *([] if reference is None else [reference])]
        left = min(shown)
        right = max(shown)
        margin = 0.04 * (right - left) or 0.5
        for row, (_, interval) in enumerate(rows):
            low = max(interval.low, left - margin)
            high = min(interval.high, right + margin)
            axes.plot(
                [low, high],
                [row, row],
                color=series_colour(0),
                linewidth=2,
                solid_capstyle="butt",
            )
            for end, seen, marker in ((interval.low, low, "<"), (interval.high, high, ">")):
                if not np.isfinite(end):
                    axes.plot(
                        [seen],
                        [row],
                        marker=marker,
                        color=series_colour(0),
                        markersize=6,
                    )
            axes.plot(
                [interval.estimate],
                [row],
                marker="o",
                color=series_colour(0),
                markersize=6.5,
            )
        if reference is not None:
            axes.axvline(reference, color=QUIET, linewidth=0.9, zorder=1)
        axes.set_xlim(left - margin, right + margin)
        _name_rows(axes, [name for name, _ in rows])
        axes.set_xlabel(clip(x_label))
        return to_svg(axes)


def draw_scatter(
    x: ArrayLike,
    y: ArrayLike,
    groups: Sequence[str] | None = None,
    *,
    x_label: str = "",
    y_label: str = "",
) -> bytes:
    """Draw points, coloured by group, and each group's mean of y.

    Means are taken in up to eight equally filled bins of x.
    """
    across = as_sample(x, "x")
    up = as_sample(y, "y")
    names = [""] * across.size if groups is None else list(groups)
    with canvas(height=3.9, grid="both") as axes:
        for number, name in enumerate(dict.fromkeys(names)):
            inside = np.array([other == name for other in names])
            colour = series_colour(number)
            marker = MARKERS[number % len(MARKERS)]
            size = 16 if inside.sum() <= 500 else 8
            axes.scatter(
                across[inside],
                up[inside],
                s=size,
                color=colour,
                marker=marker,
                alpha=0.35,
                linewidths=0,
                zorder=2,
            )
            axes.plot(
                *compute_bin_means(across[inside], up[inside]),
                color=colour,
                marker=marker,
                markersize=5,
                linewidth=2,
                linestyle=_LINES[number % len(_LINES)],
                label=clip(name),
                zorder=3,
            )
        _describe(axes, x_label, y_label, legend=groups is not None)
        return to_svg(axes)


def compute_bin_means(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Compute the means of x and of y within up to eight bins that hold about equally many points.

    Equal x share a bin.
    """
    count = min(8, max(1, x.size // 5))
    edges = np.unique(np.quantile(x, np.linspace(0, 1, count + 1)))
    number = np.searchsorted(edges, x, side="right") - 1
    which = np.clip(number, 0, max(0, edges.size - 2))
    x_means = []
    y_means = []
    for filled in np.unique(which):
        inside = which == filled
        x_means.append(x[inside].mean())
        y_means.append(y[inside].mean())
    return np.array(x_means), np.array(y_means)


@dataclass(frozen=True, slots=True)
class _Line:
    """A series of a figure, its interval and what theory says of it."""

    name: str
    x: Floats
    y: Floats
    band: tuple[Floats, Floats] | None = None
    expected: Floats | None = None


def draw_lines(
    series: Mapping[str, tuple[ArrayLike, ArrayLike]],
    bands: Mapping[str, tuple[ArrayLike, ArrayLike]] | None = None,
    *,
    expected: Mapping[str, ArrayLike] | None = None,
    x_label: str = "",
    y_label: str = "",
    kind: Literal["svg", "png"] = "svg",
) -> bytes:
    """Draw one line per series of (x, y), ticks at whole numbers if all x are.

    `bands` are (low, high) around lines.

    `expected` is what theory says of a series, drawn dotted in its colour. More than six series get
    a panel each, with the others in grey behind it.
    """
    drawn = []
    for name, (x, y) in series.items():
        line = _Line(name, as_sample(x, f"x of {name}"), as_sample(y, f"y of {name}"))
        if bands and name in bands:
            low, high = (as_sample(end, f"band of {name}") for end in bands[name])
            line = replace(line, band=(low, high))
        if expected and name in expected:
            theory = as_sample(expected[name], f"what is expected of {name}")
            line = replace(line, expected=theory)
        drawn.append(line)
    if len(drawn) > _MOST_LINES:
        return _draw_panels(drawn, x_label=x_label, y_label=y_label, kind=kind)

    with canvas(height=3.9, grid="both") as axes:
        for number, line in enumerate(drawn):
            colour = series_colour(number)
            _draw_beside(axes, line, colour)
            axes.plot(
                line.x,
                line.y,
                color=colour,
                linewidth=2,
                linestyle="-" if expected else _LINES[number % len(_LINES)],
                marker=MARKERS[number % len(MARKERS)] if line.x.size <= 30 else "",
                markersize=5,
                label=clip(line.name),
            )
        if _are_whole(drawn):
            axes.locator_params("x", integer=True)
        _describe(axes, x_label, y_label, legend=len(drawn) > 1)
        return to_png(axes) if kind == "png" else to_svg(axes)


def _draw_panels(
    drawn: Sequence[_Line],
    *,
    x_label: str,
    y_label: str,
    kind: Literal["svg", "png"],
) -> bytes:
    """Draw every line in a panel of its own, all with the same axes."""
    rows = -(-len(drawn) // _PANELS)
    with canvas(height=0.6 + 1.7 * rows, grid="both") as first:
        figure: Any = first.get_figure(root=True)
        first.remove()
        panels = figure.subplots(
            rows,
            _PANELS,
            sharex=True,
            sharey=True,
            squeeze=False,
        ).ravel()
        for axes, line in zip(panels, drawn, strict=False):
            for other in drawn:
                if other is not line:
                    axes.plot(other.x, other.y, color=GRID, linewidth=1, zorder=1)
            _draw_beside(axes, line, MODEL_COLOUR)
            axes.plot(line.x, line.y, color=MODEL_COLOUR, linewidth=2, zorder=4)
            title = "\n".join(wrap(clip(line.name), _TITLE))
            axes.set_title(title, loc="left", fontsize=9.5, color=INK)
            axes.grid(color=GRID)
            if _are_whole(drawn):
                axes.locator_params("x", integer=True)
        for axes in panels[len(drawn) :]:
            axes.set_visible(False)
        lowest = max(0, len(drawn) - _PANELS)
        for axes in panels[lowest : len(drawn)]:
            axes.tick_params(labelbottom=True)
        figure.supxlabel(clip(x_label), color=QUIET, fontsize=10)
        figure.supylabel(clip(y_label), color=QUIET, fontsize=10)
        return to_png(panels[0]) if kind == "png" else to_svg(panels[0])


def _draw_beside(axes: Axes, line: _Line, colour: str) -> None:
    """Draw the interval of a line, and what is expected of it."""
    if line.band is not None:
        low, high = line.band
        axes.fill_between(
            line.x,
            low,
            high,
            color=colour,
            alpha=0.16,
            linewidth=0,
            zorder=1,
        )
    if line.expected is not None:
        axes.plot(
            line.x,
            line.expected,
            color=colour,
            linewidth=1.2,
            linestyle=":",
            zorder=3,
        )


def _are_whole(drawn: Sequence[_Line]) -> bool:
    """Say whether all x are whole numbers."""
    rests = [np.mod(line.x, 1.0) for line in drawn]
    return not any(rest.any() for rest in rests)


def draw_box_series(
    x: ArrayLike,
    boxes: ArrayLike,
    *,
    level: float | None = None,
    x_label: str = "",
    y_label: str = "",
) -> bytes:
    """Draw an upright box with whiskers at each x and a line through the medians.

    `level` is a dashed red line.

    `boxes` has five rows: the least, the first quartile, the median, the third quartile and the
    most at each x.
    """
    across = as_sample(x, "x")
    least, first, median, third, most = np.asarray(boxes, dtype=np.float64)
    colour = series_colour(0)
    with canvas(height=3.9, grid="both") as axes:
        for place, low, high in zip(across, least, most, strict=True):
            axes.plot(
                [place, place],
                [low, high],
                color=QUIET,
                linewidth=1.0,
                zorder=2,
                gid=f"whisker-{place:g}",
            )
        caps: dict[str, Any] = {
            "color": QUIET,
            "marker": "_",
            "markersize": 7,
            "linestyle": "none",
            "zorder": 2,
        }
        axes.plot(across, least, **caps)
        axes.plot(across, most, **caps)
        drawn = axes.bar(
            across,
            third - first,
            0.56,
            first,
            facecolor=GRID,
            edgecolor=QUIET,
            linewidth=1.0,
            zorder=3,
        )
        for place, box in zip(across, drawn, strict=True):
            box.set_gid(f"box-{place:g}")
        axes.plot(
            across,
            median,
            color=colour,
            linewidth=2,
            marker="o",
            markersize=4,
            zorder=5,
            gid="medians",
        )
        if level is not None:
            axes.axhline(
                level,
                color=_LEVEL,
                linewidth=1.4,
                linestyle="--",
                zorder=4,
                gid="level",
            )
        axes.locator_params("x", integer=True)
        axes.use_sticky_edges = False
        _describe(axes, x_label, y_label, legend=False)
        return to_svg(axes)


def draw_bars(
    values: Mapping[str, Mapping[str, float]],
    *,
    x_label: str = "",
    stacked: bool = True,
) -> bytes:
    """Draw horizontal bars, one a name, of parts side by side, one colour a part.

    If not `stacked`, every part has a thin bar of its own, one below the other.
    """
    rows = list(values.items())
    parts = list(dict.fromkeys(part for _, shares in rows for part in shares))
    thickness = 0.8 / len(parts)
    height = 0.36 * len(rows) if stacked else 0.2 * len(rows) * (len(parts) + 1)
    with canvas(height=1.2 + height) as axes:
        for row, (_, shares) in enumerate(rows):
            start = 0.0
            for number, part in enumerate(parts):
                share = shares.get(part, 0.0)
                axes.barh(
                    row if stacked else row - 0.4 + (number + 0.5) * thickness,
                    share,
                    0.62 if stacked else thickness * 0.9,
                    start,
                    color=series_colour(number),
                    alpha=0.85,
                    label=clip(part) if row == 0 else "_nolegend_",
                    zorder=2,
                )
                start += share if stacked else 0.0
        axes.axvline(0, color=QUIET, linewidth=0.9, zorder=3)
        _name_rows(axes, [name for name, _ in rows])
        _describe(axes, x_label, "", legend=True)
        return to_svg(axes)


def draw_heatmap(
    cells: ArrayLike,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    label: str = "",
) -> bytes:
    """Draw a matrix of numbers, darker (on light ground) where larger; NaN is left empty.

    Each number is written in where there are few columns, and a scale below says what the shades
    are. Names are whole. Those of many columns are upright, so small that none covers another: 100
    columns share seven inches.
    """
    matrix = np.asarray(cells, dtype=np.float64)
    finite = matrix[np.isfinite(matrix)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    longest = max(map(len, map(clip, columns)), default=0)
    # A column of seven inches' share holds about ten letters per inch.
    upright = longest * len(columns) > 60
    few = len(columns) <= _FEW_COLUMNS
    size = 10.5
    height = 1.3 + 0.42 * len(rows)
    if not few:
        size = min(9.0, 400 / len(columns))
        height = 1.3 + size / 50 * len(rows)
    if upright:
        height += longest * size / 130
    with canvas(height=height, grid="none") as axes:
        for row, numbers in enumerate(matrix):
            depths = (numbers - low) / (high - low) if high > low else np.full(len(columns), 0.5)
            filled = np.flatnonzero(np.isfinite(numbers))
            shades = [(MODEL_COLOUR, _find_shade(depths[column])) for column in filled]
            # One thing per row: a cell each would be slow.
            spans = [(column - 0.47, 0.94) for column in filled]
            axes.broken_barh(spans, (row - 0.46, 0.92), facecolors=shades, linewidth=0)
            for column in filled if few else ():
                text = f"{numbers[column]:.2f}"
                inside = axes.text(
                    float(column),
                    row,
                    text,
                    ha="center",
                    va="center",
                    fontsize=9.5,
                    color=INK,
                )
                inside.set_in_layout(False)
        axes.set_xlim(-0.5, len(columns) - 0.5)
        axes.set_xticks(range(len(columns)), [clip(name) for name in columns])
        axes.xaxis.tick_top()
        axes.tick_params(
            axis="x",
            length=0,
            labelsize=size,
            rotation=90 if upright else 0,
        )
        axes.spines["bottom"].set_visible(False)
        _name_rows(axes, list(rows))
        axes.tick_params(axis="y", labelsize=size)
        if high > low:
            _add_scale(axes, low, high, label)
        return to_svg(axes)


def _find_shade(depth: float) -> float:
    """Return how opaque a cell is whose number is so far between the least and the most."""
    return 0.06 + 0.54 * float(depth)


def _add_scale(axes: Axes, low: float, high: float, label: str) -> None:
    """Draw the shades from the least to the most number below a heat map, with numbers."""
    figure: Any = axes.get_figure(root=True)
    # Its height is that of 0.14 inches, whatever the height of the figure.
    scale = axes.inset_axes(
        (0.0, -0.42 / figure.get_figheight(), 0.45, 0.12 / figure.get_figheight())
    )
    edges = np.linspace(low, high, 25)
    shades = [(MODEL_COLOUR, _find_shade(part)) for part in np.linspace(0, 1, 24)]
    spans = list(zip(edges[:-1], np.diff(edges), strict=True))
    scale.broken_barh(spans, (0, 1), facecolors=shades, linewidth=0)
    scale.set_xlim(low, high)
    scale.set_yticks([])
    ticks = [low, (low + high) / 2, high]
    scale.set_xticks(ticks)
    scale.set_xticklabels(list(map(format_number, ticks)))
    scale.tick_params(labelsize=9)
    scale.set_xlabel(clip(label), fontsize=9)
    for side in ("top", "left", "right", "bottom"):
        scale.spines[side].set_visible(False)


def _name_rows(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), [clip(name) for name in names])
    axes.set_ylim(len(names) - 0.45, -0.55)
    axes.tick_params(axis="y", length=0, labelcolor=INK, labelsize=10.5)
    axes.spines["left"].set_visible(False)


def _describe(axes: Axes, x_label: str, y_label: str, *, legend: bool) -> None:
    axes.set_xlabel(clip(x_label))
    axes.set_ylabel(clip(y_label))
    axes.grid(color=GRID)
    if not legend:
        return
    # the legend is above the axes, in as many columns as the longest name allows; the figure
    # grows with its lines
    names = axes.get_legend_handles_labels()[1]
    longest = max(map(len, names), default=0)
    columns = max(1, min(4, 90 // (longest + 7)))
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1.01),
        ncols=columns,
        frameon=False,
        borderaxespad=0,
        handlelength=1.6,
        columnspacing=1.4,
        labelcolor=INK,
        fontsize=10,
    )
    figure = axes.get_figure(root=True)
    assert figure is not None
    further_lines = -(-len(names) // columns) - 1
    figure.set_figheight(figure.get_figheight() + 0.21 * further_lines)
