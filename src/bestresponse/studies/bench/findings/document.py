"""What a benchmark run found, as a document: tables, figures, failures, costs, and how to do it again."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bestresponse.core.player import Status
from bestresponse.players.llm.verified import make_label
from bestresponse.report.document import (
    Block,
    Cell,
    Column,
    Document,
    Figure,
    KeyValues,
    Note,
    Paragraph,
    Section,
    Table,
)
from bestresponse.report.figures import charts as figures
from bestresponse.report.stats.statistics import games_needed
from bestresponse.runs.reporting.costs import costs_section
from bestresponse.runs.run import Run
from bestresponse.studies.bench.findings.general import build_generalisation_section, build_verified_section
from bestresponse.studies.bench.findings.plays import build_plays_section, list_outliers
from bestresponse.studies.bench.findings.run import benchmark_method, reading_section
from bestresponse.studies.bench.findings.suites import comparison_section, invariance_section, sensitivity_section
from bestresponse.studies.bench.results import Results, list_figures
from bestresponse.studies.bench.rows import BenchRow, get_number
from bestresponse.studies.bench.summary import BASELINE, PlayerSummary

__all__ = ["findings"]

_QUOTES_PER_KIND = 2


def findings(results: Results, run: Run[Any]) -> Document:
    """Build the report of a run."""
    c = results.plan.config
    sections = [
        _headline(results, run),
        _distributions(results),
        _features(results),
        comparison_section(results),
        invariance_section(results),
        sensitivity_section(results),
        build_generalisation_section(results),
        build_verified_section(results, run),
        build_plays_section(results, run),
        reading_section(results, _find_quotes(run)),
        costs_section(run.costs),
        benchmark_method(results, run.manifest),
    ]
    size = f"{c.shape[0]} x {c.shape[1]}"
    games = f"{len(results.games)} {c.family} games of {size}"
    if c.given is not None:
        games = f"{c.given.name} ({size}) with its actions in {len(results.games)} orders"
    return Document(
        title="How far from optimal?",
        subtitle=f"{', '.join(c.labels)} on {games}, seed {c.seed}",
        opening=tuple(_opening(results)),
        sections=tuple(section for section in sections if section is not None),
        footer=run.manifest.footer,
    )


def _opening(results: Results) -> Iterable[Block]:
    for summary in results.summaries:
        if not summary.answered:
            yield Note(
                f"{summary.player} ({summary.way}) gave no answer that could be read: there is no gap.", "warning"
            )
    if results.unfinished:
        yield Note(
            f"{results.unfinished} planned plays are not finished; run the same command to play them.", "warning"
        )
    if "smollm2" in results.plan.config.models:
        yield Note(
            "smollm2 is a very small model that comes along to show that everything works; "
            "its play says nothing about larger ones."
        )
    first = next((s for s in results.summaries if s.answered), None)
    if first is not None:
        items: list[tuple[str, Cell]] = [("games", len(results.games))]
        items += [(title, _find_estimate(first, name)) for name, title in _HEADLINES.items() if first.figures[name]]
        items.append(("answers read", f"{first.answered / first.asked:.0%}"))
        yield KeyValues(tuple(items), prominent=True, format=".3g")


_HEADLINES = {
    "nash_gap": "mean Nash gap",
    "gap_normalised": "gap / payoff range",
    "exploitability_normalised": "exploitability / range",
    "success_1": "share within 1 %",
    "invariance": "invariance",
}
"""The metrics that stand above the report, with their titles there."""


def _find_estimate(summary: PlayerSummary, name: str) -> float | None:
    interval = summary.get_interval(name)
    return None if interval is None else interval.estimate


def _find_quotes(run: Run[Any]) -> Iterable[tuple[str, str, str]]:
    """Yield a few replies of each kind that could not be read: (model, why, text)."""
    counts: dict[tuple[str, str], int] = {}
    for play in run.folder.plays():
        if play.record.void is None:
            continue
        decision = play.record.submissions[-1].decision
        status = decision.reading.status
        kind = (make_label(play.data["model"]), status.value)
        counts[kind] = counts.get(kind, 0) + 1
        if not Status(status).readable and counts[kind] <= _QUOTES_PER_KIND:
            yield kind[0], f"{status}: {decision.reading.how}", decision.reasoning


def _headline(results: Results, run: Run[Any]) -> Section:
    blocks: list[Block] = [
        run.figures.to_table("Estimates with 95 % intervals (games resampled). Smaller gaps are better.")
    ]
    blocks += _same_games(results)
    blocks.append(
        Paragraph(
            "The Nash gap is measured against an opponent who plays its equilibrium strategy. Against such an "
            "opponent every action of the equilibrium's support earns the same, so a small gap can be luck; "
            "exploitability tells what a player would lose to somebody who knew its strategy, and only an optimal "
            "strategy has none."
        )
    )
    blocks += _precision(results)
    return Section("How far from optimal", tuple(blocks))


def _same_games(results: Results) -> list[Block]:
    """Put the baselines beside every player that left games unanswered, on the games that it answered."""
    blocks: list[Block] = []
    for summary in results.summaries:
        if not 0 < summary.answered < summary.asked:
            continue
        played = {(row["game"], row["seat"]) for row in summary.original if row["nash_gap"] is not None}
        beside = [
            PlayerSummary(name, BASELINE, tuple(row for row in rows if (row["game"], row["seat"]) in played))
            for name, rows in results.baselines.items()
        ]
        caption = f"Only the {summary.answered} games that {summary.player} ({summary.way}) answered."
        blocks.append(list_figures((summary, *beside)).to_table(caption))
    if blocks:
        text = "Some answers could not be read. Above, baselines are measured on all games; below, on the same games."
        blocks.insert(0, Note(text, "warning"))
    return blocks


def _precision(results: Results) -> list[Block]:
    """How many games a wanted precision takes, from the spread seen here."""
    rows: list[tuple[Cell, ...]] = []
    for (model, way), plays in results.groups.items():
        by_game: dict[int, list[float]] = {}
        for play in plays:
            if play["gap_normalised"] is not None:
                by_game.setdefault(play["game"], []).append(play["gap_normalised"])
        if len(by_game) > 1:
            spread = float(np.std([np.mean(v) for v in by_game.values()], ddof=1))
            needed = [games_needed(spread, width) for width in (0.05, 0.02, 0.01)]
            rows.append((model, way, *needed))
    if not rows:
        return []
    names = ("player", "asked for", "± 0.05", "± 0.02", "± 0.01")
    columns = tuple(Column(name, "left" if k < 2 else "right") for k, name in enumerate(names))
    return [Table(columns, tuple(rows), "Games needed to know the mean gap / range this precisely (95 %).")]


def _samples(results: Results, figure: str) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    groups = {" / ".join(group): rows for group, rows in results.groups.items()} | results.baselines
    for name, rows in groups.items():
        values = [number for row in rows if (number := get_number(row, figure)) is not None]
        if values:
            found[name] = values
    return found


def _distributions(results: Results) -> Section | None:
    gaps = _samples(results, "gap_normalised")
    if not gaps:
        return None
    blocks: list[Block] = [
        Figure(
            figures.distribution(gaps, x_label="Nash gap / payoff range"),
            "Nash gap of every game. Box: middle half; line: median; diamond: mean; whiskers: to the last game within "
            "one and a half widths of the box (Tukey's rule), beyond which a game is an outlier.",
            "Distribution of the normalised Nash gap for each player",
        ),
        *list_outliers(results, "gap_normalised", "gap / range"),
    ]
    exploited = _samples(results, "exploitability_normalised")
    if exploited:
        blocks.append(
            Figure(
                figures.distribution(exploited, x_label="exploitability / payoff range"),
                "What a best-responding opponent would take, game by game. Boxes and whiskers as above.",
                "Distribution of the normalised exploitability for each player",
            )
        )
        blocks += list_outliers(results, "exploitability_normalised", "exploitability / range")
    return Section("Game by game", tuple(blocks))


def _features(results: Results) -> Section | None:
    """The gap against what makes a game hard."""
    rows = [(" / ".join(group), row) for group, plays in results.groups.items() for row in plays]
    read = [(name, row) for name, row in rows if row["gap_normalised"] is not None]
    if not read or not results.baselines:
        return None
    hardness = {(r["game"], r["seat"]): r["gap_normalised"] or 0.0 for r in results.baselines["uniform"]}
    blocks: list[Block] = [
        Figure(
            figures.scatter(
                [hardness[(row["game"], row["seat"])] for _, row in read],
                [row["gap_normalised"] or 0.0 for _, row in read],
                [name for name, _ in read],
                x_label="gap of uniform play / payoff range",
                y_label="gap / payoff range",
            ),
            "Harder games to the right: where uniform play loses more. Lines join means of equally many games.",
            "Scatter of each player's gap against the gap of uniform play",
        ),
        _by_support(read),
    ]
    return Section("Which games are hard", tuple(blocks))


def _by_support(read: list[tuple[str, BenchRow]]) -> Table:
    sizes = sorted({row["support"] for _, row in read if row["support"] is not None})
    names = list(dict.fromkeys(name for name, _ in read))
    rows = []
    for name in names:
        cells = []
        for size in sizes:
            values = [r["gap_normalised"] or 0.0 for n, r in read if n == name and r["support"] == size]
            cells.append(float(np.mean(values)) if values else None)
        rows.append((name, *cells))
    columns = (Column("player"), *(Column(f"support {size}", "right", format=".3f") for size in sizes))
    return Table(columns, tuple(rows), "Mean gap / range by the number of actions the opponent's equilibrium uses.")
