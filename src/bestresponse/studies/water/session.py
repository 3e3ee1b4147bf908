"""A run of the water study from settings to results: manifest, execution, measuring."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from bestresponse.games.water.bidders import play_many
from bestresponse.models.base import Model
from bestresponse.runs.execute import Outcome, Progress, execute
from bestresponse.runs.folder import RunFolder
from bestresponse.runs.invocation import Occasion, new_manifest, settings_of
from bestresponse.runs.lines import read_lines
from bestresponse.runs.manifest import Manifest
from bestresponse.runs.spec import Spec
from bestresponse.studies.water.config import Setting, WaterConfig
from bestresponse.studies.water.measure import Measured, measure
from bestresponse.studies.water.plan import game_seed, spec_of, specs
from bestresponse.studies.water.playing import player_on, records_of

__all__ = ["STUDY", "config_of", "manifest_of", "read_results", "run"]

STUDY = "water"
_AT_ONCE = 250


def manifest_of(config: WaterConfig, models: Mapping[str, Model], occasion: Occasion) -> Manifest:
    """What is written down before the first game."""
    return new_manifest(STUDY, config.to_json(), models, occasion)


def config_of(folder: RunFolder) -> WaterConfig:
    """The settings of a stored run; StoreError where the run is of another study."""
    return WaterConfig.from_json(settings_of(folder, STUDY))


def run(
    config: WaterConfig,
    folder: RunFolder,
    models: Mapping[str, Model],
    *,
    workers: int = 1,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> Outcome:
    """Play what is missing; where no seat holds a model, many games at a time."""
    if config.models:
        return execute(
            specs(config), player_on(models), folder, workers=workers, total=config.games, on_progress=on_progress
        )
    return _run_bidders(config, folder, on_progress)


def _run_bidders(config: WaterConfig, folder: RunFolder, on_progress: Callable[[Progress], None]) -> Outcome:
    finished = folder.finished()
    outcome = Outcome(found=len(finished))
    for setting in config.settings:
        missing = _missing(config, setting, finished)
        while block := list(islice(missing, _AT_ONCE)):
            seeds = [game_seed(config, repeat) for repeat, _ in block]
            trace = play_many(setting.rules, config.players, seeds)
            for (_, spec), record in zip(block, records_of(trace, config.players), strict=True):
                folder.finish(spec.id, spec.data, record)
            outcome.played += len(block)
            on_progress(Progress(config.games, outcome.found, outcome.played, 0))
    return outcome


def _missing(config: WaterConfig, setting: Setting, finished: set[str]) -> Iterator[tuple[int, Spec]]:
    for repeat in range(config.repeats):
        spec = spec_of(config, setting, repeat)
        if spec.id not in finished:
            yield repeat, spec


def read_results(folder: RunFolder) -> Measured:
    """Measure every finished game of a stored run."""
    return measure(config_of(folder), read_lines(folder.path / "records.jsonl"))
