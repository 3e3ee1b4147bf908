"""A document as one HTML page that opens offline.

No request leaves it, and nothing in it can run but one known script.

Style, script and pictures are inside the page. A content security policy lists the hashes of the
one style and the one script, so text that slipped through escaping could still not run. All text is
escaped by the template engine; before that, hidden characters become visible and very long text is
cut with a remark (`bestresponse.report.text`). The same document always gives the same bytes.
"""

import base64
import functools
import hashlib
import re
import unicodedata
from dataclasses import dataclass, fields, replace
from importlib.resources import files
from typing import ClassVar, TypeVar, dataclass_transform

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from bestresponse.core.notebook import format_html
from bestresponse.report.document import (
    Document,
    Figure,
    Section,
    format_rows,
    measure_column_noise,
    show_cell,
)
from bestresponse.report.tables import number_repeated
from bestresponse.report.text import abridged, pieces, visible

_MOST_ROWS = 1000
_NOTEBOOK_HEIGHT = 600
_UNFOLDED = 120
"""Longer cells are folded."""
_LIMITS = {"cell": 300, "quote": 4000, "code": 20_000, "text": 20_000, "line": 300}


@dataclass(frozen=True)
class PageModel:
    """What a page shows: the fields are the names that its template may use, and no others."""

    template: ClassVar[str]


M = TypeVar("M", bound=PageModel)


@dataclass_transform(frozen_default=True, kw_only_default=True)
def page_model(model: type[M]) -> type[M]:
    """Make a model a frozen dataclass whose fields are given by their names."""
    return dataclass(frozen=True, kw_only=True)(model)


def fill_page(environment: Environment, page: PageModel) -> str:
    """Fill the template of a page with its fields."""
    names = {field.name: getattr(page, field.name) for field in fields(page)}
    return environment.get_template(page.template).render(names)


@page_model
class OfflinePage(PageModel):
    """A page without requests: its own style, script and policy, and base64, are the only text that
    is not escaped."""

    style: Markup
    script: Markup
    policy: Markup

    def render(self) -> str:
        """Return the page as text."""
        return fill_page(report_environment(), self).rstrip() + "\n"


@page_model
class ReportPage(OfflinePage):
    """The page of a report; `plays` is the page of single plays that it links to."""

    template = "report.html"

    document: Document
    sections: list[Section]
    plays: str


def render(document: Document, plays: str = "") -> str:
    """Return the page; write it with encoding="utf-8".

    `plays` is the page of single plays that it links to.
    """
    style = read_asset("report.css")
    script = read_asset("report.js")
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
        f"style-src '{hash_source(style)}'; script-src '{hash_source(script)}'"
    )
    page = ReportPage(
        document=document,
        sections=_anchored(document),
        plays=plays,
        style=Markup(style),
        script=Markup(script),
        policy=Markup(policy),
    )
    return page.render()


def embed_page(document: Document, first: str = "") -> str:
    """Return the first table of the report for notebooks, the whole folded below it.

    If `first` is given, the table is the first of that section.

    The whole is a frame of its own, so that its style touches nothing around it.
    """
    tables = [table for title, table in document.tables if first in ("", title)]
    answers = [
        format_html(document.title, [col.name for col in table.columns], format_rows(table))
        for table in tables
    ]
    style = f"width: 100%; height: {_NOTEBOOK_HEIGHT}px; border: 0"
    frame = (
        f'<iframe sandbox="allow-scripts" style="{style}"'
        f' srcdoc="{escape(render(document))}"></iframe>'
    )
    return f"{''.join(answers[:1])}<details><summary>The whole report</summary>{frame}</details>"


def make_environment(package: str, longest: int) -> Environment:
    """Make the environment of a package's templates.

    Text is cut at `longest`, made visible and escaped.
    """

    def finalize(value: object) -> object:
        """Prepare the value of every expression of a template, before it is escaped."""
        if isinstance(value, float):
            return f"{value:.6g}"
        if isinstance(value, str) and not isinstance(value, Markup):
            return visible(abridged(value, longest))
        return value

    environment = Environment(
        autoescape=True,
        auto_reload=False,
        finalize=finalize,
        loader=PackageLoader(package),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["data_uri"] = write_data_uri
    environment.tests["kind"] = lambda block, kind: type(block).__name__ == kind
    return environment


def write_data_uri(figure: Figure) -> Markup:
    """Write a picture into an address, so that a page needs no other file."""
    encoded = base64.b64encode(figure.image).decode("ascii")
    return Markup(f"data:{figure.media_type};base64,{encoded}")


@functools.cache
def report_environment() -> Environment:
    """Return the environment of the templates of reports."""
    environment = make_environment("bestresponse.report", _LIMITS["text"])
    environment.filters |= {"marked": _marked, "shown": show_cell, "noise": measure_column_noise}
    environment.globals |= {"most_rows": _MOST_ROWS, "most_letters": _UNFOLDED}
    return environment


@functools.cache
def read_asset(name: str) -> str:
    """Return the text of a style or script of reports."""
    return files("bestresponse.report").joinpath("templates", name).read_text(encoding="utf-8")


def hash_source(source: str) -> str:
    """Return the hash by which a content security policy names a style or script."""
    digest = hashlib.sha256(source.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _marked(text: str, kind: str = "text") -> Markup:
    """Text for the body of an element.

    It is cut to its kind's limit, with hidden characters set apart.
    """
    hidden_character = Markup('<span class="hidden-character">{}</span>')
    parts = []
    for piece, is_hidden in pieces(abridged(text, _LIMITS[kind])):
        parts.append(hidden_character.format(piece) if is_hidden else escape(piece))
    return Markup("").join(parts)


def make_anchor(title: str) -> str:
    """Make a name of a title that is safe in an address and as a file.

    >>> make_anchor("How far from optimal?"), make_anchor("../../x"), make_anchor("…")
    ('how-far-from-optimal', 'x', 'section')
    """
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:60] or "section"


def _anchored(document: Document) -> list[Section]:
    """The sections with anchors that are unique and safe in an address."""
    stems = (make_anchor(section.title) for section in document.sections)
    anchors = number_repeated(stems, "-")
    return [
        replace(section, anchor=anchor)
        for section, anchor in zip(document.sections, anchors, strict=True)
    ]
