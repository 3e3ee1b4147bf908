"""Random trees with perfect recall, for tests and experiments.

A player's information set is its own past and a random signal of one bit, so it never forgets; two
positions with the same past and signal cannot be told apart. With perfect information the signal is
the whole path.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from bestresponse.theory.trees.tree import NODE_LIMIT, Chance, Leaf, Tree, Turn, build_tree

__all__ = ["random_tree"]

_LEAF_RATE = 0.15
_CHANCE_RATE = 0.25


def random_tree(
    rng: Random,
    players: int = 2,
    depth: int = 5,
    *,
    zero_sum: bool = True,
    perfect_information: bool = False,
    limit: int = NODE_LIMIT,
) -> Tree:
    """A tree of at most `depth` moves with whole payoffs from -4 to 4; zero-sum games have two
    players.

    >>> random_tree(Random(1)).num_nodes == random_tree(Random(1)).num_nodes
    True
    """
    zero_sum = zero_sum and players == 2
    grower = _Grower(
        rng, tuple(f"player {i + 1}" for i in range(players)), zero_sum, perfect_information
    )
    root = _Position(depth, ((),) * players)
    return build_tree(grower.players, root, grower.expand, limit=limit, name="random tree")


@dataclass(frozen=True, slots=True)
class _Position:
    """Moves left, each player's own signals and moves, and everybody's moves."""

    left: int
    pasts: tuple[tuple[object, ...], ...]
    path: tuple[str, ...] = ()

    def after(self, label: str) -> _Position:
        return _Position(self.left - 1, self.pasts, (*self.path, label))

    def moved(self, player: int, signal: tuple[object, ...], move: int) -> _Position:
        own = (*self.pasts[player], signal, move)
        pasts = (*self.pasts[:player], own, *self.pasts[player + 1 :])
        return _Position(self.left - 1, pasts, (*self.path, f"m{move}"))


@dataclass(frozen=True, slots=True)
class _Grower:
    rng: Random
    players: tuple[str, ...]
    zero_sum: bool
    perfect_information: bool
    sizes: dict[str, int] = field(default_factory=dict)

    def expand(self, position: _Position) -> Leaf | Chance | Turn:
        if position.left == 0 or (position.path and self.rng.random() < _LEAF_RATE):
            return Leaf(self._payoffs())
        if self.rng.random() < _CHANCE_RATE:
            weights = [self.rng.randint(1, 4) for _ in range(self.rng.randint(2, 3))]
            return Chance(
                {
                    f"c{k}": (w / sum(weights), position.after(f"c{k}"))
                    for k, w in enumerate(weights)
                }
            )
        player = self.rng.randrange(len(self.players))
        signal: tuple[object, ...] = (
            position.path if self.perfect_information else (self.rng.randrange(2),)
        )
        infoset = repr((position.pasts[player], signal))
        count = self.sizes.setdefault(f"{player} {infoset}", self.rng.randint(1, 3))
        return Turn(
            self.players[player],
            infoset,
            {f"m{k}": position.moved(player, signal, k) for k in range(count)},
        )

    def _payoffs(self) -> list[float]:
        payoffs = [float(self.rng.randint(-4, 4)) for _ in self.players]
        return [payoffs[0], -payoffs[0]] if self.zero_sum else payoffs
