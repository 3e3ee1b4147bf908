"""Groups of options: what calls may cost, how a run is made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from bestresponse.cli.options import BudgetCalls, CacheChoice, OutputDir
from bestresponse.runs.models import ModelLimits


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
