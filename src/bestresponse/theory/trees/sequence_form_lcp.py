"""Equilibria of two-player trees with any payoffs, by linear complementarity over realization plans.

With A, B the payoffs on pairs of sequences and Ex = e, Fy = f saying that x and y are realization plans, (x, y) is an
equilibrium exactly when there are p, q with E'p >= Ay, F'q >= B'x, x'(E'p - Ay) = 0 and y'(F'q - B'x) = 0 (Koller,
Megiddo and von Stengel 1996). The size is linear in the tree, not exponential as in the normal form.

Solved for the weights of first moves and for p and q, the equations leave one pair of unknowns for each sequence: its
weight, and what it earns less than the best. Lemke's path then starts where all players take first moves, and z0 is
what all other moves lose in addition there; it cannot end in a ray (von Stengel, van den Elzen and Talman 2002).

D. Koller, N. Megiddo and B. von Stengel, "Efficient computation of equilibria for extensive two-person games", Games
and Economic Behavior 14, 1996. B. von Stengel, A. van den Elzen and D. Talman, "Computing normal form perfect
equilibria for extensive two-person games", Econometrica 70, 2002.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bestresponse.core.errors import InvalidGame, NotCertified, TooLarge
from bestresponse.core.game import Game
from bestresponse.theory.arrays import Bools
from bestresponse.theory.games.normal_form import Array, Numbers
from bestresponse.theory.trees.compile import as_tree
from bestresponse.theory.trees.lemke import solve_complementarity
from bestresponse.theory.trees.response import plan_regrets
from bestresponse.theory.trees.sequence_form import SequenceForm, Treeplex, to_sequence_form
from bestresponse.theory.trees.sequence_form_lp import TreeSolution
from bestresponse.theory.trees.tree import Tree

__all__ = ["PlanProblem", "solve_general_tree", "write_problem"]

_MOST_SEQUENCES = 1000


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
    if form.num_sequences > _MOST_SEQUENCES:
        sizes = f"{form.num_sequences:,} sequences of moves, more than {_MOST_SEQUENCES:,}"
        raise TooLarge(f"the players have {sizes}; cfr approximates an equilibrium")
    behaviours = [plex.normalise(plan) for plex, plan in zip(form.plexes, _find_plans(form), strict=True)]
    plans = [plex.plan(behaviour) for plex, behaviour in zip(form.plexes, behaviours, strict=True)]
    gap = float(plan_regrets(form, plans).sum())
    scale = float(np.ptp(tree.payoffs[tree.leaves])) or 1.0
    if gap > tolerance * scale:
        raise NotCertified(f"Lemke's policy has NashConv {gap:.3g}; wanted {tolerance * scale:.3g} or less")
    value = dict(zip(tree.players, form.expected(plans).tolist(), strict=True))
    return TreeSolution(form.policy(behaviours), value, gap, "sequence-form LCP")


def _find_plans(form: SequenceForm) -> tuple[Array, ...]:
    tables = np.zeros((2, *(plex.num_sequences for plex in form.plexes)))
    tables[:, form.sequences[0], form.sequences[1]] = form.payoffs
    ranges = np.ptp(form.tree.payoffs[form.tree.leaves], axis=0)
    tables /= np.where(ranges > 0, ranges, 1.0)[:, None, None]
    problem = write_problem(form, (tables[0], tables[1].T), 1)
    unknowns, slacks = solve_complementarity(problem.matrix, problem.cover, problem.right[:, 0])
    first, second = np.split(np.where(problem.is_first, slacks, unknowns), [form.plexes[0].num_sequences])
    return first + problem.floors[0][:, 0], second + problem.floors[1][:, 0]


@dataclass(frozen=True, slots=True, eq=False)
class PlanProblem:
    """Find z >= 0 with w = Mz + b >= 0 and z'w = 0; one row for each sequence of both players, the empty ones too.

    The weight of a sequence is its floor and what is added to it: its w where it ends with the first move of an
    information set (`is_first`), else its z. `right` (that is b) and `floors` are polynomials in the size of mistakes.
    """

    matrix: Numbers
    cover: Numbers
    right: Numbers
    is_first: Bools
    floors: tuple[Numbers, Numbers]


def write_problem(form: SequenceForm, tables: tuple[Numbers, Numbers], degree: int) -> PlanProblem:
    """Write the problem for payoffs by own and other sequences, in floats or whole numbers.

    Every sequence of k moves has a floor of eps^k, in polynomials of `degree` coefficients: with one, mistakes are 0.
    Information set h supplies eps^k less the floors of its moves; first moves carry it on unless another move takes
    some of it. With x the weights of the other moves and C what a shift to them changes, the weights of first moves
    are start + Cx, and the losses of other moves -C'(payoffs + losses of first moves).
    """
    carried = [_carry(plex, degree, tables[0].dtype) for plex in form.plexes]
    (own, other), dtype = (plex.num_sequences for plex in form.plexes), tables[0].dtype
    matrix, right = np.zeros((own + other,) * 2, dtype=dtype), np.zeros((own + other, degree), dtype=dtype)
    parts = slice(0, own), slice(own, own + other)
    for player, payoffs in enumerate(tables):
        (start, shifts, is_first, _), (reply, turns, _, floors) = carried[player], carried[1 - player]
        first, gains = is_first[:, None], shifts.T @ payoffs
        matrix[parts[player], parts[player]] = np.where(first, shifts, np.where(is_first, -shifts.T, 0))
        matrix[parts[player], parts[1 - player]] = np.where(first, 0, -gains @ turns)
        right[parts[player]] = np.where(first, start, -gains @ (reply + floors))
    is_first = np.concatenate([carried[0][2], carried[1][2]])
    return PlanProblem(matrix, (~is_first).astype(dtype), right, is_first, (carried[0][3], carried[1][3]))


def _carry(plex: Treeplex, degree: int, dtype: Any) -> tuple[Numbers, Numbers, Bools, Numbers]:
    """Find what first moves carry, how this shifts when another move takes 1, which moves are first, and all floors.

    The empty sequence counts as a first move: its weight is given.
    """
    count = plex.num_sequences
    carried, shifts = np.eye(count, dtype=np.int64).astype(dtype), np.zeros((count, count), dtype=dtype)
    start, floors = np.zeros((count, degree + 1), dtype=dtype), np.zeros((count, degree + 1), dtype=dtype)
    is_first = np.zeros(count, dtype=np.bool_)
    is_first[[0, *plex.first]] = True
    floors[0, 0] = 1
    powers = np.repeat(np.arange(len(plex.levels) - 1), np.diff(plex.levels)).tolist()
    sets = list(zip(plex.parent.tolist(), plex.first.tolist(), plex.size.tolist(), powers, strict=True))
    for parent, first, size, power in reversed(sets):
        carried[:, parent] += carried[:, first]
        shifts[:, first + 1 : first + size] = carried[:, first + 1 : first + size] - carried[:, first : first + 1]
        if power < degree:
            start[:, power] += carried[:, first]
            start[:, power + 1] -= size * carried[:, first]
            floors[first : first + size, power + 1] = 1
    return start[:, :degree], shifts, is_first, floors[:, :degree]
