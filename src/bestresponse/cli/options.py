"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "AsJson",
    "BudgetCalls",
    "BudgetMoney",
    "BudgetTokens",
    "CacheChoice",
    "DryRun",
    "Executors",
    "OutputDir",
    "Processes",
    "Shards",
    "Threads",
    "Workers",
]

OutputDir = Annotated[Path, typer.Option(help="Folder for runs, reports and the cache of replies.")]
Workers = Annotated[
    int | None, typer.Option(help="Plays at the same time. [default: what the models take]", min=1, max=1024)
]
CacheChoice = Annotated[str, typer.Option(help="Replies kept from earlier calls: off, read-write, refresh or replay.")]
BudgetCalls = Annotated[int | None, typer.Option(help="Stop before more calls than this.", min=0)]
BudgetTokens = Annotated[int | None, typer.Option("--budget-tokens", help="Stop before more tokens than this.", min=0)]
BudgetMoney = Annotated[float | None, typer.Option(help="Stop before spending more US dollars than this.", min=0)]
Processes = Annotated[
    int, typer.Option(help="Processes for a model on this machine; each holds the model once.", min=1, max=64)
]
Threads = Annotated[
    int, typer.Option(help="Threads for a model on this machine; more are faster on idle cores only.", min=1, max=256)
]
Shards = Annotated[
    str | None,
    typer.Option(
        "--shard", help="Play one part only, such as 3/16; `bestresponse merge` puts the parts together.", metavar="I/N"
    ),
]
Executors = Annotated[
    str,
    typer.Option(
        "--executor", help="Where plays are made: threads, processes, ray (a cluster started here) or ray:ADDRESS."
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print what would be played and what it takes at most, and stop.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
