"""`bestresponse bench autoformalization`: how well models turn stories into games."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from bestresponse.cli.invocation import occasion
from bestresponse.cli.models_open import Limits, opened_models
from bestresponse.cli.running import explain, play_run, show_findings
from bestresponse.core.errors import StoreError
from bestresponse.logic.engine import open_engine
from bestresponse.report import codec, page, tables
from bestresponse.report.document import Document
from bestresponse.runs.folder import RunFolder
from bestresponse.studies.stories import session
from bestresponse.studies.stories.config import StoriesConfig
from bestresponse.studies.stories.findings import summary_of

__all__ = ["bench_stories", "publish"]


def bench_stories(config: StoriesConfig, output_dir: Path, limits: Limits, *, dry_run: bool, as_json: bool) -> None:
    """Play what is missing of a run, write its files and show the rates; exit code 1 where plays are missing."""
    plays = session.total(config)
    line = f"{len(config.chosen())} stories, {plays} plays, at most {plays * config.attempts} calls"
    print(line, file=sys.stdout if dry_run else sys.stderr, flush=True)
    if dry_run:
        return
    engine = open_engine()
    try:
        with opened_models(config.models, output_dir, limits) as opened:
            folder, outcome = play_run(
                session.manifest_of(config, opened.models, occasion()),
                output_dir,
                plays,
                "stories",
                lambda folder, tell: session.run(
                    config, folder, opened.models, engine, workers=opened.workers, on_progress=tell
                ),
            )
    finally:
        engine.close()
    if folder.finished():
        document, files = publish(folder)
        show_findings(document, files, summary_of(session.read_rows(folder)), as_json=as_json, tables=3)
    explain(outcome)
    if not outcome.complete:
        raise typer.Exit(1)


def publish(folder: RunFolder) -> tuple[Document, list[Path]]:
    """Measure a stored run and write its report, as a page, as data and as a table of all plays."""
    rows = session.read_rows(folder)
    if not rows:
        raise StoreError(f"{folder.path} holds no finished play yet")
    document = session.report_of(folder, rows)
    files = [
        folder.write_text("report.html", page.render(document)),
        folder.write_text("report.json", codec.to_json(document)),
        folder.write_text("rows.csv", tables.to_csv(rows)),
    ]
    return document, files
