"""A two-player zero-sum tree solved to rounding by one linear program over realization plans.

With A the payoffs on pairs of sequences and Ex = e, Fy = f saying that x and y are realization plans, the first
player's optimal plan solves: maximise f'v subject to F'v <= A'x, Ex = e, x >= 0; the dual variables of the
inequalities are the second player's plan. The size is linear in the tree, not exponential as in the normal form.

D. Koller, N. Megiddo and B. von Stengel, "Efficient computation of equilibria for extensive two-person games", Games
and Economic Behavior 14, 1996.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from bestresponse.core.errors import InvalidGame, NotCertified
from bestresponse.core.game import Game
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.linear_program import solve_program
from bestresponse.theory.trees.compile import as_tree
from bestresponse.theory.trees.policy import Policy
from bestresponse.theory.trees.response import plan_regrets
from bestresponse.theory.trees.sequence_form import SequenceForm, Treeplex, to_sequence_form
from bestresponse.theory.trees.tree import Tree

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["TreeSolution", "find_nearest_plan", "optimise_plans", "plan_constraints", "solve_tree", "turn_form"]


@dataclass(frozen=True, slots=True, eq=False)
class TreeSolution:
    """An equilibrium policy, the value to each player, and the certificate: NashConv of the policy."""

    policy: Policy
    value: dict[str, float]
    nash_conv: float
    method: str = "sequence-form LP"


def solve_tree(game: Tree | Game[Any], tolerance: float = 1e-7) -> TreeSolution:
    """Find optimal policies and the value; NotCertified where NashConv exceeds `tolerance` of the largest payoff.

    >>> from bestresponse.theory.catalogue.tree_rules import kuhn_poker
    >>> round(solve_tree(kuhn_poker()).value["player 1"] * 18, 9)
    -1.0
    """
    tree = as_tree(game)
    if tree.num_players != 2 or not tree.is_constant_sum:
        other = "solve_general_tree" if tree.num_players == 2 else "cfr and its NashConv"
        raise InvalidGame(
            f"{tree.name or 'the tree'} is not a two-player zero-sum game ({tree.num_players} players, payoffs "
            f"{'of constant' if tree.is_constant_sum else 'without constant'} sum); use {other} instead"
        )
    form = to_sequence_form(tree)
    behaviours = [plex.normalise(plan) for plex, plan in zip(form.plexes, optimise_plans(form), strict=True)]
    plans = [plex.plan(behaviour) for plex, behaviour in zip(form.plexes, behaviours, strict=True)]
    gap = float(plan_regrets(form, plans).sum())
    scale = float(np.abs(tree.payoffs).max())
    if gap > tolerance * scale:
        raise NotCertified(
            f"the linear program's policy has NashConv {gap:.3g}; wanted {tolerance * scale:.3g} or less"
        )
    value = dict(zip(tree.players, form.expected(plans).tolist(), strict=True))
    return TreeSolution(form.policy(behaviours), value, gap)


def optimise_plans(form: SequenceForm, fixed: Mapping[int, Array] | None = None) -> tuple[Array, Array]:
    """Return both players' optimal realization plans, from the primal and dual solution.

    `fixed` gives the first player's probabilities at information sets (by their index in the tree) where it is not
    free to choose; the plan is then the best of those that agree with them.
    """
    sparse = _load_sparse()
    own, other = (plan_constraints(plex) for plex in form.plexes)
    if fixed:
        own = sparse.vstack([own, _fix_behaviour(form.plexes[0], fixed)], format="csr")
    payoffs = _write_payoffs(form)
    above = sparse.hstack([-payoffs.T, other.T], format="csr")
    equal = sparse.hstack([own, sparse.csr_array((own.shape[0], other.shape[0]))], format="csr")
    size = own.shape[1]
    goal = np.zeros(size + other.shape[0])
    goal[size] = -1.0
    bounds = np.array([(0.0, np.inf)] * size + [(-np.inf, np.inf)] * other.shape[0])
    found = _minimise(goal, above, np.zeros(above.shape[0]), equal, bounds)
    return found.x[:size], -found.ineqlin.marginals


def find_nearest_plan(form: SequenceForm, plan: Array, value: float) -> Array:
    """Return the first player's optimal realization plan that differs least from `plan`, by the sum of differences.

    `value` is what an optimal plan guarantees.
    """
    sparse = _load_sparse()
    own, other = (plan_constraints(plex) for plex in form.plexes)
    size, sets = own.shape[1], other.shape[0]
    scale = float(np.abs(form.payoffs[0]).max()) or 1.0
    payoffs, same = _write_payoffs(form), sparse.eye_array(size)
    secured = sparse.csr_array(([-1.0], ([0], [0])), shape=(1, sets))
    above = sparse.block_array(
        [[-payoffs.T, other.T, None], [None, secured, None], [same, None, -same], [-same, None, -same]], format="csr"
    )
    right = np.concatenate([np.zeros(payoffs.shape[1]), [-value / scale + 1e-9], plan, -plan])
    equal = sparse.hstack([own, sparse.csr_array((own.shape[0], sets + size))], format="csr")
    goal = np.concatenate([np.zeros(size + sets), np.ones(size)])
    bounds = np.array([(0.0, np.inf)] * size + [(-np.inf, np.inf)] * sets + [(0.0, np.inf)] * size)
    nearest: Array = _minimise(goal, above, right, equal, bounds).x[:size]
    return nearest


def turn_form(form: SequenceForm, seat: int) -> SequenceForm:
    """Return the sequence form of a game of two with the given player first."""
    if seat == 0:
        return form
    return SequenceForm(form.tree, form.plexes[::-1], form.sequences[::-1], form.payoffs[::-1], form.places)


def _load_sparse() -> ModuleType:
    """Import sparse matrices when they are needed, since that is slow."""
    from scipy import sparse

    return sparse


def _write_payoffs(form: SequenceForm) -> csr_array:
    """Return the first player's payoffs on pairs of sequences, as shares of the largest."""
    sparse = _load_sparse()
    scale = float(np.abs(form.payoffs[0]).max()) or 1.0
    shape = (form.plexes[0].num_sequences, form.plexes[1].num_sequences)
    payoffs: csr_array = sparse.csr_array((form.payoffs[0] / scale, tuple(form.sequences)), shape=shape)
    return payoffs


def _minimise(goal: Array, above: csr_array, limits: Array, equal: csr_array, bounds: Array) -> Any:
    """Solve a linear program whose equations say that something is a realization plan."""
    right = np.zeros(equal.shape[0])
    right[0] = 1.0
    answer = solve_program(goal, above, limits, equal, right, bounds)
    if answer is None:
        raise NotCertified("the linear program over realization plans was found to have no solution")
    return answer


def _fix_behaviour(plex: Treeplex, fixed: Mapping[int, Array]) -> csr_array:
    """One row a move: its weight less its probability times the weight of the sequence before it is 0."""
    sparse = _load_sparse()
    rows = np.zeros((sum(map(len, fixed.values())), plex.num_sequences))
    row = 0
    for infoset, first, before in zip(plex.infosets.tolist(), plex.first, plex.parent, strict=True):
        for k, probability in enumerate(fixed.get(infoset, ())):
            rows[row, first + k] += 1.0
            rows[row, before] -= probability
            row += 1
    fixed_rows: csr_array = sparse.csr_array(rows[:row])
    return fixed_rows


def plan_constraints(plex: Treeplex) -> csr_array:
    """Row 0: the empty sequence has weight 1; row i: an information set's moves sum to the sequence before it."""
    sparse = _load_sparse()
    count = len(plex.infosets)
    sets = np.arange(1, count + 1)
    rows = np.concatenate([[0], sets, np.repeat(sets, plex.size)])
    columns = np.concatenate([[0], plex.parent, np.arange(1, plex.num_sequences)])
    entries = np.concatenate([[1.0], -np.ones(count), np.ones(plex.num_sequences - 1)])
    constraints: csr_array = sparse.csr_array((entries, (rows, columns)), shape=(count + 1, plex.num_sequences))
    return constraints
