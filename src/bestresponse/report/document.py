"""A report as data: sections of blocks, frozen, comparable.

Everything shown to a reader is a value first; `bestresponse.report.page` turns it into HTML,
`bestresponse.report.codec` into JSON. Text is plain text: nothing in it is read as markup.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.report.numbers import NOISE
from bestresponse.report.stats.interval import Interval

Cell = str | int | float | bool | None | Interval


def as_cell(value: object, where: str = "a cell") -> Cell:
    """Return `value` as a cell (numpy's numbers become Python's), or raise UsageError.

    >>> as_cell(np.int64(3))
    3
    """
    plain = value.item() if isinstance(value, np.generic) else value
    if plain is None or isinstance(plain, str | int | float | bool | Interval):
        return plain
    raise UsageError(f"{where}: expected text, a number, yes/no, an interval or None; got {type(plain).__name__}")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text; blank lines separate paragraphs."""

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """A remark set apart: information, or a warning that limits what may be concluded."""

    text: str
    kind: Literal["info", "warning"] = "info"


@dataclass(frozen=True, slots=True)
class Column:
    """A column: `help` explains it to the reader, `format` is a format specification for its numbers (".3f").

    Numbers smaller than `noise` are rounding errors and are shown as 0. A cell of a column with an `anchor` can be
    linked to; one of a column with a `link` of the same name links to the cell of the same number or word there.
    """

    name: str
    align: Literal["left", "right", "center"] = "left"
    help: str = ""
    format: str = ""
    noise: float = NOISE
    anchor: str = ""
    link: str = ""

    def __post_init__(self) -> None:
        try:
            format(0.5, self.format)
        except ValueError:
            raise UsageError(f"column {self.name!r}: {self.format!r} is not a format for numbers, try '.3f'") from None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under named columns. None is "there is none" and is shown as a dash, never as 0."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise UsageError(
                    f"table row {number} has {len(row)} cells, but there are {len(self.columns)} columns "
                    f"({', '.join(column.name for column in self.columns)})"
                )
        object.__setattr__(self, "rows", tuple(tuple(as_cell(cell) for cell in row) for row in self.rows))


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture (SVG or PNG, told apart by its first bytes), its caption, and what it shows in words."""

    image: bytes
    caption: str
    alt: str

    def __post_init__(self) -> None:
        if not self.media_type:
            raise UsageError("a figure is an SVG or PNG file; these bytes start like neither")

    @property
    def media_type(self) -> str:
        """Return its internet media type; empty where it is no picture."""
        if self.image.startswith(b"\x89PNG\r\n\x1a\n"):
            return "image/png"
        return "image/svg+xml" if self.image.lstrip()[:5] in (b"<?xml", b"<svg ", b"<svg>") else ""


@dataclass(frozen=True, slots=True)
class Code:
    """Text to be typed or run, kept exactly: commands, prompts, programs, files."""

    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a model or a person, and where they come from."""

    text: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class KeyValues:
    """Names and values; `prominent` shows them as headline figures instead of a list."""

    items: tuple[tuple[str, Cell], ...]
    prominent: bool = False
    format: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", tuple((name, as_cell(value, name)) for name, value in self.items))


Block = Paragraph | Note | Table | Figure | Code | Quote | KeyValues


@dataclass(frozen=True, slots=True)
class Section:
    """A titled run of blocks. Without an anchor, one is made of the title."""

    title: str
    blocks: tuple[Block, ...] = ()
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report. `opening` stands above the first section; `footer` says what made the report."""

    title: str
    subtitle: str = ""
    sections: tuple[Section, ...] = ()
    opening: tuple[Block, ...] = ()
    footer: str = ""

    def __repr__(self) -> str:
        return f"Document({self.title!r}, {len(self.sections)} sections)"

    @property
    def tables(self) -> tuple[tuple[str, Table], ...]:
        """List every table with the title of its section, in order."""
        return tuple(
            (section.title, block) for section in self.sections for block in section.blocks if isinstance(block, Table)
        )
