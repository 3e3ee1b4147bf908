"""`bestresponse convert`: write a game in another format."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from bestresponse.cli.terminal import notes
from bestresponse.core.errors import UsageError
from bestresponse.games.convert import WRITERS, format_game
from bestresponse.games.lookup import find_game

__all__ = ["convert"]


def convert(
    game: Annotated[
        str,
        typer.Argument(
            metavar="IN",
            help="A name from `bestresponse games`, openspiel:NAME, a .pl, .efg, .nfg or .json file, or - for JSON.",
        ),
    ],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write, ending in .efg, .nfg, .json or .pl.")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it is there.")] = False,
) -> None:
    """Write a game in another format.

    A tree becomes a table by its reduced normal form; a table becomes a tree in which nobody sees the others' choices.
    """
    if out.suffix.lower() not in WRITERS:
        raise UsageError(f"{out}: expected a file ending in {', '.join(WRITERS)}")
    if out.exists() and not force:
        raise UsageError(f"{out} is there already; choose another name or give --force")
    text = format_game(find_game(game, read_input=sys.stdin.read).solvable(), out.suffix.lower())
    out.write_text(text, "utf-8")
    notes().print(f"wrote {out}", markup=False, soft_wrap=True)
