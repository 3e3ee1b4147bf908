"""The front door for games: what a user types, and the game that is meant.

A game is named in one of these ways, tried in this order:

- `-`: JSON read from standard input, in the form that `theory.parse_matrix_json` reads
- a path, if it has a folder in it or ends like a game file: `.nfg`, `.efg`, `.json`, or `.pl` for a
  logic program
- a name of the catalogue, in normal or in extensive form
- a name of a registered game (`core.registry.games`), built in or from an installed package,
  with settings in brackets if need be: `connect-four(columns=5, rows=4)`
- `openspiel:NAME`, with parameters in brackets if need be: a game of OpenSpiel, where that is
  installed

Mechanisms stand behind the name, as in `chicken with contract(payment=3)`; see `games.mechanisms`.

Game files: `.nfg` and `.efg` are Gambit's normal and extensive form, `.json` is a payoff matrix
(see `theory.parse_matrix_json`), `.pl` a logic program (see `logic.programs`).
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bestresponse.core import registry
from bestresponse.core.capabilities import AnyPositions, HasPositions
from bestresponse.core.errors import TooLarge, UsageError
from bestresponse.core.game import AnyGame
from bestresponse.core.json import digest
from bestresponse.core.notebook import format_html
from bestresponse.core.registry import check_members, did_you_mean
from bestresponse.games.capabilities import HasCourse, HasNormalForm, HasTree, Unfolds
from bestresponse.games.matrix.game import MatrixGame
from bestresponse.games.mechanisms import apply_mechanism, name_with, split_mechanisms
from bestresponse.games.parameters import apply_settings, split_settings
from bestresponse.games.trees.game import TreeGame
from bestresponse.telling.render import write_history
from bestresponse.theory import catalogue
from bestresponse.theory.catalogue.trees import tree_entry, tree_names
from bestresponse.theory.files.efg import format_efg, parse_efg
from bestresponse.theory.files.nfg import (
    format_nfg,
    parse_matrix_json,
    parse_nfg,
    read_game_text,
    read_table,
)
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.generators import families
from bestresponse.theory.positions.graph import explore
from bestresponse.theory.positions.solve import count_nodes
from bestresponse.theory.repeated.automaton import classic_strategies
from bestresponse.theory.trees.compile import compile_game
from bestresponse.theory.trees.tree import NODE_LIMIT, Tree

if TYPE_CHECKING:
    from bestresponse.games.logic.game import LogicGame
    from bestresponse.games.logic.positions import ProgramPositions

Origin = Literal["catalogue", "file", "registered", "standard input", "openspiel"]
SomeGame = NormalForm | Tree | AnyGame

_STANDARD_INPUT = "-"
_MOST_PLAYS = 20_000
_OPENSPIEL = "openspiel:"
_MEMBERS = ("name", "version", "roles", "start", "asks", "view", "apply", "payoffs")


@dataclass(frozen=True, slots=True)
class GameFormat:
    """`read_text` gives the text of a file, `parse` the game of a text.

    Errors name the second argument.
    """

    read_text: Callable[[Path], str]
    parse: Callable[[str, str], NormalForm | Tree | LogicGame | ProgramPositions]


def _read_program(path: Path) -> str:
    # The language of programs is slow to load.
    from bestresponse.games.logic.game import read_program_text

    return read_program_text(path)


def _parse_program(text: str, name: str) -> NormalForm | LogicGame | ProgramPositions:
    from bestresponse.games.logic.game import program_game
    from bestresponse.logic.engine import open_engine
    from bestresponse.logic.programs.validate import validate

    engine = open_engine()
    try:
        report = validate(text, engine)
    finally:
        engine.close()
    game = program_game(report, name.removesuffix(".pl"))
    for sentence in report.not_compared:
        warnings.warn(f"{name}: {sentence}", stacklevel=2)
    return game


FORMATS: dict[str, GameFormat] = {
    ".nfg": GameFormat(read_game_text, parse_nfg),
    ".efg": GameFormat(read_game_text, parse_efg),
    ".json": GameFormat(read_game_text, parse_matrix_json),
    ".pl": GameFormat(_read_program, _parse_program),
}
"""By the ending of the file's name."""


formats = registry.Registry("bestresponse.formats", "file format")
"""By the ending without its dot: functions of a file's text and name that return a table or a
tree."""


def find_format(ending: str) -> GameFormat | None:
    """Return the format of files with this ending, perhaps one of an installed package.

    Returns None where there is none.
    """
    name = ending.removeprefix(".")
    if not name or ending in FORMATS or name not in formats.names():
        return FORMATS.get(ending)
    return GameFormat(read_game_text, partial(formats.make, name))


def list_endings() -> str:
    """List the endings as words of a sentence."""
    *most, last = (*FORMATS, *(f".{name}" for name in formats.names()))
    return f"{', '.join(most)} or {last}"


@dataclass(frozen=True, slots=True, eq=False)
class LoadedGame:
    """A game and where it comes from.

    `game` is as it was found: a table, a tree, or rules that can be played.
    """

    name: str
    origin: Origin
    game: SomeGame
    description: str = ""
    citation: str = ""

    def __repr__(self) -> str:
        return f"LoadedGame({self.name!r}, {self.origin}, {type(self.game).__name__})"

    def _repr_html_(self) -> str:
        shown = getattr(self.game, "_repr_html_", None)
        about = [("description", self.description), ("citation", self.citation)]
        if shown is None:
            about.append(("game", repr(self.game)))
        rows = [(name, text) for name, text in about if text]
        table = format_html(repr(self), ("", ""), rows)
        return table if shown is None else table + shown()

    def solvable(self) -> NormalForm | Tree:
        """The game as theory takes it; rules that can be played are compiled to a tree."""
        if isinstance(self.game, NormalForm | Tree):
            return self.game
        if isinstance(self.game, HasNormalForm):
            return self.game.normal_form
        if isinstance(self.game, HasTree):
            return self.game.tree
        if isinstance(self.game, HasCourse):
            _check_rounds(self.game.name, self.game)
        if isinstance(self.game, HasPositions):
            _check_positions(self.game)
        if isinstance(self.game, Unfolds):
            return self.game.unfold(NODE_LIMIT)
        return compile_game(self.game, label=write_history)

    @property
    def players(self) -> tuple[str, ...]:
        """Who plays."""
        form = self.game
        return form.players if isinstance(form, NormalForm | Tree) else tuple(form.roles)

    def add(self, mechanisms: Sequence[str]) -> LoadedGame:
        """Return the game with these mechanisms, the first one next to it.

        What is known of the plain game, such as that defection is dominant, need not hold of it.
        """
        game = self.playable()
        for text in mechanisms:
            game = apply_mechanism(game, text)
        return replace(self, name=name_with(self.name, mechanisms), game=game, description="")

    def playable(self) -> AnyGame:
        """The game as players take it; tables and trees become rules."""
        if isinstance(self.game, NormalForm):
            return MatrixGame(self.game)
        if isinstance(self.game, Tree):
            return TreeGame(self.game, self.description)
        return self.game


def find_game(
    name: str | Path,
    *,
    read_input: Callable[[], str] | None = None,
    allow_files: bool = True,
) -> LoadedGame:
    """Find the game called `name`, or the one in the file of that path.

    UsageError with the nearest name otherwise.

    `read_input` gives the text of standard input; without it, `-` names nothing. Without
    `allow_files` no file is opened, whatever the name looks like.

    >>> find_game("Stag hunt").name
    'stag-hunt'
    >>> find_game("kuhn-poker").solvable()
    Tree('kuhn-poker', players=['player 1', 'player 2'], 55 nodes, 30 leaves, 12 information sets)
    """
    if not isinstance(name, str | Path):
        raise UsageError(f"expected the name of a game or a file, got {name!r}")
    text = os.fspath(name)
    if not text.strip():
        raise UsageError(
            "expected the name of a game or a file, got nothing; `bestresponse games` lists the"
            " names"
        )
    if "\n" in text:
        raise UsageError(
            f"expected the name of a game or a file, got a text of {len(text.splitlines())} lines;"
            " write it into a file, for example game.pl"
        )
    plain, added = split_mechanisms(text)
    if added:
        return find_game(plain, read_input=read_input, allow_files=allow_files).add(added)
    if text == _STANDARD_INPUT and read_input is not None:
        game = FORMATS[".json"].parse(read_input(), "standard input")
        return LoadedGame(game.name or "standard input", "standard input", game)
    if text.startswith(_OPENSPIEL):
        from bestresponse.games.openspiel.rules import load_openspiel_game

        citation = (
            'Lanctot et al., "OpenSpiel: a framework for reinforcement learning in games", 2019'
        )
        found = load_openspiel_game(text.removeprefix(_OPENSPIEL).strip())
        return LoadedGame(text, "openspiel", found, "A game of OpenSpiel", citation)
    known = None
    if not allow_files or not _is_like_a_path(name):
        known = _from_catalogue(text) or _from_registry(text)
    if known is None and not allow_files:
        raise UsageError(_explain_unknown(text, allow_files=False))
    return known or _from_file(Path(text))


def _check_rounds(name: str, game: HasCourse) -> None:
    """Raise TooLarge where rounds can be played in too many ways; to find out would take long."""
    rounds = game.repetition.rounds
    plays = game.intended_form.payoffs[0].size ** rounds
    if plays > _MOST_PLAYS:
        raise TooLarge(
            f"{name} has {rounds} rounds, which can be played in more than {_MOST_PLAYS:,} ways,"
            " too many for a tree. Use fewer rounds, or solve one round: its equilibria, played in"
            " every round, are equilibria"
        )


def _check_positions(game: AnyPositions) -> None:
    """Raise TooLarge where a tree would never end; to unfold it would take long to say so."""
    graph = explore(game, most=_MOST_PLAYS)
    nodes = count_nodes(graph)
    if graph.is_complete and nodes <= NODE_LIMIT:
        return
    raise TooLarge(
        f"{game.name} is solved by its positions. As a tree it has more than"
        f" {min(nodes, NODE_LIMIT):,.0f} nodes; use a smaller version"
    )


def _is_like_a_path(name: str | Path) -> bool:
    """Tell whether a name has slashes or ends like a file of games."""
    text = os.fspath(name)
    if isinstance(name, Path) or "/" in text or os.sep in text:
        return True
    ending = Path(text).suffix.lower()
    return find_format(ending) is not None


def game_names() -> tuple[str, ...]:
    """Every name that `find_game` knows, in alphabetical order."""
    return tuple(sorted({*catalogue.names(), *tree_names(), *registry.games.names()}))


def _from_file(path: Path) -> LoadedGame:
    form = find_format(path.suffix.lower())
    if path.is_dir():
        raise UsageError(
            f"{path} is a folder; expected a file ending in {list_endings()}, or the name of a game"
        )
    if not path.exists():
        if path.name == str(path) and form is None:
            raise UsageError(_explain_unknown(str(path)))
        raise UsageError(f"{path}: there is no such file")
    if form is None:
        raise UsageError(
            f"{path}: expected a file ending in {list_endings()}, or the name of a game"
        )
    game = form.parse(form.read_text(path), path.name)
    return LoadedGame(game.name or path.stem, "file", game)


def _from_catalogue(text: str) -> LoadedGame | None:
    plain = _normalise(text)
    if plain in catalogue.names():
        table = catalogue.entry(plain)
        return LoadedGame(
            table.name,
            "catalogue",
            table.game(),
            table.description,
            table.citation,
        )
    if plain in tree_names():
        tree = tree_entry(plain)
        return LoadedGame(
            tree.name,
            "catalogue",
            tree.make(),
            tree.description,
            tree.citation,
        )
    return None


def _from_registry(text: str) -> LoadedGame | None:
    known = registry.games.names()
    plain, bracket, _ = text.partition("(")
    key = plain if plain in known else _normalise(plain.rstrip())
    if key not in known:
        return None
    make = registry.games.load(key)
    game: AnyGame = registry.games.make(key)
    check_members(game, _MEMBERS, registry.games.describe(key))
    documentation = make.__doc__ or ""
    first_line, _, _ = documentation.strip().partition("\n")
    if not bracket:
        return LoadedGame(key, "registered", game, first_line)
    _, settings = split_settings(text)
    name = f"{key}({','.join(f'{name}={value}' for name, value in settings.items())})"
    return LoadedGame(name, "registered", apply_settings(game, settings, name), first_line)


def _explain_unknown(text: str, *, allow_files: bool = True) -> str:
    name = _normalise(text)
    if name in families():
        draw = f'`theory.generate("{name}", 1)`'
        return (
            f"{name} is a family of random games, not one game; draw one with {draw} and give it as"
            " a file"
        )
    from bestresponse.games.dialogue.domain import domain_names

    if name in domain_names():
        return (
            f"{name} is a dialogue; `bestresponse steer {name}` solves it, `play` and `simulate`"
            " hold it"
        )
    if name in {automaton.name for automaton in classic_strategies()}:
        return (
            f"{name} is a strategy, not a game; name the game first, and the strategy by the option"
            f" for players: `bestresponse bench --model {name}`, or `bestresponse tournament"
            f" prisoners-dilemma --entries {name}`"
        )
    plain, _, added = text.partition(" with ")
    if added and plain in game_names():
        name_with(plain, added.split(" with "))  # says which of them there is not
    hint = did_you_mean(name, list(game_names()))
    if not hint and Path(text).suffix and allow_files:
        return f"there is no file {text!r}; files of games end in {list_endings()}"
    if not allow_files:
        return f"there is no game named {text!r}.{hint}"
    return (
        "there is no game or file named"
        f" {text!r}.{hint or ' `bestresponse games` lists the names.'}"
    )


def _normalise(text: str) -> str:
    return text.strip().casefold().translate(_PLAIN)


_PLAIN = str.maketrans({"'": "", "’": "", "_": "-", " ": "-"})


_DOMAIN = ".toml"
"""How the file of a dialogue ends."""


@dataclass(frozen=True, slots=True)
class NamedGame:
    """A game by its name.

    `ending` and `text` are those of the file it came from, empty where it came from none.
    """

    name: str
    ending: str = ""
    text: str = ""

    @classmethod
    def find(cls, name_or_path: str) -> NamedGame:
        """Find what the user named; UsageError or InvalidGame where that is no game.

        >>> NamedGame.find("Stag Hunt")
        NamedGame(name='stag-hunt', ending='', text='')
        """
        from bestresponse.games.dialogue.domain import (
            domain_names,
            read_domain_text,
        )  # most games are no dialogues

        if name_or_path in domain_names() or Path(name_or_path).suffix == _DOMAIN:
            return cls(Path(name_or_path).stem, _DOMAIN, read_domain_text(name_or_path))
        loaded = find_game(name_or_path)
        if loaded.origin != "file":
            return cls(loaded.name)
        path = Path(split_mechanisms(name_or_path)[0])
        ending = path.suffix.lower()
        form = find_format(ending)
        assert form is not None
        return cls(loaded.name, ending, form.read_text(path))

    @classmethod
    def from_form(cls, name: str, form: NormalForm | Tree) -> NamedGame:
        """Keep a table or a tree as the text of its file."""
        if isinstance(form, Tree):
            return cls(name, ".efg", format_efg(form))
        return cls(name, ".nfg", format_nfg(form))

    @property
    def loaded(self) -> LoadedGame:
        """The game as it was found, and where it is from."""
        return _load(self)

    @lru_cache(maxsize=16)  # noqa: B019 - a few small values, equal ones share a game
    def game(self) -> AnyGame:
        """Return the game to be played, the same object each time."""
        return self.loaded.playable()

    @property
    def digest(self) -> str:
        """A short text that differs where the game does."""
        return digest(asdict(self), 12)

    def to_json(self) -> dict[str, str]:
        """Return plain data for a manifest."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, str]) -> NamedGame:
        """Read what `to_json` gave; UsageError where the format of the file is not known here."""
        ending = data.get("ending", "")
        if ending not in ("", _DOMAIN) and find_format(ending) is None:
            raise UsageError(
                f"this run keeps a game file ending in {ending}; known are {list_endings()}"
            )
        try:
            return cls(**data)
        except TypeError:
            raise UsageError("expected the name of a game or a file, got a table") from None


@lru_cache(maxsize=16)
def _load(named: NamedGame) -> LoadedGame:
    if not named.ending:
        return find_game(named.name, allow_files=False)
    if named.ending == _DOMAIN:
        from bestresponse.games.dialogue.domain import parse_domain
        from bestresponse.games.dialogue.game import draw_plain_dialogue
        from bestresponse.games.dialogue.offers import add_offers

        return LoadedGame(
            named.name,
            "file",
            add_offers(draw_plain_dialogue(parse_domain(named.text, named.name))),
        )
    form = find_format(named.ending)
    assert form is not None  # it was read by this format
    plain, added = split_mechanisms(named.name)
    return LoadedGame(plain, "file", form.parse(named.text, plain)).add(added)


Matrix: TypeAlias = Sequence[Sequence[int | float | Fraction | str]] | NDArray[Any]
Table: TypeAlias = "Matrix | Sequence[Any] | Mapping[str, Any]"
"""Payoffs of any number of players, as `read_table` takes them."""


@runtime_checkable
class ProgramGame(Protocol):
    """A game that was written as a program, such as a formalized story."""

    @property
    def game(self) -> LoadedGame:
        """The game that the program describes."""
        ...

    @property
    def program(self) -> str:
        """The text of the program."""
        ...


GameLike: TypeAlias = (
    "str | Path | NormalForm | Tree | AnyGame | LoadedGame | NamedGame | ProgramGame | Table"
)
"""A name, a file, a table, a tree, rules, a formalized story, or payoffs."""


def as_loaded_game(game: GameLike, other: Matrix | None = None) -> LoadedGame:
    """Turn whatever names or is a game into one.

    `other` are the payoffs of the second player of a bimatrix game.
    """
    if other is not None:
        if isinstance(game, NormalForm | Tree | LoadedGame | NamedGame | str | Path):
            raise UsageError(
                "expected the payoff matrices of both players, got a game and a matrix"
            )
        return _wrap(NormalForm.bimatrix(cast("ArrayLike", game), cast("ArrayLike", other)))
    if isinstance(game, NormalForm | Tree):
        return _wrap(game)
    if isinstance(game, LoadedGame):
        return game
    if isinstance(game, NamedGame):
        return game.loaded
    if isinstance(game, str | Path):
        return find_game(game)
    if isinstance(game, Sequence | Mapping | np.ndarray):
        return _wrap(read_table(game))
    if isinstance(game, ProgramGame):
        return game.game
    if hasattr(game, "asks"):
        return LoadedGame(game.name, "registered", game)
    raise UsageError(f"expected a game, its name, a file or a payoff matrix, got {game!r:.60}")


def as_source(game: GameLike) -> NamedGame:
    """Turn a game into what a run keeps of it: its name, or its text."""
    if isinstance(game, NamedGame):
        return game
    if isinstance(game, str | Path):
        return NamedGame.find(str(game))
    if isinstance(game, ProgramGame) and not isinstance(game, LoadedGame):
        return NamedGame(game.game.name, ".pl", game.program)
    loaded = as_loaded_game(game)
    return NamedGame.from_form(loaded.name, loaded.solvable())


def _wrap(form: NormalForm | Tree) -> LoadedGame:
    return LoadedGame(form.name or "game", "file", form)
