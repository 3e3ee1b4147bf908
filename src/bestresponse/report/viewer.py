"""A page that lists plays and shows one of them at a time; the plays come in files beside it.

plays.html       the page: filters, the list, and the play that is open
plays/index.js   one row per play
plays/0001.js    some of the plays, loaded when one of them is opened

A browser lets a page from a disk load scripts, but read no other files; so the data are scripts
that call one function with JSON. Whatever a model wrote stays text on the way: in the files by JSON
without any letter outside ASCII and without "<", in the page as text nodes only. The content
security policy runs the page's own script and what that loads, nothing else.
"""

import json
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from bestresponse.report.page import OfflinePage, hash_source, page_model, read_asset
from bestresponse.report.text import abridged, visible

LONGEST = 20_000
"""Characters of a text; the rest is in the run's own files."""

PLAYS_FOLDER = "plays"
PLAYS_PAGE = "plays.html"


@page_model
class ViewerPage(OfflinePage):
    """The page that lists plays; they come in files beside it."""

    template = "plays.html"

    title: str
    subtitle: str
    footer: str


def render_viewer(title: str, subtitle: str, footer: str = "") -> str:
    """Return the page; its plays are expected in `plays/` beside it."""
    style = read_asset("report.css") + read_asset("plays.css")
    script = read_asset("plays.js")
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"style-src '{hash_source(style)}'; script-src '{hash_source(script)}' 'strict-dynamic'"
    )
    page = ViewerPage(
        title=title,
        subtitle=subtitle,
        footer=footer,
        style=Markup(style),
        script=Markup(script),
        policy=Markup(policy),
    )
    return page.render()


def write_index(rows: Sequence[object], starts: Sequence[int], total: int) -> str:
    """Write the list: `starts` holds the number of the first play of every file, from 0."""
    return _write_call("receiveIndex", {"rows": rows, "starts": list(starts), "total": total})


def write_part(number: int, plays: Sequence[object]) -> str:
    """Write one of the files with plays."""
    return _write_call("receivePlays", number, plays)


def name_part(number: int) -> str:
    """Name the file with the plays of that number, counted from 0.

    >>> name_part(0)
    '0001.js'
    """
    return f"{number + 1:04d}.js"


def _write_call(function: str, *arguments: object) -> str:
    """Write a call that is safe in a file and inside a page, whatever the texts are."""
    texts = (json.dumps(show_texts(one), separators=(",", ":")) for one in arguments)
    return f"{function}({','.join(texts)});\n".replace("<", "\\u003c")


def show_texts(value: object) -> object:
    """Cut long texts and write hidden characters as code points, however deep they are.

    >>> show_texts({"said": ["a\\u202eb", 1]})
    {'said': ['a⟦U+202E⟧b', 1]}
    """
    match value:
        case str():
            return visible(abridged(value, LONGEST))
        case Mapping():
            return {key: show_texts(part) for key, part in value.items()}
        case list() | tuple():
            return [show_texts(part) for part in value]
        case _:
            return value
