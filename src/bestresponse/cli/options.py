"""Options that several commands share, and how a command takes a group of options as one value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast, get_type_hints

import typer

Built = TypeVar("Built")

OutputDir = Annotated[Path, typer.Option(help="Folder for runs, reports and the cache of replies.")]
CacheChoice = Annotated[str, typer.Option(help="Replies kept from earlier calls: off, read-write, refresh or replay.")]
BudgetCalls = Annotated[int | None, typer.Option(help="Stop before more calls than this.", min=0)]
Workers = Annotated[
    int | None, typer.Option(help="Plays at the same time. [default: what the models take]", min=1, max=1024)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def expand_options(command: Callable[..., None]) -> Callable[..., None]:
    """Offer every field of the dataclasses that a command takes as an option, and hand them over as these values.

    A group of options is a dataclass whose fields are annotated for typer and have defaults.
    """
    hints = get_type_hints(command, include_extras=True)
    hints.pop("return", None)
    groups = {name: kind for name, kind in hints.items() if is_dataclass(kind) and isinstance(kind, type)}
    parameters: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        if name in groups:
            parameters += _list_parameters(groups[name])
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY))

    @wraps(command)
    def run(**given: object) -> None:
        built = {name: kind(**{f.name: given.pop(f.name) for f in fields(kind)}) for name, kind in groups.items()}
        command(**given, **built)

    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__signature__ = signature(run).replace(parameters=parameters)  # type: ignore[attr-defined]
    return run


def _list_parameters(group: type[Any]) -> list[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name])
        for field in fields(group)
    ]


def build_config(kind: type[Built], *groups: Any, **values: object) -> Built:
    """Build a study's configuration from the options that are called like its fields; `values` go before them."""
    names = {field.name for field in fields(cast(Any, kind))}
    same = {field.name: getattr(group, field.name) for group in groups for field in fields(group)}
    chosen = {name: value for name, value in same.items() if name in names}
    return cast(Callable[..., Built], kind)(**(chosen | values))
