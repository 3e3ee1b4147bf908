"""Cells of a table as text, the same on the page, on the terminal and in the web application."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from bestresponse.report.document import Cell, Table
from bestresponse.report.numbers import NOISE, format_number, measure_noise
from bestresponse.report.stats.interval import Interval

_ABSENT = "–"


@dataclass(frozen=True, slots=True)
class ShownCell:
    """A cell as text: the main part, the interval behind it, what it sorts by, and how it is set."""

    main: str
    aside: str = ""
    key: str = ""
    style: str = "text"


def show_cell(cell: Cell, spec: str = "", noise: float = NOISE) -> ShownCell:
    """Show a cell: a dash for None, yes or no, text as it is, numbers by `spec`, an interval with its ends."""
    match cell:
        case None:
            return ShownCell(_ABSENT, style="absent")
        case bool():
            return ShownCell("yes" if cell else "no", key=str(int(cell)))
        case str():
            return ShownCell(cell)
        case Interval():
            low, high = (format_number(end, spec, noise) for end in (cell.low, cell.high))
            known = not (math.isinf(cell.low) and math.isinf(cell.high))
            ends = f"[{low}, {high}]" if known else f"[no interval: n = {cell.n}]"
            return replace(show_cell(float(cell.estimate), spec, noise), aside=ends)
        case int() | float():
            absent = math.isnan(cell)
            style = "absent" if absent else "number"
            return ShownCell(format_number(cell, spec, noise), key="" if absent else repr(cell), style=style)


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
    formats = [(column.format, noise) for column, noise in zip(table.columns, measure_column_noise(table), strict=True)]
    return [
        ["-" if cell is None else format_cell(cell, *how) for cell, how in zip(row, formats, strict=True)]
        for row in table.rows
    ]


def measure_column_noise(table: Table) -> tuple[float, ...]:
    """Return, for every column of a table, the size below which its numbers are noise."""
    columns = zip(*table.rows, strict=True) if table.rows else ((),) * len(table.columns)
    numbers = (
        [
            number
            for cell in cells
            for number in ((cell.estimate, cell.low, cell.high) if isinstance(cell, Interval) else (cell,))
            if isinstance(number, int | float) and not isinstance(number, bool)
        ]
        for cells in columns
    )
    return tuple(measure_noise(known, column.noise) for column, known in zip(table.columns, numbers, strict=True))
