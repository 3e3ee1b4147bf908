"""A report as data: sections of blocks, frozen, comparable; its JSON form, and its cells as text.

Everything shown to a reader is a value first; `bestresponse.report.page` turns it into HTML,
`Document.to_json` into JSON, where each block is an object whose "block" names its type. Pictures
are base64. JSON has no infinities and no NaN: an open end of an interval and a cell that is not a
finite number are null. Text is plain text: nothing in it is read as markup. `show_cell` writes a
cell in the same way on the page, on the terminal and in the web application.
"""

import base64
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Literal, get_args

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.core.notebook import format_html
from bestresponse.report.numbers import NOISE, format_number, measure_noise
from bestresponse.report.stats.statistics import Interval

Cell = str | int | float | bool | None | Interval


def as_cell(value: object, where: str = "a cell") -> Cell:
    """Return `value` as a cell (numpy's numbers become Python's), or raise UsageError.

    >>> as_cell(np.int64(3))
    3
    """
    plain = value.item() if isinstance(value, np.generic) else value
    if plain is None or isinstance(plain, str | int | float | bool | Interval):
        return plain
    raise UsageError(
        f"{where}: expected text, a number, yes/no, an interval or None; got {type(plain).__name__}"
    )


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
    """A column of a table.

    `help` explains it to the reader, and `format` is a format specification for its numbers
    (".3f").

    Numbers smaller than `noise` are rounding errors and are shown as 0.
    """

    name: str
    align: Literal["left", "right", "center"] = "left"
    help: str = ""
    format: str = ""
    noise: float = NOISE

    def __post_init__(self) -> None:
        try:
            format(0.5, self.format)
        except ValueError:
            raise UsageError(
                f"column {self.name!r}: {self.format!r} is not a format for numbers, try '.3f'"
            ) from None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under named columns.

    None is "there is none" and is shown as a dash, never as 0. `links` are the addresses to which
    the numbers of each row lead, if they do.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    links: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise UsageError(
                    f"table row {number} has {len(row)} cells, but there are {len(self.columns)}"
                    f" columns ({', '.join(column.name for column in self.columns)})"
                )
        rows = [tuple(map(as_cell, row)) for row in self.rows]
        object.__setattr__(self, "rows", tuple(rows))

    def embed(self, title: str) -> str:
        """Return the table as HTML, for notebooks."""
        return format_html(title, [column.name for column in self.columns], self.rows)


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture, its caption, and what it shows in words.

    The picture is SVG or PNG, told apart by its first bytes.
    """

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
        is_svg = self.image.lstrip().startswith((b"<?xml", b"<svg ", b"<svg>"))
        return "image/svg+xml" if is_svg else ""


@dataclass(frozen=True, slots=True)
class Code:
    """Text to be typed or run, kept exactly: commands, prompts, programs, files.

    With a title it is folded.
    """

    text: str
    language: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a model or a person, and where they come from."""

    text: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class KeyValues:
    """Names and values; `prominent` shows them as large numbers instead of a list.

    `formats` are those of the items one by one, where they differ, so that a number is printed here
    as in its table.
    """

    items: tuple[tuple[str, Cell], ...]
    prominent: bool = False
    format: str = ""
    formats: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        items = [(name, as_cell(value, name)) for name, value in self.items]
        object.__setattr__(self, "items", tuple(items))

    def find_format(self, number: int) -> str:
        """Return the format of an item's numbers."""
        return self.formats[number] if self.formats else self.format


Block = Paragraph | Note | Table | Figure | Code | Quote | KeyValues


@dataclass(frozen=True, slots=True)
class Section:
    """A titled run of blocks. Without an anchor, one is made of the title."""

    title: str
    blocks: tuple[Block, ...] = ()
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report.

    `opening` is above the first section; `footer` says what made the report.
    """

    title: str
    subtitle: str = ""
    sections: tuple[Section, ...] = ()
    opening: tuple[Block, ...] = ()
    footer: str = ""

    def __repr__(self) -> str:
        return f"Document({self.title!r}, {len(self.sections)} sections)"

    def to_json(self) -> str:
        """Return the document as JSON text in ASCII, the same for the same document."""
        parts = {part.name: _plain(getattr(self, part.name)) for part in fields(self)}
        return json.dumps({"format": _FORMAT, **parts}, indent=1, allow_nan=False)

    @property
    def tables(self) -> tuple[tuple[str, Table], ...]:
        """List every table with the title of its section, in order."""
        return tuple(
            (section.title, block)
            for section in self.sections
            for block in section.blocks
            if isinstance(block, Table)
        )


_FORMAT = "bestresponse-report/1"


def cell_json(cell: Cell) -> str | float | Mapping[str, str | float | None] | None:
    """Return a cell as plain JSON data."""
    if isinstance(cell, Interval):
        return cell.to_json()
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _plain(value: object) -> object:
    """Return a part of a document as plain data: its fields by name.

    The name of its kind comes before them if it is a block.
    """
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, Interval) or not is_dataclass(value):
        return cell_json(value)  # type: ignore[arg-type]
    plain: dict[str, object] = {}
    if isinstance(value, get_args(Block)):
        plain["block"] = type(value).__name__.lower()
    for part in fields(value):
        plain[part.name] = _plain(getattr(value, part.name))
    return plain


_ABSENT = "–"


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A cell as text.

    Holds the main part, the interval behind it, what it sorts by, and how it is set.
    """

    main: str
    aside: str = ""
    key: str = ""
    style: str = "text"


def show_cell(cell: Cell, spec: str = "", noise: float = NOISE) -> ShownCell:
    """Show a cell.

    This gives a dash for None, yes or no, text as it is, numbers by `spec`, and an interval with
    its ends.
    """
    match cell:
        case None:
            return ShownCell(_ABSENT, style="absent")
        case bool():
            return ShownCell("yes" if cell else "no", key=str(int(cell)))
        case str():
            return ShownCell(cell)
        case Interval(estimate, method="exact"):
            return show_cell(estimate, spec, noise)
        case Interval():
            low, high = (format_number(end, spec, noise) for end in (cell.low, cell.high))
            known = not (math.isinf(cell.low) and math.isinf(cell.high))
            why = "n = 1" if cell.n < 2 else f"{cell.n} alike"
            ends = f"[{low}, {high}]" if known else f"[no interval: {why}]"
            return replace(show_cell(float(cell.estimate), spec, noise), aside=ends)
        case int() | float():
            absent = math.isnan(cell)
            style = "absent" if absent else "number"
            return ShownCell(
                format_number(cell, spec, noise),
                key="" if absent else repr(cell),
                style=style,
            )


def format_cell(cell: Cell, spec: str = "", noise: float = NOISE) -> str:
    """Format a cell in one line.

    >>> format_cell(Interval(0.5, 0.25, 0.75, 0.95, "bca", 9), ".2f"), format_cell(None)
    ('0.50 [0.25, 0.75]', '–')
    >>> format_cell(Interval(0.5, -math.inf, math.inf, 0.95, "t", 1))
    '0.5 [no interval: n = 1]'
    """
    shown = show_cell(cell, spec, noise)
    return f"{shown.main} {shown.aside}".rstrip()


def format_rows(table: Table) -> list[list[str]]:
    """Format the cells of a table as its columns say; a dash where there is none."""
    noises = measure_column_noise(table)
    formatted = []
    for row in table.rows:
        texts = []
        for cell, column, noise in zip(row, table.columns, noises, strict=True):
            texts.append("-" if cell is None else format_cell(cell, column.format, noise))
        formatted.append(texts)
    return formatted


def measure_column_noise(table: Table) -> tuple[float, ...]:
    """Return, for every column of a table, the size below which its numbers are noise."""
    noises = []
    for index, column in enumerate(table.columns):
        numbers: list[float] = []
        for row in table.rows:
            cell = row[index]
            if isinstance(cell, Interval):
                numbers += (cell.estimate, cell.low, cell.high)
            elif isinstance(cell, int | float):
                numbers.append(cell)
        noises.append(measure_noise(numbers, column.noise))
    return tuple(noises)
