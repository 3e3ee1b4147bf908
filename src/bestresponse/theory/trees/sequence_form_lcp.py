"""An equilibrium of a two-player tree with any payoffs, by a linear complementarity problem over realization plans.

With A, B the payoffs on pairs of sequences, shifted to be negative, and Ex = e, Fy = f saying that x and y are
realization plans, (x, y) is an equilibrium exactly when there are p, q with E'p >= Ay, F'q >= B'x, x'(E'p - Ay) = 0 and
y'(F'q - B'x) = 0. The size is linear in the tree, not exponential as in the normal form.

D. Koller, N. Megiddo and B. von Stengel, "Efficient computation of equilibria for extensive two-person games", Games
and Economic Behavior 14, 1996.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bestresponse.core.errors import InvalidGame, NotCertified, TooLarge
from bestresponse.core.game import Game
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.compile import as_tree
from bestresponse.theory.trees.lemke import solve_complementarity
from bestresponse.theory.trees.response import plan_regrets
from bestresponse.theory.trees.sequence_form import SequenceForm, Treeplex, to_sequence_form
from bestresponse.theory.trees.sequence_form_lp import TreeSolution
from bestresponse.theory.trees.tree import Tree

__all__ = ["find_plans", "solve_general_tree"]

_MOST_VARIABLES = 1200


def solve_general_tree(game: Tree | Game[Any], tolerance: float = 1e-10) -> TreeSolution:
    """Find one equilibrium of a two-player tree, certified by its NashConv.

    NotCertified where NashConv exceeds `tolerance` of the payoff range, TooLarge where the problem does not fit.

    >>> from bestresponse.theory.catalogue import load_tree
    >>> solve_general_tree(load_tree("centipede")).value
    {'player 1': 0.4, 'player 2': 0.1}
    """
    tree = as_tree(game)
    if tree.num_players != 2:
        raise InvalidGame(f"{tree.name or 'the tree'} has {tree.num_players} players; expected two")
    form = to_sequence_form(tree)
    sizes = [plex.num_sequences + 2 * (len(plex.infosets) + 1) for plex in form.plexes]
    if sum(sizes) > _MOST_VARIABLES:
        raise TooLarge(f"the problem has {sum(sizes):,} variables, more than {_MOST_VARIABLES:,}; cfr approximates")
    plans = find_plans(form)
    behaviours = [plex.normalise(plan) for plex, plan in zip(form.plexes, plans, strict=True)]
    plans = [plex.plan(behaviour) for plex, behaviour in zip(form.plexes, behaviours, strict=True)]
    gap = float(plan_regrets(form, plans).sum())
    scale = float(np.ptp(tree.payoffs[tree.leaves])) or 1.0
    if gap > tolerance * scale:
        raise NotCertified(f"Lemke's policy has NashConv {gap:.3g}; wanted {tolerance * scale:.3g} or less")
    value = dict(zip(tree.players, form.expected(plans).tolist(), strict=True))
    return TreeSolution(form.policy(behaviours), value, gap, "sequence-form LCP")


def find_plans(form: SequenceForm, floors: Sequence[Array] | None = None) -> list[Array]:
    """Solve for both players' realization plans, or for what they add to the least weights `floors`."""
    first, second = (plex.num_sequences for plex in form.plexes)
    own, other = (_constraints(plex) for plex in form.plexes)
    row, col = _payoff_matrices(form.tree)
    side = np.vstack([own, -own]), np.vstack([other, -other])
    size = first + second + len(side[0]) + len(side[1])
    matrix = np.zeros((size, size))
    x, y = slice(0, first), slice(first, first + second)
    p = slice(y.stop, y.stop + len(side[0]))
    q = slice(p.stop, size)
    matrix[x, y], matrix[y, x] = -row, -col.T
    matrix[x, p], matrix[y, q] = side[0].T, side[1].T
    matrix[p, x], matrix[q, y] = -side[0], -side[1]
    right = np.zeros(size)
    for part, rows in ((p, len(own)), (q, len(other))):
        right[part.start], right[part.start + rows] = 1.0, -1.0
    if floors is not None:
        low, other_low = floors
        right[x], right[y] = -row @ other_low, -col.T @ low
        right[p] -= side[0] @ low
        right[q] -= side[1] @ other_low
    found = solve_complementarity(matrix, right)
    return [found[x], found[y]]


def _payoff_matrices(tree: Tree) -> tuple[Array, Array]:
    """Both players' payoffs on pairs of sequences, scaled and shifted so that every leaf costs something."""
    leaves = tree.payoffs[tree.leaves]
    high, unit = leaves.max(axis=0), np.ptp(leaves, axis=0)
    form = to_sequence_form(
        replace(tree, payoffs=(tree.payoffs - high) / np.where(unit > 0, unit, 1.0) - 1.0, rationals=None)
    )
    found = np.zeros((2, form.plexes[0].num_sequences, form.plexes[1].num_sequences))
    found[:, form.sequences[0], form.sequences[1]] = form.payoffs
    return found[0], found[1]


def _constraints(plex: Treeplex) -> Array:
    """Row 0: the empty sequence has weight 1; row i: an information set's moves sum to the sequence before it."""
    count = len(plex.infosets)
    matrix = np.zeros((count + 1, plex.num_sequences))
    matrix[0, 0] = 1.0
    for k in range(count):
        matrix[k + 1, plex.parent[k]] = -1.0
        matrix[k + 1, plex.first[k] : plex.first[k] + plex.size[k]] = 1.0
    return matrix
