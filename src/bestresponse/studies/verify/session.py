"""A run of the verify study from settings to results: plan, manifest, execution, measuring."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from bestresponse.formal.claims.texts import TEXTS as CLAIM_TEXTS
from bestresponse.games.texts import TEXTS as GAME_TEXTS
from bestresponse.models.base import Model
from bestresponse.players.llm.texts import TEXTS as PLAYER_TEXTS
from bestresponse.runs.execute import Outcome, Progress, execute
from bestresponse.runs.folder import RunFolder
from bestresponse.runs.invocation import Occasion, new_manifest, settings_of
from bestresponse.runs.manifest import Manifest
from bestresponse.runs.spec import Spec
from bestresponse.studies.verify.config import VerifyConfig
from bestresponse.studies.verify.measure import Measured, measure
from bestresponse.studies.verify.playing import player_on
from bestresponse.studies.verify.texts import TEXTS

__all__ = ["STUDY", "config_of", "manifest_of", "read_results", "run", "specs"]

STUDY = "verify"


def specs(config: VerifyConfig) -> Iterator[Spec]:
    """One spec a repeat."""
    settings = {name: value for name, value in config.to_json().items() if name != "repeats"}
    for repeat in range(config.repeats):
        yield Spec.of({**settings, "repeat": repeat})


def manifest_of(config: VerifyConfig, models: Mapping[str, Model], occasion: Occasion) -> Manifest:
    """What is written down before the first run."""
    return new_manifest(STUDY, config.to_json(), models, occasion, (GAME_TEXTS, PLAYER_TEXTS, CLAIM_TEXTS, TEXTS))


def config_of(folder: RunFolder) -> VerifyConfig:
    """The settings of a stored run; StoreError where the run is of another study."""
    return VerifyConfig.from_json(settings_of(folder, STUDY))


def run(
    config: VerifyConfig,
    folder: RunFolder,
    models: Mapping[str, Model],
    *,
    workers: int = 1,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> Outcome:
    """Run what is missing."""
    return execute(
        specs(config), player_on(config, models), folder, workers=workers, total=config.repeats, on_progress=on_progress
    )


def read_results(folder: RunFolder) -> Measured:
    """Measure every finished run of a stored study."""
    return measure(config_of(folder), folder.plays())
