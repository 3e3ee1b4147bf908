"""Subgame perfect equilibria of small trees with perfect information, by trying a grid of mixtures.

It shares no code with the solver: every node gets every mixture of its two moves in steps of a
quarter, and what is no best reply at some node is thrown away. Payoffs of 0, 1 and 2 make a mixed
tie and the mover above it indifferent at such steps.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
from scipy.optimize import linprog

from bestresponse.theory.trees.tree import LEAF, Leaf, Tree, Turn, build_tree

STEPS = [0.0, 0.25, 0.5, 0.75, 1.0]
"""With whole payoffs and few moves, floats hold everything exactly."""
Policy = tuple[Fraction, ...] | tuple[float, ...]
"""The probability of the second move of every node."""


def draw_tree(seed: int) -> Tree:
    """Draw a tree of two or three players with nodes of two moves each, mostly few; whoever moves
    last is often paid alike."""
    rng = Random(seed)
    players = ["first", "second", "third"][: 2 + seed % 2]
    left = [4]

    def expand(position: tuple[object, ...]) -> Leaf | Turn:
        if position and position[0] == "leaf":
            return Leaf(position[1])
        left[0] -= 1
        mover = rng.randrange(len(players))
        below: dict[str, object] = {}
        alike = rng.random() < 0.7
        for k in range(2):
            ends = left[0] <= 0 or (position and rng.random() < 0.5)
            payoffs = [rng.choice((0, 0, 1, 2, 2)) for _ in players]
            if alike:
                payoffs[mover] = 1
            below[f"m{k}"] = ("leaf", payoffs) if ends else (*position, k)
        return Turn(players[mover], f"at {position}", below)

    return build_tree(players, (), expand)


def find_values(tree: Tree, policy: Policy) -> list[list[Fraction | float]]:
    """Give what a policy earns everybody from each node on."""
    values: list[list[Fraction | float]] = [[]] * tree.num_nodes
    for node in range(tree.num_nodes - 1, -1, -1):
        if tree.owner[node] == LEAF:
            values[node] = [int(u) for u in tree.payoffs[node].tolist()]
            continue
        second = policy[int(tree.infoset[node])]
        pair = [values[child] for child in tree.children[node]]
        values[node] = [(1 - second) * u + second * v for u, v in zip(*pair, strict=True)]
    return values


def is_perfect(tree: Tree, policy: Policy) -> bool:
    """Say whether nobody gains by another move anywhere."""
    values = find_values(tree, policy)
    for node in range(tree.num_nodes):
        owner = tree.owner[node]
        if owner != LEAF:
            best = max(values[child][owner] for child in tree.children[node])
            if values[node][owner] != best:
                return False
    return True


def find_on_grid(tree: Tree) -> list[Policy]:
    """Find every subgame perfect equilibrium of the grid."""
    policies = product(STEPS, repeat=len(tree.infosets))
    return [policy for policy in policies if is_perfect(tree, policy)]


def is_spanned(policy: Policy, listed: list[Policy]) -> bool:
    """Say whether a policy is a mixture of those listed that use no move it does not use."""
    if policy in listed:
        return True
    inside = []
    for one in listed:
        moves = zip(policy, one, strict=True)
        if all((p > 0 or q == 0) and (p < 1 or q == 1) for p, q in moves):
            inside.append([float(q) for q in one])
    if not inside:
        return False
    columns = np.vstack([np.array(inside).T, np.ones(len(inside))])
    right = [*map(float, policy), 1.0]
    answer = linprog(np.zeros(len(inside)), A_eq=columns, b_eq=right, method="highs")
    return bool(answer.status == 0)
