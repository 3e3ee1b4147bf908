"""Checked reasoning as a study: a model reasons, logic refutes, and it is asked again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from bestresponse.core.game import AnyGame
from bestresponse.core.json import JsonMapping
from bestresponse.formal.claims.texts import TEXTS as CLAIM_TEXTS
from bestresponse.games.texts import TEXTS as GAME_TEXTS
from bestresponse.models.base import Model
from bestresponse.players.llm.texts import TEXTS as PLAYER_TEXTS
from bestresponse.report.document import Document
from bestresponse.report.metrics import Figures
from bestresponse.runs.class_study import Study
from bestresponse.runs.estimate import Estimate
from bestresponse.runs.execution import PlayOne
from bestresponse.runs.run import Run
from bestresponse.runs.spec import Spec
from bestresponse.runs.store.folder import RunFolder
from bestresponse.studies.verify.config import RULES, VerifyConfig
from bestresponse.studies.verify.evaluation import write_sheet
from bestresponse.studies.verify.findings import findings
from bestresponse.studies.verify.measure import METRICS, Measured, measure
from bestresponse.studies.verify.playing import make_player
from bestresponse.studies.verify.setup import scene_of
from bestresponse.studies.verify.texts import TEXTS

__all__ = ["VerifyStudy"]

RATERS = 3
_CHARACTERS_PER_TOKEN = 4


class VerifyStudy(Study[VerifyConfig, Measured]):
    """What feedback from logic changes in a model's reasoning, choice and payoff."""

    name = "verify"
    config = VerifyConfig
    metrics = METRICS
    unit = "runs"
    texts = (GAME_TEXTS, PLAYER_TEXTS, CLAIM_TEXTS, TEXTS)

    def specs(self, config: VerifyConfig) -> Iterator[Spec]:
        """Yield every play as plain data."""
        settings = {name: value for name, value in config.to_json().items() if name != "repeats"}
        for repeat in range(config.repeats):
            yield Spec.of({**settings, "repeat": repeat})

    def count(self, config: VerifyConfig) -> int:
        """Count the plays; None where that is not known."""
        return config.repeats

    def make_player(self, config: VerifyConfig, models: Mapping[str, Model]) -> PlayOne:
        """Return the function that plays one spec."""
        return make_player(config, models)

    def measure(self, config: VerifyConfig, folder: RunFolder) -> Measured:
        """Work out rows and summary from the finished plays."""
        return measure(config, folder.sorted_plays())

    def figures(self, results: Measured) -> Figures:
        """List the metrics of every attempt."""
        return results.list_figures()

    def findings(self, results: Measured, run: Run[Any]) -> Document:
        """Write what the run found as a document."""
        return findings(results, run)

    def game(self, config: VerifyConfig, data: JsonMapping) -> AnyGame:
        """Return the game of a spec, for replay and for watching."""
        return scene_of(config).game

    def estimate(self, config: VerifyConfig) -> Estimate:
        """Count every attempt at every decision; a prompt is the briefing and the feedback before it."""
        scene = scene_of(config)
        most = config.repeats * config.attempts * scene.decisions
        calls = dict.fromkeys(config.models, 0)
        calls[config.model] += most
        if config.translator != RULES:
            calls[config.translator] += most
        briefing = scene.game.view(scene.opening, scene.game.roles[config.seat]).briefing
        tokens = len(briefing) // _CHARACTERS_PER_TOKEN + config.max_tokens
        return Estimate(
            config.repeats,
            f"{config.repeats} runs of at most {config.attempts} attempts",
            calls,
            {name: count * tokens for name, count in calls.items()},
            {name: count * config.max_tokens for name, count in calls.items()},
        )

    def extra_files(self, results: Measured, run: Run[Any]) -> Iterable[tuple[Path, str]]:
        """Return a sheet for each rater; a sheet that is there already is left as it was filled in."""
        sheet = write_sheet(results.sheet())
        paths = (run.path / f"sheet-rater-{rater}.csv" for rater in range(1, RATERS + 1))
        return [(path, sheet) for path in paths if not path.exists()]
