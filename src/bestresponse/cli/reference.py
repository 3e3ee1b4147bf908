"""Every command and option as one page, taken from the program itself, so that the page is never out of date."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from bestresponse.cli.app import app

__all__ = ["reference"]

_OPENING = """# Commands

This page is written by `scripts/write-commands` from the program's own descriptions; a test compares the two.
"""


def reference() -> str:
    """The page as Markdown."""
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
