"""`bestresponse merge`: put parts of a run together."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from bestresponse.cli.running import show_run
from bestresponse.runs.store.merge import merge_runs


def merge(
    part: Annotated[list[Path], typer.Argument(help="The folder of a part, or the folder above it; any order.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the merged run; it gets one of its own.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Put parts of a run together, and report the whole. Needs no model and no network.

    Parts may overlap: a play that several hold is kept once, and refused where they recorded it differently. Where
    plays are missing, the same command that made the parts plays them with `--output-dir OUTPUT` and without `--shard`.
    """
    run = merge_runs(part, output)
    if not run.complete:
        print(f"bestresponse: {run.path} lacks plays; merge the other parts too, or play them", file=sys.stderr)
    show_run(run, as_json)
