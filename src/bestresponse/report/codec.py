"""Documents as JSON and back: `from_json(to_json(document)) == document`.

Each block is an object whose "block" names its type. Pictures are base64. JSON has no infinities and no NaN: an open
end of an interval is null and comes back infinite; a cell that is not a finite number comes back as None.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from bestresponse.core.errors import StoreError, UsageError
from bestresponse.core.json import JsonObject
from bestresponse.report.document import (
    Block,
    Cell,
    Code,
    Column,
    Document,
    Figure,
    KeyValues,
    Note,
    Paragraph,
    Quote,
    Section,
    Table,
)
from bestresponse.report.stats.interval import Interval

Json = JsonObject

_FORMAT = "bestresponse-report/1"
_BLOCKS: Mapping[str, type[Block]] = {
    kind.__name__.lower(): kind for kind in (Paragraph, Note, Table, Figure, Code, Quote, KeyValues)
}


def to_json(document: Document) -> str:
    """Return the document as JSON text in ASCII, the same for the same document."""
    plain = {
        "format": _FORMAT,
        "title": document.title,
        "subtitle": document.subtitle,
        "opening": [_block_json(block) for block in document.opening],
        "sections": [
            {"title": section.title, "anchor": section.anchor, "blocks": [_block_json(b) for b in section.blocks]}
            for section in document.sections
        ],
        "footer": document.footer,
    }
    return json.dumps(plain, indent=1, allow_nan=False)


def from_json(text: str) -> Document:
    """Return the document that `to_json` wrote, or raise StoreError saying what is wrong with the text."""
    try:
        plain = json.loads(text)
        if not isinstance(plain, dict) or plain.get("format") != _FORMAT:
            raise StoreError(f"this is not a report: expected a JSON object whose format is {_FORMAT!r}")
        sections = tuple(
            Section(item["title"], tuple(_block(b) for b in item["blocks"]), item["anchor"])
            for item in plain["sections"]
        )
        opening = tuple(_block(block) for block in plain["opening"])
        return Document(plain["title"], plain["subtitle"], sections, opening, plain["footer"])
    except KeyError as error:
        raise StoreError(f"this report is damaged: {error} is missing") from None
    except (AttributeError, TypeError, ValueError, binascii.Error, UsageError, RecursionError) as error:
        raise StoreError(f"this report is damaged: {error}") from None


def cell_json(cell: Cell) -> Any:
    """Return a cell as plain JSON data; an interval also says how it was computed, so that it can be read back."""
    if isinstance(cell, Interval):
        return {**cell.to_json(), "method": cell.method}
    return _finite(cell) if isinstance(cell, float) else cell


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _block_json(block: Block) -> Json:
    kind = type(block).__name__.lower()
    match block:
        case Table():
            columns = [
                {field.name: getattr(column, field.name) for field in fields(Column)} for column in block.columns
            ]
            rows = [[cell_json(cell) for cell in row] for row in block.rows]
            return {"block": kind, "caption": block.caption, "columns": columns, "rows": rows}
        case Figure():
            image = base64.b64encode(block.image).decode("ascii")
            return {"block": kind, "caption": block.caption, "alt": block.alt, "image": image}
        case KeyValues():
            items = [[name, cell_json(value)] for name, value in block.items]
            return {"block": kind, "items": items, "prominent": block.prominent, "format": block.format}
        case Paragraph() | Note() | Code() | Quote():
            return {"block": kind, **{field.name: getattr(block, field.name) for field in fields(block)}}


def _block(plain: Json) -> Block:
    rest = dict(plain)
    kind = _BLOCKS.get(rest.pop("block"))
    if kind is None:
        raise StoreError(f"this report is damaged: {plain['block']!r} is not a kind of block")
    if kind is Table:
        rest["columns"] = tuple(Column(**column) for column in rest["columns"])
        rest["rows"] = tuple(tuple(_cell(cell) for cell in row) for row in rest["rows"])
    elif kind is Figure:
        rest["image"] = base64.b64decode(rest["image"], validate=True)
    elif kind is KeyValues:
        rest["items"] = tuple((name, _cell(value)) for name, value in rest["items"])
    return kind(**rest)


def _cell(plain: Any) -> Cell:
    if not isinstance(plain, dict):
        return plain  # type: ignore[no-any-return]
    estimate = math.nan if plain["estimate"] is None else plain["estimate"]
    low = -math.inf if plain["low"] is None else plain["low"]
    high = math.inf if plain["high"] is None else plain["high"]
    return Interval(estimate, low, high, plain["level"], plain["method"], plain["n"])
