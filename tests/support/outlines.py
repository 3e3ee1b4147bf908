"""Reports without drawn pictures, for tests of what a run says: drawing takes most of the time of a report."""

from html import escape

import pytest


@pytest.fixture(autouse=True)
def outlined_figures(request, monkeypatch):
    """Let every SVG file hold the words of its chart alone, except in tests that are marked as `drawn`."""
    if request.node.get_closest_marker("drawn"):
        return
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.layout_engine import ConstrainedLayoutEngine
    from matplotlib.text import Text

    def write_words(self, target, **kwargs):
        found = [text.get_text() for text in self.figure.findobj(Text)]
        words = "".join(f"<text>{escape(one)}</text>" for one in found if one)
        target.write(f'<svg xmlns="http://www.w3.org/2000/svg"><defs></defs>{words}</svg>')

    monkeypatch.setattr(FigureCanvasSVG, "print_svg", write_words)
    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", lambda self, figure: None)
