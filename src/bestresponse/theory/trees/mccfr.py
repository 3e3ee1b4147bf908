"""Monte Carlo CFR: counterfactual regret minimisation on sampled play.

External sampling draws the moves of chance and of the other players, and follows all moves of one
player: an iteration visits little of a large tree. In two-player zero-sum games the average policy
approaches an equilibrium as iterations grow.

M. Lanctot, K. Waugh, M. Zinkevich and M. Bowling, "Monte Carlo sampling for regret minimization in
extensive games", NeurIPS 2009.
"""

from itertools import pairwise
from pathlib import Path

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.sequence_form import to_sequence_form
from bestresponse.theory.trees.tree import CHANCE, LEAF, Policy, Tree, as_tree


def mccfr_tree(
    tree: Tree | str | Path,
    *,
    iterations: int = 10_000,
    seed: int = 0,
) -> Policy:
    """Sample `iterations` times for every player, and return the average policy.

    It is uniform where no play came. InvalidGame names the information set at which a player
    forgets.

    >>> from bestresponse.theory.catalogue import load_tree
    >>> sampled = mccfr_tree(load_tree("kuhn-poker"), iterations=200)
    >>> sampled.at("player 2", "K b")["bet"] > 0.9
    True
    """
    if iterations < 1:
        raise UsageError(f"iterations: expected at least 1, got {iterations}")
    tree = as_tree(tree)
    to_sequence_form(tree)  # which refuses trees without perfect recall
    walker = _Walker(tree, np.random.default_rng(seed))
    for _ in range(iterations):
        for player in range(tree.num_players):
            walker.explore(0, player)
    mixes = []
    for span in walker.spans:
        played = walker.played[span]
        whole = played.sum()
        mixes.append(played / whole if whole > 0 else walker.find_mix(span))
    return Policy(tree, np.concatenate(mixes) if mixes else np.zeros(0))


class _Walker:
    """Samples plays of a tree; keeps the regret of every move, and how much it was played."""

    def __init__(self, tree: Tree, rng: np.random.Generator) -> None:
        self.rng = rng
        self.spans = [slice(low, high) for low, high in pairwise(tree.first_move.tolist())]
        self.regrets, self.played = np.zeros((2, int(tree.first_move[-1])))
        self._children = tree.children
        self._owner = tree.owner.tolist()
        self._infoset = tree.infoset.tolist()
        self._payoffs = tree.payoffs.tolist()
        chances = np.flatnonzero(tree.owner == CHANCE).tolist()
        self._shares = {node: tree.probability[list(tree.children[node])] for node in chances}

    def find_mix(self, span: slice) -> Array:
        """Play in proportion to positive regrets, uniformly where there are none."""
        positive = np.maximum(self.regrets[span], 0.0)
        whole = positive.sum()
        if whole > 0:
            return np.asarray(positive / whole)
        return np.full(len(positive), 1.0 / len(positive))

    def explore(self, node: int, player: int) -> float:
        """Sample one play for `player`: what it earns, its regrets updated on the way."""
        owner = self._owner[node]
        below = self._children[node]
        if owner == LEAF:
            return float(self._payoffs[node][player])
        if owner == CHANCE:
            return self.explore(below[self._draw(self._shares[node])], player)
        span = self.spans[self._infoset[node]]
        mix = self.find_mix(span)
        if owner != player:
            self.played[span] += mix
            return self.explore(below[self._draw(mix)], player)
        values = np.array([self.explore(child, player) for child in below])
        mean = float(mix @ values)
        self.regrets[span] += values - mean
        return mean

    def _draw(self, mix: Array) -> int:
        luck = self.rng.random() * mix.sum()
        place = int(np.searchsorted(np.cumsum(mix), luck, side="right"))
        return min(place, len(mix) - 1)
