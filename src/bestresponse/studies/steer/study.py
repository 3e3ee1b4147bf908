"""Steering dialogue: build the tree of a dialogue once, solve it, and compare guided with unguided talk.

Every text of a dialogue is asked for once and kept in a store of answers beside the runs, which all runs share that ask
the same of the same models; a run is worked out from it and has no plays of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from bestresponse.core.episode import Record, Submission
from bestresponse.core.errors import BestResponseError, UsageError
from bestresponse.core.json import JsonObject
from bestresponse.games.dialogue.texts import TEXTS
from bestresponse.models.base import Model, Usage
from bestresponse.models.prices import find_price
from bestresponse.models.wrappers.meter import Budget
from bestresponse.report.frames import Frame
from bestresponse.runs.estimate import Estimate
from bestresponse.runs.execution import Execution, Outcome
from bestresponse.runs.executors.base import Job
from bestresponse.runs.executors.driver import lend_workers
from bestresponse.runs.spec import Spec
from bestresponse.runs.store.folder import RunFolder
from bestresponse.runs.study import Study
from bestresponse.studies.steer.answers import (
    AnswerFolder,
    MemoryAnswers,
    answers_path,
    make_offline_model,
    read_answers,
)
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.estimate import SteerEstimate, check_budget, estimate
from bestresponse.studies.steer.findings.document import REPORT
from bestresponse.studies.steer.replay import replay_answers
from bestresponse.studies.steer.results import METRICS, SteerMeasured, list_groups, list_rows
from bestresponse.studies.steer.session import find_answers, read_results, run

__all__ = ["steer"]

_NOBODY: JsonObject = {"identity": {}, "abilities": {}}


def _refuse_play(spec: Spec, done: list[Submission], keep: Callable[[Submission], None]) -> Record:
    raise UsageError("a steering run has no plays of its own")


def make_run(config: SteerConfig, folder: RunFolder, models: Mapping[str, Model], how: Execution) -> Outcome:
    """Ask for every text that is not on record, solve, and evaluate; what cannot be finished is refused before."""
    if how.shard is not None:
        raise UsageError("a steering run has no plays to share out; leave out `shard`")
    path = _find_store(config, models, folder.path)
    need = estimate(config, models, MemoryAnswers(read_answers(path)))
    budget = Budget() if config.cut_short else config.limits.budget
    check_budget(need, budget, config.max_nodes, _price(config, models, need))
    job = Job(steer, config, models, how.workers, how.shared)
    with AnswerFolder(path) as kept, lend_workers(how.executor, job):
        return run(config, kept.record_calls(models), kept, workers=how.workers, on_progress=how.on_progress)[1]


def _find_store(config: SteerConfig, models: Mapping[str, Model], path: Path) -> Path:
    """Return the store of answers beside a run, by who is asked what."""
    identities = {name: model.identity for name, model in models.items()}
    return answers_path(path.parent, config, identities)


def _price(config: SteerConfig, models: Mapping[str, Model], need: SteerEstimate) -> float | None:
    """Return the most that all calls cost; None where a price is not known."""
    replies = need.calls * config.max_tokens
    usage = Usage(max(need.tokens - replies, 0), replies)
    prices = [find_price(models[name])(usage) for name in config.models]
    known = [price for price in prices if price is not None]
    return max(known) if len(known) == len(prices) else None


def measure(config: SteerConfig, folder: RunFolder) -> SteerMeasured:
    """Work out what guidance earns: one row a game, with psro one for each iteration and player."""
    steered = read_results(config, folder)
    name, kind, rows = list_rows(steered)
    return SteerMeasured(
        {name: Frame(kind, rows)},
        len(steered.solved) + (steered.psro is not None),
        ("measured on",),
        list_groups(steered),
        steered=steered,
    )


def estimate_all(config: SteerConfig) -> Estimate:
    """Count the calls of a run with nothing on record yet; all are put down to the speaker."""
    models = {name: make_offline_model(name, _NOBODY) for name in config.models}
    return _to_estimate(config, estimate(config, models, MemoryAnswers()))


def estimate_rest(config: SteerConfig, models: Mapping[str, Model], path: Path) -> Estimate:
    """Count what the store of answers does not hold yet."""
    kept = MemoryAnswers(read_answers(_find_store(config, models, path)))
    return _to_estimate(config, estimate(config, models, kept))


def _to_estimate(config: SteerConfig, need: SteerEstimate) -> Estimate:
    replies = need.calls * config.max_tokens
    nodes = f", {need.nodes:,} nodes a tree" if config.solver == "cfr" else ""
    speaker = str(config.model)
    return Estimate(
        None,
        f"{config.games} game{'s' if config.games > 1 else ''} of {config.domain}{nodes}",
        {speaker: need.calls},
        {speaker: max(need.tokens - replies, 0)},
        {speaker: replies},
    )


def locate_calls(folder: RunFolder) -> Path:
    """Return the calls of the store of answers, which runs that ask the same of the same models share."""
    try:
        config = SteerConfig.from_json(folder.manifest.config)
        return find_answers(config, folder.manifest, folder.path.parent) / "calls.jsonl"
    except BestResponseError:
        return folder.path / "calls.jsonl"


steer = Study(
    "steer",
    SteerConfig,
    specs=lambda config: (),
    play=lambda config, models: _refuse_play,
    measure=measure,
    metrics=METRICS,
    title="Steering {{ config.model }} in {{ config.read_domain().name }} dialogues",
    subtitle="Solved by {% if config.solver == 'cfr' %}counterfactual regret minimisation{% else %}prompt-space "
    "response oracles{% endif %}",
    command="steer",
    unit="games",
    texts=(TEXTS,),
    count_plays=lambda config: None,
    estimate_calls=estimate_all,
    estimate_rest=estimate_rest,
    make_run=make_run,
    repeat_run=replay_answers,
    locate_calls=locate_calls,
    report=REPORT,
)
"""What a speaker gains when an equilibrium solver chooses how it speaks."""
