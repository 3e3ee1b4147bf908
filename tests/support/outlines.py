"""Reports without drawn pictures, for tests of what a run says: drawing takes most of the time of a
report."""

from html import escape

import pytest


def list_words(artist):
    """Yield the words of a figure and of all its parts. Ticks that nobody has named hold none and
    need not be made."""
    from matplotlib.axis import Axis
    from matplotlib.text import Text

    if isinstance(artist, Text) and artist.get_text():
        yield artist.get_text()
    if isinstance(artist, Axis):
        parts = [artist.label, artist.offsetText, *vars(artist).get("majorTicks", ())]
    else:
        parts = artist.get_children()
    for part in parts:
        yield from list_words(part)


SHAPES = ("barh", "fill_between", "plot", "scatter")
"""What draws shapes, and words only where it is given a label for the legend."""


def draw_labelled_only(draw):
    """Return a method of axes that draws what the legend names and leaves out everything else."""

    def draw_or_not(self, *args, **kwargs):
        return draw(self, *args, **kwargs) if kwargs.get("label") else []

    return draw_or_not


@pytest.fixture(autouse=True)
def outlined_figures(request, monkeypatch):
    """Let every SVG file hold the words of its chart alone, except in tests that are marked as
    `drawn`."""
    if request.node.get_closest_marker("drawn"):
        return
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    def write_words(self, target, **kwargs):
        words = "".join(f"<text>{escape(word)}</text>" for word in list_words(self.figure))
        target.write(f'<svg xmlns="http://www.w3.org/2000/svg"><defs></defs>{words}</svg>')

    monkeypatch.setattr(FigureCanvasSVG, "print_svg", write_words)
    for name in SHAPES:
        monkeypatch.setattr(Axes, name, draw_labelled_only(getattr(Axes, name)))
    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", lambda self, figure: None)
