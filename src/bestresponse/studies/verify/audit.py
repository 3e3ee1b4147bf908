"""How every sentence of a reasoning was read and judged.

This is for the page of a run and for people who check the checker.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from bestresponse.core.json import JsonMapping
from bestresponse.report.blocks import Measurement, Shown
from bestresponse.report.document import Block, Code, Column, Paragraph, Quote, Table
from bestresponse.studies.verify.ratings import RunRow

_SAMPLED = 100
"""Verdicts that people are asked to judge, drawn from all."""
_SHOWN = 4
"""Runs that are shown on the page, with all their attempts; the frame `runs` holds the others."""
_COLUMNS = (
    Column("sentence"),
    Column("how it was read"),
    Column("claim in words"),
    Column("verdict"),
    Column("correction, or why there is none"),
)


class SentenceVerdict(NamedTuple):
    """A sentence, how it was read, the claim that was found in it, and what became of the claim."""

    sentence: str
    reading: str
    words: str | None
    verdict: str | None
    why: str
    formula: str = ""


def list_judged_sentences(attempt: JsonMapping) -> list[SentenceVerdict]:
    """List the sentences of an attempt in order, one entry for each claim.

    A sentence without a claim has one entry too.
    """
    partly = {passage["start"]: passage for passage in attempt.get("partly_read") or ()}
    told = set()
    spans: list[tuple[int, SentenceVerdict]] = []
    for claim in attempt["claims"]:
        for passage in claim["places"] or [{"start": -1, "text": ""}]:
            start = passage["start"]
            why = [claim["correction"] or claim["why"]]
            reading = "read"
            if start in partly:
                reading = "partly read"
                if start not in told:
                    why.append(_tell_left_out(partly[start]))
                told.add(start)
            words = claim["words"] or claim["claim"]
            cells = SentenceVerdict(
                sentence=passage["text"],
                reading=reading,
                words=words,
                verdict=claim["verdict"],
                why="; ".join(filter(None, why)),
                formula=claim["claim"],
            )
            spans.append((start, cells))
    for start, passage in partly.items():
        if start not in told:
            why_not = _tell_left_out(passage)
            spans.append(
                (start, SentenceVerdict(passage["text"], "partly read", None, None, why_not))
            )
    for reading in ("unread", "not_asserted", "set_aside"):
        for passage in attempt.get(reading) or ():
            state = reading.replace("_", " ")
            spans.append(
                (
                    passage["start"],
                    SentenceVerdict(passage["text"], state, None, None, passage["why"]),
                )
            )
    return [cells for _, cells in sorted(spans, key=lambda span: span[0])]


def _tell_left_out(passage: JsonMapping) -> str:
    return f"not read: {'; '.join(passage['left_out'])}"


def sample_verdicts(rows: Iterable[RunRow]) -> list[dict[str, str | int | None]]:
    """Draw verdicts of all attempts, for people to judge.

    What was approved in the end is in the last attempt, so that the first ones are not enough.
    """
    judged = []
    for row in rows:
        for number, attempt in enumerate(row["transcript"], 1):
            for cells in list_judged_sentences(attempt):
                if cells.verdict in ("proved", "refuted"):
                    judged.append({"run": row["run"], "attempt": number, **cells._asdict()})
    return random.Random(0).sample(judged, min(_SAMPLED, len(judged)))


def show_audit(measured: Measurement) -> Shown:
    """Show, sentence by sentence, how every attempt of some runs was read and judged.

    The approved attempts are shown too.
    """
    rows = measured.frame("runs").rows
    blocks: list[Block] = []
    for row in rows[:_SHOWN]:
        blocks += _show_run(row)
    if not any(isinstance(block, Table) for block in blocks):
        blocks.append(Paragraph("No sentence of these attempts speaks of amounts or solutions."))
    return Shown("How each sentence was read and judged", tuple(blocks))


def _show_run(row: RunRow) -> Iterator[Block]:
    for number, attempt in enumerate(row["transcript"], 1):
        sentences = list_judged_sentences(attempt)
        if not sentences:
            continue
        source = (
            f"{row['model']} on {row['game']}, run {row['repeat']}, attempt {number} of"
            f" {row['attempts']}"
        )
        yield Quote(attempt["reasoning"], f"{source}: {attempt['state']}")
        yield Table(_COLUMNS, tuple(tuple(cells)[:-1] for cells in sentences))
        formulas = dict.fromkeys(cells.formula for cells in sentences if cells.formula)
        if formulas:
            yield Code("\n".join(formulas), title="The claims as formulas")
