"""Sections of the report that depend on the suite: comparisons, invariance, sensitivity."""

from __future__ import annotations

import numpy as np

from bestresponse.report.document import Block, Column, Figure, Paragraph, Section, Table
from bestresponse.report.figures import charts as figures
from bestresponse.studies.bench.general import compute_correlated_regret
from bestresponse.studies.bench.metrics import METRICS
from bestresponse.studies.bench.results import Results
from bestresponse.studies.bench.stability import compare_players, measure_conditions, measure_variants

__all__ = ["comparison_section", "invariance_section", "sensitivity_section"]


def comparison_section(results: Results) -> Section | None:
    """Players compared on the games both answered."""
    differences = compare_players(results)
    if not differences:
        return None
    columns = (
        Column("player"),
        Column("compared with"),
        Column("by", help="the figure that is compared"),
        Column("difference", "right", "mean difference of the figure; negative: the first player is better", ".3f"),
        Column("games", "right"),
        Column("p", "right", "sign-flip test, adjusted for the number of comparisons (Holm)", ".3g"),
        Column("effect", "right", "mean difference over its standard deviation between games", ".2f"),
    )
    titles = {metric.name: metric.title for metric in METRICS}
    rows = tuple(
        (
            d.first,
            d.second,
            titles[d.figure],
            d.comparison.difference,
            d.comparison.difference.n,
            d.adjusted_p,
            d.comparison.effect,
        )
        for d in differences
    )
    blocks: list[Block] = [Table(columns, rows, "Paired on common games.")]
    blocks += _self_play(results)
    return Section("Players compared", tuple(blocks))


def _self_play(results: Results) -> list[Block]:
    """Where a model answered both seats of a game: the regret of its two answers against each other."""
    rows = []
    for model, elicit in sorted({(r["model"], r["elicit"]) for r in results.original}):
        seats: dict[int, dict[str, list[float]]] = {}
        for row in results.original:
            if (row["model"], row["elicit"]) == (model, elicit) and row["strategy"] is not None:
                seats.setdefault(row["game"], {})[row["seat"]] = row["strategy"]
        payoffs = results.plan.conditions[0].drawn.payoffs
        regrets = [
            compute_correlated_regret(payoffs[g], np.asarray(s["row"]), np.asarray(s["col"]))
            / max(np.ptp(payoffs[g]), 1e-300)
            for g, s in seats.items()
            if len(s) == 2
        ]
        if regrets:
            rows.append((model, elicit, len(regrets), float(np.mean(regrets)), float(np.max(regrets))))
    if not rows:
        return []
    columns = (
        Column("player"),
        Column("asked for"),
        Column("games", "right"),
        Column("mean regret / range", "right", "largest gain from swapping actions when the model meets itself", ".3f"),
        Column("largest", "right", format=".3f"),
    )
    return [Table(columns, tuple(rows), "The model against itself: correlated-equilibrium regret of its two answers.")]


def invariance_section(results: Results) -> Section | None:
    """How answers change when the same game is told otherwise."""
    effects = measure_variants(results) if results.plan.config.suite == "invariance" else ()
    if not effects:
        return None
    columns = (
        Column("player"),
        Column("asked for"),
        Column("variant"),
        Column("invariance", "right", "1 - mean total variation distance of the answers", ".3f"),
        Column("change of gap / range", "right", "paired with the game as drawn; positive: worse", ".3f"),
        Column("p", "right", "sign-flip test, adjusted (Holm)", ".3g"),
    )
    rows = tuple((e.player, e.way, e.variant, e.score, e.gap_change.difference, e.adjusted_p) for e in effects)
    picture = figures.intervals(
        [(f"{e.player} {e.variant}", e.score) for e in effects], x_label="invariance", reference=1.0
    )
    return Section(
        "Same game, told otherwise",
        (
            Paragraph(
                "Each game was also shown with rows and columns in another order, with seats swapped, shifted, scaled, "
                "relabelled, disguised by a story and in another format. A rational player's answer does not change. "
                "An answer that ignores the game does not change either, so read the score together with the gap."
            ),
            Figure(picture, "Invariance by variant with 95 % intervals.", "Forest plot of invariance by variant"),
            Table(columns, rows),
        ),
    )


def sensitivity_section(results: Results) -> Section | None:
    """How the gap depends on size, payoff scale and temperature."""
    if results.plan.config.suite != "sensitivity":
        return None
    effects = measure_conditions(results)
    columns = (
        Column("player"),
        Column("asked for"),
        Column("setting"),
        Column("answers", "right"),
        Column("gap / range", "right", format=".3f"),
    )
    rows = tuple((e.player, e.way, e.condition, f"{e.answered} of {e.asked}", e.gap) for e in effects)
    drawn = [(f"{e.player} {e.condition}", e.gap) for e in effects if e.gap is not None]
    blocks: list[Block] = [Table(columns, rows, "One setting changed at a time.")]
    if drawn:
        picture = figures.intervals(drawn, x_label="gap / payoff range")
        blocks.append(Figure(picture, "Gap by setting with 95 % intervals.", "Forest plot of the gap by setting"))
    return Section("Sensitivity", tuple(blocks))
