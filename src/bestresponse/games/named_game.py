"""Games in any form a user has them (a name, a file, a table, a tree, rules, a formalized story, payoffs), and a
game as a run keeps it: its name, or the text of the file it came from, so that a stored run needs no file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bestresponse.core.errors import UsageError
from bestresponse.core.game import AnyGame
from bestresponse.core.json import digest
from bestresponse.games.lookup import FORMATS, Found, find_game, list_endings
from bestresponse.theory.files.efg import format_efg
from bestresponse.theory.files.nfg import format_nfg, read_table
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Tree

_DOMAIN = ".toml"
"""How the file of a dialogue ends."""


@dataclass(frozen=True, slots=True)
class NamedGame:
    """A game by its name; `ending` and `text` are those of the file it came from, empty where it came from none."""

    name: str
    ending: str = ""
    text: str = ""

    @classmethod
    def find(cls, given: str) -> NamedGame:
        """Find what the user named; UsageError or InvalidGame where that is no game.

        >>> NamedGame.find("Stag Hunt")
        NamedGame(name='stag-hunt', ending='', text='')
        """
        from bestresponse.games.dialogue.domain import domain_names, read_domain_text  # most games are no dialogues

        if given in domain_names() or Path(given).suffix == _DOMAIN:
            return cls(Path(given).stem, _DOMAIN, read_domain_text(given))
        found = find_game(given)
        if found.origin != "file":
            return cls(found.name)
        path = Path(given)
        ending = path.suffix.lower()
        return cls(found.name, ending, FORMATS[ending].read_text(path))

    @classmethod
    def from_form(cls, name: str, form: NormalForm | Tree) -> NamedGame:
        """Keep a table or a tree as the text of its file."""
        if isinstance(form, Tree):
            return cls(name, ".efg", format_efg(form))
        return cls(name, ".nfg", format_nfg(form))

    @property
    def found(self) -> Found:
        """The game as it was found, and where it is from."""
        return _find(self)

    @lru_cache(maxsize=16)  # noqa: B019 - a few small values, equal ones share a game
    def game(self) -> AnyGame:
        """Return the game to be played, the same object each time."""
        return self.found.playable()

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
        if data.get("ending") and data["ending"] not in (*FORMATS, _DOMAIN):
            raise UsageError(f"this run keeps a game file ending in {data['ending']}; known are {list_endings()}")
        return cls(**data)


@lru_cache(maxsize=16)
def _find(named: NamedGame) -> Found:
    if not named.ending:
        return find_game(named.name, allow_files=False)
    if named.ending == _DOMAIN:
        from bestresponse.games.dialogue.domain import parse_domain
        from bestresponse.games.dialogue.game import draw_plain_dialogue

        return Found(named.name, "file", draw_plain_dialogue(parse_domain(named.text, named.name)))
    return Found(named.name, "file", FORMATS[named.ending].parse(named.text, named.name))


Matrix: TypeAlias = Sequence[Sequence[int | float | Fraction | str]] | NDArray[Any]
Table: TypeAlias = "Matrix | Sequence[Any] | Mapping[str, Any]"
"""Payoffs of any number of players, as `read_table` takes them."""


@runtime_checkable
class ProgramGame(Protocol):
    """A game that was written as a program, such as a formalized story."""

    @property
    def game(self) -> Found:
        """The game that the program describes."""
        ...

    @property
    def program(self) -> str:
        """The text of the program."""
        ...


GameLike: TypeAlias = "str | Path | NormalForm | Tree | AnyGame | Found | NamedGame | ProgramGame | Table"
"""A name, a file, a table, a tree, rules, a formalized story, or payoffs."""


def as_found(game: GameLike, other: Matrix | None = None) -> Found:
    """Turn whatever names or is a game into one; `other` are the payoffs of the second player of a bimatrix game."""
    if other is not None:
        if isinstance(game, NormalForm | Tree | Found | NamedGame | str | Path):
            raise UsageError("expected the payoff matrices of both players, got a game and a matrix")
        return _wrap(NormalForm.bimatrix(cast("ArrayLike", game), cast("ArrayLike", other)))
    if isinstance(game, NormalForm | Tree):
        return _wrap(game)
    if isinstance(game, Found):
        return game
    if isinstance(game, NamedGame):
        return game.found
    if isinstance(game, str | Path):
        return find_game(game)
    if isinstance(game, Sequence | Mapping | np.ndarray):
        return _wrap(read_table(game))
    if isinstance(game, ProgramGame):
        return game.game
    if hasattr(game, "asks"):
        return Found(game.name, "registered", game)
    raise UsageError(f"expected a game, its name, a file or a payoff matrix, got {type(game).__name__}")


def as_source(game: GameLike) -> NamedGame:
    """Turn a game into what a run keeps of it: its name, or its text."""
    if isinstance(game, NamedGame):
        return game
    if isinstance(game, str | Path):
        return NamedGame.find(str(game))
    if isinstance(game, ProgramGame) and not isinstance(game, Found):
        return NamedGame(game.game.name, ".pl", game.program)
    found = as_found(game)
    return NamedGame.from_form(found.name, found.solvable())


def _wrap(form: NormalForm | Tree) -> Found:
    return Found(form.name or "game", "file", form)
