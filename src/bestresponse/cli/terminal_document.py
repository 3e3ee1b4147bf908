"""A whole document on a terminal: headings, tables, names with values, remarks. Pictures and code are left out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rich.table import Table as RichTable
from rich.text import Text

from bestresponse.cli.terminal import print_table
from bestresponse.report.cells import format_cell
from bestresponse.report.document import Block, Document, KeyValues, Note, Paragraph, Table
from bestresponse.report.text import visible

if TYPE_CHECKING:
    from rich.console import Console


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
                _print_values(out, block)
            case Paragraph(text):
                out.print(Text(visible(text)))
            case Note(text, kind):
                out.print(Text(visible(text), style="yellow" if kind == "warning" else "dim"))
            case _:
                pass


def _print_values(out: Console, block: KeyValues) -> None:
    grid = RichTable.grid(padding=(0, 2))
    for name, value in block.items:
        grid.add_row(Text(visible(name)), Text("none" if value is None else visible(format_cell(value, block.format))))
    out.print(grid)
