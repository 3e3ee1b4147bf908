"""The best advice of a mediator and the best commitment of a leader in a tree, by brute force.

It shares no code with the solver: strategies are all complete ones (a move at every information
set, reached or not), a deviation is one complete strategy followed from one information set on, and
every one of them is a row of a dense program. Commitments are searched in the table of all complete
strategies.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from scipy.optimize import linprog

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


def play_deviating(
    tree: Tree, node: int, profile: list[Strategy], player: int, leave: int, instead: Strategy
) -> float:
    """Give what a player earns that follows the profile until one information set and another
    strategy from there on."""
    owner = tree.owner[node]
    below = tree.children[node]
    if owner == LEAF:
        return float(tree.payoffs[node, player])
    if owner == CHANCE:
        return sum(
            tree.probability[c] * play_deviating(tree, c, profile, player, leave, instead)
            for c in below
        )
    here = int(tree.infoset[node])
    if owner == player and here == leave:
        changed = [*profile]
        changed[player] = instead
        return float(play(tree, node, changed)[player])
    return play_deviating(tree, below[profile[owner][here]], profile, player, leave, instead)


def find_best_welfare(tree: Tree, *, coarse: bool) -> float:
    """Give the largest sum of payoffs of an extensive-form (coarse) correlated equilibrium."""
    players = range(tree.num_players)
    strategies = [list_strategies(tree, player) for player in players]
    profiles = [list(profile) for profile in product(*strategies)]
    earned = np.array([play(tree, 0, profile) for profile in profiles])
    rows = []
    for leave, infoset in enumerate(tree.infosets):
        player = infoset.player
        for instead in strategies[player]:
            gains = np.array(
                [
                    play_deviating(tree, 0, profile, player, leave, instead) - u[player]
                    for profile, u in zip(profiles, earned, strict=True)
                ]
            )
            if coarse:
                rows.append(gains)
                continue
            told = np.array([profile[player][leave] for profile in profiles])
            for move in range(len(infoset.moves)):
                rows.append(np.where(told == move, gains, 0.0))
    above = np.array(rows) if rows else None
    answer = linprog(
        -earned.sum(axis=1),
        above,
        None if above is None else np.zeros(len(above)),
        np.ones((1, len(profiles))),
        [1.0],
        method="highs",
    )
    assert answer.status == 0, answer.message
    return float(-answer.fun)


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
