"""The classics of game theory by name, each with a description and its source.

`names()` lists them, `load("prisoners-dilemma")` returns the game, `entry("prisoners-dilemma")`
also what it is about and where it comes from. They are kept in `data/games.toml`; games in
extensive form are in `trees`.

Classic games whose payoffs follow a rule: players choose numbers, and a formula pays them.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.theory.games.normal_form import Array, NormalForm


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """A named game: what it is about, where it comes from, and what the data file says of it."""

    name: str
    description: str
    citation: str
    data: Mapping[str, Any]


E = TypeVar("E", bound=CatalogueEntry)


@cache
def load_entries(file: str, kind: type[E]) -> Mapping[str, E]:
    """Load the entries of a file of the catalogue, in alphabetical order of their names."""
    tables = tomllib.loads(read_data(file), parse_float=Decimal)
    return {
        name: kind(name, data["description"], data["citation"], data)
        for name, data in sorted(tables.items())
    }


_PLAIN = str.maketrans({"'": "", "’": "", "_": "-", " ": "-"})


def find_entry(known: Mapping[str, E], name: str) -> E:
    """Find the entry called `name`; case, blanks, underscores and apostrophes do not matter."""
    plain = name.strip().casefold().translate(_PLAIN)
    if plain in known:
        return known[plain]
    close = get_close_matches(plain, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"expected one of: {', '.join(known)}"
    raise UsageError(f"no game is called {name!r}; {hint}")


class TableEntry(CatalogueEntry):
    """A named game in normal form."""

    def game(self) -> NormalForm:
        """Build the game."""
        if "rule" in self.data:
            form = RULES[self.data["rule"]](**self.data.get("arguments", {}))
            return NormalForm(form.payoffs, form.players, form.actions, self.name)
        payoffs = np.array(self.data["payoffs"], dtype=object)
        if self.data.get("symmetric"):
            payoffs = np.stack([payoffs, payoffs.T])
        elif self.data.get("zero_sum"):
            payoffs = np.stack([payoffs, -payoffs])
        actions = self.data["actions"]  # one list of names for every player, or one that all share
        lists = [actions] * len(payoffs) if isinstance(actions[0], str) else actions
        return NormalForm(
            payoffs,
            tuple(self.data.get("players", ())),
            tuple(map(tuple, lists)),
            self.name,
        )


def read_data(name: str) -> str:
    """Read a file of the catalogue."""
    return files("bestresponse.theory.catalogue").joinpath("data", name).read_text(encoding="utf-8")


def names() -> tuple[str, ...]:
    """List the names of all games, in alphabetical order."""
    return tuple(load_entries("games.toml", TableEntry))


def entries() -> tuple[TableEntry, ...]:
    """List all entries, in alphabetical order of their names."""
    return tuple(load_entries("games.toml", TableEntry).values())


def entry(name: str) -> TableEntry:
    """Find the entry called `name`, leniently.

    >>> entry("Prisoner's Dilemma").name
    'prisoners-dilemma'
    """
    table: TableEntry = find_entry(load_entries("games.toml", TableEntry), name)
    return table


def load(name: str) -> NormalForm:
    """Load the game called `name`.

    >>> load("matching-pennies").payoffs[0].tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    return entry(name).game()


def _build_game(numbers: range, players: int, pay: Callable[[Array], Array]) -> NormalForm:
    """Let all players choose from `numbers`; `pay` maps the grid of choices to payoffs."""
    indices = np.indices((len(numbers),) * players)
    choices = np.array(numbers, dtype=np.float64)[indices]
    labels = tuple(map(str, numbers))
    return NormalForm(pay(choices), actions=(labels,) * players)


def travelers_dilemma(highest: int) -> NormalForm:
    """Pay the lower of two claims.

    Whoever claimed less gets 2 more, the other 2 less (Basu 1994).
    """

    def pay(claims: Array) -> Array:
        lower_is_rewarded = 2 * np.sign(claims[::-1] - claims)
        return np.asarray(claims.min(axis=0) + lower_is_rewarded, dtype=np.float64)

    return _build_game(range(2, highest + 1), 2, pay)


def money_request() -> NormalForm:
    """Pay what was asked for, and 20 more for exactly one less than the other.

    See Arad and Rubinstein (2012).
    """

    def pay(asked: Array) -> Array:
        is_one_less = asked == asked[::-1] - 1
        return np.asarray(asked + 20 * is_one_less, dtype=np.float64)

    return _build_game(range(11, 21), 2, pay)


def beauty_contest() -> NormalForm:
    """Share a prize of 1 between those closest to two thirds of the average guess.

    There are three guesses (Nagel 1995).
    """

    def pay(guesses: Array) -> Array:
        miss = np.abs(3 * guesses - 2 * guesses.mean(axis=0))
        winners = np.isclose(miss, miss.min(axis=0))
        return np.asarray(winners / winners.sum(axis=0), dtype=np.float64)

    return _build_game(range(11), 3, pay)


def minimum_effort() -> NormalForm:
    """Pay three players for the lowest effort and charge each for its own.

    See Van Huyck, Battalio and Beil (1990).
    """

    def pay(effort: Array) -> Array:
        payoffs = 0.6 + 0.2 * effort.min(axis=0) - 0.1 * effort
        return np.asarray(np.round(payoffs, 10), dtype=np.float64)

    return _build_game(range(1, 8), 3, pay)


def public_goods(highest: int = 20, step: int = 10) -> NormalForm:
    """Return half of what three players give to each of them (Isaac and Walker 1988)."""

    def pay(contributions: Array) -> Array:
        returned = 0.5 * contributions.sum(axis=0)
        return np.asarray(highest - contributions + returned, dtype=np.float64)

    return _build_game(range(0, highest + 1, step), 3, pay)


RULES: dict[str, Callable[..., NormalForm]] = {
    rule.__name__: rule
    for rule in (
        beauty_contest,
        minimum_effort,
        money_request,
        public_goods,
        travelers_dilemma,
    )
}
