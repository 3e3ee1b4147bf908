"""Sections of the report about single answers: every one with its reply, and how they were read."""

from __future__ import annotations

from collections import Counter

from bestresponse.core.player import Status
from bestresponse.report.document import Cell, Column, Paragraph, Section, Table
from bestresponse.studies.bench.sequential.results import SequentialResults

__all__ = ["answers_section", "reading_section"]

_MOST_ROWS = 1000
_LONGEST_REPLY = 2000


def answers_section(results: SequentialResults) -> Section:
    """List every answer with the text of its reply, the costliest information sets first."""
    replies = {one.play.spec: one.decision.reasoning for many in results.answers.values() for one in many}
    ordered = sorted(results.rows, key=lambda row: (row["strategy"] is not None, -(row["loss"] or 0.0), row["infoset"]))
    rows: list[tuple[Cell, ...]] = []
    for row in ordered[:_MOST_ROWS]:
        mix = row["strategy"]
        answer = None if mix is None else ", ".join(f"{m} {p:.3g}" for m, p in zip(row["moves"], mix, strict=True))
        read = f"{row['status']}: {row['how']}" if row["how"] else row["status"]
        asked = f"{row['way']}, policy {row['policy'] + 1}, answer {row['sample'] + 1}"
        reply = replies[row["spec"]][:_LONGEST_REPLY]
        rows.append((row["model"], asked, row["player"], row["infoset"], answer, row["loss"], read, reply))
    columns = (
        Column("player"),
        Column("asked for"),
        Column("seat"),
        Column("information set"),
        Column("answer"),
        Column("loss there", "right", format=".4f"),
        Column("read as"),
        Column("reply"),
    )
    cut = f"The first {_MOST_ROWS} of {len(ordered)}; rows.csv has all." if len(ordered) > _MOST_ROWS else ""
    return Section("Every answer", (Table(columns, tuple(rows), cut),))


def reading_section(results: SequentialResults) -> Section:
    """Count how the answers were read."""
    kinds = [status.value for status in Status]
    rows: list[tuple[Cell, ...]] = []
    for player, way in results.groups:
        counts = Counter(row["status"] for row in results.rows if (row["model"], row["way"]) == (player, way))
        rows.append((player, way, *(counts.get(kind, 0) for kind in kinds)))
    columns = (Column("player"), Column("asked for"), *(Column(kind, "right") for kind in kinds))
    text = (
        "Nothing is made up: an answer is valid, repaired by a stated rule, or one of four kinds of failure. An "
        "information set without a readable answer counts as not known, and the figures of its policy are bounds."
    )
    return Section("How the answers were read", (Paragraph(text), Table(columns, tuple(rows))))
