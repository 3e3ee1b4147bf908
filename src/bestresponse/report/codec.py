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
from dataclasses import fields, is_dataclass
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
    return json.dumps({"format": _FORMAT, **_plain(document)}, indent=1, allow_nan=False)


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
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _plain(value: Any) -> Any:
    """Return a part of a document as plain data: its fields by name, after the name of its kind if it is a block."""
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, Interval) or not is_dataclass(value):
        return cell_json(value)
    kind = type(value).__name__.lower()
    parts = {part.name: _plain(getattr(value, part.name)) for part in fields(value)}
    return {"block": kind, **parts} if kind in _BLOCKS else parts


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
