"""Rows as CSV, JSON and Parquet, and tables as LaTeX and Markdown.

A row is a flat mapping from column to cell. Columns appear in the order in which they are first
seen; a row without a column has an empty cell there. An interval fills three columns: its name, and
its name with _low and _high.

CSV is opened in spreadsheets, which run text that starts like a formula (OWASP, "CSV Injection").
Such text gets a leading apostrophe; numbers, also those that arrive as text, do not. Hidden
characters (controls, direction overrides, halves of surrogate pairs) are written by their code
points, and text that another separator would split is quoted. JSON and Parquet keep text as it is.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any

from bestresponse.core.errors import UsageError
from bestresponse.core.extras import install_hint
from bestresponse.core.json import JsonObject
from bestresponse.report.document import Cell, Table, as_cell, format_rows
from bestresponse.report.stats.statistics import Interval
from bestresponse.report.text import abridged, visible

if TYPE_CHECKING:
    import pyarrow

Row = Mapping[str, Cell]

_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
_QUOTED = re.compile(r"""[",;|\t\r\n]|^\s|\s$""")
_PLAIN = (str, int, bool, type(None))
_PAST_64_BITS = 2**63
"""Most cells are of these types and need no look at what they hold, which counts in tables of
100,000 rows."""
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def number_repeated(names: Iterable[str], before: str) -> list[str]:
    """Return the names with a number, and what stands before it, where one is there already.

    >>> number_repeated(["gap", "gap", "regret"], "-")
    ['gap', 'gap-2', 'regret']
    """
    unique: list[str] = []
    for name in names:
        candidate = name
        numbers = count(2)
        while candidate in unique:
            candidate = f"{name}{before}{next(numbers)}"
        unique.append(candidate)
    return unique


def to_csv(rows: Iterable[Row], columns: Sequence[str] = ()) -> str:
    """Write CSV (RFC 4180, lines end in CR LF) with a header; missing and non-finite numbers are
    empty cells.

    `columns` come first, in this order, whether or not a row has them.

    >>> to_csv([{"model": "=cmd()", "gap": -0.5}])
    "model,gap\\r\\n'=cmd(),-0.5\\r\\n"
    """
    keys, flat = _flat(rows)
    names = list(dict.fromkeys([*columns, *keys]))
    lines = [[_csv_text(name) for name in names]]
    for row in flat:
        lines.append([_csv_cell(row.get(name)) for name in names])
    return "".join(f"{','.join(line)}\r\n" for line in lines)


def _csv_cell(cell: object) -> str:
    if cell is None:
        return ""
    return _csv_text(cell) if isinstance(cell, str) else str(cell)


def to_markdown(table: Table) -> str:
    """Write a table of a document as Markdown (GitHub's tables).

    >>> from bestresponse.report.document import Column
    >>> print(to_markdown(Table((Column("model"), Column("gap", "right")), (("a|b", 0.5),))))
    | model | gap |
    |---|---:|
    | a\\|b | 0.5 |
    <BLANKLINE>
    """
    heads = [_escape_markdown(column.name) for column in table.columns]
    rules = ["---:" if column.align == "right" else "---" for column in table.columns]
    lines = [f"| {' | '.join(heads)} |", f"|{'|'.join(rules)}|"]
    for row in format_rows(table):
        lines.append(f"| {' | '.join(map(_escape_markdown, row))} |")
    return "\n".join(lines) + "\n"


def _escape_markdown(text: str) -> str:
    """Return text in one line in which no character is markup."""
    line = " ".join(visible(text).split())
    return re.sub(r"([\\`*_\[\]<>|#~])", r"\\\1", line)


def to_latex(table: Table) -> str:
    """Write a table of a document as LaTeX, for the packages booktabs and inputenc (UTF-8).

    >>> from bestresponse.report.document import Column
    >>> print(to_latex(Table((Column("model"), Column("gap", "right")), (("a_b", 0.5),))))
    \\begin{tabular}{lr}
    \\toprule
    model & gap \\\\
    \\midrule
    a\\_b & 0.5 \\\\
    \\bottomrule
    \\end{tabular}
    <BLANKLINE>
    """
    sides = {"left": "l", "right": "r", "center": "c"}
    aligned = "".join(sides[column.align] for column in table.columns)
    heads = " & ".join(escape_latex(column.name) for column in table.columns)
    lines = [
        rf"\begin{{tabular}}{{{aligned}}}",
        r"\toprule",
        rf"{heads} \\",
        r"\midrule",
    ]
    for row in format_rows(table):
        cells = " & ".join(map(escape_latex, row))
        lines.append(rf"{cells} \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    return "\n".join(lines) + "\n"


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # after a line's end it would begin an argument
    "]": "{]}",
    "\N{EN DASH}": "--",
    "\N{EM DASH}": "---",
    "\N{PLUS-MINUS SIGN}": r"\textpm{}",
    "\N{HORIZONTAL ELLIPSIS}": r"\ldots{}",
    "\N{INFINITY}": r"$\infty$",
    "\N{MINUS SIGN}": "$-$",
    "\N{NO-BREAK SPACE}": "~",
}
_LONGEST_IN_LATEX = 200


def escape_latex(text: str) -> str:
    """Return text in one line as LaTeX that prints it; characters that the usual fonts lack are
    written by their code points.

    >>> escape_latex("50 % of \\\\input{x} \N{SNOWMAN}")
    '50 \\\\% of \\\\textbackslash{}input\\\\{x\\\\} {[}U+2603{]}'
    """
    words = visible(text).split()
    line = abridged(" ".join(words), _LONGEST_IN_LATEX)
    return "".join(_escape_letter(letter) for letter in line)


def _escape_letter(letter: str) -> str:
    if letter in _LATEX:
        return _LATEX[letter]
    is_latin = letter.isascii() or "\u00c0" <= letter <= "\u00ff"
    return letter if is_latin else f"{{[}}U+{ord(letter):04X}{{]}}"


def to_json(rows: Iterable[Row]) -> str:
    """Write a JSON array with one object a row, in ASCII; missing and non-finite numbers are null.

    >>> print(to_json([{"gap": 0.5}]))
    [
    {"gap": 0.5}
    ]
    """
    columns, flat = _flat(rows)
    lines = []
    for row in flat:
        whole = {column: row.get(column) for column in columns}
        lines.append(json.dumps(whole, allow_nan=False))
    if not lines:
        return "[]"
    return "[\n" + ",\n".join(lines) + "\n]"


def to_parquet(rows: Iterable[Row]) -> bytes:
    """Write a Parquet file."""
    made = to_arrow(rows)
    import pyarrow.parquet

    target = io.BytesIO()
    pyarrow.parquet.write_table(made, target)
    return target.getvalue()


def to_arrow(rows: Iterable[Row]) -> pyarrow.Table:
    """Make an Arrow table.

    A column of numbers is numeric, of booleans boolean; anything else, also a mix, is text.
    """
    try:
        import pyarrow
    except ImportError:
        raise UsageError(f"Parquet and Arrow need pyarrow: {install_hint('parquet')}") from None
    columns, flat = _flat(rows)
    return pyarrow.table({name: _uniform([row.get(name) for row in flat]) for name in columns})


def _flat(rows: Iterable[Row]) -> tuple[list[str], list[dict[str, object]]]:
    """Columns in order of first appearance, and the rows.

    In the rows, intervals are spread and non-finite numbers are absent.
    """
    flat = [_spread(row) for row in rows]
    columns = list(dict.fromkeys(column for row in flat for column in row))
    return columns, flat


def _spread(row: Row) -> dict[str, object]:
    result: JsonObject = {}
    for column, value in row.items():
        if type(value) in _PLAIN:
            result[column] = value
            continue
        cell = as_cell(value, f"column {column!r}")
        if isinstance(cell, Interval):
            ends = {column: cell.estimate, f"{column}_low": cell.low, f"{column}_high": cell.high}
            if len(ends.keys() & row.keys()) > 1:
                raise UsageError(
                    f"column {column!r} is an interval and fills {', '.join(ends)}; rename the"
                    " others"
                )
            result.update({name: _finite(end) for name, end in ends.items()})
        else:
            result[column] = _finite(cell)
    return result


def _finite(cell: object) -> object:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


@lru_cache(maxsize=1024)
def _csv_text(text: str) -> str:
    clean = visible(text)
    safe = f"'{clean}" if _looks_like_formula(clean) else clean
    if not _QUOTED.search(safe):
        return safe
    doubled = safe.replace('"', '""')
    return f'"{doubled}"'


def _looks_like_formula(text: str) -> bool:
    return bool(_FORMULA.match(text)) and not _NUMBER.fullmatch(text)


def unguard(text: str) -> str:
    """Take off the apostrophe that `to_csv` puts before text that starts like a formula.

    >>> unguard("'=cmd()"), unguard("'tis")
    ('=cmd()', "'tis")
    """
    if text.startswith("'") and _looks_like_formula(text[1:]):
        return text[1:]
    return text


def _uniform(cells: Sequence[Any]) -> list[object]:
    """Give all cells of a column one type: truth values, whole numbers, numbers, or else text."""
    present = [cell for cell in cells if cell is not None]
    if all(isinstance(cell, bool) for cell in present):
        return list(cells)
    if not all(map(_is_number, present)):
        return [None if cell is None else _write_text(cell) for cell in cells]
    if all(isinstance(cell, int) and abs(cell) < _PAST_64_BITS for cell in present):
        return list(cells)
    return [None if cell is None else float(cell) for cell in cells]


def _is_number(cell: object) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _write_text(cell: object) -> str:
    # Half a surrogate pair is not a character and cannot be written to a file: U+FFFD stands in for
    # it.
    return re.sub("[\ud800-\udfff]", "\ufffd", str(cell))
