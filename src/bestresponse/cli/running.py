"""What every command that runs a study does: play what is missing, show what came out, say what is not done."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bestresponse.report.document import Document
    from bestresponse.runs.execute import Outcome, Progress
    from bestresponse.runs.folder import RunFolder
    from bestresponse.runs.manifest import Manifest

__all__ = ["explain", "play_run", "show_findings"]

_MOST_FAILURES = 5


def play_run(
    manifest: Manifest,
    output_dir: Path,
    total: int,
    what: str,
    run: Callable[[RunFolder, Callable[[Progress], None]], Outcome],
) -> tuple[RunFolder, Outcome]:
    """Begin the run of this manifest or go on with it, under a progress bar; a complete one is marked as finished."""
    from bestresponse.cli.terminal import play_progress
    from bestresponse.runs.folder import RunFolder

    path = output_dir / f"{manifest.study}-{manifest.run}"
    with RunFolder.open(path, manifest) as folder, play_progress(total, what) as tell:
        outcome = run(folder, tell)
        if outcome.complete:
            folder.write_text("finished", manifest.created + "\n")
    return folder, outcome


def show_findings(document: Document, files: Iterable[Path], summary: Any, *, as_json: bool, tables: int = 1) -> None:
    """The first tables (or the summary as JSON) on the screen, and the names of the files beside them."""
    from bestresponse.cli.terminal import console, notes, print_table

    if as_json:
        print(json.dumps(summary, indent=2, ensure_ascii=False))
    else:
        for _, table in document.tables[:tables]:
            print_table(console(), table)
    for path in files:
        notes().print(f"wrote {path}", markup=False, soft_wrap=True)


def explain(outcome: Outcome) -> None:
    """What failed, why it stopped, and what to do about it."""
    for failure in outcome.failures[:_MOST_FAILURES]:
        print(f"bestresponse: {failure}", file=sys.stderr)
    if outcome.stopped:
        print(f"bestresponse: stopped: {outcome.stopped}", file=sys.stderr)
    if not outcome.complete:
        print("bestresponse: not everything was played; the same command plays what is missing", file=sys.stderr)
