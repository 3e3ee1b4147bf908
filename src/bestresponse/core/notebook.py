"""Show values as small HTML tables in notebooks, with the standard library only."""

from collections.abc import Iterable, Sequence
from html import escape

MOST_ROWS = 50


def format_html(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a title and a table as HTML; rows after the first 50 are left out, and said to be.

    >>> format_html("A <b>", ["move"], [["hare"]])
    '<p>A &lt;b&gt;</p><table><tr><th>move</th></tr><tr><td>hare</td></tr></table>'
    """
    lines = [_format_line("td", row) for row in rows]
    rest = f"<p>and {len(lines) - MOST_ROWS:,} more rows</p>" if len(lines) > MOST_ROWS else ""
    table = _format_line("th", heads) + "".join(lines[:MOST_ROWS])
    return f"<p>{escape(title)}</p><table>{table}</table>{rest}"


def _format_line(tag: str, cells: Sequence[object]) -> str:
    texts = (f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in cells)
    return f"<tr>{''.join(f'<{tag}>{escape(text)}</{tag}>' for text in texts)}</tr>"
