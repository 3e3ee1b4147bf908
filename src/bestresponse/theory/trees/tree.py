"""A game in extensive form, as flat arrays.

Definition (Kuhn 1953): a finite tree; each inner node belongs to a player or to chance; a player's nodes are
partitioned into information sets, whose nodes offer the same moves and cannot be told apart by the player; each
leaf gives every player a payoff. Nodes are numbered in preorder (a parent before its children, the first branch
before the second), so node 0 is the root and one pass from the last node to the first is backward induction.

H. W. Kuhn, "Extensive games and the problem of information", Contributions to the Theory of Games II, 1953.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.games.rationals import are_meant, read_simplest

__all__ = ["CHANCE", "LEAF", "Infoset", "IntArray", "Tree", "TreeRationals"]

IntArray = NDArray[np.int64]

CHANCE: Final = -1
"""Owner of a node where chance moves."""
LEAF: Final = -2
"""Owner of a node where the game is over."""


@dataclass(frozen=True, slots=True)
class Infoset:
    """What one player cannot tell apart: `key` identifies it, `label` is for people; both are unique per player."""

    player: int
    key: str
    label: str
    moves: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TreeRationals:
    """Exact numbers that floats do not hold, by node: payoffs of leaves, probabilities of branches of chance."""

    payoffs: Mapping[int, tuple[Fraction, ...]]
    probability: Mapping[int, Fraction]


@dataclass(frozen=True, eq=False)
class Tree:
    """A game tree; `build_tree` makes one from a description and checks it.

    Row i of every array describes node i: `parent` (-1 at the root), `move` (which branch of the parent it is),
    `owner` (a player's index, CHANCE or LEAF), `infoset` (an index into `infosets`, -1 where no player moves),
    `probability` (of the branch, where the parent is chance; else 1) and `payoffs` (one per player, 0 off leaves).
    `rationals` holds integers, fractions and decimals that were given and are not floats.
    """

    players: tuple[str, ...]
    parent: IntArray
    move: IntArray
    owner: IntArray
    infoset: IntArray
    probability: Array
    payoffs: Array
    infosets: tuple[Infoset, ...]
    branch_labels: tuple[str, ...]
    name: str = ""
    rationals: TreeRationals | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for array in (self.parent, self.move, self.owner, self.infoset, self.probability, self.payoffs):
            array.setflags(write=False)

    @property
    def num_nodes(self) -> int:
        """How many nodes there are."""
        return len(self.parent)

    @property
    def num_players(self) -> int:
        """How many players there are."""
        return len(self.players)

    @cached_property
    def leaves(self) -> IntArray:
        """The nodes where the game is over."""
        return np.flatnonzero(self.owner == LEAF)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The nodes below each node, in the order of the moves."""
        below: list[list[int]] = [[] for _ in range(self.num_nodes)]
        for node, parent in enumerate(self.parent.tolist()[1:], start=1):
            below[parent].append(node)
        return tuple(map(tuple, below))

    @cached_property
    def first_move(self) -> IntArray:
        """Where each information set's moves begin when all moves are written in one row; ends with their number."""
        return np.concatenate([[0], np.cumsum([len(i.moves) for i in self.infosets])]).astype(np.int64)

    @cached_property
    def infoset_index(self) -> dict[tuple[str, str], int]:
        """Where an information set stands, by its player's name and its label or key; labels come first."""
        by_key = {(self.players[one.player], one.key): i for i, one in enumerate(self.infosets)}
        return by_key | {(self.players[one.player], one.label): i for i, one in enumerate(self.infosets)}

    @cached_property
    def reach(self) -> Array:
        """The probability that chance alone lets the play come to each node."""
        reach = self.probability.copy()
        for nodes in self.levels[1:]:
            reach[nodes] *= reach[self.parent[nodes]]
        return reach

    @cached_property
    def levels(self) -> tuple[IntArray, ...]:
        """The nodes by their distance from the root."""
        depth = [0] * self.num_nodes
        for node, parent in enumerate(self.parent.tolist()[1:], start=1):
            depth[node] = depth[parent] + 1
        order = np.argsort(depth, kind="stable").astype(np.int64)
        return tuple(np.split(order, np.cumsum(np.bincount(depth))[:-1]))

    @property
    def is_perfect_information(self) -> bool:
        """Whether every information set is a single node."""
        return int((self.infoset >= 0).sum()) == len(self.infosets)

    @cached_property
    def is_exact(self) -> bool:
        """Whether all numbers are known exactly, and not floats that may stand for a number nearby."""
        return self.rationals is not None or (are_meant(self.payoffs) and are_meant(self.probability))

    def read_payoffs(self, leaf: int) -> tuple[Fraction, ...]:
        """Give the payoffs of a leaf as they were given, or the simplest fractions of their floats."""
        known = self.rationals.payoffs.get(leaf) if self.rationals is not None else None
        return known or tuple(map(read_simplest, self.payoffs[leaf].tolist()))

    def read_probability(self, node: int) -> Fraction:
        """Give the probability of a branch of chance as it was given, or the simplest fraction of its float."""
        known = self.rationals.probability.get(node) if self.rationals is not None else None
        return read_simplest(float(self.probability[node])) if known is None else known

    def list_payoffs(self, leaf: int) -> tuple[Fraction | float, ...]:
        """Give the payoffs of a leaf: fractions where the tree is exact, else floats."""
        return self.read_payoffs(leaf) if self.is_exact else tuple(self.payoffs[leaf].tolist())

    def find_probability(self, node: int) -> Fraction | float:
        """Give the probability of a branch of chance: a fraction where the tree is exact, else a float."""
        return self.read_probability(node) if self.is_exact else float(self.probability[node])

    @cached_property
    def is_constant_sum(self) -> bool:
        """Whether the payoffs of all leaves have the same sum, up to rounding where they are not exact."""
        if self.rationals is not None and self.rationals.payoffs:
            return len({sum(self.read_payoffs(leaf)) for leaf in self.leaves.tolist()}) == 1
        totals = self.payoffs[self.leaves].sum(axis=1)
        scale = max(1.0, float(np.abs(self.payoffs).max()))
        return bool(np.ptp(totals) <= 1e-9 * scale)

    def path(self, node: int) -> str:
        """Say how the play comes to `node`, for messages: `deal JQ > bet > call`."""
        labels = []
        while node > 0:
            labels.append(self.branch_labels[node])
            node = int(self.parent[node])
        return " > ".join(reversed(labels)) or "the root"

    def __repr__(self) -> str:
        sizes = f"{self.num_nodes} nodes, {len(self.leaves)} leaves, {len(self.infosets)} information sets"
        return f"Tree({self.name!r}, players={list(self.players)}, {sizes})"
