"""What each move at each information set earns when the others follow a policy.

The nodes of an information set count as often as chance and the others make them likely. Where these never come, a set
of one node is valued by what the policy says of the play from there; of a larger one it is not known which node it
would be, and it is left out.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.policy import Policy
from bestresponse.theory.trees.sequence_form import counterfactual_values
from bestresponse.theory.trees.tree import CHANCE, Tree

_NEVER = 1e-9


def compute_move_values(tree: Tree, policy: Policy) -> Mapping[int, Array]:
    """Compute for every information set what each move earns its player, who goes on as well as possible."""
    chances = _compute_branch_chances(tree, policy)
    values = np.array(tree.payoffs, dtype=np.float64)
    for node in range(tree.num_nodes - 1, 0, -1):
        values[tree.parent[node]] += chances[node] * values[node]
    asked = np.flatnonzero(tree.infoset >= 0)
    count = len(tree.infosets)
    sizes = np.bincount(tree.infoset[asked], minlength=count)
    likely = np.bincount(tree.infoset[asked], _compute_reach_by_others(tree, chances)[asked], minlength=count)
    found = {k: row / likely[k] for k, row in counterfactual_values(tree, policy).items() if likely[k] > _NEVER}
    for node in asked.tolist():
        index, owner = int(tree.infoset[node]), int(tree.owner[node])
        if index not in found and sizes[index] == 1:
            found[index] = np.array([values[child][owner] for child in tree.children[node]])
    return found


def _compute_branch_chances(tree: Tree, policy: Policy) -> Array:
    """Compute how likely each branch is at its parent."""
    chances = np.ones(tree.num_nodes)
    for node in range(1, tree.num_nodes):
        parent = int(tree.parent[node])
        if tree.owner[parent] == CHANCE:
            chances[node] = tree.probability[node]
        else:
            chances[node] = policy.probabilities[tree.first_move[tree.infoset[parent]] + tree.move[node]]
    return chances


def _compute_reach_by_others(tree: Tree, chances: Array) -> Array:
    """Compute for every node how likely chance and all but its owner let the play come there."""
    each = np.ones((tree.num_nodes, tree.num_players))
    for node in range(1, tree.num_nodes):
        parent = int(tree.parent[node])
        each[node] = each[parent] * chances[node]
        owner = int(tree.owner[parent])
        if owner >= 0:
            each[node, owner] = each[parent, owner]
    return np.array([each[node, max(0, int(tree.owner[node]))] for node in range(tree.num_nodes)])
