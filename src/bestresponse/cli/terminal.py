"""How the command line shows documents, tables and progress on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress as Bar,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table as RichTable
from rich.text import Text

from bestresponse.report.cells import format_cell, measure_column_noise
from bestresponse.report.document import Table
from bestresponse.report.text import visible

if TYPE_CHECKING:  # which would load everything that runs need, for a command that runs nothing
    from bestresponse.report.frames import Frame
    from bestresponse.runs.execution import Progress

_FEWEST_COLUMNS = 3


def console() -> Console:
    """Where results go."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else 200)


def notes() -> Console:
    """Where everything goes that is not a result."""
    return Console(stderr=True, highlight=False)


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "game"), counted(2, "game")
    ('1 game', '2 games')
    """
    return f"{number} {noun}{'' if number == 1 else 's'}"


def print_table(out: Console, table: Table) -> None:
    """A table of a document; text is shown as it is, never as markup.

    On a narrow terminal the columns that do not fit follow in further tables, each with the first column again.
    """
    formats = [(column.format, noise) for column, noise in zip(table.columns, measure_column_noise(table), strict=True)]
    rows = [
        ["-" if cell is None else visible(format_cell(cell, *how)) for cell, how in zip(row, formats, strict=True)]
        for row in table.rows
    ]
    names = [visible(column.name) for column in table.columns]
    for part, places in enumerate(_split_columns(names, rows, out.width)):
        caption = Text(visible(table.caption)) if table.caption and not part else None
        lines = RichTable(title=caption, title_justify="left", box=None, pad_edge=False)
        for place in places:
            lines.add_column(Text(names[place]), justify=table.columns[place].align, overflow="fold")
        for row in rows:
            lines.add_row(*(Text(row[place]) for place in places))
        out.print(lines)


def show_frame(frame: Frame[Any], as_json: bool) -> None:
    """Print a frame as a table, or as JSON."""
    if as_json:
        print(json.dumps(frame.to_json(), indent=2, ensure_ascii=False))
    else:
        print_table(console(), frame.to_table(list(frame.columns)))


def _split_columns(names: list[str], rows: list[list[str]], width: int) -> list[list[int]]:
    """List which columns stand side by side, two spaces apart; three at least, which then wrap."""
    widths = [max([len(name), *(len(row[place]) for row in rows)]) + 2 for place, name in enumerate(names)]
    parts: list[list[int]] = [[]]
    for place in range(len(names)):
        together = sum(widths[earlier] for earlier in parts[-1]) + widths[place] - 2
        if together > width and len(parts[-1]) >= _FEWEST_COLUMNS:
            parts.append([0])
        parts[-1].append(place)
    return parts


@contextmanager
def play_progress(total: int | None, what: str = "plays") -> Iterator[Callable[[Progress], None]]:
    """A live bar on the terminal (plain lines where there is none); gives the function to tell progress to.

    Where there is nothing to do, nothing is shown.
    """
    if total == 0:
        yield lambda progress: None
        return

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.0f}") if total is None else MofNCompleteColumn(),
        TimeElapsedColumn(),
        *(() if total is None else (TextColumn("left"), TimeRemainingColumn())),
        TextColumn("{task.fields[failed]}"),
    )
    out = notes()
    with Bar(*columns, console=out, transient=False, disable=not out.is_terminal) as bar:
        task = bar.add_task(what, total=total, failed="")
        plain = _PlainLines(total, what)
        if not out.is_terminal:
            plain.say(0, 0)

        def tell(progress: Progress) -> None:
            failed = f"{progress.failed} failed" if progress.failed else ""
            bar.update(task, completed=progress.found + progress.played, failed=failed)
            if not out.is_terminal:
                plain.tell(progress)

        yield tell


class _PlainLines:
    """Progress where there is no terminal: a line at the first play, and then whenever a tenth is done."""

    def __init__(self, total: int | None, what: str) -> None:
        self._total = total
        self._what = what
        self._said = -1

    def tell(self, progress: Progress) -> None:
        done = progress.found + progress.played
        tenth = 10 * done // self._total if self._total else done // 100
        if tenth > self._said:
            self._said = tenth
            self.say(done, progress.failed)

    def say(self, done: int, failed: int) -> None:
        also = f", {failed} failed" if failed else ""
        of_all = f" of {self._total}" if self._total else ""
        print(f"{self._what}: {done}{of_all}{also}", file=sys.stderr, flush=True)


class DownloadProgress:
    """Print a line of progress for weights that are being downloaded."""

    def __init__(self) -> None:
        self._said = -1

    def __call__(self, done: int, total: int | None) -> None:
        if not total:
            return
        percent = 100 * done // total
        if percent // 5 > self._said // 5 or (percent == 100 and self._said != 100):
            self._said = percent
            end = "\n" if percent == 100 or not sys.stderr.isatty() else "\r"
            size = f"{done / 1e6:.0f} of {total / 1e6:.0f} MB ({percent} %)"
            print(f"downloading the model: {size}", end=end, file=sys.stderr)
