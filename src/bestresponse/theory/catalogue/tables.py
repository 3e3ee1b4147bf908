"""The classics of game theory by name, each with a description and its source.

`names()` lists them, `load("prisoners-dilemma")` returns the game, `entry("prisoners-dilemma")` also what it is about
and where it comes from. Games in extensive form (poker, centipede, ultimatum, trust) are not in this list.
"""

from __future__ import annotations

from difflib import get_close_matches

from bestresponse.core.errors import UsageError
from bestresponse.theory.catalogue.game_entry import Entry
from bestresponse.theory.catalogue.larger import LARGER
from bestresponse.theory.catalogue.two_by_two import TWO_BY_TWO
from bestresponse.theory.games.normal_form import NormalForm

__all__ = ["Entry", "entries", "entry", "load", "names"]

_ENTRIES = {one.name: one for one in sorted((*TWO_BY_TWO, *LARGER), key=lambda one: one.name)}


def names() -> tuple[str, ...]:
    """The names of all games, in alphabetical order."""
    return tuple(_ENTRIES)


def entries() -> tuple[Entry, ...]:
    """All entries, in alphabetical order of their names."""
    return tuple(_ENTRIES.values())


def entry(name: str) -> Entry:
    """The entry called `name`; case, blanks, underscores and apostrophes do not matter.

    >>> entry("Prisoner's Dilemma").name
    'prisoners-dilemma'
    """
    plain = name.strip().lower().replace("'", "").replace("’", "").replace("_", "-").replace(" ", "-")
    if plain in _ENTRIES:
        return _ENTRIES[plain]
    close = get_close_matches(plain, _ENTRIES, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"expected one of: {', '.join(names())}"
    raise UsageError(f"no game is called {name!r}; {hint}")


def load(name: str) -> NormalForm:
    """The game called `name`.

    >>> load("matching-pennies").payoffs[0].tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    return entry(name).game()
