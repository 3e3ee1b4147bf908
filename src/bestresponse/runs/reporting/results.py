"""The figures of a run with one line for each number: what scripts and other tools read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypedDict

from bestresponse.report.frames import is_baseline
from bestresponse.report.stats.statistics import Interval, as_interval

if TYPE_CHECKING:
    from bestresponse.runs.run import Run

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


def list_results(run: Run[Any]) -> list[ResultRow]:
    """Return every number that the metrics of a run have, with what it is and where it is from."""
    manifest = run.manifest
    figures = run.figures
    place = next((figures.labels.index(name) for name in _PLAYERS if name in figures.labels), 0)
    rows: list[ResultRow] = []
    for heads, values in figures.groups:
        others = [str(head) for at, head in enumerate(heads) if at != place]
        for metric in figures.metrics:
            value = values.get(metric.name)
            if value is None or not math.isfinite(as_interval(value).estimate):
                continue
            rows.append(
                {
                    "metric": f"{manifest.study}.{metric.name}",
                    "title": metric.title,
                    "better": metric.better or _find_direction(metric.name),
                    **_split_value(value),
                    "suite": name_suite(run),
                    "model": str(heads[place]) if heads else "",
                    "group": "baseline" if is_baseline(heads) else ", ".join(others),
                    "date": manifest.created,
                    "command": " ".join(manifest.command),
                    "version": manifest.footer.split(",")[0],
                    "run": manifest.run,
                }
            )
    return rows


def _split_value(value: float | Interval) -> Any:
    known = as_interval(value)
    stated = isinstance(value, Interval)
    bounded = stated and math.isfinite(known.low) and math.isfinite(known.high)
    return {
        "value": known.estimate,
        "low": known.low if bounded else None,
        "high": known.high if bounded else None,
        "level": known.level if bounded else None,
        "method": known.method if bounded else "",
        "n": known.n if stated else None,
    }


def _find_direction(name: str) -> str:
    if name in _LOWER:
        return "lower"
    return "higher" if name in _HIGHER else ""


def name_suite(run: Run[Any]) -> str:
    """Name what a run asked about: its game, or else its suite."""
    settings = run.manifest.config
    game = settings.get("game")
    if isinstance(game, dict):
        game = game.get("name")
    return str(game or settings.get("suite") or run.manifest.study)
