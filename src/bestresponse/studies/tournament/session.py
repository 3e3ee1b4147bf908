"""A tournament from settings to report: manifest, execution, standings. Reporting needs no model and no network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from bestresponse.models.base import Model
from bestresponse.report.document import Document
from bestresponse.runs.execute import Outcome, Progress, execute
from bestresponse.runs.folder import RunFolder, StoredPlay
from bestresponse.runs.invocation import Occasion, new_manifest, settings_of
from bestresponse.runs.manifest import Manifest
from bestresponse.studies.tournament.config import TournamentConfig
from bestresponse.studies.tournament.exact_matches import compute
from bestresponse.studies.tournament.findings import findings
from bestresponse.studies.tournament.plan import STUDY, Plan
from bestresponse.studies.tournament.playing import player_on
from bestresponse.studies.tournament.standings import Standings

__all__ = ["config_of", "manifest_of", "read_standings", "report_of", "run", "standings_of", "summary_of"]


def manifest_of(config: TournamentConfig, models: Mapping[str, Model], occasion: Occasion) -> Manifest:
    """What is written down before the first play."""
    return new_manifest(STUDY, config.to_json(), models, occasion)


def config_of(folder: RunFolder) -> TournamentConfig:
    """The settings of a stored run; StoreError where the run is of another study."""
    return TournamentConfig.from_json(settings_of(folder, STUDY))


def run(
    plan: Plan,
    folder: RunFolder,
    models: Mapping[str, Model],
    *,
    workers: int,
    on_progress: Callable[[Progress], None],
) -> Outcome:
    """Play what is missing of `plan`."""
    play_one = player_on(plan.config, models)
    return execute(plan.specs(), play_one, folder, workers=workers, total=plan.total, on_progress=on_progress)


def standings_of(plan: Plan, plays: Iterable[StoredPlay] = ()) -> Standings:
    """The matches between strategies, worked out, and those that were played; one that broke off is missing."""
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


def read_standings(folder: RunFolder) -> Standings:
    """The standings of a stored run."""
    return standings_of(Plan(config_of(folder)), folder.plays())


def report_of(folder: RunFolder, standings: Standings) -> Document:
    """The report of a stored run."""
    return findings(standings, folder.manifest, tuple(_answers(folder)))


def _answers(folder: RunFolder) -> Iterable[tuple[str, str, int]]:
    """(model, how an answer was read, how often)."""
    roles = config_of(folder).game.players
    counts: dict[tuple[str, str], int] = {}
    for play in folder.plays():
        asked = {
            role: seat["name"] for role, seat in zip(roles, play.data["seats"], strict=True) if seat["kind"] == "model"
        }
        for submission in play.record.submissions:
            if submission.role in asked:
                key = (asked[submission.role], submission.decision.reading.status.value)
                counts[key] = counts.get(key, 0) + 1
    return [(who, how, count) for (who, how), count in sorted(counts.items())]


def summary_of(standings: Standings) -> dict[str, Any]:
    """The standings as plain data."""
    config = standings.config
    return {
        "game": config.game.name,
        "rounds": config.rounds,
        "noise": config.noise,
        "continuation": config.continuation,
        "repetitions": config.repetitions,
        "method": standings.method,
        "winners": list(standings.winners),
        "standings": [{**asdict(row), "bounds": list(row.bounds) if row.bounds else None} for row in standings.rows],
        "names": [entry.name for entry in config.entries],
        "totals": _plain(standings.totals.tolist()),
        "left_out": [{"name": name, "why": why} for name, why in config.left_out],
    }


def _plain(value: Any) -> Any:
    """Nested lists with None in place of NaN."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return None if np.isnan(value) else value
