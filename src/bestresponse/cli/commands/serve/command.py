"""`bestresponse serve`: play in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bestresponse.cli.options import BudgetCalls, BudgetMoney, BudgetTokens, CacheChoice, OutputDir
from bestresponse.core.errors import UsageError
from bestresponse.runs.models import ModelLimits

_TOKEN = "BESTRESPONSE_ADMIN_TOKEN"


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on; beyond this machine only with --admin-token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.", min=0, max=65535)] = 8642,
    admin_token: Annotated[
        str | None, typer.Option(help="The admin's key, 16 characters or more.", envvar=_TOKEN, show_envvar=True)
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", "-m", help="A model that may be seated; may be repeated. [default: those at hand]"),
    ] = None,
    experiment: Annotated[
        Path | None, typer.Option(help="An experiment file; its sessions are created once, and its link is printed.")
    ] = None,
    output_dir: OutputDir = Path("results"),
    cache: CacheChoice = "read-write",
    max_calls: BudgetCalls = None,
    max_total_tokens: BudgetTokens = None,
    max_cost: BudgetMoney = None,
) -> None:
    """Open games to people in a browser. Prints the admin's link; everything is kept below the output folder.

    The same command goes on with every table where it was stopped.
    """
    try:
        from bestresponse.cli.commands.serve.server import run_server
    except ImportError as error:
        raise UsageError(f"`serve` needs the extra `web`: pip install 'bestresponse[web]' ({error.name})") from None
    limits = ModelLimits(None, cache, max_calls, max_total_tokens, max_cost)
    code = run_server(host, port, admin_token, tuple(model or ()), experiment, output_dir, limits)
    if code is not None:
        raise typer.Exit(code)
