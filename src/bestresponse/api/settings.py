"""The keyword arguments of the functions that run studies; the configuration of each study explains them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TypedDict

from bestresponse.games.water.rules import WaterRules
from bestresponse.players.llm.agent import Policy
from bestresponse.players.llm.persona import Persona
from bestresponse.runs.execution import Progress
from bestresponse.runs.executors.base import Executor

__all__ = [
    "AgentSettings",
    "RunOptions",
    "WaterSettings",
]


class RunOptions(TypedDict, total=False):
    """How a run is made, whatever study it is of.

    `shard=(3, 16)` plays the third of sixteen parts; `executor` says where plays are made (`bestresponse.executors`).
    """

    output_dir: str | Path
    workers: int | None
    cache: Literal["off", "read-write", "refresh", "replay"]
    max_calls: int | None
    max_total_tokens: int | None
    max_cost: float | None
    processes: int
    shard: tuple[int, int] | None
    executor: Literal["threads", "processes", "ray"] | Executor
    on_progress: Callable[[Progress], None]


class AgentSettings(RunOptions, total=False):
    """How models are asked in simulations."""

    repeats: int
    seed: int
    memory: str
    own_words: bool
    reasoning: str
    reasons: bool
    attempts: int
    style: Literal["auto", "line", "json"]
    temperature: float
    max_tokens: int


class WaterSettings(AgentSettings, total=False):
    """The settings of `simulate_water`; see `WaterConfig`."""

    abundances: tuple[str, ...]
    rules: WaterRules
    persona_texts: Mapping[str, Persona]
    policy: Policy
