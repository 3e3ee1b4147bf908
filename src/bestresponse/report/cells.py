"""Cells of a table as text, the same on the page, on the terminal and in the web application."""

from __future__ import annotations

import math

from bestresponse.report.document import Cell, Table
from bestresponse.report.numbers import NOISE, format_number, measure_noise
from bestresponse.report.stats.interval import Interval

ABSENT = "–"


def format_cell(cell: Cell, spec: str = "", noise: float = NOISE) -> str:
    """Format a cell: a dash for None, yes or no, text as it is, numbers by `spec`, an interval with its ends.

    >>> format_cell(Interval(0.5, 0.25, 0.75, 0.95, "bca", 9), ".2f"), format_cell(None)
    ('0.50 [0.25, 0.75]', '–')
    """
    match cell:
        case None:
            return ABSENT
        case bool():
            return "yes" if cell else "no"
        case str():
            return cell
        case Interval():
            return f"{format_number(cell.estimate, spec, noise)} {format_bounds(cell, spec, noise)}"
        case int() | float():
            return format_number(cell, spec, noise)


def format_bounds(interval: Interval, spec: str = "", noise: float = NOISE) -> str:
    """Format the ends of an interval, or say that there is none.

    >>> format_bounds(Interval(0.5, -math.inf, math.inf, 0.95, "t", 1))
    '[no interval: n = 1]'
    """
    if math.isinf(interval.low) and math.isinf(interval.high):
        return f"[no interval: n = {interval.n}]"
    return f"[{format_number(interval.low, spec, noise)}, {format_number(interval.high, spec, noise)}]"


def measure_column_noise(table: Table) -> tuple[float, ...]:
    """Return, for every column of a table, the size below which its numbers are noise."""
    columns = zip(*table.rows, strict=True) if table.rows else ((),) * len(table.columns)
    return tuple(
        measure_noise((number for cell in cells for number in _numbers(cell)), column.noise)
        for column, cells in zip(table.columns, columns, strict=True)
    )


def _numbers(cell: Cell) -> tuple[float, ...]:
    if isinstance(cell, Interval):
        return cell.estimate, cell.low, cell.high
    return (cell,) if isinstance(cell, int | float) and not isinstance(cell, bool) else ()
