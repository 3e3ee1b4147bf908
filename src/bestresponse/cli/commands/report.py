"""`bestresponse report`: the report of a run, made anew from what it recorded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bestresponse.cli.options import AsJson

if TYPE_CHECKING:
    from bestresponse.report.document import Document
    from bestresponse.runs.folder import RunFolder

__all__ = ["PUBLISHERS", "report"]

PUBLISHERS = {
    "autoformalization": "bestresponse.cli.commands.bench_stories",
    "bench": "bestresponse.cli.commands.bench_files",
    "playground": "bestresponse.cli.commands.simulate_game_files",
    "steer": "bestresponse.cli.commands.steer_files",
    "tournament": "bestresponse.cli.commands.tournament_files",
    "verify": "bestresponse.cli.commands.verify_files",
    "water": "bestresponse.cli.commands.simulate_files",
}
"""By study, the module whose `publish(folder)` writes the report of a stored run."""


def report(
    run: Annotated[Path, typer.Argument(help="The folder of a run, or the folder above it (the newest run is taken).")],
    as_json: AsJson = False,
) -> None:
    """Measure and report a recorded run again. Needs no model and no network."""
    from bestresponse.cli.terminal import console, notes, print_table
    from bestresponse.report import codec
    from bestresponse.runs.invocation import find_run

    folder = find_run(run)
    document, files = _publisher(folder.manifest.study)(folder)
    if as_json:
        print(codec.to_json(document))
        return
    print_table(console(), document.tables[0][1])
    for path in files:
        notes().print(f"wrote {path}", markup=False, soft_wrap=True)


def _publisher(study: str) -> Callable[[RunFolder], tuple[Document, list[Path]]]:
    """What makes the report of a run of this study."""
    from importlib import import_module

    from bestresponse.core.errors import StoreError

    if study not in PUBLISHERS:
        raise StoreError(f"runs of {study!r} have no report; known: {', '.join(PUBLISHERS)}")
    publish: Callable[[RunFolder], tuple[Document, list[Path]]] = import_module(PUBLISHERS[study]).publish
    return publish
