"""`bestresponse models`: which models can be named, and getting the weights of those that run on this machine."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from bestresponse.cli.options import AsJson
from bestresponse.cli.terminal import console, print_table
from bestresponse.models.providers.weights import pull as pull_weights
from bestresponse.models.registry import known_models
from bestresponse.report.document import Column, Table
from bestresponse.runs.models import make_model_settings

__all__ = ["app"]

app = typer.Typer(
    help="Which models there are, and how to get them.", invoke_without_command=True, add_completion=False
)


@app.callback()
def listed(context: typer.Context, as_json: AsJson = False) -> None:
    """List what can be given as --model, and what each still needs."""
    if context.invoked_subcommand is not None:
        return

    known = known_models(make_model_settings())
    if as_json:
        print(json.dumps([asdict(model) for model in known], indent=2))
        return
    columns = (Column("name"), Column("kind"), Column("ready"), Column("to use it"))
    print_table(console(), Table(columns, tuple((m.name, m.kind, m.ready, m.missing) for m in known)))


@app.command()
def pull(name: Annotated[str, typer.Argument(help="A name from the list, such as smollm2.")]) -> None:
    """Download the weights of a model into the user's cache folder and check their hash."""
    settings = make_model_settings()
    print(pull_weights(name, settings.folder, settings.progress))
