"""What `bestresponse verify` shows and writes: a review on the screen or as JSON; report, rows and sheets of a run."""

from __future__ import annotations

from bestresponse.cli.terminal import console, print_table
from bestresponse.core.json import JsonObject
from bestresponse.formal.claims.review import Review, State
from bestresponse.report.document import Column, Table
from bestresponse.report.text import visible

__all__ = ["exit_code", "print_review", "review_to_json"]

_LONGEST_UNREAD = 300


def review_to_json(review: Review, translator: str) -> JsonObject:
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
    columns = (Column("verdict"), Column("claim"), Column("why it is unknown"))
    rows = tuple((one.verdict.value.upper(), one.text, one.proof.why or None) for one in review.checked)
    if rows:
        print_table(console(), Table(columns, rows, f"Claims found by {translator}"))
    print(review.summary)
    for number, one in enumerate(review.refutations, 1):
        for passage in one.passages:
            print(visible(f"  [{number}] {passage.start}-{passage.end}: {passage.text[:_LONGEST_UNREAD]}"))
        print(visible(f"  [{number}] {one.claim} {one.correction}"))


def exit_code(review: Review) -> int:
    """Return 1 where something is refuted, 2 where nothing could be checked, else 0."""
    return {State.REFUTED: 1, State.UNREFUTED: 0}.get(review.state, 2)
