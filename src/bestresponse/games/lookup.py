"""The front door for games: what a user types, and the game that is meant.

A game is named in one of these ways, tried in this order:

- `-`: JSON read from standard input, in the form of `theory.matrix_json`
- a path, if it has a folder in it or ends like a game file: `.nfg`, `.efg`, `.json`, or `.pl` for a logic program
- a name of the catalogue, in normal or in extensive form
- a name of a registered game (`core.registry.games`), built in or from an installed package
- `openspiel:NAME`, with parameters in brackets if need be: a game of OpenSpiel, where that is installed

Game files: `.nfg` and `.efg` are Gambit's normal and extensive form, `.json` is a payoff matrix (see
`theory.files.matrix_json`), `.pl` a logic program (see `logic.programs`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bestresponse.core import registry
from bestresponse.core.errors import UsageError
from bestresponse.core.game import AnyGame
from bestresponse.core.notebook import format_html
from bestresponse.core.registry import check_members, did_you_mean
from bestresponse.games.capabilities import HasNormalForm, HasTree
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.games.trees.game import TreeGame, read_rules
from bestresponse.theory import catalogue
from bestresponse.theory.catalogue.trees import tree_entry, tree_names
from bestresponse.theory.files.efg import parse_efg
from bestresponse.theory.files.nfg import parse_matrix_json, parse_nfg, read_game_text
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.generators import families
from bestresponse.theory.trees.compile import compile_game
from bestresponse.theory.trees.tree import Tree

if TYPE_CHECKING:
    from bestresponse.games.logic.game import LogicGame

Origin = Literal["catalogue", "file", "registered", "standard input", "openspiel"]
SomeGame = NormalForm | Tree | AnyGame

_STANDARD_INPUT = "-"
_OPENSPIEL = "openspiel:"
_MEMBERS = ("name", "version", "roles", "start", "asks", "view", "apply", "payoffs")


@dataclass(frozen=True, slots=True)
class GameFormat:
    """`read_text` gives the text of a file, `parse` the game of a text; errors name the second argument."""

    read_text: Callable[[Path], str]
    parse: Callable[[str, str], NormalForm | Tree | LogicGame]


def _read_program(path: Path) -> str:
    from bestresponse.games.logic.game import read_program_text  # the language of programs is slow to load

    return read_program_text(path)


def _parse_program(text: str, name: str) -> NormalForm | LogicGame:
    from bestresponse.games.logic.game import program_game
    from bestresponse.logic.engine import open_engine
    from bestresponse.logic.programs.validate import validate

    engine = open_engine()
    try:
        return program_game(validate(text, engine), name.removesuffix(".pl"))
    finally:
        engine.close()


FORMATS: dict[str, GameFormat] = {
    ".nfg": GameFormat(read_game_text, parse_nfg),
    ".efg": GameFormat(read_game_text, parse_efg),
    ".json": GameFormat(read_game_text, parse_matrix_json),
    ".pl": GameFormat(_read_program, _parse_program),
}
"""By the ending of the file's name."""


def list_endings() -> str:
    """List the endings as words of a sentence."""
    *most, last = FORMATS
    return f"{', '.join(most)} or {last}"


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A game and where it comes from. `game` is as it was found: a table, a tree, or rules that can be played."""

    name: str
    origin: Origin
    game: SomeGame
    description: str = ""
    citation: str = ""

    def __repr__(self) -> str:
        return f"Found({self.name!r}, {self.origin}, {type(self.game).__name__})"

    def _repr_html_(self) -> str:
        shown = getattr(self.game, "_repr_html_", None)
        about = (("description", self.description), ("citation", self.citation), ("game", repr(self.game)))
        rows = [(name, text) for name, text in about if text and not (shown and name == "game")]
        return format_html(repr(self), ("", ""), rows) + (shown() if shown else "")

    def solvable(self) -> NormalForm | Tree:
        """The game as theory takes it; rules that can be played are compiled to a tree."""
        if isinstance(self.game, NormalForm | Tree):
            return self.game
        if isinstance(self.game, HasNormalForm):
            return self.game.normal_form
        return self.game.tree if isinstance(self.game, HasTree) else compile_game(self.game)

    def playable(self) -> AnyGame:
        """The game as players take it; tables and trees become rules."""
        if isinstance(self.game, NormalForm):
            return MatrixGame(self.game)
        if isinstance(self.game, Tree):
            in_catalogue = self.origin == "catalogue"
            return TreeGame(self.game, self.description, read_rules(self.name) if in_catalogue else "")
        return self.game


def find_game(name: str | Path, *, read_input: Callable[[], str] | None = None, allow_files: bool = True) -> Found:
    """Find the game called `name`, or the one in the file of that path; UsageError with the nearest name otherwise.

    `read_input` gives the text of standard input; without it, `-` names nothing. Without `allow_files` no file is
    opened, whatever the name looks like.

    >>> find_game("Stag hunt").name
    'stag-hunt'
    >>> find_game("kuhn-poker").solvable()
    Tree('kuhn-poker', players=['player 1', 'player 2'], 55 nodes, 30 leaves, 12 information sets)
    """
    text = os.fspath(name)
    if not text.strip():
        raise UsageError("expected the name of a game or a file, got nothing; `bestresponse games` lists the names")
    if text == _STANDARD_INPUT and read_input is not None:
        game = FORMATS[".json"].parse(read_input(), "standard input")
        return Found(game.name or "standard input", "standard input", game)
    if text.startswith(_OPENSPIEL):
        from bestresponse.theory.trees.compile import load_openspiel

        citation = 'Lanctot et al., "OpenSpiel: a framework for reinforcement learning in games", 2019'
        tree = load_openspiel(text.removeprefix(_OPENSPIEL).strip())
        return Found(text, "openspiel", tree, "A game of OpenSpiel", citation)
    like_a_path = isinstance(name, Path) or "/" in text or os.sep in text or Path(text).suffix.lower() in FORMATS
    known = None if allow_files and like_a_path else _from_catalogue(text) or _from_registry(text)
    if known is None and not allow_files:
        raise UsageError(_explain_unknown(text, allow_files=False))
    return known or _from_file(Path(text))


def game_names() -> tuple[str, ...]:
    """Every name that `find_game` knows, in alphabetical order."""
    return tuple(sorted({*catalogue.names(), *tree_names(), *registry.games.names()}))


def _from_file(path: Path) -> Found:
    ending = path.suffix.lower()
    if path.is_dir():
        raise UsageError(f"{path} is a folder; expected a file ending in {list_endings()}, or the name of a game")
    if not path.exists():
        named = path.name == str(path) and ending not in FORMATS
        raise UsageError(_explain_unknown(str(path)) if named else f"{path}: there is no such file")
    if ending not in FORMATS:
        raise UsageError(f"{path}: expected a file ending in {list_endings()}, or the name of a game")
    game = FORMATS[ending].parse(FORMATS[ending].read_text(path), path.name)
    return Found(game.name or path.stem, "file", game)


def _from_catalogue(text: str) -> Found | None:
    plain = _normalise(text)
    if plain in catalogue.names():
        table = catalogue.entry(plain)
        return Found(table.name, "catalogue", table.game(), table.description, table.citation)
    if plain in tree_names():
        tree = tree_entry(plain)
        return Found(tree.name, "catalogue", tree.make(), tree.description, tree.citation)
    return None


def _from_registry(text: str) -> Found | None:
    known = registry.games.names()
    key = text if text in known else _normalise(text)
    if key not in known:
        return None
    make = registry.games.load(key)
    game: AnyGame = registry.games.make(key)
    check_members(game, _MEMBERS, registry.games.describe(key))
    return Found(key, "registered", game, (make.__doc__ or "").strip().partition("\n")[0])


def _explain_unknown(text: str, *, allow_files: bool = True) -> str:
    name = _normalise(text)
    if name in families():
        draw = f'`theory.generate("{name}", 1)`'
        return f"{name} is a family of random games, not one game; draw one with {draw} and give it as a file"
    from bestresponse.games.dialogue.domain import domain_names

    if name in domain_names():
        return f"{name} is a dialogue; `bestresponse steer {name}` solves it, `play` and `simulate` hold it"
    hint = did_you_mean(name, list(game_names()))
    if not allow_files:
        return f"there is no game named {text!r}.{hint}"
    return f"there is no game or file named {text!r}.{hint or ' `bestresponse games` lists the names.'}"


def _normalise(text: str) -> str:
    return text.strip().casefold().replace("'", "").replace("’", "").replace("_", "-").replace(" ", "-")
