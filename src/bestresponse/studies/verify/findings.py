"""The report of a verify run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bestresponse.report.document import (
    Block,
    Code,
    Column,
    Document,
    KeyValues,
    Note,
    Paragraph,
    Quote,
    Section,
    Table,
)
from bestresponse.report.stats.statistics import Comparison, wilson
from bestresponse.runs.reporting.method import method_section
from bestresponse.runs.run import Run
from bestresponse.studies.verify.evaluation import ERROR_KINDS, agreement, read_sheet
from bestresponse.studies.verify.measure import Measured, labels_of
from bestresponse.studies.verify.recorded import Rating

__all__ = ["findings", "mark_refuted"]

_QUOTED = 4


def findings(measured: Measured, run: Run[Any]) -> Document:
    """Build the report of a run, with the raters' sheets that lie in its folder."""
    config = measured.config
    filled = sorted(run.path.glob("sheet-rater-*.csv"))
    sheets = [read_sheet(path.read_text("utf-8-sig")) for path in filled]
    sections = (
        _first_and_last(measured, run),
        _loop(measured),
        _claims(measured),
        *_people(measured, sheets),
        _costs(measured, run.money),
        _examples(measured),
        _method(measured, run),
    )
    subtitle = f"{config.model} on {config.game.name}, translated by {config.translator}, {len(measured.rows)} runs"
    return Document("Reasoning checked by logic", subtitle, sections, _opening(measured), run.manifest.footer)


def _opening(measured: Measured) -> tuple[Block, ...]:
    missing = measured.config.repeats - len(measured.rows)
    first, last = measured.states("first"), measured.states("last")
    items = (
        ("nothing refuted at first", _share(first, len(measured.rows))),
        ("nothing refuted at last", _share(last, len(measured.rows))),
    )
    blocks: list[Block] = [KeyValues(items, prominent=True, format=".2f")]
    if missing > 0:
        blocks.append(Note(f"{missing} of {measured.config.repeats} runs are missing.", "warning"))
    return tuple(blocks)


def _share(states: dict[str, int], runs: int) -> Any:
    return wilson(states["unrefuted"], runs) if runs else None


def _first_and_last(measured: Measured, run: Run[Any]) -> Section:
    unread = len(measured.rows) - len(measured.readable)
    text = (
        "A reasoning is unrefuted where at least one claim was proved and none is refuted, which says nothing about "
        "sentences that were not read; where no claim was found it is unchecked. "
        f"{unread} runs have a choice that could not be read."
    )
    table = run.figures.to_table("Numbers of runs, means and shares with 95 % intervals")
    return Section("First and last attempt", (table, Paragraph(text), _changes(measured)))


def _changes(measured: Measured) -> Table:
    columns = (Column("caused by feedback"), Column("last minus first", "right", format=".3f"), Column("p", "right"))
    rows = (("payoff", *_compared(measured.change("payoff"))), ("Nash gap", *_compared(measured.change("gap"))))
    return Table(columns, rows, f"Paired by run; {measured.scene.yardstick}")


def _compared(found: Comparison | None) -> tuple[Any, Any]:
    return (None, None) if found is None else (found.difference, f"{found.p_value:.3f}")


def _loop(measured: Measured) -> Section:
    columns = (Column("attempts", "right"), Column("runs", "right"))
    return Section("Attempts", (Table(columns, tuple(measured.attempts.items())),))


def _claims(measured: Measured) -> Section:
    columns = (Column("form of claim"), Column("made", "right"), Column("refuted", "right"), Column("unknown", "right"))
    rows = tuple((form, *counts) for form, counts in measured.refuted().items())
    blocks: list[Block] = [Table(columns, rows, "Over all attempts")]
    if measured.unread is not None:
        told = (
            f"On average {measured.unread:.1f} sentences of an attempt speak of amounts or solutions and gave no claim."
        )
        blocks.append(Paragraph(f"{told} Nothing is known about these."))
    return Section("Claims", tuple(blocks))


def _people(measured: Measured, sheets: Sequence[Mapping[str, Rating]]) -> Iterator[Section]:
    """People's judgement of first reasonings beside the checker's, where there are ratings."""
    filled = [sheet for sheet in sheets if sheet]
    if not filled:
        return
    found = measured.against(labels_of(filled))
    columns = (Column("people say"), Column("nothing refuted", "right"), Column("something refuted", "right"))
    rows = (("correct", found.passed, found.false_alarm), ("incorrect", found.missed, found.caught))
    common = [run for run in filled[0] if all(run in sheet for sheet in filled)]
    raters = agreement([[sheet[run] for sheet in filled] for run in common]) if len(filled) > 1 else None
    kinds = Counter(kind for sheet in filled for rating in sheet.values() for kind in rating.kinds)
    items = (
        ("accuracy", found.accuracy),
        ("kappa of people and checker", found.kappa),
        ("Fleiss' kappa of the raters", raters),
        ("raters", len(filled)),
        *((f"errors: {ERROR_KINDS[kind]}", kinds[kind]) for kind in ERROR_KINDS),
    )
    text = (
        "A first reasoning counts as correct only where all raters say so. Unchecked and undecided ones are left out."
    )
    yield Section("People's judgement", (Table(columns, rows), KeyValues(items, format=".3f"), Paragraph(text)))


def _costs(measured: Measured, money: float | None) -> Section:
    columns = (
        Column("per attempt"),
        Column("reasoner", "right", format=".1f"),
        Column("translator", "right", format=".1f"),
    )
    rows = tuple(
        (name, measured.per_attempt("reasoner", what), measured.per_attempt("translator", what))
        for name, what in (("prompt tokens", "prompt"), ("generated tokens", "completion"), ("seconds", "seconds"))
    )
    attempts = sum(row["attempts"] for row in measured.rows)
    each = None if money is None or not attempts else money / attempts
    items = KeyValues((("dollars", money), ("dollars per attempt", each)), format=".4f")
    return Section("Costs", (Table(columns, rows), items))


def _examples(measured: Measured) -> Section:
    """Show refuted reasonings with every refuted sentence marked by the numbers of its claims in the table below."""
    blocks: list[Block] = []
    columns = (Column("mark", "right"), Column("claim"), Column("correction"))
    for row in measured.rows:
        attempt = row["transcript"][0]
        if attempt["refuted"] and len(blocks) < 2 * _QUOTED:
            marked = mark_refuted(attempt["reasoning"], [one["places"] for one in attempt["refuted"]])
            rows = [(k, one["claim"], one["correction"]) for k, one in enumerate(attempt["refuted"], 1)]
            blocks += [Quote(marked, f"run {row['repeat']}, first attempt"), Table(columns, tuple(rows))]
    return Section("Refuted reasoning and what was said to it", tuple(blocks or [Paragraph("Nothing was refuted.")]))


def mark_refuted(text: str, places: Sequence[Sequence[Sequence[int]]]) -> str:
    """Put brackets around the places of every refuted claim, with the numbers of the claims (from 1) at their end.

    >>> mark_refuted("I get 5. So R dominates B.", [[[8, 26]], [[8, 26]]])
    'I get 5. ⟦So R dominates B.⟧[1, 2]'
    """
    marks: dict[tuple[int, int], list[int]] = {}
    for number, own in enumerate(places, 1):
        for start, end in own:
            inside = text[start:end]
            begin, stop = start + len(inside) - len(inside.lstrip()), end - len(inside) + len(inside.rstrip())
            marks.setdefault((begin, stop), []).append(number)
    for (start, end), numbers in sorted(marks.items(), reverse=True):
        text = f"{text[:start]}⟦{text[start:end]}⟧[{', '.join(map(str, numbers))}]{text[end:]}"
    return text


def _method(measured: Measured, run: Run[Any]) -> Section:
    game = measured.scene.game
    return method_section(
        run.manifest,
        Paragraph(
            "Each reasoning is translated into claims; each claim is decided by a logic engine on the game's program "
            "and by theory on its payoffs; refuted claims are put right and the reasoner is asked again. After "
            "A. Mensfelt, K. Stathis, V. Trencsenyi, Logic-Enhanced Language Model Agents, 2024."
        ),
        Code(game.view(measured.scene.opening, game.roles[measured.config.seat]).briefing),
        without=("game",),
    )
