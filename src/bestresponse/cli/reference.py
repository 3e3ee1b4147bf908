"""Pages of the documentation that the program writes itself: every command and option, every figure of a study."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from bestresponse.cli.app import app
from bestresponse.report.metrics import describe_metrics
from bestresponse.runs.study import find_study, studies

_OPENING = """# Commands

This page is written by `scripts/write-commands` from the program's own descriptions; a test compares the two.
"""

_FIGURES = """# Figures

This page is written by `scripts/write-commands` from the metrics of every study; a test compares the two. The figures
stand in the first table of a report (which leaves out those that no group has), under `figures` of `summary.json` and
in `figures.csv`, where an interval has its ends beside it as `_low` and `_high`.
"""


def describe_figures() -> str:
    """Write the page of the figures of every built-in study as Markdown."""
    parts = []
    for study in map(find_study, studies.built_in):
        about = (study.config.__doc__ or "").splitlines()[0]
        parts.append(f"## {study.name}\n\n{about}\n\n{describe_metrics(study.metrics)}\n")
    return "\n".join([_FIGURES, *parts])


def reference() -> str:
    """Write the page of all commands as Markdown."""
    group = typer.main.get_command(app)
    commands = [("bestresponse", group), *_commands("bestresponse", group)]
    parts = [_OPENING, *(_section(words, command) for words, command in commands)]
    return "\n".join(parts)


def _commands(words: str, command: Any) -> Iterator[tuple[str, Any]]:
    """All commands below `command`, by the words that are typed for them."""
    if not hasattr(command, "list_commands"):
        return
    context = typer.Context(command)
    for name in sorted(command.list_commands(context)):
        inner = command.get_command(context, name)
        yield f"{words} {name}", inner
        yield from _commands(f"{words} {name}", inner)


def _section(words: str, command: Any) -> str:
    names = " ".join(_argument(p) for p in command.params if p.param_type_name == "argument")
    lines = [f"## `{words}{' ' + names if names else ''}`", "", " ".join((command.help or "").split()), ""]
    rows = [_row(parameter) for parameter in command.params]
    if rows:
        lines += ["| | |", "|---|---|", *rows, ""]
    return "\n".join(lines)


def _argument(parameter: Any) -> str:
    many = "..." if parameter.nargs == -1 else ""
    name = parameter.name.upper() + many
    return name if parameter.required else f"[{name}]"


def _row(parameter: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    shown = names if parameter.param_type_name == "option" else f"`{parameter.name.upper()}`"
    words = " ".join((getattr(parameter, "help", None) or "").split()).replace("|", "\\|")
    default = parameter.default
    plain = isinstance(default, str | int | float) and not isinstance(default, bool) and default != ""
    return f"| {shown} | {words}{f' (default: `{default}`)' if plain else ''} |"
