"""Pages from templates, and reports as JSON.

On pages everything that comes from people, models and files is escaped, and hidden characters are
shown.
"""

import functools
import itertools
import json
import re
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated

from fastapi import Query
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, pass_context
from jinja2.runtime import Context
from markdown_it import MarkdownIt
from markupsafe import Markup, escape
from pydantic import BaseModel, ConfigDict

from bestresponse.core.json import JsonObject
from bestresponse.report.document import Document, format_cell
from bestresponse.report.page import PageModel, fill_page, make_environment
from bestresponse.report.stats.statistics import Interval
from bestresponse.report.text import abridged, visible
from bestresponse.web.texts import PageTexts, format_amount, load_texts

if TYPE_CHECKING:
    from bestresponse.web.pages import AdminForm

_LONGEST = 60_000
_DEEPEST_LIST = 60
"""Deeper items are next to those of this depth: lists are written by recursion, and a text may
come from anybody."""
_MARKDOWN = MarkdownIt("commonmark", {"html": False, "breaks": False}).enable("table")
"""Reads Markdown without HTML, and with links to the web only."""


NestedItem = tuple[str, "list[NestedItem]"]
"""An item of a list and the items below it."""


@dataclass(frozen=True)
class ProseRuns(PageModel):
    """Lines of a text, run by run of the same kind, in the language `t` of the page around them."""

    template = "prose.html"

    runs: list[tuple[str, list[str] | list[NestedItem]]]
    t: PageTexts


@functools.cache
def load_asset(name: str) -> str:
    """Read a file that pages load as text."""
    return files("bestresponse.web").joinpath("static", name).read_text("utf-8")


@functools.cache
def _environment() -> Environment:
    environment = make_environment("bestresponse.web", _LONGEST)
    environment.filters |= {"cell": _format_value, "inline_svg": _inline_svg}
    environment.filters |= {"prose": _format_prose, "markdown": _format_markdown}
    environment.filters["amount"] = format_amount
    environment.globals["t"] = load_texts("en")
    return environment


def render_text(page: PageModel) -> str:
    """Render a page with the filters of this site."""
    return fill_page(_environment(), page)


def render_page(page: PageModel, status: int = 200) -> HTMLResponse:
    """Render a page as the answer to a request."""
    return HTMLResponse(render_text(page), status)


def render_form(page: "AdminForm") -> HTMLResponse:
    """Render a page of the admin with a form, again if what was sent was wrong."""
    return render_page(page, 422 if page.error else 200)


def send_file(name: str, media_type: str, content: bytes | str) -> Response:
    """Send a file to be kept."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media_type, headers=headers)


def load_templates() -> None:
    """Read and compile every template, so that nobody has to wait for it."""
    for name in _environment().list_templates():
        _environment().get_template(name)


def _format_value(value: object, spec: str = "") -> str:
    if value is None or isinstance(value, str | int | float | Interval):
        return format_cell(value, spec)
    return str(value)


def _inline_svg(picture: bytes) -> Markup:
    """Return one of our own pictures as part of a page.

    The page's policy allows no styles but those of the style sheet.
    """
    svg = re.sub(r"<style.*?</style>", "", picture[picture.index(b"<svg") :].decode("utf-8"))
    return Markup(
        re.sub(
            r'style="([^"]*)"',
            lambda match: re.sub(r"([a-z-]+): ([^;]*);?", r'\1="\2"', match[1]),
            svg,
        )
    )


@pass_context
def _format_markdown(context: Context, text: str) -> Markup:
    """Format text of an experiment as HTML.

    Columns are aligned by classes, and a wide table scrolls.
    """
    html = _MARKDOWN.render(visible(abridged(text, _LONGEST)))
    html = re.sub(r'(<t[hd]) style="text-align:(left|center|right)"', r'\1 class="\2"', html)
    label = escape(context["t"]("table"))
    html = html.replace(
        "<table>", f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table>'
    )
    return Markup(
        html.replace("</table>", "</table></div>").replace('src="pictures/', 'src="/pictures/')
    )


@pass_context
def _format_prose(context: Context, text: str) -> Markup:
    """Format rules and situations as paragraphs.

    Lines between bars become a table, lines after dashes a list.

    Lines after dashes that are indented become lists inside the list.
    """
    runs: list[tuple[str, list[str] | list[NestedItem]]] = []
    shown = visible(abridged(text, _LONGEST))
    for kind, run in itertools.groupby(shown.split("\n"), _find_kind):
        lines = list(run)
        runs.append((kind, _nest_items(lines) if kind == "-" else lines))
    return Markup(render_text(ProseRuns(runs, context["t"])))


def _find_kind(line: str) -> str:
    """Say what a line of prose is: "|" part of a table, "-" an item of a list, or text."""
    start = line.lstrip(" ")
    if start.startswith("- "):
        return "-"
    return "|" if line.startswith("|") else ""


def _nest_items(lines: list[str]) -> list[NestedItem]:
    """Nest the items of a list by how far they are indented."""
    top: list[NestedItem] = []
    open_items: list[tuple[int, list[NestedItem]]] = [(-1, top)]
    for line in lines:
        item = line.lstrip(" ")
        indent = len(line) - len(item)
        while open_items[-1][0] >= indent:
            open_items.pop()
        below: list[NestedItem] = []
        open_items[-1][1].append((item.removeprefix("- "), below))
        if len(open_items) <= _DEEPEST_LIST:
            open_items.append((indent, below))
    return top


Wait = Annotated[
    float, Query(ge=0, le=20, description="Seconds to wait for something else than `after`.")
]


def describe_errors() -> dict[int | str, JsonObject]:
    """What a call answers where it does not work: a sentence."""
    schema = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
    reply = {
        "description": "A sentence that says what is wrong",
        "content": {"application/json": {"schema": schema}},
    }
    return dict.fromkeys((400, 403, 404, 409, 413, 422, 429, 503), reply)


class Closed(BaseModel):
    """What is sent to us has these fields and no others."""

    model_config = ConfigDict(extra="forbid")


def serialize_report(document: Document) -> dict[str, object]:
    """Return title, opening, sections and footer of a report as plain data; pictures are in base64.

    `block` names the kind of a block: paragraph, note, table, figure, code, quote or keyvalues.
    """
    report: dict[str, object] = json.loads(document.to_json())
    return report
