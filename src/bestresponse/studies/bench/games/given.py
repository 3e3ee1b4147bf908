"""One game that the user names, put to models in many orders of its rows and columns.

A single answer says little about a player; the same game with its actions in other orders can be asked as often as
there are orders. The first order is the game's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import factorial

import numpy as np

from bestresponse.core.errors import InvalidGame
from bestresponse.core.json import JsonMapping, JsonObject
from bestresponse.core.seeds import generator
from bestresponse.games.matrix.presentation import Theme, theme
from bestresponse.games.named_game import KeptTable
from bestresponse.theory.games.normal_form import Array

__all__ = ["MOST_ACTIONS", "OWN", "Order", "UserGame", "theme_of"]

OWN = "own"
"""The theme that shows a given game under its own names."""
MOST_ACTIONS = 12

Order = tuple[tuple[int, ...], tuple[int, ...]]
"""The original index of every row, and of every column."""


@dataclass(frozen=True, slots=True)
class UserGame(KeptTable):
    """A two-player game that the user names, under its own names."""

    def __post_init__(self) -> None:
        if len(self.players) != 2:
            raise InvalidGame(f"the benchmark plays two-player games; {self.name} has {len(self.players)} players")
        largest = max(map(len, self.actions))
        if largest > MOST_ACTIONS:
            raise InvalidGame(f"{self.name} has {largest} actions for one player; expected at most {MOST_ACTIONS}")

    @property
    def shape(self) -> tuple[int, int]:
        """How many actions each player has."""
        return len(self.actions[0]), len(self.actions[1])

    @property
    def array(self) -> Array:
        """The payoffs, by player and actions."""
        return np.asarray(self.payoffs, dtype=np.float64)

    @property
    def most_orders(self) -> int:
        """How many orders of rows and columns there are."""
        return factorial(self.shape[0]) * factorial(self.shape[1])

    def orders(self, count: int, seed: int) -> tuple[Order, ...]:
        """`count` different orders, the game's own first, the others drawn by `seed`."""
        if count > self.most_orders:
            raise InvalidGame(
                f"the actions of {self.name} can be put in {self.most_orders} orders, not in {count}; "
                f"give --num-games {self.most_orders} or less"
            )
        own: Order = (tuple(range(self.shape[0])), tuple(range(self.shape[1])))
        rng = generator(seed, "orders")
        found = {own: None}
        if 2 * count > self.most_orders:
            every = [(rows, cols) for rows in permutations(own[0]) for cols in permutations(own[1])]
            rest = [order for order in every if order != own]
            rng.shuffle(rest)
            return (own, *rest[: count - 1])
        while len(found) < count:
            rows, cols = list(own[0]), list(own[1])
            rng.shuffle(rows)
            rng.shuffle(cols)
            found[tuple(rows), tuple(cols)] = None
        return tuple(found)

    def names(self, order: Order) -> JsonObject:
        """The names of players and actions with the actions in that order."""
        actions = [[own[k] for k in places] for own, places in zip(self.actions, order, strict=True)]
        return {"players": list(self.players), "actions": actions}


def theme_of(data: JsonMapping) -> Theme:
    """The names under which the game of a spec is shown."""
    if data["theme"] != OWN:
        return theme(data["theme"])
    (row, col), (rows, cols) = data["names"]["players"], data["names"]["actions"]
    return Theme(OWN, "", (row, col), (tuple(rows), tuple(cols)))
