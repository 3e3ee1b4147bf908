"""Steering dialogue as a study: build the tree of a dialogue once, solve it, and compare guided with unguided talk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.core.json import JsonObject
from bestresponse.games.dialogue.texts import TEXTS
from bestresponse.models.base import Model
from bestresponse.report.document import Document
from bestresponse.report.metrics import Figures
from bestresponse.runs.class_study import Study
from bestresponse.runs.estimate import Estimate
from bestresponse.runs.execution import Execution, Outcome, PlayOne
from bestresponse.runs.executors.base import Job
from bestresponse.runs.executors.lending import lend_models
from bestresponse.runs.replay import Replay
from bestresponse.runs.run import Run
from bestresponse.runs.spec import Spec
from bestresponse.runs.store.folder import RunFolder
from bestresponse.studies.steer.answers import (
    AnswerFolder,
    MemoryAnswers,
    answers_path,
    make_offline_model,
    read_answers,
)
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.estimate import SteerEstimate, estimate
from bestresponse.studies.steer.findings.document import findings
from bestresponse.studies.steer.replay import replay_answers
from bestresponse.studies.steer.results import METRICS, SteerMeasured
from bestresponse.studies.steer.session import find_answers, read_results, run

__all__ = ["SteerStudy"]

_NOBODY: JsonObject = {"identity": {}, "abilities": {}}


class SteerStudy(Study[SteerConfig, SteerMeasured]):
    """What a speaker gains when an equilibrium solver chooses how it speaks.

    Every text of a dialogue is asked for once and kept in a store of answers beside the runs, which all runs share that
    ask the same of the same models; a run is worked out from it and has no plays of its own.
    """

    name = "steer"
    config = SteerConfig
    unit = "games"
    metrics = METRICS
    texts = (TEXTS,)

    def specs(self, config: SteerConfig) -> Iterator[Spec]:
        """Yield nothing: dialogues are built as trees, not played one by one."""
        return iter(())

    def count(self, config: SteerConfig) -> None:
        """Count the plays; None where that is not known."""
        return

    def make_player(self, config: SteerConfig, models: Mapping[str, Model]) -> PlayOne:
        """Return the function that plays one spec."""
        raise UsageError("a steering run has no plays of its own")

    def execute(self, config: SteerConfig, folder: RunFolder, models: Mapping[str, Model], how: Execution) -> Outcome:
        """Ask for every text that is not on record, solve, and evaluate."""
        if how.shard is not None:
            raise UsageError("a steering run has no plays to share out: leave out --shard")
        who = {name: model.identity for name, model in models.items()}
        job = Job(self, config, models, how.workers, how.shared)
        with (
            AnswerFolder(answers_path(folder.path.parent, config, who)) as kept,
            lend_models(how.executor, job) as lent,
        ):
            return run(config, kept.record_calls(lent), kept, workers=how.workers, on_progress=how.on_progress)[1]

    def measure(self, config: SteerConfig, folder: RunFolder) -> SteerMeasured:
        """Work out rows and summary from the finished plays."""
        return SteerMeasured(read_results(config, folder))

    def figures(self, results: SteerMeasured) -> Figures:
        """List the metrics of every set of texts or games it was measured on."""
        return results.list_figures()

    def findings(self, results: SteerMeasured, run: Run[Any]) -> Document:
        """Write what the run found as a document."""
        return findings(results, run)

    def estimate(self, config: SteerConfig) -> Estimate:
        """Count the calls of a run with nothing on record yet; all are put down to the speaker."""
        models = {name: make_offline_model(name, _NOBODY) for name in config.models}
        return self._to_estimate(config, estimate(config, models, MemoryAnswers()))

    def _to_estimate(self, config: SteerConfig, need: SteerEstimate) -> Estimate:
        replies = need.calls * config.max_tokens
        nodes = f", {need.nodes:,} nodes a tree" if config.solver == "cfr" else ""
        return Estimate(
            None,
            f"{config.games} game{'s' if config.games > 1 else ''} of {config.domain}{nodes}",
            {config.model: need.calls},
            {config.model: max(need.tokens - replies, 0)},
            {config.model: replies},
        )

    def estimate_missing(self, config: SteerConfig, models: Mapping[str, Model], path: Path) -> Estimate:
        """Count what the store of answers does not hold yet."""
        who = {name: model.identity for name, model in models.items()}
        kept = MemoryAnswers(read_answers(answers_path(path.parent, config, who)))
        return self._to_estimate(config, estimate(config, models, kept))

    def replay(self, config: SteerConfig, folder: RunFolder) -> Replay:
        """Play the run again from its stored answers."""
        return replay_answers(config, folder)

    def find_calls(self, folder: RunFolder) -> Path:
        """Return the calls of the store of answers, which runs that ask the same of the same models share."""
        try:
            config = SteerConfig.from_json(folder.manifest.config)
            return find_answers(config, folder.manifest, folder.path.parent) / "calls.jsonl"
        except BestResponseError:
            return folder.path / "calls.jsonl"
