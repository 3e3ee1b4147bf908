"""A run from settings to report: manifest, execution, measurement. Reporting needs no model and no network."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bestresponse.formal.formalize.texts import TEXTS
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import LogicEngine
from bestresponse.models.base import Model
from bestresponse.report.document import Document
from bestresponse.runs.execute import Outcome, Progress, execute
from bestresponse.runs.folder import RunFolder
from bestresponse.runs.invocation import Occasion, new_manifest, settings_of
from bestresponse.runs.manifest import Manifest
from bestresponse.studies.stories.config import StoriesConfig
from bestresponse.studies.stories.findings import findings
from bestresponse.studies.stories.measure import measure
from bestresponse.studies.stories.playing import STUDY, play_on, specs

__all__ = ["config_of", "manifest_of", "read_rows", "report_of", "run", "total"]


def manifest_of(config: StoriesConfig, models: Mapping[str, Model], occasion: Occasion) -> Manifest:
    """What is written down before the first play."""
    return new_manifest(STUDY, config.to_json(), models, occasion, (TEXTS,))


def config_of(folder: RunFolder) -> StoriesConfig:
    """The settings of a stored run; StoreError where the run is of another study."""
    return StoriesConfig.from_json(settings_of(folder, STUDY))


def total(config: StoriesConfig) -> int:
    """How many plays there are."""
    return len(config.chosen()) * len(config.models) * config.samples


def run(
    config: StoriesConfig,
    folder: RunFolder,
    models: Mapping[str, Model],
    engine: LogicEngine,
    *,
    workers: int,
    on_progress: Callable[[Progress], None],
) -> Outcome:
    """Play what is missing."""
    return execute(
        specs(config),
        play_on(config, models, engine),
        folder,
        workers=workers,
        total=total(config),
        on_progress=on_progress,
    )


def read_rows(folder: RunFolder) -> list[dict[str, Any]]:
    """Measure every finished play of a stored run, with the engine that is always there."""
    config_of(folder)
    return list(measure(folder.plays(), EmbeddedEngine()))


def report_of(folder: RunFolder, rows: list[dict[str, Any]]) -> Document:
    """The report of a stored run."""
    return findings(rows, folder.manifest, max(total(config_of(folder)) - len(rows), 0))
