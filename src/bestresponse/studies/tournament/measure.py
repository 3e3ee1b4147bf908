"""The standings of a tournament: matches between strategies worked out, and those in which somebody was asked."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bestresponse.runs.store.folder import RunFolder, StoredPlay
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.exact_matches import compute
from bestresponse.studies.tournament.plan import Plan
from bestresponse.studies.tournament.standings import Standings

__all__ = ["Readings", "count_readings", "measure_standings"]

Readings = tuple[tuple[str, str, int], ...]
"""(model, how an answer was read, how often)."""


def measure_standings(plan: Plan, plays: Iterable[StoredPlay] = ()) -> Standings:
    """Put together worked-out and played matches; one that broke off is missing."""
    config = plan.config
    computed = compute(config, plan.entrants)
    count = len(plan.entrants)
    totals, missing = computed.totals.copy(), np.zeros((count, count))
    counts = np.where(np.isnan(totals[:, :, 0]), 0.0, float(config.repetitions or 1))
    wanted = {spec.id for spec in plan.specs()}
    for pair in plan.pairs:
        counts[pair] = missing[pair] = config.repetitions or 1
    sums: dict[tuple[int, int], list[tuple[float, ...]]] = {}
    for play in plays:
        if play.spec not in wanted or play.record.void is not None:
            continue
        first, second = play.data["places"]
        earned = tuple(play.record.payoffs[role] for role in config.game.players)
        sums.setdefault((first, second), []).append(earned)
    for pair, earned_by_play in sums.items():
        totals[pair] = np.mean(earned_by_play, axis=0)
        missing[pair] = counts[pair] - len(earned_by_play)
    return Standings(config, totals, computed.spread, missing, counts, computed.method)


def count_readings(config: TournamentConfig, folder: RunFolder) -> Readings:
    """Count how the answers of every model were read."""
    roles = config.game.players
    counts: dict[tuple[str, str], int] = {}
    for play in folder.plays():
        asked = {
            role: seat["name"] for role, seat in zip(roles, play.data["seats"], strict=True) if seat["kind"] == "model"
        }
        for submission in play.record.submissions:
            if submission.role in asked:
                key = (asked[submission.role], submission.decision.reading.status.value)
                counts[key] = counts.get(key, 0) + 1
    return tuple((who, how, count) for (who, how), count in sorted(counts.items()))
