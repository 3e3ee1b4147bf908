"""One empty chart in the style of the reports, and its SVG or PNG file.

matplotlib writes colours as they are given; the placeholders below are replaced in the finished file by CSS variables,
so that one file suits light and dark ground. The same figure always gives the same bytes: fixed hash salt, no date.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from bestresponse.report.text import visible

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

# Placeholder: (CSS variable, on light ground, on dark ground)
_COLOURS = {
    "#010101": ("ink", "#1b2026", "#e4e8ec"),
    "#010102": ("quiet", "#5b6570", "#9ba6b1"),
    "#010103": ("grid", "#e1e5e9", "#2a323a"),
    "#010111": ("s0", "#2a6ca8", "#6cabe6"),
    "#010112": ("s1", "#c2571a", "#f0955c"),
    "#010113": ("s2", "#17806d", "#4cc4ab"),
    "#010114": ("s3", "#a8437d", "#e08cbb"),
    "#010115": ("s4", "#8a6d00", "#d9bb4a"),
    "#010116": ("s5", "#6a4fb0", "#ab95ea"),
    "#010117": ("s6", "#3d7f9c", "#7cc8e6"),
    "#010118": ("s7", "#6b6f76", "#b4b9c0"),
}
INK, QUIET, GRID = "#010101", "#010102", "#010103"
_SERIES = tuple(colour for colour, (name, _, _) in _COLOURS.items() if name.startswith("s"))
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
    for placeholder, (name, _, _) in _COLOURS.items():
        for attribute in ("fill", "stroke"):
            text = text.replace(f"{attribute}: {placeholder}", f"{attribute}: var(--{name})")
    text = text.replace("'DejaVu Sans'", "var(--font)")
    head, tail = text.split("<defs>", 1)
    light = "".join(f"--{name}:{colour};" for name, colour, _ in _COLOURS.values())
    dark = "".join(f"--{name}:{colour};" for name, _, colour in _COLOURS.values())
    theme = f":root{{--font:{_FONT};{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    return f"{head}<style>{theme}</style>\n <defs>{tail}".encode()


def to_png(axes: Axes, dpi: int = 160) -> bytes:
    """Return the finished chart in pixels, on white; call it inside the `canvas` block, as the last thing."""
    figure: Any = axes.get_figure(root=True)
    figure.draw_without_rendering()  # what is made when first drawn, such as ticks, must be there to be repainted
    for artist in figure.findobj():
        _repaint(artist)
    target = io.BytesIO()
    figure.savefig(target, format="png", dpi=dpi, facecolor="white", metadata={"Software": None})
    return target.getvalue()


def _repaint(artist: Artist) -> None:
    """Real colours instead of placeholders."""
    from matplotlib.colors import to_hex, to_rgba_array

    for what in ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor"):
        if not (hasattr(artist, f"get_{what}") and hasattr(artist, f"set_{what}")):
            continue
        colours = to_rgba_array(getattr(artist, f"get_{what}")())
        placeholder = to_hex(colours[0]) if len(colours) else ""
        if placeholder in _COLOURS:
            getattr(artist, f"set_{what}")(_COLOURS[placeholder][1])
