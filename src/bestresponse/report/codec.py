"""Documents as JSON.

Each block is an object whose "block" names its type. Pictures are base64. JSON has no infinities and no NaN: an open
end of an interval and a cell that is not a finite number are null.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import get_args

from bestresponse.report.document import Block, Cell, Document
from bestresponse.report.stats.interval import Interval

_FORMAT = "bestresponse-report/1"


def to_json(document: Document) -> str:
    """Return the document as JSON text in ASCII, the same for the same document."""
    parts = {part.name: _plain(getattr(document, part.name)) for part in fields(document)}
    return json.dumps({"format": _FORMAT, **parts}, indent=1, allow_nan=False)


def cell_json(cell: Cell) -> str | float | Mapping[str, str | float | None] | None:
    """Return a cell as plain JSON data."""
    if isinstance(cell, Interval):
        return cell.to_json()
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _plain(value: object) -> object:
    """Return a part of a document as plain data: its fields by name, after the name of its kind if it is a block."""
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, Interval) or not is_dataclass(value):
        return cell_json(value)  # type: ignore[arg-type]
    kind = {"block": type(value).__name__.lower()} if isinstance(value, get_args(Block)) else {}
    return kind | {part.name: _plain(getattr(value, part.name)) for part in fields(value)}
