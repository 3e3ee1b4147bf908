"""`bestresponse reproduce`: published figures beside those found in recorded runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from bestresponse.cli.options import AsJson
from bestresponse.cli.terminal import console, print_table
from bestresponse.core.errors import UsageError
from bestresponse.core.registry import did_you_mean
from bestresponse.studies.reproduce.reproduction import Reproduction

__all__ = ["PAPERS", "reproduce"]

PAPERS: dict[str, str] = {
    "alympics": "bestresponse.studies.reproduce.alympics",
    "lelma": "bestresponse.studies.verify.reproduction",
    "autoformalization": "bestresponse.studies.reproduce.autoformalization",
}
"""Each paper's module; it has a function `reproduce(folder)` that returns a `Reproduction`."""


def reproduce(
    paper: Annotated[str, typer.Argument(help=f"Which paper: {', '.join(PAPERS)}.")],
    data: Annotated[Path, typer.Option(help="The folder with the recorded runs of the paper.")],
    as_json: AsJson = False,
) -> None:
    """Work out the figures of a paper from its recorded runs and say which agree with the published ones."""
    if paper not in PAPERS:
        hint = did_you_mean(paper, list(PAPERS))
        raise UsageError(f"there is no paper {paper!r}; known: {', '.join(PAPERS)}.{hint}")
    if not data.is_dir():
        raise UsageError(f"--data {data}: there is no such folder")
    work: Callable[[Path], Reproduction] = import_module(PAPERS[paper]).reproduce
    found = work(data)
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
