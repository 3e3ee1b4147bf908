"""Sections of the report about the run itself: answers that could not be read, costs, method."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from bestresponse.core.player import Status
from bestresponse.report.document import Block, Code, Column, Paragraph, Quote, Section, Table
from bestresponse.runs.reporting.method import method_section
from bestresponse.runs.store.manifest import Manifest
from bestresponse.studies.bench.playing import game_of
from bestresponse.studies.bench.results import Results

__all__ = ["benchmark_method", "reading_section"]

_BOUNDS = "between every missing answer being perfect and being the worst that the game and its opponent allow"


def reading_section(results: Results, quotes: Iterable[tuple[str, str, str]]) -> Section:
    """How the answers were read, with examples of those that could not be, and what the missing ones could change."""
    kinds = [status.value for status in Status]
    columns = (
        Column("player"),
        Column("asked for"),
        *(Column(kind, "right") for kind in kinds),
        Column("gap / range if all had answered", "right", _BOUNDS),
        Column("exploitability / range if all had answered", "right", _BOUNDS),
    )
    rows = []
    for s in results.summaries:
        counts = dict(s.statuses)
        bounds = (s.bound("gap_normalised"), s.bound("exploitability_normalised"))
        written = (f"{bound:.3f}" if bound else None for bound in bounds)
        rows.append((s.player, s.way, *(counts.get(kind, 0) for kind in kinds), *written))
    blocks: list[Block] = [
        Paragraph(
            "Nothing is made up: an answer is valid, repaired by a stated rule, or it counts as one of four kinds of "
            "failure and enters no mean. The last columns bound what the failures could have changed."
        ),
        Table(columns, tuple(rows)),
    ]
    blocks += _repairs(results)
    blocks += [Quote(text, f"{model}: {why}") for model, why, text in quotes]
    return Section("How the answers were read", tuple(blocks))


def _repairs(results: Results) -> list[Block]:
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for row in results.rows:
        if row["how"]:
            counts[(row["status"], row["how"][:120])] += 1
    if not counts:
        return []
    most = sorted(counts.items(), key=lambda item: -item[1])[:12]
    rows = tuple((status, how, count) for (status, how), count in most)
    return [Table((Column("reading"), Column("what was done or what was wrong"), Column("plays", "right")), rows)]


def benchmark_method(results: Results, manifest: Manifest) -> Section:
    """Say how to run it again, with the first game as it was shown."""
    example = next(results.plan.specs(), None)
    if example is None:
        return method_section(manifest)
    game = game_of(example.data)
    return method_section(
        manifest,
        Paragraph("The first game as it was shown (the instruction how to answer follows it):"),
        Code(game.view((), game.roles[example.data["seat"]]).briefing, "text"),
    )
