"""What a benchmark run found, as a document: tables, figures, failures, costs, and how to do it again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from bestresponse.core.player import Status
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
from bestresponse.report.stats.statistics import Interval, games_needed
from bestresponse.runs.costs import costs_section
from bestresponse.runs.run import Run
from bestresponse.studies.bench.findings_more import comparison_section, invariance_section, sensitivity_section
from bestresponse.studies.bench.findings_run import benchmark_method, reading_section
from bestresponse.studies.bench.results import Results
from bestresponse.studies.bench.summary import PlayerSummary

__all__ = ["findings"]

_QUOTES_PER_KIND = 2


def findings(results: Results, run: Run) -> Document:
    """Build the report of a run."""
    c = results.plan.config
    sections = [
        _headline(results),
        _distributions(results),
        _features(results),
        comparison_section(results),
        invariance_section(results),
        sensitivity_section(results),
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
        subtitle=f"{', '.join(c.models)} on {games}, seed {c.seed}",
        opening=tuple(_opening(results)),
        sections=tuple(section for section in sections if section is not None),
        footer=run.manifest.footer,
    )


def _opening(results: Results) -> Iterable[Block]:
    for summary in results.summaries:
        if summary.gap is None:
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
    first = next((s for s in results.summaries if s.gap_normalised is not None), None)
    if first is not None:
        items: list[tuple[str, Any]] = [("games", len(results.games)), ("mean Nash gap", _plain(first.gap))]
        items.append(("gap / payoff range", _plain(first.gap_normalised)))
        if first.exploitability_normalised is not None:
            items.append(("exploitability / range", _plain(first.exploitability_normalised)))
        items.append(("answers read", f"{first.answered / first.asked:.0%}"))
        yield KeyValues(tuple(items), prominent=True, format=".3g")


def _find_quotes(run: Run) -> Iterable[tuple[str, str, str]]:
    """Yield a few replies of each kind that could not be read: (model, why, text)."""
    counts: dict[tuple[str, str], int] = {}
    for play in run.folder.plays():
        if play.record.void is None:
            continue
        decision = play.record.submissions[-1].decision
        status = decision.reading.status
        kind = (play.data["model"], status.value)
        counts[kind] = counts.get(kind, 0) + 1
        if not Status(status).readable and counts[kind] <= _QUOTES_PER_KIND:
            yield play.data["model"], f"{status}: {decision.reading.how}", decision.reasoning


def _plain(interval: Interval | None) -> float | None:
    return None if interval is None else interval.estimate


_COLUMNS = (
    Column("player"),
    Column("asked for"),
    Column("answers", "right", "answers that could be read, of those asked for"),
    Column(
        "Nash gap", "right", "best-response value less own value, against the equilibrium opponent; 0 is optimal", ".2f"
    ),
    Column("gap / range", "right", "the Nash gap as a share of the game's payoff range", ".3f"),
    Column("exploitability / range", "right", "what a best-responding opponent takes, as a share of the range", ".3f"),
    Column("gap ratio", "right", "mean gap over the size of the mean best-response value", ".2f"),
    Column("own value", "right", "mean expected payoff", ".2f"),
    Column("best response", "right", "mean best-response payoff", ".2f"),
)


def _headline(results: Results) -> Section:
    rows = [_row(s) for s in (*results.summaries, *results.baseline_summaries)]
    blocks: list[Block] = [
        Table(_COLUMNS, tuple(rows), "Estimates with 95 % intervals (games resampled). Smaller gaps are better."),
    ]
    blocks += _general_sum(results)
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


def _row(s: PlayerSummary) -> tuple[Any, ...]:
    return (
        s.player,
        s.way,
        f"{s.answered} of {s.asked}" if s.way != "baseline" else str(s.asked),
        s.gap,
        s.gap_normalised,
        s.exploitability_normalised,
        s.gap_ratio,
        s.llm_value,
        s.br_value,
    )


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


def _general_sum(results: Results) -> list[Block]:
    """Figures that only games with many equilibria have."""
    names = ("equilibrium_distance", "gap_nearest", "dominated_mass", "security_loss")
    rows = []
    groups = [*results.groups.items(), *(((name, "baseline"), rows) for name, rows in results.baselines.items())]
    for (model, way), plays in groups:
        read = [p for p in plays if p.get("dominated_mass") is not None]
        if read:
            means = [_mean_known([p[name] for p in read]) for name in names]
            rows.append((model, way, *means))
    if not rows:
        return []
    columns = (
        Column("player"),
        Column("asked for"),
        Column("distance to equilibrium", "right", "total variation to the nearest equilibrium strategy", ".3f"),
        Column("gap to nearest", "right", "Nash gap against the nearest equilibrium's opponent", ".2f"),
        Column("dominated", "right", "probability on strictly dominated actions", ".3f"),
        Column("security loss", "right", "maximin value less what the answer guarantees", ".2f"),
    )
    return [Table(columns, tuple(rows), "Games with possibly many equilibria: means over games.")]


def _mean_known(values: list[Any]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _samples(results: Results, figure: str) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    groups = {" / ".join(group): rows for group, rows in results.groups.items()} | results.baselines
    for name, rows in groups.items():
        values = [row[figure] for row in rows if row.get(figure) is not None]
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
            "Nash gap of every game. Box: middle half; line: median; diamond: mean.",
            "Distribution of the normalised Nash gap for each player",
        )
    ]
    exploited = _samples(results, "exploitability_normalised")
    if exploited:
        blocks.append(
            Figure(
                figures.distribution(exploited, x_label="exploitability / payoff range"),
                "What a best-responding opponent would take, game by game.",
                "Distribution of the normalised exploitability for each player",
            )
        )
    return Section("Game by game", tuple(blocks))


def _features(results: Results) -> Section | None:
    """The gap against what makes a game hard."""
    rows = [(" / ".join(group), row) for group, plays in results.groups.items() for row in plays]
    read = [(name, row) for name, row in rows if row["gap_normalised"] is not None]
    if not read or not results.baselines:
        return None
    hardness = {(r["game"], r["seat"]): r["gap_normalised"] for r in results.baselines["uniform"]}
    blocks: list[Block] = [
        Figure(
            figures.scatter(
                [hardness[(row["game"], row["seat"])] for _, row in read],
                [row["gap_normalised"] for _, row in read],
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


def _by_support(read: list[tuple[str, dict[str, Any]]]) -> Table:
    sizes = sorted({row["support"] for _, row in read})
    names = list(dict.fromkeys(name for name, _ in read))
    rows = []
    for name in names:
        cells = []
        for size in sizes:
            values = [r["gap_normalised"] for n, r in read if n == name and r["support"] == size]
            cells.append(float(np.mean(values)) if values else None)
        rows.append((name, *cells))
    columns = (Column("player"), *(Column(f"support {size}", "right", format=".3f") for size in sizes))
    return Table(columns, tuple(rows), "Mean gap / range by the number of actions the opponent's equilibrium uses.")
