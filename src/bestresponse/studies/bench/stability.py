"""Whether answers change when they should not (invariance) and how they change with the setting (sensitivity).

Invariance of a player to a variant: 1 - mean total variation distance between its answers to the game as drawn and to
the same game told otherwise, carried back to the original actions. 1: the same answer always; an answer that ignores
the game scores 1 too, so the score stands beside the gap, never alone.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestresponse.core.seeds import split
from bestresponse.report.stats.statistics import Comparison, Interval, cluster_bootstrap, holm, paired_difference
from bestresponse.studies.bench.measure import Row
from bestresponse.studies.bench.results import Results

__all__ = ["ConditionEffect", "VariantEffect", "invariance", "invariance_score", "model_differences", "sensitivity"]


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


def _keyed(rows: list[Row]) -> dict[tuple[Any, ...], Row]:
    return {(r["model"], r["elicit"], r["game"]): r for r in rows if r["strategy"] is not None}


def _moves(results: Results, variant: str) -> dict[tuple[str, str], list[tuple[Row, Row]]]:
    """Pairs (original, variant) of answered plays by (model, way).

    A variant may change format, theme or seat itself, so pairs are found within the one original setting.
    """
    originals = _keyed(list(results.original))
    found: dict[tuple[str, str], list[tuple[Row, Row]]] = defaultdict(list)
    for key, told in _keyed([r for r in results.rows if r["variant"] == variant]).items():
        if key in originals:
            found[(told["model"], told["elicit"])].append((originals[key], told))
    return found


def _distance(pair: tuple[Row, Row]) -> float:
    return 0.5 * float(np.abs(np.subtract(pair[0]["strategy"], pair[1]["strategy"])).sum())


def invariance(results: Results) -> tuple[VariantEffect, ...]:
    """Every player on every variant, p-values adjusted over all of them (Holm)."""
    found = []
    for variant in results.plan.variants:
        for (model, way), pairs in sorted(_moves(results, variant).items()):
            rng = np.random.default_rng(split(results.plan.config.seed, "invariance", model, way, variant))
            games = [first["game"] for first, _ in pairs]
            score = cluster_bootstrap([1 - _distance(p) for p in pairs], games, rng=rng)
            change = paired_difference(
                [b["gap_normalised"] for _, b in pairs], [a["gap_normalised"] for a, _ in pairs], games, rng=rng
            )
            found.append((model, way, variant, score, change))
    if not found:
        return ()
    adjusted = holm([change.p_value for *_, change in found])
    return tuple(VariantEffect(*each, float(p)) for each, p in zip(found, adjusted, strict=True))


def invariance_score(results: Results) -> dict[tuple[str, str], Interval]:
    """One score per player: the mean over all its variants, games resampled as wholes."""
    moved: dict[tuple[str, str], list[tuple[int, float]]] = defaultdict(list)
    for variant in results.plan.variants:
        for group, pairs in _moves(results, variant).items():
            moved[group] += [(pair[0]["game"], 1 - _distance(pair)) for pair in pairs]
    scores = {}
    for (model, way), points in sorted(moved.items()):
        rng = np.random.default_rng(split(results.plan.config.seed, "invariance score", model, way))
        scores[(model, way)] = cluster_bootstrap([s for _, s in points], [g for g, _ in points], rng=rng)
    return scores


def sensitivity(results: Results) -> tuple[ConditionEffect, ...]:
    """Every player under every condition of the run."""
    groups: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for row in results.rows:
        if row["variant"] == "original":
            groups[(row["model"], results.way(row), row["condition"])].append(row)
    order = {condition.name: number for number, condition in enumerate(results.plan.conditions)}
    effects = []
    for (model, way, condition), rows in sorted(groups.items(), key=lambda item: (item[0][:2], order[item[0][2]])):
        read = [row for row in rows if row["gap_normalised"] is not None]
        rng = np.random.default_rng(split(results.plan.config.seed, "sensitivity", model, way, condition))
        gap = (
            cluster_bootstrap([r["gap_normalised"] for r in read], [r["game"] for r in read], rng=rng) if read else None
        )
        effects.append(ConditionEffect(model, way, condition, gap, len(read), len(rows)))
    return tuple(effects)


def model_differences(results: Results) -> list[tuple[str, str, Comparison, float]]:
    """Every two players on the games both answered: (first, second, difference of normalised gaps, adjusted p)."""
    players = {
        " / ".join(group): {(r["game"], r["seat"]): r["gap_normalised"] for r in rows if r["nash_gap"] is not None}
        for group, rows in results.groups.items()
    }
    players |= {
        name: {(r["game"], r["seat"]): r["gap_normalised"] for r in rows}
        for name, rows in results.baselines.items()
        if name in ("uniform", "maximin")
    }
    models = {" / ".join(group) for group in results.groups}
    found = []
    names = list(players)
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            common = sorted(players[first].keys() & players[second].keys())
            if first in models and len(common) > 1:
                rng = np.random.default_rng(split(results.plan.config.seed, "difference", first, second))
                a, b = [players[first][k] for k in common], [players[second][k] for k in common]
                found.append((first, second, paired_difference(a, b, [g for g, _ in common], rng=rng)))
    if not found:
        return []
    adjusted = holm([comparison.p_value for *_, comparison in found])
    return [(first, second, c, float(p)) for (first, second, c), p in zip(found, adjusted, strict=True)]
