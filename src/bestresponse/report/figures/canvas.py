"""One empty chart in the style of the reports, and its SVG or PNG file.

matplotlib writes colours as they are given; those below are replaced in the finished SVG file by CSS variables, so that
one file suits light and dark ground. The same figure always gives the same bytes: fixed hash salt, no date.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

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
}
INK, QUIET, GRID = "#1b2026", "#5b6570", "#e1e5e9"
_SERIES = tuple(colour for colour, (name, _) in _COLOURS.items() if name.startswith("s"))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "h")
_LINES = ("-", "--", "-.", ":")
_FONT = (
    "-apple-system, BlinkMacSystemFont, 'Segoe UI', Inter, Roboto, "
    "'Helvetica Neue', 'Liberation Sans', Arial, sans-serif"
)

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "bestresponse",
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


def series_colour(number: int) -> str:
    """Return the colour of a series; after eight they repeat."""
    return _SERIES[number % len(_SERIES)]


def line_style(number: int) -> str:
    """Return the dashes of a series; they change when the colours have been used up, and between neighbours."""
    return _LINES[number % len(_LINES)]


def label(text: str, limit: int = 40) -> str:
    """Prepare a name for a figure: one line, nothing hidden, not too long."""
    line = " ".join(visible(text).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


@contextmanager
def canvas(*, height: float, width: float = 7.6, grid: Literal["x", "both", "none"] = "x") -> Iterator[Axes]:
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
    figure.dpi = 72  # as SVG files count, so that the layout is made once and not again when the file is written
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
    return f"{head}<style>{theme}</style>\n <defs>{tail}".encode()


def to_png(axes: Axes) -> bytes:
    """Return the finished chart in pixels, on white; call it inside the `canvas` block, as the last thing."""
    figure: Any = axes.get_figure(root=True)
    target = io.BytesIO()
    figure.savefig(target, format="png", dpi=160, facecolor="white", metadata={"Software": None})
    return target.getvalue()
