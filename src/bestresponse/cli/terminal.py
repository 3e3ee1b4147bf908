"""How the command line shows documents, tables and progress on a terminal, and waits for long
computations."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import active_children
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, TypeVar

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from bestresponse.cli.switches import spoken
from bestresponse.core.errors import Interrupted
from bestresponse.report.document import (
    Block,
    Document,
    KeyValues,
    Note,
    Paragraph,
    Table,
    format_cell,
    format_rows,
)
from bestresponse.report.text import visible

if TYPE_CHECKING:
    from bestresponse.report.frames import Frame, R
    from bestresponse.runs.execution import Progress


_MOST_KEYS = 3
_FEWEST_COLUMNS = 3  # a table of fewer would repeat its first column more often than show others


def console() -> Console:
    """Where results go."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else 200)


def notes() -> Console:
    """Where everything goes that is not a result, unless --quiet is given."""
    return Console(stderr=True, highlight=False, quiet=spoken.quiet)


def print_note(sentence: str) -> None:
    """Print a line that is not a result, unless --quiet is given."""
    if not spoken.quiet:
        print(sentence, file=sys.stderr, flush=True)


def print_table(out: Console, table: Table) -> None:
    """A table of a document; text is shown as it is, never as markup.

    On a narrow terminal the columns that do not fit follow in further tables, each with the columns
    again that tell its rows apart.
    """
    rows = [list(map(visible, cells)) for cells in format_rows(table)]
    names = [visible(column.name) for column in table.columns]
    for part, indices in enumerate(_split_columns(names, rows, out.width)):
        caption = Text(visible(table.caption)) if table.caption and not part else None
        lines = RichTable(title=caption, title_justify="left", box=None, pad_edge=False)
        for index in indices:
            lines.add_column(
                Text(names[index]),
                justify=table.columns[index].align,
                overflow="fold",
            )
        for row in rows:
            lines.add_row(*(Text(row[index]) for index in indices))
        out.print(lines)


def print_document(out: Console, document: Document) -> None:
    """Everything in `document` that is text."""
    out.print(Text(visible(document.title), style="bold"))
    if document.subtitle:
        out.print(Text(visible(document.subtitle), style="dim"))
    _print_blocks(out, document.opening)
    for section in document.sections:
        out.print()
        out.print(Text(visible(section.title), style="bold underline"))
        _print_blocks(out, section.blocks)


def _print_blocks(out: Console, blocks: tuple[Block, ...]) -> None:
    for block in blocks:
        match block:
            case Table():
                if block.caption:
                    out.print(Text(visible(block.caption), style="italic"))
                print_table(out, replace(block, caption=""))
            case KeyValues():
                grid = RichTable.grid(padding=(0, 2))
                for number, (name, value) in enumerate(block.items):
                    text = format_cell(value, block.find_format(number))
                    shown = "none" if value is None else visible(text)
                    grid.add_row(Text(visible(name)), Text(shown))
                out.print(grid)
            case Paragraph(text):
                out.print(Text(visible(text)))
            case Note(text, kind):
                out.print(Text(visible(text), style="yellow" if kind == "warning" else "dim"))


def show_frame(frame: Frame[R], as_json: bool) -> None:
    """Print a frame as a table, or as JSON."""
    if as_json:
        print(json.dumps(frame.to_json(), indent=2, ensure_ascii=False))
    else:
        print_table(console(), frame.to_table(list(frame.columns)))


def _split_columns(names: list[str], rows: list[list[str]], width: int) -> list[list[int]]:
    """List which columns stand side by side, two spaces apart; three at least, which then wrap."""
    widths = [
        max([len(name), *(len(row[index]) for row in rows)]) + 2 for index, name in enumerate(names)
    ]
    keys = _count_keys(rows)
    parts: list[list[int]] = [[]]
    for index in range(len(names)):
        together = sum(widths[earlier] for earlier in parts[-1]) + widths[index] - 2
        if together > width and len(parts[-1]) >= max(_FEWEST_COLUMNS, keys + 1):
            parts.append(list(range(keys)))
        parts[-1].append(index)
    return parts


def _count_keys(rows: Sequence[Sequence[str]]) -> int:
    """Count the first columns that tell all rows apart; 1 where three do not."""
    for count in range(1, _MOST_KEYS + 1):
        if len({tuple(row[:count]) for row in rows}) == len(rows):
            return count
    return 1


@contextmanager
def play_progress(
    total: int | None,
    what: str,
    recorded: int = 0,
) -> Iterator[Callable[[Progress], None]]:
    """A live bar on the terminal, which begins at what was `recorded`; gives the function to tell
    progress to.

    Where there is no terminal: a line at the beginning, at the first play, and then whenever a
    tenth is done. Where there is nothing to do, nothing is shown.
    """
    if total == recorded:
        yield lambda progress: None
        return

    from rich import (
        progress as rich,
    )  # here and not above, as `solve` shows no bar and starts sooner without it

    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.TextColumn("{task.completed:.0f}") if total is None else rich.MofNCompleteColumn(),
        rich.TimeElapsedColumn(),
        *(() if total is None else (rich.TextColumn("left"), rich.TimeRemainingColumn())),
        rich.TextColumn("{task.fields[failed]}"),
    )
    out = notes()
    with rich.Progress(
        *columns,
        console=out,
        transient=False,
        disable=spoken.quiet or not out.is_terminal,
    ) as bar:
        task = bar.add_task(what, total=total, completed=recorded, failed="")
        last_tenth = -1

        def say(done: int, failed: str) -> None:
            of_all = f" of {total}" if total else ""
            print_note(f"{what}: {done}{of_all}{failed and f', {failed}'}")

        def follow(progress: Progress) -> None:
            nonlocal last_tenth
            done = progress.found + progress.played
            failed = f"{progress.failed} failed" if progress.failed else ""
            bar.update(task, completed=done, failed=failed)
            tenth = 10 * done // total if total else done // 100
            if not out.is_terminal and tenth > last_tenth:
                last_tenth = tenth
                say(done, failed)

        if not out.is_terminal:
            say(recorded, "")
        yield follow


class DownloadProgress:
    """Print a line of progress for weights that are being downloaded."""

    def __init__(self) -> None:
        self._last_percent = -1

    def __call__(self, done: int, total: int | None) -> None:
        if not total or spoken.quiet:
            return
        percent = 100 * done // total
        if percent // 5 > self._last_percent // 5 or (percent == 100 and self._last_percent != 100):
            self._last_percent = percent
            end = "\n" if percent == 100 or not sys.stderr.isatty() else "\r"
            size = f"{done / 1e6:.0f} of {total / 1e6:.0f} MB ({percent} %)"
            print(f"downloading the model: {size}", end=end, file=sys.stderr)


T = TypeVar("T")

_QUIET = 2.0  # seconds: what is solved sooner needs no line
_TICK = 0.2  # seconds between two looks at the clock shown
_LEAVE = 1.0  # seconds that a second Ctrl-C leaves for closing files


def _leave() -> None:
    """End at once; a worker that is only starting would otherwise print a trace when it misses its
    parent."""
    for child in active_children():
        child.kill()
    os._exit(130)


@contextmanager
def tell_interrupt(workers: int) -> Iterator[None]:
    """Say at the first Ctrl-C what is waited for; the second one does not wait. A single worker is
    never waited for."""
    usual = signal.getsignal(signal.SIGINT)
    if (
        usual is not signal.default_int_handler
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    def tell(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, leave)
        waited = "waiting for the plays under way, which are kept"
        os.write(2, f"\nbestresponse: stopping: {waited}; Ctrl-C again does not wait\n".encode())
        raise KeyboardInterrupt

    def leave(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # Models that are being closed, and threads that Python joins at its end, may wait for a
        # server for minutes.
        end = threading.Timer(_LEAVE, _leave)
        end.daemon = True
        end.start()
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, tell if workers > 1 else leave)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, usual)


def wait_for(compute: Callable[[], T], what: str = "solving", progress: Sequence[str] = ()) -> T:
    """Compute in a thread of its own and return its result, or raise its error.

    After two seconds a terminal shows how far it is, which it adds to `progress`. Ctrl-C raises
    Interrupted with what is known so far and leaves the thread behind, which ends with the process:
    compiled loops and linear programs do not listen to signals.
    """
    outcome: Future[T] = Future()

    def run() -> None:
        try:
            outcome.set_result(compute())
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that waits
            outcome.set_exception(error)

    start = monotonic()
    try:
        threading.Thread(target=run, daemon=True).start()
        wait([outcome], _QUIET)
        if sys.stderr.isatty() and not outcome.done():
            with notes().status(what) as status:
                while not outcome.done():
                    known = f": {progress[-1]}" if progress else ""
                    status.update(f"{what}, {monotonic() - start:.0f} s{known} (Ctrl-C stops)")
                    wait([outcome], _TICK)
        return outcome.result()
    except KeyboardInterrupt:
        known = (
            f"; so far {progress[-1]}"
            if progress
            else ", before there was any bound or equilibrium"
        )
        raise Interrupted(f"{what} was stopped after {monotonic() - start:.0f} s{known}") from None
