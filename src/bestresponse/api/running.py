"""Run studies: every function plays what is missing, writes the report beside the record, and returns the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, Unpack

from bestresponse.api.settings import (
    RunOptions,
    WaterSettings,
)
from bestresponse.core.errors import ModelUnavailable, UsageError
from bestresponse.core.json import JsonObject
from bestresponse.core.registry import did_you_mean
from bestresponse.games.water.rules import WaterRules
from bestresponse.models.base import Model
from bestresponse.players.llm.persona import published_personas
from bestresponse.runs.executors.lookup import find_executor
from bestresponse.runs.inputs import ModelLike, as_model
from bestresponse.runs.launch import run_study
from bestresponse.runs.models import ModelLimits, open_models
from bestresponse.runs.run import Run
from bestresponse.runs.shard import Shard
from bestresponse.runs.study import AnyStudy, Config
from bestresponse.studies.water.config import WaterConfig
from bestresponse.studies.water.study import WaterStudy

__all__ = [
    "simulate_water",
]


def simulate_water(
    model: ModelLike,
    *,
    personas: bool | Literal["both"] = False,
    seats: Mapping[str, ModelLike] | None = None,
    **settings: Unpack[WaterSettings],
) -> Run[Any]:
    """Play the Water Allocation Challenge; `model` is a model or a bidder such as "need", `seats` are by resident."""
    rules = settings.get("rules", WaterRules())
    residents = [resident.name for resident in rules.residents]
    unknown = sorted(set(seats or {}) - set(residents))
    if unknown:
        raise UsageError(f"there is no resident {unknown[0]!r}; known: {', '.join(residents)}")
    names, given = as_models([(seats or {}).get(name, model) for name in residents])
    wanted = (False, True) if personas == "both" else (bool(personas),)
    chosen: JsonObject = {"persona_texts": published_personas()} | _pick(settings, WaterConfig)
    return _run(WaterStudy(), WaterConfig(names, personas=wanted, **chosen), given, settings)


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
