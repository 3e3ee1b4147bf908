"""A run of the playground from settings to results: manifest, execution, measuring, report."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bestresponse.core.errors import StoreError
from bestresponse.models.base import Model
from bestresponse.report.document import Document
from bestresponse.runs.costs import call_totals
from bestresponse.runs.execute import Outcome, Progress, execute
from bestresponse.runs.folder import RunFolder
from bestresponse.runs.invocation import Occasion, new_manifest, settings_of
from bestresponse.runs.lines import read_lines
from bestresponse.runs.manifest import Manifest
from bestresponse.runs.watching import prices_of
from bestresponse.studies.simulate.config import PlaygroundConfig
from bestresponse.studies.simulate.findings import findings
from bestresponse.studies.simulate.measure import Measured, measure
from bestresponse.studies.simulate.plan import specs
from bestresponse.studies.simulate.playing import player_on

__all__ = ["STUDY", "config_of", "manifest_of", "read_results", "report_of", "run"]

STUDY = "playground"


def manifest_of(config: PlaygroundConfig, models: Mapping[str, Model], occasion: Occasion) -> Manifest:
    """What is written down before the first play."""
    return new_manifest(STUDY, config.to_json(), models, occasion)


def config_of(folder: RunFolder) -> PlaygroundConfig:
    """The settings of a stored run; StoreError where the run is of another study."""
    return PlaygroundConfig.from_json(settings_of(folder, STUDY))


def run(
    config: PlaygroundConfig,
    folder: RunFolder,
    models: Mapping[str, Model],
    *,
    workers: int = 1,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> Outcome:
    """Play what is missing."""
    play_one = player_on(config.game, models)
    return execute(specs(config), play_one, folder, workers=workers, total=config.repeats, on_progress=on_progress)


def read_results(folder: RunFolder) -> Measured:
    """Measure every finished play of a stored run."""
    return measure(config_of(folder), read_lines(folder.path / "records.jsonl"))


def report_of(folder: RunFolder, measured: Measured) -> Document:
    """The report of a stored run; StoreError where it holds nothing yet."""
    if not measured.plays and not measured.voids:
        raise StoreError(f"{folder.path.name} holds no finished play yet")
    return findings(measured, folder.manifest, tuple(call_totals(folder, prices_of(folder))))
