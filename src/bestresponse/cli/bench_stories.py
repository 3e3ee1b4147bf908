"""`bestresponse bench autoformalization`: how well models turn stories into games."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path

import typer

from bestresponse.cli.models_open import Limits, opened_models
from bestresponse.cli.show import console, notes, play_progress, print_table
from bestresponse.cli.version import command_line, revision
from bestresponse.core.errors import StoreError
from bestresponse.logic.engine import open_engine
from bestresponse.report import codec, page, tables
from bestresponse.report.document import Document
from bestresponse.run.execute import Outcome
from bestresponse.store.run_folder import RunFolder
from bestresponse.studies.autoformalization import session
from bestresponse.studies.autoformalization.config import StoriesConfig
from bestresponse.studies.autoformalization.findings import summary_of

__all__ = ["bench_stories", "publish"]


def bench_stories(config: StoriesConfig, output_dir: Path, limits: Limits, *, dry_run: bool, as_json: bool) -> None:
    """Play what is missing of a run, write its files and show the rates; exit code 1 where plays are missing."""
    plays = session.total(config)
    line = f"{len(config.chosen())} stories, {plays} plays, at most {plays * config.attempts} calls"
    print(line, file=sys.stdout if dry_run else sys.stderr, flush=True)
    if dry_run:
        return
    with opened_models(config.models, output_dir, limits) as opened:
        created = datetime.now().astimezone().isoformat(timespec="seconds")
        manifest = session.manifest_of(
            config, opened.models, command=command_line(), created=created, revision=revision()
        )
        engine = open_engine()
        try:
            with (
                RunFolder.open(output_dir / f"autoformalization-{manifest.run}", manifest) as folder,
                play_progress(plays, "stories") as tell,
            ):
                outcome = session.run(config, folder, opened.models, engine, workers=opened.workers, on_progress=tell)
                if outcome.complete:
                    folder.write_text("finished", created + "\n")
        finally:
            engine.close()
    _show(folder, outcome, as_json)


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


def _show(folder: RunFolder, outcome: Outcome, as_json: bool) -> None:
    if folder.finished():
        document, files = publish(folder)
        if as_json:
            print(json.dumps(summary_of(session.read_rows(folder)), indent=2, ensure_ascii=False))
        else:
            for _, table in document.tables[:3]:
                print_table(console(), table)
        for path in files:
            notes().print(f"wrote {path}", markup=False, soft_wrap=True)
    for failure in outcome.failures[:5]:
        print(f"bestresponse: {failure}", file=sys.stderr)
    if outcome.stopped:
        print(f"bestresponse: stopped: {outcome.stopped}", file=sys.stderr)
    if not outcome.complete or not folder.finished():
        print("bestresponse: not everything was played; the same command plays what is missing", file=sys.stderr)
        raise typer.Exit(1)
