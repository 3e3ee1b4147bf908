"""What `bestresponse verify` shows and writes: a review on the screen or as JSON; report, rows and sheets of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bestresponse.core.errors import StoreError
from bestresponse.formal.claims.review import Review, State
from bestresponse.report import codec, page, tables
from bestresponse.report.document import Column, Document, Table
from bestresponse.runs.folder import RunFolder
from bestresponse.studies.verify import session
from bestresponse.studies.verify.evaluation import write_sheet
from bestresponse.studies.verify.measure import Measured
from bestresponse.studies.verify.watching import report_of

__all__ = ["exit_code", "print_review", "publish", "review_to_json", "write_files"]

RATERS = 3
_LONGEST_UNREAD = 300


def review_to_json(review: Review, translator: str) -> dict[str, Any]:
    """A review as plain data."""
    return {
        "summary": review.summary,
        "translator": translator,
        "claims": [
            {"claim": one.text, "form": one.form, "verdict": one.verdict.value, "why": one.proof.why}
            for one in review.checked
        ],
        "refuted": [
            {
                "claim": str(one.claim),
                "correction": one.correction,
                "places": [{"start": p.start, "end": p.end, "text": p.text} for p in one.passages],
            }
            for one in review.refutations
        ],
        "unread": None if review.unread is None else [sentence[:_LONGEST_UNREAD] for sentence in review.unread],
    }


def print_review(review: Review, translator: str) -> None:
    """A review on the screen: every claim, its verdict, and what is true instead."""
    from bestresponse.cli.terminal import console, print_table
    from bestresponse.report.text import visible

    columns = (Column("verdict"), Column("claim"), Column("why it is unknown"))
    rows = tuple((one.verdict.value.upper(), one.text, one.proof.why or None) for one in review.checked)
    if rows:
        print_table(console(), Table(columns, rows, f"Claims found by {translator}"))
    print(review.summary)
    for one in review.refutations:
        for passage in one.passages[:1]:
            print(visible(f"  {passage.start}-{passage.end}: {passage.text[:_LONGEST_UNREAD]}"))
        print(visible(f"  {one.correction}"))


def exit_code(review: Review) -> int:
    """Return 1 where something is refuted, 2 where nothing could be checked, else 0."""
    return {State.WRONG: 1, State.CORRECT: 0}.get(review.state, 2)


def publish(folder: RunFolder) -> tuple[Document, list[Path]]:
    """The report of a stored run and all its files, made anew; for `bestresponse report`."""
    measured = session.read_results(folder)
    if not measured.rows:
        raise StoreError(f"{folder.path} holds no finished run yet")
    return write_files(folder, measured)


def write_files(folder: RunFolder, measured: Measured) -> tuple[Document, list[Path]]:
    """Write everything; gives the document and the paths in the order a reader wants them."""
    document = report_of(folder, measured)
    plain = [{name: value for name, value in row.items() if name != "transcript"} for row in measured.rows]
    sheet = write_sheet(measured.sheet())
    written = [
        folder.write_text("report.html", page.render(document)),
        folder.write_text("report.json", codec.to_json(document)),
        folder.write_text("rows.csv", tables.to_csv(plain)),
    ]
    for rater in range(1, RATERS + 1):
        name = f"sheet-rater-{rater}.csv"
        if not (folder.path / name).exists():
            written.append(folder.write_text(name, sheet))
    return document, written
