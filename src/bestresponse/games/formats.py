"""The formats of game files, in one table: how the text of a file is read, and how it becomes a game.

.nfg   Gambit's normal form
.efg   Gambit's extensive form
.json  a payoff matrix, see `theory.files.matrix_json`
.pl    a logic program, see `logic.programs`
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bestresponse.games.logic.game import LogicGame, program_game, read_program_text
from bestresponse.logic.engine import open_engine
from bestresponse.logic.programs.validate import validate
from bestresponse.theory.files.efg import parse_efg
from bestresponse.theory.files.game_file import read_game_text
from bestresponse.theory.files.matrix_json import parse_matrix_json
from bestresponse.theory.files.nfg import parse_nfg
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Tree

__all__ = ["FORMATS", "FileGame", "GameFormat", "list_endings"]

FileGame = NormalForm | Tree | LogicGame


@dataclass(frozen=True, slots=True)
class GameFormat:
    """`read_text` gives the text of a file, `parse` the game of a text; errors name the second argument."""

    read_text: Callable[[Path], str]
    parse: Callable[[str, str], FileGame]


def _parse_program(text: str, name: str) -> FileGame:
    engine = open_engine()
    try:
        return program_game(validate(text, engine), name.removesuffix(".pl"))
    finally:
        engine.close()


FORMATS: dict[str, GameFormat] = {
    ".nfg": GameFormat(read_game_text, parse_nfg),
    ".efg": GameFormat(read_game_text, parse_efg),
    ".json": GameFormat(read_game_text, parse_matrix_json),
    ".pl": GameFormat(read_program_text, _parse_program),
}
"""By the ending of the file's name."""


def list_endings() -> str:
    """List the endings as words of a sentence."""
    *most, last = FORMATS
    return f"{', '.join(most)} or {last}"
