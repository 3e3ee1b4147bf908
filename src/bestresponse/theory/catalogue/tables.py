"""The classics of game theory by name, each with a description and its source.

`names()` lists them, `load("prisoners-dilemma")` returns the game, `entry("prisoners-dilemma")` also what it is about
and where it comes from. They are kept in `data/games.toml`; games in extensive form are in `trees`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.theory.catalogue.rules import RULES
from bestresponse.theory.games.normal_form import NormalForm

__all__ = ["Entry", "entries", "entry", "load", "names", "read_data"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A named game: what it is about, where it comes from, and its payoffs as the data file has them."""

    name: str
    description: str
    citation: str
    data: Mapping[str, Any]

    def game(self) -> NormalForm:
        """Build the game."""
        if "rule" in self.data:
            found = RULES[self.data["rule"]](**self.data.get("arguments", {}))
            return NormalForm(found.payoffs, found.players, found.actions, self.name)
        payoffs = np.array(self.data["payoffs"], dtype=object)
        if self.data.get("symmetric"):
            payoffs = np.stack([payoffs, payoffs.T])
        elif self.data.get("zero_sum"):
            payoffs = np.stack([payoffs, -payoffs])
        return NormalForm(payoffs, tuple(self.data.get("players", ())), self._read_actions(len(payoffs)), self.name)

    def _read_actions(self, players: int) -> tuple[tuple[str, ...], ...]:
        """Read one list of names for every player, or one that all share."""
        actions = self.data["actions"]
        return (tuple(actions),) * players if isinstance(actions[0], str) else tuple(map(tuple, actions))


def read_data(name: str) -> str:
    """Read a file of the catalogue."""
    return files("bestresponse.theory.catalogue").joinpath("data", name).read_text(encoding="utf-8")


@cache
def _load_entries() -> dict[str, Entry]:
    found = tomllib.loads(read_data("games.toml"), parse_float=Decimal)
    return {name: Entry(name, data["description"], data["citation"], data) for name, data in sorted(found.items())}


def names() -> tuple[str, ...]:
    """List the names of all games, in alphabetical order."""
    return tuple(_load_entries())


def entries() -> tuple[Entry, ...]:
    """List all entries, in alphabetical order of their names."""
    return tuple(_load_entries().values())


def entry(name: str) -> Entry:
    """Find the entry called `name`; case, blanks, underscores and apostrophes do not matter.

    >>> entry("Prisoner's Dilemma").name
    'prisoners-dilemma'
    """
    plain = name.strip().lower().replace("'", "").replace("’", "").replace("_", "-").replace(" ", "-")
    known = _load_entries()
    if plain in known:
        return known[plain]
    close = get_close_matches(plain, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"expected one of: {', '.join(known)}"
    raise UsageError(f"no game is called {name!r}; {hint}")


def load(name: str) -> NormalForm:
    """Load the game called `name`.

    >>> load("matching-pennies").payoffs[0].tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    return entry(name).game()
