"""Show reports in notebooks."""

from __future__ import annotations

from html import escape

from bestresponse.report import page
from bestresponse.report.document import Document

__all__ = ["embed_page"]

_HEIGHT = 600


def embed_page(document: Document) -> str:
    """Return the report as an HTML frame of its own, so that its style and script touch nothing around it."""
    style = f"width: 100%; height: {_HEIGHT}px; border: 0"
    return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{escape(page.render(document))}"></iframe>'
