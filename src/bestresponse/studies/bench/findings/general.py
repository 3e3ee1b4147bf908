"""Does play carry over: to larger games, to well-known games without their names, to games with a useless action more?

And what checking of its reasoning does for a model: `verified:MODEL` beside MODEL on the same games.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bestresponse.core.seeds import split
from bestresponse.players.llm.verified import SPELLING, is_verified
from bestresponse.report.document import Block, Cell, Column, Figure, Paragraph, Quote, Section, Table
from bestresponse.report.figures import charts as figures
from bestresponse.report.metrics import Figures
from bestresponse.report.stats.statistics import Comparison, Interval, paired_difference
from bestresponse.runs.run import Run
from bestresponse.studies.bench.findings.plays import find_decision
from bestresponse.studies.bench.games.variants import PADDED
from bestresponse.studies.bench.metrics import select_metrics
from bestresponse.studies.bench.plan import ANONYMOUS, BASE, NAMED, SIZE
from bestresponse.studies.bench.results import Group, Results
from bestresponse.studies.bench.rows import BenchRow, get_number
from bestresponse.studies.bench.summary import PlayerSummary

__all__ = ["build_generalisation_section", "build_verified_section"]

_METRICS = select_metrics("asked", "answered", "gap_normalised", "exploitability_normalised", "success_1", "success_5")
_COMPARED = ("gap_normalised", "exploitability_normalised")
_MOST_REFUTED = 20
Case = tuple[str, int, str]
"""The game that a play is of, its number in the run, and the seat."""


def build_generalisation_section(results: Results) -> Section | None:
    """Build the section of the generalisation suite."""
    if results.plan.config.suite != "generalisation":
        return None
    blocks: list[Block] = [
        Paragraph(
            "A player that computes its strategy does so in games of any size, whatever they are called. Well-known "
            "games are asked about under their own names and under letters, in the same orders of their actions; "
            "padded games have one strictly dominated action more for each player, which changes nothing."
        ),
        *_tabulate_sizes(results),
        *_compare_names(results),
        *_compare_padded(results),
    ]
    return Section("Generalisation", tuple(blocks))


def _tabulate_sizes(results: Results) -> list[Block]:
    """Build the table and the figure of the success at every size."""
    sized = [row for row in results.rows if row["variant"] == "original" and _is_sized(results, row)]
    groups: dict[tuple[Group, int], list[BenchRow]] = {}
    for group, rows in results.group(sized).items():
        for row in sorted(rows, key=lambda r: r["rows"]):
            groups.setdefault((group, row["rows"]), []).append(row)
    summaries = {key: PlayerSummary(*key[0], tuple(rows)) for key, rows in groups.items()}
    lines = [((*group, f"{size} x {size}"), summaries[group, size].figures) for group, size in summaries]
    table = Figures(_METRICS, ("player", "asked for", "size"), lines).to_table(
        "The same questions about games of other sizes."
    )
    picture = _draw_sizes(summaries)
    if picture is None:
        return [table]
    caption = "Share of answers within 1 % of optimal by the number of actions, with 95 % intervals."
    return [table, Figure(picture, caption, "Lines of the success of every player over the size of the game")]


def _is_sized(results: Results, row: BenchRow) -> bool:
    square = results.plan.config.shape[0] == results.plan.config.shape[1]
    return row["condition"].startswith(SIZE) or (row["condition"] == BASE and square)


def _draw_sizes(summaries: dict[tuple[Group, int], PlayerSummary]) -> bytes | None:
    points: dict[str, list[tuple[int, Interval]]] = {}
    for (group, size), summary in summaries.items():
        success = summary.get_interval("success_1")
        if success is not None:
            points.setdefault(" / ".join(group), []).append((size, success))
    if not points:
        return None
    series = {name: ([n for n, _ in line], [i.estimate for _, i in line]) for name, line in points.items()}
    bands = {name: ([i.low for _, i in line], [i.high for _, i in line]) for name, line in points.items()}
    return figures.lines(series, bands, x_label="actions of each player", y_label="share within 1 %")


def _compare_names(results: Results) -> list[Block]:
    """Compare answers to well-known games under their names with those to the same games under letters."""

    def name_case(row: BenchRow) -> Case:
        return row["condition"].removeprefix(NAMED).removeprefix(ANONYMOUS), row["game"], row["seat"]

    named = [row for row in results.rows if row["condition"].startswith(NAMED)]
    anonymous = [row for row in results.rows if row["condition"].startswith(ANONYMOUS)]
    heads = [("named", named), ("anonymous", anonymous)]
    return _compare(
        results,
        heads,
        name_case,
        "Well-known games under their own names and under letters (means resample games, shares count plays).",
    )


def _compare_padded(results: Results) -> list[Block]:
    def name_case(row: BenchRow) -> Case:
        return str(row["game"]), row["game"], row["seat"]

    base = [row for row in results.rows if row["condition"] == BASE]
    padded = [{**row, "variant": "original"} for row in base if row["variant"] == PADDED]
    drawn = [row for row in base if row["variant"] == "original"]
    caption = "Games with one dominated action more for each player, and as drawn."
    return _compare(results, [("padded", padded), ("as drawn", drawn)], name_case, caption)  # type: ignore[list-item]


def _compare(
    results: Results,
    heads: Sequence[tuple[str, Sequence[BenchRow]]],
    name_case: Callable[[BenchRow], Case],
    caption: str,
) -> list[Block]:
    """Build a table of two versions of the same games, and one of the differences between them, first less second."""
    grouped = [(head, results.group(rows)) for head, rows in heads]
    lines = [
        ((*group, head), PlayerSummary(*group, _number_cases(rows, name_case)).figures)
        for head, groups in grouped
        for group, rows in groups.items()
    ]
    if not lines:
        return []
    table = Figures(_METRICS, ("player", "asked for", "version"), lines).to_table(caption)
    rows: list[tuple[Cell, ...]] = []
    for group in grouped[0][1]:
        for figure in _COMPARED:
            pair = [_find_values(groups.get(group, []), figure, name_case) for _, groups in grouped]
            compared = _compare_values(*pair, seed=split(results.plan.config.seed, caption, *group, figure))
            if compared is not None:
                (title,) = (metric.title for metric in select_metrics(figure))
                rows.append((*group, title, compared.difference, compared.n, compared.p_value))
    columns = (
        Column("player"),
        Column("asked for"),
        Column("by"),
        Column(f"{heads[0][0]} less {heads[1][0]}", "right", "mean difference over the same games", ".3f"),
        Column("games", "right"),
        Column("p", "right", "sign-flip test", ".3g"),
    )
    return [table, Table(columns, tuple(rows))] if rows else [table]


def _number_cases(rows: Sequence[BenchRow], name_case: Callable[[BenchRow], Case]) -> tuple[BenchRow, ...]:
    """Return the rows with games numbered anew: all orders of a well-known game are one game."""
    numbers: dict[str, int] = {}
    return tuple({**row, "game": numbers.setdefault(name_case(row)[0], len(numbers))} for row in rows)


def _find_values(rows: Sequence[BenchRow], figure: str, name_case: Callable[[BenchRow], Case]) -> dict[Case, float]:
    return {name_case(row): number for row in rows if (number := get_number(row, figure)) is not None}


def _compare_values(first: dict[Case, float], second: dict[Case, float], *, seed: int) -> Comparison | None:
    common = sorted(first.keys() & second.keys())
    if len(common) < 2:
        return None
    clusters = [case[0] for case in common]
    rng = np.random.default_rng(seed)
    return paired_difference([first[c] for c in common], [second[c] for c in common], clusters, rng=rng)


def build_verified_section(results: Results, run: Run[Any]) -> Section | None:
    """Compare verified models with the same models unverified, and list refuted claims."""
    verified = [s for s in results.summaries if is_verified(s.player)]
    if not verified:
        return None
    plain = {(s.player, s.way): s for s in results.summaries}
    blocks: list[Block] = []
    for summary in verified:
        other = plain.get((summary.player.removeprefix(SPELLING), summary.way))
        if other is not None:
            blocks += _compare_verified(results, summary, other)
    columns = (
        Column("player"),
        Column("asked for"),
        Column("plays", "right"),
        Column("first reasoning refuted", "right", "plays whose first reasoning holds a false claim"),
        Column("last reasoning refuted", "right", "plays whose last reasoning still does"),
        Column("attempts", "right", "all reasonings"),
    )
    reviews = _find_reviews(run)
    rows: list[tuple[Cell, ...]] = []
    for summary in verified:
        found = [reviews[row["spec"]] for row in summary.original if row["spec"] in reviews]
        first, last = (sum(bool(r[k]["corrections"]) for r in found) for k in (0, -1))
        rows.append((summary.player, summary.way, len(found), first, last, sum(map(len, found))))
    blocks.append(Table(columns, tuple(rows), "What checking found in the reasoning."))
    blocks += _quote_corrections(reviews)
    return Section("Verified reasoning", tuple(blocks))


def _compare_verified(results: Results, checked: PlayerSummary, plain: PlayerSummary) -> list[Block]:
    def name_case(row: BenchRow) -> Case:
        return str(row["game"]), row["game"], row["seat"]

    sides = [[r for r in s.original if r["nash_gap"] is not None] for s in (checked, plain)]
    common = {name_case(r) for r in sides[0]} & {name_case(r) for r in sides[1]}
    kept = [tuple(r for r in side if name_case(r) in common) for side in sides]
    lines = [
        ((s.player, s.way), PlayerSummary(s.player, s.way, rows).figures)
        for s, rows in zip((checked, plain), kept, strict=True)
    ]
    caption = f"Verified against unverified on the {len(common)} games both answered."
    blocks: list[Block] = [Figures(_METRICS, ("player", "asked for"), lines).to_table(caption)]
    rows: list[tuple[Cell, ...]] = []
    for figure in _COMPARED:
        seed = split(results.plan.config.seed, "verified", checked.player, checked.way, figure)
        compared = _compare_values(*(_find_values(side, figure, name_case) for side in kept), seed=seed)
        if compared is not None:
            (title,) = (metric.title for metric in select_metrics(figure))
            rows.append((checked.player, title, compared.difference, compared.n, compared.p_value))
    columns = (
        Column("player"),
        Column("by"),
        Column("verified less unverified", "right", "mean difference; negative: checking helps", ".3f"),
        Column("games", "right"),
        Column("p", "right", "sign-flip test", ".3g"),
    )
    return [*blocks, Table(columns, tuple(rows))] if rows else blocks


def _find_reviews(run: Run[Any]) -> dict[str, list[dict[str, list[str]]]]:
    """Return the reviews of every verified play, in the order of its attempts."""
    found = {}
    for play in run.folder.plays():
        remarks = find_decision(play).remarks
        if remarks:
            found[play.spec] = [dict(remark) for remark in remarks]
    return found


def _quote_corrections(reviews: dict[str, list[dict[str, list[str]]]]) -> list[Block]:
    counts: dict[str, int] = {}
    for attempts in reviews.values():
        for review in attempts:
            for correction in review["corrections"]:
                counts[correction] = counts.get(correction, 0) + 1
    most = sorted(counts.items(), key=lambda item: -item[1])[:_MOST_REFUTED]
    return [Quote(text, f"told {count} time{'s' if count > 1 else ''}") for text, count in most]
