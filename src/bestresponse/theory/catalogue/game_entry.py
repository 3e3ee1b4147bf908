"""What the catalogue keeps about a game."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bestresponse.theory.games.normal_form import NormalForm

__all__ = ["Entry", "bimatrix", "symmetric"]

Matrix = Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class Entry:
    """A named game: what it is about, where it comes from, and how to make it."""

    name: str
    description: str
    citation: str
    make: Callable[[], NormalForm]

    def game(self) -> NormalForm:
        return replace(self.make(), name=self.name)


def bimatrix(row: Matrix, col: Matrix, rows: str, cols: str, players: str = "row col") -> Callable[[], NormalForm]:
    """Two players; action names are separated by blanks."""

    def make() -> NormalForm:
        return NormalForm.bimatrix(row, col, players=_words(players), actions=(_words(rows), _words(cols)))

    return make


def symmetric(row: Matrix, actions: str) -> Callable[[], NormalForm]:
    """Two players in the same position: the column player's payoffs are the row player's, transposed."""

    def make() -> NormalForm:
        return NormalForm.bimatrix(row, np.transpose(row), actions=(_words(actions), _words(actions)))

    return make


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.replace("_", " ") for word in text.split())
