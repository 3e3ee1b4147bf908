"""The game a claim is about, as its reasoner speaks of it: `you`, the others, and exact payoffs.

Payoffs are the numbers that were written (0.1 is 1/10), so that a tie is a tie. They are kept as
whole numbers over one common denominator: `cells[p]` is the tensor of player p, the reasoner first,
times `scale`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestresponse.core.errors import UsageError
from bestresponse.formal.claims.form import YOU, Move
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Tree

# Sums and differences of payoffs below this fit into 64 bits; larger payoffs are whole numbers of
# Python.
_SMALL = 2**40
# Two fractions with denominators up to this differ by at least 1e-12, so that a float tells them
# apart.
_SIMPLE = 1_000_000
THEM = "them"
_SELF = frozenset({"you", "i", "me", "myself", "reasoner", "self"})
_OTHERS = frozenset(
    {
        "them",
        "they",
        "opponent",
        "other",
        "the other",
        "other player",
        "the other player",
    }
)


def exact(value: float) -> Fraction:
    """The number that a float represents.

    This is a simple fraction if one has that float, else its shortest decimal.

    >>> exact(0.1), exact(1 / 3)
    (Fraction(1, 10), Fraction(1, 3))
    """
    near = Fraction(float(value)).limit_denominator(_SIMPLE)
    if float(near) == value:
        return near
    return Fraction(repr(float(value)))


@dataclass(frozen=True, eq=False)
class Subject:
    """A game seen from one seat.

    Players are called `you`, and `them` or, where there are several, by their names.
    """

    game: NormalForm | Tree
    seat: int = 0
    order: tuple[int, ...] = field(init=False)
    players: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        count = self.game.num_players
        if not 0 <= self.seat < count:
            raise UsageError(f"the game has {count} players; there is no seat {self.seat}")
        others = tuple(i for i in range(count) if i != self.seat)
        names = (THEM,) if len(others) == 1 else tuple(self.game.players[i] for i in others)
        object.__setattr__(self, "order", (self.seat, *others))
        object.__setattr__(self, "players", (YOU, *names))

    def same_as(self, other: Subject) -> bool:
        """Whether both are the same game under the same names, seen from the same seat."""
        if self.game is other.game:
            return self.seat == other.seat
        if not isinstance(self.game, NormalForm) or not isinstance(other.game, NormalForm):
            return False
        return (
            self.seat == other.seat
            and self.players == other.players
            and self.game.players == other.game.players
            and self.actions == other.actions
            and np.array_equal(self.game.payoffs, other.game.payoffs)
        )

    @property
    def tree(self) -> Tree | None:
        """The tree, where the game is one."""
        return self.game if isinstance(self.game, Tree) else None

    @property
    def tree_is_open(self) -> bool:
        """Whether everybody always knows what happened before."""
        return isinstance(self.game, Tree) and self.game.is_perfect_information

    @cached_property
    def actions(self) -> tuple[tuple[str, ...], ...]:
        """Everybody's actions, in the order of `players`.

        In a tree, all labels of the player's moves.
        """
        if isinstance(self.game, NormalForm):
            return tuple(self.game.actions[i] for i in self.order)
        moves: dict[int, list[str]] = {seat: [] for seat in self.order}
        for infoset in self.game.infosets:
            moves[infoset.player] += infoset.moves
        return tuple(tuple(dict.fromkeys(moves[seat])) for seat in self.order)

    @cached_property
    def scale(self) -> int:
        """The common denominator of all payoffs."""
        values = np.unique(self.game.payoffs).tolist()
        return lcm(*(exact(value).denominator for value in values))

    @cached_property
    def cells(self) -> NDArray[Any]:
        """Payoffs times `scale` as whole numbers.

        Axis 0 is the player, followed by one axis per player's action.
        """
        if not isinstance(self.game, NormalForm):
            raise UsageError("a tree has no table of payoffs")
        axes = [1 + seat for seat in self.order]
        source = self.game.payoffs[list(self.order)].transpose(0, *axes)
        payoffs = map(exact, source.ravel().tolist())
        whole = [int(payoff * self.scale) for payoff in payoffs]
        largest = max(map(abs, whole))
        kind = np.int64 if largest < _SMALL else object
        return np.array(whole, dtype=kind).reshape(source.shape)

    @cached_property
    def index(self) -> tuple[dict[str, int], ...]:
        """The number of each action by its name, per player."""
        indices = []
        for labels in self.actions:
            indices.append({action: number for number, action in enumerate(labels)})
        return tuple(indices)

    def name_move(self, player: int, action: int) -> Move:
        """A move by the names of its player and its action."""
        return Move(self.players[player], self.actions[player][action])

    @cached_property
    def _people(self) -> dict[str, int]:
        known = {name.casefold(): i for i, name in enumerate(self.players)}
        known |= {self.game.players[seat].casefold(): i for i, seat in enumerate(self.order)}
        known |= dict.fromkeys(_SELF, 0)
        if len(self.players) == 2:
            known |= dict.fromkeys(_OTHERS, 1)
        return known

    def player(self, name: str) -> int | None:
        """Which player a name means, in the order of `players`; None where nobody is called so."""
        plain = name.strip()
        # A player of three may be called I or Self.
        if plain in self.players:
            return self.players.index(plain)
        return self._people.get(plain.casefold())
