"""`bestresponse report`: the report of a run, made anew from what it recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bestresponse.cli.options import AsJson
from bestresponse.cli.terminal import console, notes, print_table
from bestresponse.runs.run import load_run


def report(
    run: Annotated[Path, typer.Argument(help="The folder of a run, or the folder above it (the newest run is taken).")],
    as_json: AsJson = False,
) -> None:
    """Measure and report a recorded run again. Needs no model and no network."""
    loaded = load_run(run)
    files = loaded.publish()
    if as_json:
        print(loaded.report_as_json())
        return
    print_table(console(), loaded.report().tables[0][1])
    for path in files:
        notes().print(f"wrote {path}", markup=False, soft_wrap=True)
