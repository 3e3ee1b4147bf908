"""Games in any form a user has them: a name, a file, a table, a tree, rules, a formalized story, payoff matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bestresponse.core.errors import UsageError
from bestresponse.core.game import AnyGame
from bestresponse.games.lookup import Found, find_game
from bestresponse.games.named_game import NamedGame
from bestresponse.theory.files.nfg import read_table
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Tree

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
