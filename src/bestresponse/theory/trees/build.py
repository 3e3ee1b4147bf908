"""Growing a `Tree` from a description: what stands at a position, and the positions after it.

The one entry is `build_tree`. A description is nested `Leaf`, `Chance` and `Turn` values, or, for games too large
to write down, a starting position and a function `expand` that says what stands there; the positions may be
anything. The tree is grown depth first without recursion and never past `limit` nodes.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.theory.trees.memory import MemoryGuard
from bestresponse.theory.trees.tree import CHANCE, LEAF, Infoset, Tree

__all__ = ["NODE_LIMIT", "Chance", "Leaf", "Turn", "build_tree"]

NODE_LIMIT = 1_000_000
"""How many nodes a tree may have unless the caller says otherwise (about 200 bytes each while it grows)."""

_SUM_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Leaf:
    """The game is over; one payoff per player."""

    payoffs: Sequence[float]


@dataclass(frozen=True, slots=True)
class Chance:
    """Chance moves: each branch by its label, with its probability and the position after it."""

    branches: Mapping[str, tuple[float, Any]]


@dataclass(frozen=True, slots=True)
class Turn:
    """`player` moves at the information set `infoset`; each move with the position after it."""

    player: str
    infoset: str
    moves: Mapping[str, Any]
    label: str = ""


def build_tree(
    players: Sequence[str],
    root: object,
    expand: Callable[[Any], Leaf | Chance | Turn] | None = None,
    *,
    limit: int = NODE_LIMIT,
    name: str = "",
) -> Tree:
    """The tree below `root`; InvalidGame says where a description is wrong, TooLarge when it passes `limit` nodes.

    >>> pennies = build_tree(["even", "odd"], Turn("even", "e", {
    ...     "heads": Turn("odd", "o", {"heads": Leaf([1, -1]), "tails": Leaf([-1, 1])}),
    ...     "tails": Turn("odd", "o", {"heads": Leaf([-1, 1]), "tails": Leaf([1, -1])})}))
    >>> pennies.num_nodes, len(pennies.infosets)
    (7, 2)
    """
    grower, guard = _Grower(_checked_players(players), limit), MemoryGuard(limit)
    stack: list[tuple[Any, int, int, float, str, int]] = [(root, -1, -1, 1.0, "", 0)]
    while stack:
        position, parent, move, probability, label, depth = stack.pop()
        node = grower.add(parent, move, probability, label)
        grower.check_size(depth, waiting=len(stack))
        guard.check(node)
        what = position if expand is None else expand(position)
        branches = grower.settle(node, what)
        grower.check_size(depth + 1, waiting=len(stack) + len(branches))
        for k in range(len(branches) - 1, -1, -1):
            text, chance, after = branches[k]
            stack.append((after, node, k, chance, text, depth + 1))
    return grower.tree(name)


def _checked_players(players: Sequence[str]) -> tuple[str, ...]:
    names = tuple(players)
    if not names or len(set(names)) != len(names):
        raise InvalidGame(f"players: expected different names, at least one, got {list(names)}")
    return names


class _Grower:
    """The arrays of a tree while it grows."""

    def __init__(self, players: tuple[str, ...], limit: int) -> None:
        self.players = players
        self.limit = limit
        self.index = {player: i for i, player in enumerate(players)}
        self.parent, self.move = array("q"), array("q")
        self.owner, self.infoset = array("q"), array("q")
        self.probability, self.payoffs = array("d"), array("d")
        self.labels: list[str] = []
        self.infosets: list[Infoset] = []
        self.known: dict[tuple[int, str], int] = {}
        self.taken: set[tuple[int, str]] = set()

    def check_size(self, depth: int, waiting: int) -> None:
        if len(self.parent) + waiting > self.limit:
            raise TooLarge(
                f"the tree has more than {self.limit} nodes: stopped after {len(self.parent)} at depth {depth} with "
                f"{waiting} more positions found; raise the limit or solve a smaller version of the game"
            )

    def add(self, parent: int, move: int, probability: float, label: str) -> int:
        """A new node whose owner is settled next."""
        self.parent.append(parent)
        self.move.append(move)
        self.probability.append(probability)
        self.labels.append(label)
        return len(self.parent) - 1

    def settle(self, node: int, what: object) -> list[tuple[str, float, Any]]:
        """Record what stands at `node`; its branches as (label, probability, position)."""
        match what:
            case Leaf():
                self._own(LEAF, -1, self._checked_payoffs(node, what))
                return []
            case Chance():
                self._own(CHANCE, -1, (0.0,) * len(self.players))
                return self._checked_branches(node, what)
            case Turn():
                player, infoset = self._find_infoset(node, what)
                self._own(player, infoset, (0.0,) * len(self.players))
                return [(move, 1.0, after) for move, after in what.moves.items()]
            case _:
                raise self._wrong(node, f"expected a Leaf, Chance or Turn, got {type(what).__name__}")

    def tree(self, name: str) -> Tree:
        return Tree(
            players=self.players,
            parent=np.array(self.parent, dtype=np.int64),
            move=np.array(self.move, dtype=np.int64),
            owner=np.array(self.owner, dtype=np.int64),
            infoset=np.array(self.infoset, dtype=np.int64),
            probability=np.array(self.probability, dtype=np.float64),
            payoffs=np.array(self.payoffs, dtype=np.float64).reshape(len(self.parent), len(self.players)),
            infosets=tuple(self.infosets),
            branch_labels=tuple(self.labels),
            name=name,
        )

    def _own(self, owner: int, infoset: int, payoffs: Sequence[float]) -> None:
        self.owner.append(owner)
        self.infoset.append(infoset)
        self.payoffs.extend(payoffs)

    def _checked_payoffs(self, node: int, leaf: Leaf) -> Sequence[float]:
        payoffs = leaf.payoffs
        if len(payoffs) != len(self.players):
            raise self._wrong(node, f"expected {len(self.players)} payoffs, got {len(payoffs)}")
        if not all(isinstance(u, int | float | np.number) and math.isfinite(u) for u in payoffs):
            raise self._wrong(node, f"expected finite payoffs, got {list(payoffs)}")
        return payoffs

    def _checked_branches(self, node: int, chance: Chance) -> list[tuple[str, float, Any]]:
        branches = [(label, float(p), after) for label, (p, after) in chance.branches.items()]
        if not branches:
            raise self._wrong(node, "chance has no branch; expected at least one")
        for label, p, _ in branches:
            if not 0 <= p <= 1 + _SUM_TOLERANCE:
                raise self._wrong(node, f"chance draws {label!r} with {p}; expected a probability between 0 and 1")
        total = math.fsum(p for _, p, _ in branches)
        if abs(total - 1) > _SUM_TOLERANCE:
            raise self._wrong(node, f"the probabilities of chance sum to {total:.12g}; expected 1")
        return branches

    def _find_infoset(self, node: int, turn: Turn) -> tuple[int, int]:
        player = self.index.get(turn.player)
        if player is None:
            raise self._wrong(node, f"{turn.player!r} moves; expected one of {', '.join(self.players)}")
        moves = tuple(turn.moves)
        if not moves:
            raise self._wrong(node, f"{turn.player} has no move; expected at least one")
        found = self.known.get((player, turn.infoset))
        if found is None:
            found = self.known[player, turn.infoset] = len(self.infosets)
            self.infosets.append(Infoset(player, turn.infoset, self._new_label(player, turn), moves))
        elif self.infosets[found].moves != moves:
            label, before = self.infosets[found].label, ", ".join(self.infosets[found].moves)
            place = f"the information set {label!r} of {turn.player}"
            raise self._wrong(node, f"{place} offers {', '.join(moves)} here and {before} before; expected the same")
        return player, found

    def _new_label(self, player: int, turn: Turn) -> str:
        """The wanted label, with a number behind it where another information set has taken it."""
        wanted = label = turn.label or turn.infoset
        count = 1
        while (player, label) in self.taken:
            count += 1
            label = f"{wanted} ({count})"
        self.taken.add((player, label))
        return label

    def _wrong(self, node: int, why: str) -> InvalidGame:
        path = []
        while node > 0:
            path.append(self.labels[node])
            node = self.parent[node]
        return InvalidGame(f"at {' > '.join(reversed(path)) or 'the root'}: {why}")
