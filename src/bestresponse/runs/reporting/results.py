"""The metrics of a run with one line for each number: what scripts and other tools read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Never, TypedDict

from bestresponse.report.frames import Metric, is_baseline
from bestresponse.report.stats.statistics import Interval, as_interval
from bestresponse.runs.store.folder import Manifest

if TYPE_CHECKING:
    from bestresponse.runs.run import Run
    from bestresponse.runs.settings import RunSettings

_LOWER = frozenset(
    [
        "contamination",
        "dominated_mass",
        "equilibrium_distance",
        "exploitability",
        "exploitability_normalised",
        "gap",
        "gap_nearest",
        "gap_normalised",
        "gap_ratio",
        "loss",
        "nash_conv",
        "nash_gap",
        "nash_gap_max",
        "nash_gap_median",
        "nash_gap_min",
        "refuted",
        "regret",
        "regret_normalised",
        "regret_per_move",
        "security_loss",
        "void",
        "wrong_first",
        "wrong_last",
        "wrong_reason",
        "best_reply_regret",
        "error",
    ]
)
_HIGHER = frozenset(
    [
        "cfr_gain",
        "commitment_gain",
        "consistency",
        "credible_gain",
        "equivalent",
        "exact",
        "functional",
        "gain",
        "in_equilibrium",
        "invariance",
        "invariance_mean",
        "llm_value",
        "margin",
        "meaning",
        "optimal",
        "payoff",
        "per_round",
        "relative_gain",
        "right",
        "share",
        "success_1",
        "success_5",
        "survivors",
        "syntactic",
        "unrefuted",
        "won",
    ]
)
"""The metrics of the package whose numbers are better lower or higher; of others nothing is said
here, a metric of a plug-in says it itself."""
SHARES = frozenset(
    [
        "dominated_mass",
        "equilibrium_distance",
        "exploitability_normalised",
        "gap_normalised",
        "in_equilibrium",
        "optimal",
        "regret_normalised",
        "success_1",
        "success_5",
        "unrefuted",
        "refuted",
        "won",
        "exact",
        "functional",
        "syntactic",
        "meaning",
        "equivalent",
        "right",
    ]
)
"""The metrics that are never below 0 or above 1."""
_PLAYERS = ("model", "player", "strategy")
"""What the column of whoever is measured may be called."""


class ResultRow(TypedDict):
    """One number of a run.

    `metric` is its id, the study before the name. `better` is `lower`, `higher` or empty. The ends
    of an interval are None where there is none, `n` is how many units it rests on.
    """

    metric: str
    title: str
    better: str
    value: float
    low: float | None
    high: float | None
    level: float | None
    method: str
    n: int | None
    suite: str
    model: str
    group: str
    date: str
    command: str
    version: str
    run: str


def list_results(run: Run[RunSettings]) -> list[ResultRow]:
    """Return every number that the metrics of a run have, with what it is and where it is from."""
    metrics = run.metrics
    place = next((metrics.labels.index(name) for name in _PLAYERS if name in metrics.labels), None)
    rows: list[ResultRow] = []
    for heads, values in metrics.groups:
        model = _join(run.manifest.config.get("model"))
        others = heads
        if place is not None:
            model = str(heads[place])
            others = (*heads[:place], *heads[place + 1 :])
        group = "baseline" if is_baseline(heads) else ", ".join(map(str, others))
        for metric in metrics.columns:
            value = values.get(metric.name)
            if value is not None and math.isfinite(as_interval(value).estimate):
                rows.append(_describe(run.manifest, metric, value, (model, group)))
    return rows


def _describe(
    manifest: Manifest, metric: Metric[Never], value: float | Interval, whose: tuple[str, str]
) -> ResultRow:
    known = as_interval(value)
    stated = isinstance(value, Interval)
    bounded = stated and math.isfinite(known.low) and math.isfinite(known.high)
    model, group = whose
    return {
        "metric": f"{manifest.study}.{metric.name}",
        "title": metric.title,
        "better": metric.better or _find_direction(metric.name),
        "value": known.estimate,
        "low": known.low if bounded else None,
        "high": known.high if bounded else None,
        "level": known.level if bounded else None,
        "method": known.method if bounded else "",
        "n": known.n if stated else None,
        "suite": name_suite(manifest),
        "model": model,
        "group": group,
        "date": manifest.created,
        "command": " ".join(manifest.command),
        "version": manifest.footer.partition(",")[0],
        "run": manifest.run,
    }


def _find_direction(name: str) -> str:
    if name in _LOWER:
        return "lower"
    return "higher" if name in _HIGHER else ""


def name_suite(manifest: Manifest) -> str:
    """Name what a run asked about: its game, or else its suite."""
    settings = manifest.config
    return _join(settings.get("game") or settings.get("suite") or manifest.study)


def _join(named: object) -> str:
    """Write a name, or several with commas between them; empty where there is none."""
    match named:
        case {"name": name}:
            return str(name)
        case [*several]:
            return ", ".join(map(_join, several))
    return str(named or "")
