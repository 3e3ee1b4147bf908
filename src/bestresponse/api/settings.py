"""The keyword arguments of the functions that run studies; the configuration of each study explains them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypedDict

from bestresponse.runs.execution import Progress
from bestresponse.runs.executors.base import Executor
from bestresponse.theory.trees.cfr import Variant

__all__ = [
    "BenchSettings",
    "PolicySettings",
    "RunOptions",
    "SteerSettings",
    "VerifySettings",
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


class BenchSettings(RunOptions, total=False):
    """The settings of `bench`; see `BenchConfig`."""

    num_games: int
    num_rows: int
    num_cols: int
    seed: int
    llm_seed: int | None
    family: str
    scale: float
    decimals: int
    suite: str
    elicit: tuple[str, ...]
    formats: tuple[str, ...]
    themes: tuple[str, ...]
    seats: tuple[str, ...]
    style: str
    temperature: float | None
    max_tokens: int | None
    samples: int
    attempts: int
    precision: float | None
    think: bool


class PolicySettings(RunOptions, total=False):
    """The settings of `bench_policy`; see `SequentialConfig`."""

    elicit: tuple[str, ...]
    policies: int
    samples: int
    max_infosets: int | None
    seats: tuple[str, ...]
    style: str
    temperature: float | None
    max_tokens: int | None
    attempts: int
    think: bool
    llm_seed: int


class SteerSettings(RunOptions, total=False):
    """The settings of `steer`; see `SteerConfig`."""

    judge: str
    scenarios_by: str
    second: str
    second_judge: str
    solver: Literal["cfr", "psro"]
    games: int
    seed: int
    replies: int
    wordings: int
    types: int
    actions: str
    payoffs: Literal["deal", "score"]
    early_end: bool
    follow: bool
    classifier: str
    iterations: int
    variant: Variant
    oracle: str
    meta: str
    candidates: int
    plays: int
    swap_seats: bool
    transfer: str
    temperature: float
    max_tokens: int
    fresh: int
    held_out: int
    imitate: bool
    embed: str


class VerifySettings(RunOptions, total=False):
    """The settings of `verify_model`; see `VerifyConfig`."""

    translator: str
    repeats: int
    attempts: int
    manner: Literal["positive", "negative"]
    unit: Literal["text", "paragraph"]
    disguised: bool
    inverted: bool
    seat: int
    temperature: float | None
    max_tokens: int
    seed: int | None
    after: tuple[str, ...]
