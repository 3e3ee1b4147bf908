"""`bestresponse reproduce`: published figures beside those found in recorded runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from bestresponse.api.reasoning import papers, reproduce as work_out
from bestresponse.cli.options import AsJson
from bestresponse.cli.terminal import console, print_table
from bestresponse.report.files import write_text
from bestresponse.report.page import render


def reproduce(
    paper: Annotated[str, typer.Argument(help=f"Which paper: {', '.join(papers.names())}.")],
    data: Annotated[Path, typer.Option(help="The folder with the recorded runs of the paper.")],
    page: Annotated[Path | None, typer.Option(help="Write the report to this file, as a page.")] = None,
    as_json: AsJson = False,
) -> None:
    """Work out the figures of a paper from its recorded runs and say which agree with the published ones."""
    found = work_out(paper, data)
    if page is not None:
        write_text(page, render(found.report()))
    if as_json:
        print(json.dumps(found.to_json(), indent=2, ensure_ascii=False, default=float))
        return
    for table in (*found.tables, found.table()):
        print_table(console(), table)
        print()
    compared = [check for check in found.checks if check.agrees is not None]
    agree = sum(check.agrees is True for check in compared)
    print(f"{agree} of {len(compared)} compared figures agree" + (":" if found.differing else "."))
    for check in found.differing:
        print(f"  differs: {check.what}: published {check.published}, found {check.found}")
