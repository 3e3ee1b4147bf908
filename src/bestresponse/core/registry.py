"""Things found by name: those of this library and those of installed packages, through one door.

A built-in thing is a line `name: "module:attribute"` in a table; a package adds its own by an entry
point of the same form:

    [project.entry-points."bestresponse.games"]
    my-game = "my_package.my_module:MyGame"

Both are imported when first asked for. A package that cannot be imported is named in one sentence
and spoils nothing but itself. The groups: `bestresponse.games`, `.models`, `.players`, `.studies`
and others.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from bestresponse.core.errors import BestResponseError, UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

Thing = TypeVar("Thing")
_YES_NO = {"yes": True, "no": False, "true": True, "false": False}


def did_you_mean(name: str, known: list[str], likeness: float = 0.56) -> str:
    """Suggest the nearest known name, as ' Did you mean x?', or return an empty text.

    >>> did_you_mean("kuhn", ["kuhn-poker", "chicken"])
    ' Did you mean kuhn-poker?'
    >>> did_you_mean("titfortot", ["TitForTat", "Defector"])
    ' Did you mean TitForTat?'
    """
    wanted = name.casefold()
    folded: dict[str, str] = {}
    for candidate in known:
        folded.setdefault(candidate.casefold(), candidate)
    near = get_close_matches(wanted, folded, cutoff=likeness)
    starts = [candidate for candidate in folded if candidate.startswith(wanted)]
    best = [*starts, *near]
    return f" Did you mean {folded[best[0]]}?" if best else ""


def read_like(default: object, text: str, choices: Sequence[str] = ()) -> Any:
    """Read a value of the default's type, a number where it is None; ValueError says what it is.

    >>> read_like(False, "yes"), read_like(10, "3"), read_like((0.0, 1.0), "1,2")
    (True, 3, (1.0, 2.0))
    """
    expected = "a number"
    try:
        match default:
            case bool():
                expected = "yes or no"
                return _YES_NO[text.lower()]
            case int():
                expected = "a whole number"
                return int(text)
            case str():
                expected = f"one of {', '.join(choices)}"
                return {choice: choice for choice in choices or (text,)}[text]
            case tuple():
                usual = ",".join(map(str, default))
                expected = f"{len(default)} numbers with commas between them, such as {usual}"
                parts = zip(default, text.split(","), strict=True)
                return tuple(read_like(like, part) for like, part in parts)
        number = float(text)
        if math.isfinite(number):
            return number
    except (ValueError, KeyError):
        pass
    raise ValueError(f"expected {expected}, got {text!r}")


def find_by_name(known: Mapping[str, Thing], name: str, kind: str) -> Thing:
    """Return the thing of that name; UsageError with the nearest name where there is none.

    >>> find_by_name({"full": 1, "window": 5}, "window", "memory")
    5
    >>> try:
    ...     find_by_name({"full": 1, "window": 5}, "windo", "memory")
    ... except UsageError as error:
    ...     print(error)
    there is no memory named 'windo'; known: full, window. Did you mean window?
    """
    if name not in known:
        hint = did_you_mean(name, list(known))
        raise UsageError(f"there is no {kind} named {name!r}; known: {', '.join(known)}.{hint}")
    return known[name]


@dataclass(frozen=True)
class Registry:
    """Names of one kind of thing; built-in ones come before those of packages."""

    group: str
    kind: str
    built_in: Mapping[str, str] = field(default_factory=dict)

    def names(self) -> list[str]:
        """List every name in alphabetical order, without importing anything."""
        return sorted({*self.built_in, *(entry.name for entry in self._find_entries())})

    def load(self, name: str) -> Any:
        """Import the thing of that name.

        Raises: UsageError: there is none, with the nearest name or all; or its package cannot be
        imported.
        """
        if name in self.built_in:
            module, _, attribute = self.built_in[name].partition(":")
            return getattr(import_module(module), attribute)
        for entry in self._find_entries().select(name=name):
            try:
                return entry.load()
            except Exception as error:  # noqa: BLE001
                # A package may raise anything while it is imported.
                raise UsageError(
                    f"{self.describe(name)} cannot be imported: {_say(error)}"
                ) from None
        known = self.names()
        hint = did_you_mean(name, known) or f" There are {', '.join(known)}."
        raise UsageError(f"there is no {self.kind} named {name!r}.{hint}")

    def find_package(self, name: str) -> str:
        """Return the package that has the thing of that name, without importing it.

        >>> games.find_package("water"), games.find_package("nothing")
        ('bestresponse.games.water', '')
        """
        entries = self._find_entries().select(name=name)
        modules = [entry.module for entry in entries]
        if name in self.built_in:
            modules.insert(0, self.built_in[name].partition(":")[0])
        return modules[0].rpartition(".")[0] if modules else ""

    def make(self, name: str, *arguments: object) -> Any:
        """Call the thing of that name.

        UsageError that names it where its package raises anything but our errors.
        """
        factory = self.load(name)
        try:
            return factory(*arguments)
        except BestResponseError:
            raise
        except Exception as error:
            raise UsageError(f"{self.describe(name)} cannot be made: {_say(error)}") from error

    def _find_entries(self) -> EntryPoints:
        return _find_entries(self.group, tuple(sys.path))

    def describe(self, name: str) -> str:
        """Name the thing and, where it is not built in, the package it comes from."""
        for entry in () if name in self.built_in else self._find_entries().select(name=name):
            if entry.dist is not None:
                return f"the {self.kind} {name!r} of the package {entry.dist.name}"
        return f"the {self.kind} {name!r}"


@lru_cache(maxsize=32)
def _find_entries(group: str, path: tuple[str, ...]) -> EntryPoints:
    """Look through the installed packages once per group and search path."""
    from importlib.metadata import (
        entry_points,
    )  # slow to load, and a built-in name needs no package

    return entry_points(group=group)


def check_members(thing: object, members: Iterable[str], what: str) -> None:
    """Raise a UsageError that names the first of `members` that `thing` lacks.

    >>> check_members("text", ("upper", "decide"), "the player 'text'")
    Traceback (most recent call last):
    bestresponse.core.errors.UsageError: the player 'text' cannot be used: str has no `decide`
    """
    for member in members:
        if not hasattr(thing, member):
            raise UsageError(f"{what} cannot be used: {type(thing).__name__} has no `{member}`")


def _say(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


games = Registry(
    "bestresponse.games",
    "game",
    {
        "barrels": "bestresponse.games.twins.tic_tac_toe:make_barrels",
        "bluff": "bestresponse.games.cards.rules:Bluff",
        "boxes": "bestresponse.games.twins.nim:make_boxes",
        "breakthrough": "bestresponse.games.breakthrough.rules:Breakthrough",
        "colonel-blotto": "bestresponse.games.blotto.rules:Blotto",
        "connect-four": "bestresponse.games.connect_four.rules:ConnectFour",
        "couriers": "bestresponse.games.twins.breakthrough:make_couriers",
        "crates": "bestresponse.games.twins.connect_four:make_crates",
        "diner": "bestresponse.games.diner.rules:Diner",
        "divide-dollar": "bestresponse.games.divide_dollar.rules:DivideDollar",
        "fifteen": "bestresponse.games.twins.tic_tac_toe:make_fifteen",
        "first-price-auction": "bestresponse.games.sealed_bid.rules:SealedBid",
        "goofspiel": "bestresponse.games.goofspiel.rules:Goofspiel",
        "guessing": "bestresponse.games.guessing.rules:Guessing",
        "lamps": "bestresponse.games.twins.nim:make_lamps",
        "lanes": "bestresponse.games.twins.connect_four:make_lanes",
        "haggling": "bestresponse.games.haggling.rules:Haggling",
        "hidden-haggling": "bestresponse.games.haggling.rules:HiddenHaggling",
        "liars-dice": "bestresponse.games.liars_dice.rules:LiarsDice",
        "nim": "bestresponse.games.nim.rules:Nim",
        "pig": "bestresponse.games.pig.rules:Pig",
        "public-goods-punishment": "bestresponse.games.public_goods.rules:PublicGoods",
        "queues": "bestresponse.games.twins.nim:make_queues",
        "runners": "bestresponse.games.twins.breakthrough:make_runners",
        "second-price-auction": "bestresponse.games.sealed_bid.rules:second_price",
        "survival-auction": "bestresponse.games.water.game:survival",
        "three-colours": "bestresponse.games.twins.tic_tac_toe:make_colours",
        "tic-tac-toe": "bestresponse.games.tic_tac_toe.rules:TicTacToe",
        "trust": "bestresponse.games.trust.rules:Trust",
        "ultimatum": "bestresponse.games.ultimatum.rules:Ultimatum",
        "water": "bestresponse.games.water.game:water",
    },
)
"""Game classes or functions that return a game when called without arguments."""

players = Registry(
    "bestresponse.players",
    "player",
    {
        "random": "bestresponse.players.strategies:make_random",
        "equilibrium": "bestresponse.players.strategies:make_equilibrium",
    },
)
"""Functions or classes called with `(game, role, seed)` that return a player; see
`players.lookup`."""
