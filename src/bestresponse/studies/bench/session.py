"""A benchmark run from settings to files: manifest, execution, report. Reporting needs no model and no network."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bestresponse.core.episode import Record
from bestresponse.core.player import Status
from bestresponse.models.base import Model
from bestresponse.report.document import Document
from bestresponse.report.stats.statistics import precision_reached
from bestresponse.runs.costs import call_totals
from bestresponse.runs.execute import Outcome, Progress, execute
from bestresponse.runs.folder import RunFolder, StoredPlay
from bestresponse.runs.invocation import Occasion, new_manifest, settings_of
from bestresponse.runs.manifest import Manifest
from bestresponse.runs.spec import Spec
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.findings import Background, findings
from bestresponse.studies.bench.measure import measure
from bestresponse.studies.bench.plan import BASE, Plan
from bestresponse.studies.bench.playing import player_on
from bestresponse.studies.bench.results import Results

__all__ = ["manifest_of", "plan_of", "read_results", "report_of", "results_json", "run"]

STUDY = "bench"
_QUOTES_PER_KIND = 2


def manifest_of(config: BenchConfig, models: Mapping[str, Model], occasion: Occasion) -> Manifest:
    """What is written down before the first play."""
    return new_manifest(STUDY, config.to_json(), models, occasion)


def plan_of(folder: RunFolder) -> Plan:
    """The plan of a stored run; StoreError where the run is of another study."""
    return Plan(BenchConfig.from_json(settings_of(folder, STUDY)))


def run(
    plan: Plan,
    folder: RunFolder,
    models: Mapping[str, Model],
    *,
    workers: int,
    on_progress: Callable[[Progress], None],
) -> Outcome:
    """Play what is missing of `plan`."""
    stop = _Precision(plan, folder) if plan.config.precision else None
    if stop is not None and stop.reached:
        return Outcome(found=len(folder.finished()))
    return execute(
        plan.specs(),
        player_on(plan, models),
        folder,
        workers=workers,
        total=plan.total,
        on_progress=on_progress,
        enough=stop.told if stop is not None else lambda spec, record: False,
    )


class _Precision:
    """Watches the normalised gap of every player and says when all are known precisely enough."""

    def __init__(self, plan: Plan, folder: RunFolder) -> None:
        self._half_width = plan.config.precision or 0.0
        self._expected = len(plan.config.models) * len(plan.config.elicit)
        self._seen: dict[tuple[str, str], list[tuple[int, float]]] = {}
        self._count = 0
        self.reached = False
        for play in folder.plays():
            self._note(play)
        self._look()

    def told(self, spec: Spec, record: Record) -> bool:
        self._note(StoredPlay(spec.id, spec.data, record))
        if self._count % 10 == 0:
            self._look()
        return self.reached

    def _note(self, play: StoredPlay) -> None:
        if play.data["variant"] != "original" or play.data["condition"] != BASE:
            return
        (row,) = measure([play])
        self._count += 1
        if row["gap_normalised"] is not None:
            self._seen.setdefault((row["model"], row["elicit"]), []).append((row["game"], row["gap_normalised"]))

    def _look(self) -> None:
        self.reached = len(self._seen) == self._expected and all(
            precision_reached([v for _, v in seen], self._half_width, [g for g, _ in seen]).reached
            for seen in self._seen.values()
        )


def read_results(folder: RunFolder) -> Results:
    """Measure every finished play of a stored run."""
    return Results.of(plan_of(folder), folder.plays())


def report_of(
    folder: RunFolder, results: Results, prices: Callable[[str, Mapping[str, Any]], float | None]
) -> Document:
    """The report of a stored run; `prices` gives the cost of a model's usage in dollars, None where unknown."""
    finished = len(results.rows)
    complete = bool(results.plan.config.precision)
    background = Background(
        folder.manifest,
        tuple(call_totals(folder, prices)),
        tuple(_quotes(folder)),
        tuple(name for name in results.plan.config.models if name == "smollm2"),
        0 if complete else max(results.plan.total - finished, 0),
    )
    return findings(results, background)


def _quotes(folder: RunFolder) -> Iterable[tuple[str, str, str]]:
    """A few replies of each kind that could not be read: (model, why, text)."""
    counts: dict[tuple[str, str], int] = {}
    for play in folder.plays():
        if play.record.void is None:
            continue
        decision = play.record.submissions[-1].decision
        status = decision.reading.status
        kind = (play.data["model"], status.value)
        counts[kind] = counts.get(kind, 0) + 1
        if not Status(status).readable and counts[kind] <= _QUOTES_PER_KIND:
            yield play.data["model"], f"{status}: {decision.reading.how}", decision.reasoning


def results_json(results: Results) -> Iterable[str]:
    """The detailed results file, piece by piece: one JSON array of one object per play."""
    yield "["
    for number, row in enumerate(results.rows):
        yield ("," if number else "") + "\n  " + json.dumps(row, ensure_ascii=False)
    yield "\n]\n"
