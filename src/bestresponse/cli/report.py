"""`bestresponse report`: the report of a run, made anew from what it recorded."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from bestresponse.cli.options import AsJson

__all__ = ["report"]


def report(
    run: Annotated[Path, typer.Argument(help="The folder of a run, or the folder above it (the newest run is taken).")],
    as_json: AsJson = False,
) -> None:
    """Measure and report a recorded run again. Needs no model and no network."""
    from bestresponse.cli.bench_files import write_files
    from bestresponse.cli.show import console, notes, print_table
    from bestresponse.core.errors import StoreError
    from bestresponse.report import codec
    from bestresponse.studies.bench import session
    from bestresponse.studies.runs import find_run

    folder = find_run(run)
    results = session.read_results(folder)
    if not results.rows:
        raise StoreError(f"{folder.path} holds no finished play yet")
    stamp = datetime.now().strftime("%Y%m%d_%H%M%S")
    document, files, _ = write_files(folder, results, folder.path, stamp)
    if as_json:
        print(codec.to_json(document))
        return
    print_table(console(), document.tables[0][1])
    for path in files:
        notes().print(f"wrote {path}", markup=False, soft_wrap=True)
