"""One door for games in files: `.efg` trees, `.nfg` and `.json` normal forms.

>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> from bestresponse.theory.catalogue.tree_rules import kuhn_poker
>>> with TemporaryDirectory() as folder:
...     path = Path(folder) / "kuhn.efg"
...     write_game_file(kuhn_poker(), path)
...     load_game_file(path)
Tree('kuhn-poker', players=['player 1', 'player 2'], 55 nodes, 30 leaves, 12 information sets)
"""

from __future__ import annotations

import errno
from pathlib import Path

from bestresponse.core.errors import InvalidGame, TooLarge, UsageError
from bestresponse.core.files import read_text_file
from bestresponse.theory.files.efg import format_efg, parse_efg
from bestresponse.theory.files.matrix_json import parse_matrix_json
from bestresponse.theory.files.nfg import format_nfg, parse_nfg
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Tree

__all__ = ["load_game_file", "read_efg", "read_game_text", "read_matrix_json", "read_nfg", "write_game_file"]


def load_game_file(path: str | Path) -> NormalForm | Tree:
    """Read the game in a file, whose ending says the format."""
    match Path(path).suffix.lower():
        case ".efg":
            return read_efg(path)
        case ".nfg":
            return read_nfg(path)
        case ".json":
            return read_matrix_json(path)
        case _:
            raise UsageError(f"{Path(path).name}: expected a file ending in .efg, .nfg or .json")


def read_efg(path: str | Path) -> Tree:
    """Read the tree in an `.efg` file, whatever its name."""
    return parse_efg(read_game_text(path), Path(path).name)


def read_nfg(path: str | Path) -> NormalForm:
    """Read the game in an `.nfg` file, whatever its name."""
    return parse_nfg(read_game_text(path), Path(path).name)


def read_matrix_json(path: str | Path) -> NormalForm:
    """Read the game in a JSON file, whatever its name."""
    return parse_matrix_json(read_game_text(path), Path(path).name)


def write_game_file(game: NormalForm | Tree, path: str | Path) -> None:
    """Write a tree as `.efg`, a normal form as `.nfg`."""
    wanted = ".efg" if isinstance(game, Tree) else ".nfg"
    if Path(path).suffix.lower() != wanted:
        raise UsageError(f"{Path(path).name}: expected a file ending in {wanted} for a {type(game).__name__}")
    text = format_efg(game) if isinstance(game, Tree) else format_nfg(game)
    Path(path).write_text(text, encoding="utf-8")


def read_game_text(path: str | Path) -> str:
    """Read the text of a game file; UsageError or InvalidGame where it cannot be one."""
    path = Path(path)
    try:
        return read_text_file(path)
    except UnicodeDecodeError as error:
        raise InvalidGame(f"{path.name}: expected UTF-8 text, got other bytes at {error.start}") from None
    except OSError as error:
        kind = TooLarge if error.errno == errno.EFBIG else UsageError
        raise kind(f"{path}: cannot be read ({error.strerror})") from None
