"""Formalized games that were saved: a story and its program, by a plain name, below the output folder."""

from __future__ import annotations

import re
from pathlib import Path

from bestresponse.core.errors import UsageError
from bestresponse.games.logic.game import program_game, read_program_text
from bestresponse.report.files import write_text
from bestresponse.web.sessions.games import take_turn, validate_program

__all__ = ["list_saved_games", "load_program", "load_story", "save_game"]

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")


def list_saved_games(output: Path) -> tuple[str, ...]:
    """The names, in alphabetical order."""
    return tuple(sorted(path.stem for path in _folder(output).glob("*.pl") if _NAME.fullmatch(path.stem)))


def load_program(output: Path, name: str) -> str:
    """The program of that name, which is looked up among those that are there."""
    if name not in list_saved_games(output):
        raise UsageError(f"there is no saved game named {name!r}")
    return read_program_text(_folder(output) / f"{name}.pl")


def load_story(output: Path, name: str) -> str:
    """The story beside a saved program, empty where there is none."""
    if name not in list_saved_games(output):
        raise UsageError(f"there is no saved game named {name!r}")
    path = _folder(output) / f"{name}.txt"
    return path.read_text("utf-8", "replace") if path.exists() else ""


def save_game(output: Path, name: str, story: str, program: str) -> None:
    """Keep a program that is a game; UsageError or InvalidGame where it is none or the name is taken."""
    if not _NAME.fullmatch(name):
        raise UsageError("a name has small letters, digits and hyphens, such as my-first-game, at most 60 of them")
    if name in list_saved_games(output):
        raise UsageError(f"there is a game named {name!r} already; choose another name")
    with take_turn():
        program_game(validate_program(program), name)
    _folder(output).mkdir(parents=True, exist_ok=True)
    write_text(_folder(output) / f"{name}.txt", story)
    write_text(_folder(output) / f"{name}.pl", program)


def _folder(output: Path) -> Path:
    return output / "games"
