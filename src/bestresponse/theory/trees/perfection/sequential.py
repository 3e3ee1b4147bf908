"""A sequential equilibrium of a two-player tree, with its beliefs, as the limit of small mistakes.

In the perturbed game every sequence of k own moves has a weight of at least eps^k. Limits of its equilibria are
quasi-perfect (van Damme 1984), hence sequential (Kreps and Wilson 1982), hence subgame perfect. The perturbed game is
the same linear complementarity problem over realization plans with another right side (Miltersen and Sorensen 2010); it
is solved for two sizes of mistakes and continued to none, which must not move it far.

Certificate: at every information set, reached or not, what its player could still gain by changing its move there,
given the beliefs that the smallest mistakes leave; it is of the size of the mistakes.

P. Miltersen and T. Sorensen, "Computing a quasi-perfect equilibrium of a two-player game", Economic Theory 42, 2010.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bestresponse.core.errors import InvalidGame, NotCertified
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.policy import Policy
from bestresponse.theory.trees.sequence_form import SequenceForm, Treeplex, to_sequence_form
from bestresponse.theory.trees.sequence_form_lcp import find_plans
from bestresponse.theory.trees.tree import CHANCE, LEAF, Tree

__all__ = ["SequentialEquilibrium", "find_sequential", "rationality_gaps"]

_SMALLEST = 1e-4
_LEAST_WEIGHT = 1e-9
"""Of the longest sequence: what floating point can still tell from 0."""
_STEP = 5.0
_ACCEPTED_DRIFT = 20.0
"""How many times the smallest mistake the policy may still move."""
_ACCEPTED_GAIN = 1e-3
"""Of the payoff range."""


@dataclass(frozen=True, slots=True, eq=False)
class SequentialEquilibrium:
    """A policy, for every node the belief in it at its information set, and the certificate; see above."""

    policy: Policy
    beliefs: Array
    payoffs: dict[str, float]
    gap: float
    mistakes: float


def find_sequential(tree: Tree) -> SequentialEquilibrium:
    """Find one sequential equilibrium; NotCertified where the answers for smaller mistakes do not settle.

    >>> from bestresponse.theory.catalogue import load_tree
    >>> found = find_sequential(load_tree("entry-deterrence"))
    >>> found.policy.at("incumbent", "entry")["share"], found.payoffs
    (1.0, {'entrant': 2.0, 'incumbent': 2.0})
    """
    if tree.num_players != 2:
        raise InvalidGame(f"sequential equilibria are computed for two players; this tree has {tree.num_players}")
    form = to_sequence_form(tree)
    depth = max(len(plex.levels) - 1 for plex in form.plexes)
    size = max(_SMALLEST, _LEAST_WEIGHT ** (1.0 / max(1, depth)))
    larger, smaller = (_solve_perturbed(form, mistakes) for mistakes in (_STEP * size, size))
    limit = _extrapolate(form, larger, smaller, size)
    drift = max(float(np.abs(a - b).max()) for a, b in zip(limit, smaller, strict=True))
    policy, beliefs = form.policy(limit), _find_beliefs(tree, form.policy(smaller))
    scale = float(np.ptp(tree.payoffs[tree.leaves])) or 1.0
    gap = float(rationality_gaps(tree, policy, beliefs).max(initial=0.0))
    if drift > _ACCEPTED_DRIFT * size or gap > _ACCEPTED_GAIN * scale:
        raise NotCertified(
            f"no sequential equilibrium could be certified: mistakes of {size:.2g} leave a gain of {gap:.3g} and move "
            f"the policy by {drift:.3g}"
        )
    payoffs = dict(zip(tree.players, form.expected(form.plans(policy)).tolist(), strict=True))
    return SequentialEquilibrium(policy, beliefs, payoffs, gap, size)


def _solve_perturbed(form: SequenceForm, size: float) -> list[Array]:
    floors = [_find_floor(plex, size) for plex in form.plexes]
    plans = find_plans(form, floors)
    return [plex.normalise(plan + floor) for plex, plan, floor in zip(form.plexes, plans, floors, strict=True)]


def _find_floor(plex: Treeplex, size: float) -> Array:
    """The least weight of every sequence: `size` to the power of its number of moves, 0 for the empty one."""
    floor = np.zeros(plex.num_sequences)
    for level, (low, high) in enumerate(zip(plex.levels[:-1], plex.levels[1:], strict=True), start=1):
        start, stop = plex.span(low, high)
        floor[start:stop] = size**level
    return floor


def _extrapolate(form: SequenceForm, larger: list[Array], smaller: list[Array], size: float) -> list[Array]:
    """Continue the behaviours to mistakes of size 0, along a line; what is left of a mistake becomes 0."""
    found = []
    for plex, before, after in zip(form.plexes, larger, smaller, strict=True):
        line = (_STEP * after - before) / (_STEP - 1.0)
        found.append(plex.normalise(np.where(line > size, line, 0.0)))
    return found


def _find_beliefs(tree: Tree, policy: Policy) -> Array:
    """The probability of every node given its information set (1 where no player moves), all moves being likely."""
    reach = np.ones(tree.num_nodes)
    for nodes in tree.levels[1:]:
        above = tree.parent[nodes]
        moved = tree.owner[above] >= 0
        places = np.where(moved, tree.first_move[tree.infoset[above]] + tree.move[nodes], 0)
        chance = np.where(moved, policy.probabilities[places], tree.probability[nodes])
        reach[nodes] = reach[above] * chance
    own = np.flatnonzero(tree.infoset >= 0)
    totals = np.bincount(tree.infoset[own], reach[own], len(tree.infosets))
    beliefs = np.ones(tree.num_nodes)
    beliefs[own] = reach[own] / totals[tree.infoset[own]]
    return beliefs


def rationality_gaps(tree: Tree, policy: Policy, beliefs: Array) -> Array:
    """At every information set, what the best move earns more than the policy, given the beliefs."""
    values = tree.payoffs.astype(np.float64).copy()
    moves = np.zeros(int(tree.first_move[-1]))
    for node in range(tree.num_nodes - 1, -1, -1):
        owner, below = int(tree.owner[node]), list(tree.children[node])
        if owner == LEAF:
            continue
        if owner == CHANCE:
            values[node] = tree.probability[below] @ values[below]
            continue
        first = int(tree.first_move[tree.infoset[node]])
        own = policy.probabilities[first : first + len(below)]
        values[node] = own @ values[below]
        moves[first : first + len(below)] += beliefs[node] * values[below, owner]
    gaps = np.zeros(len(tree.infosets))
    for k, (first, last) in enumerate(zip(tree.first_move[:-1], tree.first_move[1:], strict=True)):
        gaps[k] = moves[first:last].max() - policy.probabilities[first:last] @ moves[first:last]
    return gaps
