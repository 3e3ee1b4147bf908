"""Does the answer change when it should not, do settings matter, and who plays better than whom?

The invariance score of a variant is 1 - the mean total variation distance between the answer to a game and the answer
to the same game told otherwise, carried back to the original actions. 1: the same answer always; an answer that ignores
the game scores 1 too, so the score stands beside the gap, never alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bestresponse.core.seeds import split
from bestresponse.report.stats.statistics import Comparison, Interval, cluster_bootstrap, holm, paired_difference
from bestresponse.studies.bench.metrics import compute_distance, pair_variants
from bestresponse.studies.bench.results import Results
from bestresponse.studies.bench.rows import BenchRow, get_number

__all__ = [
    "COMPARED",
    "ConditionEffect",
    "PlayerDifference",
    "VariantEffect",
    "compare_players",
    "measure_conditions",
    "measure_variants",
]

COMPARED = ("gap_normalised", "exploitability_normalised")
"""The figures by which players are compared."""


@dataclass(frozen=True, slots=True)
class VariantEffect:
    """One player on one variant: how far its answers move, and what that does to its normalised gap."""

    player: str
    way: str
    variant: str
    score: Interval
    gap_change: Comparison
    adjusted_p: float


@dataclass(frozen=True, slots=True)
class ConditionEffect:
    """One player under one setting: its mean normalised gap, answered plays only."""

    player: str
    way: str
    condition: str
    gap: Interval | None
    answered: int
    asked: int


@dataclass(frozen=True, slots=True)
class PlayerDifference:
    """Two players on the games both answered: first less second in one figure; negative where the first is better."""

    first: str
    second: str
    figure: str
    comparison: Comparison
    adjusted_p: float


def measure_variants(results: Results) -> tuple[VariantEffect, ...]:
    """Measure every player on every variant, p-values adjusted over all of them (Holm)."""
    found = []
    for variant in results.plan.variants:
        for summary in results.summaries:
            pairs = pair_variants(summary.rows, variant)
            if not pairs:
                continue
            rng = _make_generator(results, "invariance", summary.player, summary.way, variant)
            games = [first["game"] for first, _ in pairs]
            score = cluster_bootstrap([1 - compute_distance(p) for p in pairs], games, rng=rng)
            told, drawn = (_read([p[k] for p in pairs], "gap_normalised") for k in (1, 0))
            change = paired_difference(told, drawn, games, rng=rng)
            found.append((summary.player, summary.way, variant, score, change))
    if not found:
        return ()
    adjusted = holm([change.p_value for *_, change in found])
    return tuple(VariantEffect(*each, float(p)) for each, p in zip(found, adjusted, strict=True))


def _read(rows: Sequence[BenchRow], figure: str) -> list[float]:
    return [number for row in rows if (number := get_number(row, figure)) is not None]


def _make_generator(results: Results, *names: str) -> np.random.Generator:
    return np.random.default_rng(split(results.plan.config.seed, *names))


def measure_conditions(results: Results) -> tuple[ConditionEffect, ...]:
    """Measure every player under every condition of the run."""
    groups: dict[tuple[str, str, str], list[BenchRow]] = defaultdict(list)
    for row in results.rows:
        if row["variant"] == "original":
            groups[(row["model"], results.describe_way(row), row["condition"])].append(row)
    order = {condition.name: number for number, condition in enumerate(results.plan.conditions)}
    effects = []
    for (model, way, condition), rows in sorted(groups.items(), key=lambda item: (item[0][:2], order[item[0][2]])):
        read = [row for row in rows if row["gap_normalised"] is not None]
        rng = _make_generator(results, "sensitivity", model, way, condition)
        gap = cluster_bootstrap(_read(read, "gap_normalised"), [r["game"] for r in read], rng=rng) if read else None
        effects.append(ConditionEffect(model, way, condition, gap, len(read), len(rows)))
    return tuple(effects)


def compare_players(results: Results) -> list[PlayerDifference]:
    """Compare every model with every other and with simple baselines, on the games both answered."""
    found = []
    models = [" / ".join(group) for group in results.groups]
    for figure in COMPARED:
        players = {" / ".join(group): _find_values(rows, figure) for group, rows in results.groups.items()}
        players |= {
            name: _find_values(rows, figure)
            for name, rows in results.baselines.items()
            if name in ("uniform", "maximin", "equilibrium")
        }
        names = list(players)
        for i, first in enumerate(models):
            for second in names[i + 1 :]:
                common = sorted(players[first].keys() & players[second].keys())
                if len(common) > 1:
                    rng = _make_generator(results, "difference", figure, first, second)
                    a, b = [players[first][k] for k in common], [players[second][k] for k in common]
                    compared = paired_difference(a, b, [game for game, _ in common], rng=rng)
                    found.append((first, second, figure, compared))
    if not found:
        return []
    adjusted = holm([comparison.p_value for *_, comparison in found])
    return [PlayerDifference(*each, float(p)) for each, p in zip(found, adjusted, strict=True)]


def _find_values(rows: Sequence[BenchRow], figure: str) -> dict[tuple[int, str], float]:
    """Return the known values of a figure by game and seat."""
    return {(r["game"], r["seat"]): number for r in rows if (number := get_number(r, figure)) is not None}
