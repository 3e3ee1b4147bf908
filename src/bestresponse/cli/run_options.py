"""Groups of options: what calls may cost, how a run is made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from bestresponse.cli.options import BudgetCalls, CacheChoice, OutputDir, Workers
from bestresponse.runs.models import ModelLimits

__all__ = ["CallOptions", "RunOptions", "SharedRunOptions"]


@dataclass(frozen=True, kw_only=True)
class CallOptions:
    """Say where runs and replies are kept and what the calls of models may cost."""

    output_dir: OutputDir = Path("results")
    cache: CacheChoice = "read-write"
    max_calls: BudgetCalls = None
    max_tokens_total: Annotated[
        int | None, typer.Option("--budget-tokens", help="Stop before more tokens than this.", min=0)
    ] = None
    max_cost: Annotated[float | None, typer.Option(help="Stop before spending more US dollars than this.", min=0)] = (
        None
    )

    @property
    def limits(self) -> ModelLimits:
        """Return what the user allows."""
        return ModelLimits(None, self.cache, self.max_calls, self.max_tokens_total, self.max_cost)


@dataclass(frozen=True, kw_only=True)
class RunOptions(CallOptions):
    """Say how a study is run and shown."""

    workers: Workers = None
    processes: Annotated[
        int, typer.Option(help="Processes for a model on this machine; each holds the model once.", min=1, max=64)
    ] = 1
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be played and what it takes at most, and stop.")
    ] = False
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False

    @property
    def limits(self) -> ModelLimits:
        """Return what the user allows."""
        return replace(super().limits, workers=self.workers, processes=self.processes)


@dataclass(frozen=True, kw_only=True)
class SharedRunOptions(RunOptions):
    """Say how a study is run whose plays can be shared out."""

    shard: Annotated[
        str | None,
        typer.Option(
            help="Play one part only, such as 3/16; `bestresponse merge` puts the parts together.", metavar="I/N"
        ),
    ] = None
    executor: Annotated[str, typer.Option(help="Where plays are made: threads, processes or ray.")] = "threads"
    address: Annotated[
        str | None,
        typer.Option(help="Of a Ray cluster: auto, HOST:PORT or ray://HOST:PORT. [default: one started here]"),
    ] = None
