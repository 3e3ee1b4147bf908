"""A language that nobody speaks: every text in capitals, between brackets, places aside."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from babel.messages.catalog import Message
from babel.messages.pofile import read_po

HEADER = (
    'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n'
    '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n'
)
KEPT = {"decimal-mark", "list-mark", "own-words"}
"""Messages that are no sentences."""


def read_english(source: Traversable | None = None) -> list[Message]:
    source = source or files("bestresponse.telling.catalogues").joinpath("en.po")
    with source.open("rb") as file:
        return [message for message in read_po(file) if message.id]


def shout(text: str) -> str:
    """Write a text in capitals between brackets; its places are kept.

    >>> shout("{who} gets {amount}")
    '«{who} GETS {amount}»'
    """
    loud = re.sub(
        r"\{\w+\}|[^{}]+", lambda part: part[0] if part[0][0] == "{" else part[0].upper(), text
    )
    return f"«{loud}»"


def write_catalogue(
    folder: Path,
    name: str,
    change: Callable[[Message, str], str] = lambda message, text: text,
    drop: Iterable[str] = (),
    source: Traversable | None = None,
) -> Path:
    """Write the catalogue of the language; `change` may spoil a text, `drop` leaves messages out
    by their names, or words by their English. `source` is another English catalogue, that of a
    game's folder."""
    entries = [HEADER]
    for message in read_english(source):
        sources = [message.id] if isinstance(message.id, str) else list(message.id)
        if message.context in drop or sources[0] in drop:
            continue
        texts = [
            change(message, text if message.context in KEPT else shout(text)) for text in sources
        ]
        lines = [f"msgctxt {_quote(message.context)}", f"msgid {_quote(sources[0])}"]
        if len(sources) == 1:
            lines.append(f"msgstr {_quote(texts[0])}")
        else:
            lines.append(f"msgid_plural {_quote(sources[1])}")
            lines += [f"msgstr[{number}] {_quote(text)}" for number, text in enumerate(texts)]
        entries.append("\n".join(lines) + "\n")
    (folder / f"{name}.po").write_text("\n".join(entries), "utf-8")
    return folder


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
