"""Logit equilibria of the agents of a tree: every information set answers for itself, with noise.

In an agent quantal response equilibrium every move's probability is proportional to exp(lambda *
what it earns from there on, given the beliefs that the moves themselves imply) (McKelvey and
Palfrey, "Quantal response equilibria for extensive form games", Experimental Economics 1, 1998).
All moves are made, so that beliefs follow from Bayes' rule at every information set; limits for
growing lambda are sequential equilibria.
"""

from math import inf
from pathlib import Path

import numpy as np

from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.theory.deadline import Deadline
from bestresponse.theory.equilibria.many_players.tracing import LogitBranch
from bestresponse.theory.fitting import QuantalBranch, trace_branch
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.sequence_form import to_sequence_form
from bestresponse.theory.trees.tree import (
    CHANCE,
    Tree,
    as_tree,
)

_MOST_NUMBERS = 2_000_000
"""Derivatives of what is earned at leaves by the moves: more would take seconds a step."""


class AgentBranch(LogitBranch):
    """The branch of the information sets of a tree with perfect recall.

    Payoffs are in multiples of `unit`.

    What a move earns is a sum over the leaves after it: the probability of the node it is made at,
    given its information set, times that of the way from the move to the leaf.
    """

    def __init__(self, tree: Tree) -> None:
        to_sequence_form(tree)  # which refuses trees without perfect recall
        rows = []
        is_possible = tree.reach[tree.leaves] > 0
        for leaf in tree.leaves[is_possible].tolist():
            for node, child in tree.climb(leaf):
                rows.append((_find_place(tree, node, child), node, child, leaf))
        made = {action for action, *_ in rows}
        if not rows or len(made) < tree.first_move[-1]:
            raise InvalidGame(
                "nobody moves, or somebody only after draws of chance that have probability 0"
            )
        super().__init__([len(infoset.moves) for infoset in tree.infosets])
        ranges = np.ptp(tree.payoffs[tree.leaves], axis=0)
        self.unit = float(ranges.max()) or 1.0
        self._chance = np.log(np.maximum(tree.reach, np.finfo(np.float64).tiny))
        self._infoset = tree.infoset
        self._played = _list_moves(tree)
        if len(rows) * self.size > _MOST_NUMBERS:
            raise TooLarge(
                f"{len(rows):,} ways from a move to a leaf and {self.size:,} moves are too many for"
                " agent quantal responses; the reduced normal form has quantal responses too"
            )
        self._action, self._node, self._child, self._leaf = np.array(sorted(rows), dtype=np.int64).T
        self._begins = np.unique(self._action, return_index=True)[1]
        self._payoffs = tree.payoffs[self._leaf, tree.owner[self._node]] / self.unit
        self._ways = self._played[self._node] + self._played[self._leaf] - self._played[self._child]

    def find_beliefs(self, logs: Array) -> Array:
        """Compute the probability of every node where a player moves, given its information set."""
        reach = self._chance + self._played @ logs
        inner = self._infoset >= 0
        highest = np.full(len(self.edges), -np.inf)
        np.maximum.at(highest, self._infoset[inner], reach[inner])
        behind = np.minimum(reach - highest[self._infoset], 0.0)
        weights = np.where(inner, np.exp(behind), 0.0)
        totals = np.bincount(self._infoset[inner], weights[inner], len(self.edges))
        return np.asarray(weights / totals[self._infoset])

    def evaluate(self, logs: Array) -> tuple[Array, Array]:
        """Say what every move earns, and derive that by the logarithms of all probabilities."""
        reach = self._chance + self._played @ logs
        beliefs = self.find_beliefs(logs)
        ways = np.exp(reach[self._leaf] - reach[self._child])
        earned = beliefs[self._node] * ways * self._payoffs
        values = np.add.reduceat(earned, self._begins)
        inner = self._infoset >= 0
        believed = beliefs[:, None] * self._played
        shares = np.zeros((len(self.edges), self.size))
        np.add.at(shares, self._infoset[inner], believed[inner])
        sizes = [high - low for low, high in self.edges]
        agents = np.repeat(np.arange(len(self.edges)), sizes)
        by_ways = np.add.reduceat(earned[:, None] * self._ways, self._begins)
        return values, by_ways - values[:, None] * shares[agents]


def _find_place(tree: Tree, node: int, child: int) -> int:
    """Find the place of the move from a node to its child when all moves are in one row."""
    first = tree.first_move[tree.infoset[node]]
    return int(first + tree.move[child])


def _list_moves(tree: Tree) -> Array:
    """Mark by node the moves on the way to it."""
    played = np.zeros((tree.num_nodes, int(tree.first_move[-1])))
    for node in range(1, tree.num_nodes):
        above = int(tree.parent[node])
        played[node] = played[above]
        if tree.owner[above] != CHANCE:
            played[node, _find_place(tree, above, node)] = 1.0
    return played


def agent_quantal_branch(
    tree: Tree | str | Path, highest: float, *, seconds: float = inf
) -> QuantalBranch:
    """Follow the branch of agent quantal response equilibria up to `highest`.

    It starts from uniform play and ends when `highest` is first reached.

    `strategies[k]` and `gains[:, k]` belong to information set k; a gain is what its best move
    earns more there. NotCertified where that takes longer than `seconds`.

    >>> from bestresponse.theory.catalogue import load_tree
    >>> branch = agent_quantal_branch(load_tree("entry-deterrence"), 1.0)
    >>> branch.final.strategies[1].round(3).tolist()
    [0.881, 0.119]
    """
    tree = as_tree(tree)
    branch = AgentBranch(tree)
    return trace_branch(branch, highest, branch.unit, Deadline.after(seconds))
