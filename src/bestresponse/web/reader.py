"""Models as participants: a page as text with its fields, and a reply as what is typed into them.

A model is told what a person reads on the page, and nothing else. What it types goes through the
same form; where the page says that something is wrong, the model reads that too.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from importlib.resources import files

from bestresponse.models.base import Message, Model, Request
from bestresponse.players.llm.reading import find_json_objects
from bestresponse.web.texts import PageTexts

_TEXT = files("bestresponse.web").joinpath("participant.txt").read_text("utf-8")
_SILENT = ("script", "style", "noscript", "header", "title", "template")
_BREAKING = (
    *("p", "div", "section", "li", "tr", "h1", "h2", "h3", "form", "summary", "dt", "dd", "label"),
    *("table", "button", "br"),
)
_CELLS = ("td", "th")
_TYPED = ("text", "", "number")
_MOST_TOKENS = 1024


@dataclass(frozen=True, slots=True)
class ReadPage:
    """The text of a page.

    `fields` are those that can be filled, with their options where they have some.
    """

    text: str
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def read_page(html: str) -> ReadPage:
    """Read a page as a person sees it, with the names of its fields where they stand.

    >>> page = read_page('<main><p>Which?</p><form method="post"><label><input type="radio" '
    ...     'name="answer" value="left"><span>left</span></label><input name="why"></form></main>')
    >>> page.text
    'Which?\\n[answer = left] left\\n[why = ...]'
    >>> dict(page.fields)
    {'answer': ('left',), 'why': ()}
    """
    parser = _PageParser()
    parser.feed(html)
    text = re.sub(r"[ \t]+", " ", "".join(parser.pieces))
    lines = [line.strip() for line in text.split("\n")]
    return ReadPage("\n".join(line for line in lines if line), parser.fields)


class _PageParser(HTMLParser):
    """Collects what is visible below <main>, and the fields of forms that are sent."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self.fields: dict[str, tuple[str, ...]] = {}
        self._open: list[tuple[str, bool]] = []
        self._select = ""
        self._sends = False

    @property
    def _is_silent(self) -> bool:
        return any(silent for _, silent in self._open)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = {name: value or "" for name, value in attrs}
        if tag in ("input", "br", "img", "meta", "link"):
            self._handle_single(tag, about)
            return
        silent = tag in _SILENT or "hidden" in about or about.get("aria-hidden") == "true"
        self._open.append((tag, silent))
        if tag == "form":
            # Nobody has to write messages to the group, so that a model is not asked to.
            self._sends = about.get("method") == "post" and "data-chat" not in about
        if self._is_silent:
            return
        if tag in _BREAKING:
            self.pieces.append("\n")
        if tag in _CELLS:
            self.pieces.append(" | ")
        if tag == "select":
            self._select = about.get("name", "")
        if tag == "option" and self._select and about.get("value"):
            self._add(self._select, about["value"])
        if tag == "textarea":
            self._add(about.get("name", ""), "")
        if tag == "button" and about.get("name"):
            self._add(about["name"], about.get("value", ""))

    def _handle_single(self, tag: str, about: Mapping[str, str]) -> None:
        if tag == "br":
            self.pieces.append("\n")
        if tag != "input" or self._is_silent or "name" not in about:
            return
        kind = about.get("type", "")
        if kind in ("radio", "checkbox"):
            self._add(about["name"], about.get("value", "on"))
        elif kind in _TYPED:
            self._add(about["name"], "")

    def _add(self, name: str, option: str) -> None:
        if not self._sends or not name:
            return
        known = self.fields.get(name, ())
        self.fields[name] = (*known, option) if option else known
        self.pieces.append(f"\n[{name} = {option or '...'}] ")

    def handle_endtag(self, tag: str) -> None:
        while self._open:
            closed, _ = self._open.pop()
            if closed == tag:
                break
        if tag in _BREAKING:
            self.pieces.append("\n")
        if tag == "form":
            self._sends = False

    def handle_data(self, data: str) -> None:
        inside = any(tag == "main" for tag, _ in self._open)
        if inside and not self._is_silent:
            self.pieces.append(data.replace("\n", " "))


def ask_reader(
    model: Model, page: ReadPage, earlier: str, texts: PageTexts, seed: int
) -> tuple[str, str, dict[str, str]]:
    """Put a page to a model; returns the prompt, the reply, and what it types into the fields."""
    names = ", ".join(page.fields)
    prompt = _TEXT.format(earlier=earlier or "-", page=page.text, fields=names)
    request = Request((Message("user", prompt),), max_tokens=_MOST_TOKENS, seed=seed)
    reply = model.complete(request).text
    return prompt, reply, read_typed(page, reply, texts)


def read_typed(page: ReadPage, reply: str, texts: PageTexts) -> dict[str, str]:
    """Read what a reply types into the fields.

    It is a JSON object with their names, or the bare answer if there is one field.

    A number is typed as the language of the page writes it.
    """
    typed: dict[str, str] = {}
    for _, data in find_json_objects(reply):
        for name, value in data.items():
            if name in page.fields and isinstance(value, str | int | float):
                number = isinstance(value, int | float) and not isinstance(value, bool)
                typed[name] = texts.figure(float(value)) if number else str(value)
    if not typed and len(page.fields) == 1:
        (name,) = page.fields
        typed[name] = reply.strip()
    return typed
