"""Run studies: every function plays what is missing, writes the report beside the record, and returns the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Unpack

from bestresponse.api.settings import (
    BenchSettings,
    PolicySettings,
    RunOptions,
    SteerSettings,
    VerifySettings,
)
from bestresponse.core.errors import ModelUnavailable, UsageError
from bestresponse.core.json import JsonObject
from bestresponse.core.registry import did_you_mean
from bestresponse.games.inputs import GameLike, as_found, as_source
from bestresponse.games.named_game import NamedGame
from bestresponse.models.base import Model
from bestresponse.players.dialogue.simulated import SimulatedSpeaker
from bestresponse.players.lookup import SIMULATED
from bestresponse.runs.executors.lookup import find_executor
from bestresponse.runs.inputs import ModelLike, as_model
from bestresponse.runs.launch import run_study
from bestresponse.runs.models import ModelLimits, open_models
from bestresponse.runs.run import Run
from bestresponse.runs.shard import Shard
from bestresponse.runs.study import AnyStudy, Config
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.games.given import UserGame
from bestresponse.studies.bench.sequential.config import SequentialConfig
from bestresponse.studies.bench.sequential.study import SequentialStudy
from bestresponse.studies.bench.study import BenchStudy
from bestresponse.studies.steer.config import SteerConfig
from bestresponse.studies.steer.study import SteerStudy
from bestresponse.studies.verify.config import VerifyConfig
from bestresponse.studies.verify.study import VerifyStudy
from bestresponse.theory.games.normal_form import NormalForm

__all__ = [
    "bench",
    "bench_policy",
    "steer",
    "verify_model",
]


def bench(
    model: ModelLike | Sequence[ModelLike], game: GameLike | None = None, **settings: Unpack[BenchSettings]
) -> Run[Any]:
    """Measure the Nash gap and the exploitability of models on random matrix games, or on one game of yours."""
    names, given = as_models(_as_list(model))
    own: JsonObject = {}
    if game is not None:
        found = as_found(game)
        form = found.solvable()
        if not isinstance(form, NormalForm):
            raise UsageError(f"{found.name} is played in turn; call bench_policy instead")
        user_game = UserGame.from_form(found.name, form)
        own = {"given": user_game, "num_rows": user_game.shape[0], "num_cols": user_game.shape[1]}
        own |= {"themes": ("own",), "num_games": min(24, user_game.most_orders)}
    config = BenchConfig(models=names, **(own | _pick(settings, BenchConfig)))
    return _run(BenchStudy(), config, given, settings)


def bench_policy(
    model: ModelLike | Sequence[ModelLike], game: str | Path, **settings: Unpack[PolicySettings]
) -> Run[Any]:
    """Measure how far the policies of models are from an equilibrium of a game played in turn (a name or a file)."""
    names, given = as_models(_as_list(model))
    config = SequentialConfig(names, NamedGame.find(str(game)), **_pick(settings, SequentialConfig))
    return _run(SequentialStudy(), config, given, settings)


def steer(domain: str | Path, model: ModelLike = SIMULATED, **settings: Unpack[SteerSettings]) -> Run[Any]:
    """Let an equilibrium solver choose how a model speaks in a dialogue, and measure what that earns."""
    (name,), given = as_models([model])
    config = SteerConfig(str(domain), name, **_pick(settings, SteerConfig))
    given = {SIMULATED: SimulatedSpeaker(config.seed)} | given
    return _run(SteerStudy(), config, given, settings)


def verify_model(model: ModelLike, game: GameLike, **settings: Unpack[VerifySettings]) -> Run[Any]:
    """Let a model reason about a game, refute what is wrong, and measure what the feedback changes."""
    (name,), given = as_models([model])
    config = VerifyConfig(as_source(game), name, **_pick(settings, VerifyConfig))
    return _run(VerifyStudy(), config, given, settings)


def _run(study: AnyStudy, config: Config, given: Mapping[str, Model], settings: RunOptions) -> Run[Any]:
    """Run a study with these models, publish it, and return it; ModelUnavailable where nothing could be played."""
    output = Path(settings.get("output_dir", "results"))
    limits = ModelLimits(
        settings.get("workers"),
        settings.get("cache", "read-write"),
        settings.get("max_calls"),
        settings.get("max_total_tokens"),
        settings.get("max_cost"),
        settings.get("processes", 1),
    )
    shard = settings.get("shard")
    executor = settings.get("executor", "threads")
    tell = settings.get("on_progress", lambda progress: None)
    with open_models(config.models, output, limits, given=given) as opened:
        run = run_study(
            study,
            config,
            opened.models,
            output,
            workers=opened.workers,
            shard=None if shard is None else Shard(*shard),
            executor=find_executor(executor) if isinstance(executor, str) else executor,
            shared=opened.shared,
            on_progress=tell,
        )
    if run.results.rows:
        run.publish()
    elif run.outcome is not None and not run.outcome.complete:
        raise ModelUnavailable(run.outcome.stopped or "; ".join(run.outcome.failures) or "nothing could be played")
    return run


def _pick(settings: Mapping[str, object], config: type) -> JsonObject:
    """Return those settings that are fields of a study's configuration; UsageError for an unknown one."""
    known = {field.name for field in fields(config)}
    unknown = sorted(set(settings) - known - set(RunOptions.__annotations__))
    if unknown:
        hint = did_you_mean(unknown[0], sorted(known | set(RunOptions.__annotations__)))
        raise UsageError(f"{config.__name__.removesuffix('Config').lower()} has no setting {unknown[0]!r}.{hint}")
    return {name: value for name, value in settings.items() if name in known}


def as_models(models: Sequence[ModelLike]) -> tuple[tuple[str, ...], dict[str, Model]]:
    """Return the names of models, and those that are not to be opened by name."""
    named = list(map(as_model, models))
    return tuple(map(str, named)), {str(name): name.model for name in named if name.model is not None}


def _as_list(model: ModelLike | Sequence[ModelLike]) -> Sequence[ModelLike]:
    if isinstance(model, Sequence) and not isinstance(model, str):
        return model
    return [model]
