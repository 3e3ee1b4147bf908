"""The best commitment of a leader in a tree, by brute force.

It shares no code with the solver: strategies are all complete ones (a move at every information
set, reached or not), and commitments are searched in the table of all of them.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

Strategy = dict[int, int]


def list_strategies(tree: Tree, player: int) -> list[Strategy]:
    """List every choice of a move at each of a player's information sets."""
    own = [k for k, infoset in enumerate(tree.infosets) if infoset.player == player]
    moves = [range(len(tree.infosets[k].moves)) for k in own]
    return [dict(zip(own, choice, strict=True)) for choice in product(*moves)]


def count_profiles(tree: Tree) -> int:
    """Count the profiles of complete strategies."""
    return int(np.prod([len(infoset.moves) for infoset in tree.infosets], dtype=object))


def play(tree: Tree, node: int, profile: list[Strategy]) -> np.ndarray:
    """Give what a profile of strategies earns everybody from a node on."""
    owner = tree.owner[node]
    below = tree.children[node]
    if owner == LEAF:
        return tree.payoffs[node]
    if owner == CHANCE:
        return sum(tree.probability[child] * play(tree, child, profile) for child in below)
    return play(tree, below[profile[owner][int(tree.infoset[node])]], profile)


def find_best_commitment(own: np.ndarray, others: np.ndarray) -> float:
    """Give what a leader that owns the rows earns at most: of every reply, the best corner of the
    mixtures to which it is a best reply. Corners are solutions of as many equations as there are
    rows."""
    height, width = own.shape
    best = -np.inf
    for reply in range(width):
        gains = np.delete(others - others[:, [reply]], reply, axis=1).T
        walls = np.vstack([gains, np.eye(height)])
        for chosen in _choose(len(walls), height - 1):
            system = np.vstack([walls[list(chosen)], np.ones(height)])
            if abs(np.linalg.det(system)) < 1e-9:
                continue
            corner = np.linalg.solve(system, np.eye(height)[-1])
            if corner.min() > -1e-9 and (gains @ corner).max(initial=-1.0) < 1e-9:
                best = max(best, float(corner @ own[:, reply]))
    return best


def _choose(count: int, size: int) -> list[tuple[int, ...]]:
    return list(combinations(range(count), size))


def tabulate(tree: Tree) -> np.ndarray:
    """Give the table of all complete strategies of two players, one payoff table for each."""
    rows, columns = (list_strategies(tree, player) for player in (0, 1))
    cells = [[play(tree, 0, [row, column]) for column in columns] for row in rows]
    return np.moveaxis(np.array(cells), 2, 0)
