"""The equilibrium that earns most from unguided partners, threats included, and worth following off its path.

Of all equilibria of a tree of two players the one is taken whose plans earn most from unguided partners, by a
mixed-integer program. With A and B the payoffs on pairs of sequences, and Ex = e, Fy = f saying that x and y are
realization plans, (x, y) is an equilibrium exactly if there are values p and q of the information sets with

    E'p - Ay >= 0,  F'q - B'x >= 0,   and no sequence has both weight and slack.

The last is said by one binary variable a sequence, which allows either its weight or its slack (Sandholm, Gilpin and
Conitzer 2005 have this for tables, von Stengel 1996 the sequence form). What is maximised is

    u(x, unguided others) + d u(x, uniform others), summed over players.

The small weight d of the uniform others gives reasons to choose also where the unguided never lead, as a tremble does
(Selten 1975). Where the player's own plan does not lead, the best reply to the same model fills the policy in; that
changes nobody's payoff. In games of constant sum, in larger trees and with more players the plans stay those of the
equilibrium that is given: linear programs that improved one player's plan after another gained nothing there.

R. Selten, "Reexamination of the perfectness concept for equilibrium points in extensive games", International Journal
of Game Theory 4, 1975; B. von Stengel, "Efficient computation of behavior strategies", Games and Economic Behavior 14,
1996; T. Sandholm, A. Gilpin and V. Conitzer, "Mixed-integer programming methods for finding Nash equilibria", AAAI
2005.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bestresponse.core.native_output import NativeOutputToStderr
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.sequence_form import SequenceForm, Treeplex, bin_sums, plan_regrets, to_sequence_form
from bestresponse.theory.trees.sequence_form_lp import plan_constraints
from bestresponse.theory.trees.tree import Policy, uniform_policy

_TREMBLE = 1e-4
"""The weight of uniform others beside the unguided ones."""
_SLACK = 1e-6
"""How much regret the program may leave, as a share of the largest payoff: what it cannot resolve."""
_ROUNDING = 1e-9
"""Weights of a plan below this are 0."""
_MOST_SEQUENCES = 500
"""Above this size the search among all equilibria takes minutes."""
_MOST_NODES = 2_000
"""Bounds the search by its nodes and not by its time, so that the result is the same on every machine."""


def find_commitment(policy: Policy, unguided: Policy) -> Policy:
    """Find the equilibrium that earns most from partners that follow `unguided`; start from `policy`, which is one."""
    form = to_sequence_form(policy.tree)
    partners, uniform = form.plans(unguided), form.plans(uniform_policy(policy.tree))
    goals = [
        form.values(player, partners) + _TREMBLE * form.values(player, uniform) for player in range(form.num_players)
    ]
    plans: list[Array] | None = None
    # Where the sum is constant every equilibrium has the same value, and proving one of them the best takes a minute.
    if form.num_players == 2 and form.num_sequences <= _MOST_SEQUENCES and not form.tree.is_constant_sum:
        plans = find_best_equilibrium(form, goals)
    known = form.plans(policy)
    allowed = plan_regrets(form, known).sum() + _SLACK * (float(np.abs(form.tree.payoffs).max()) or 1.0)
    if plans is None or plan_regrets(form, plans).sum() > allowed:
        plans = known
    return form.policy([_fill_in(*parts) for parts in zip(form.plexes, plans, goals, strict=True)])


def _fill_in(plex: Treeplex, plan: Array, goal: Array) -> Array:
    """Turn a plan into behaviour; where it does not lead, choose the best reply to the model behind `goal`."""
    behaviour, values = plex.normalise(plan), goal.copy()
    for level in range(len(plex.levels) - 2, -1, -1):
        low, high = int(plex.levels[level]), int(plex.levels[level + 1])
        best = []
        for first, size, parent in zip(plex.first[low:high], plex.size[low:high], plex.parent[low:high], strict=True):
            moves = slice(first, first + size)
            if plan[parent] <= _ROUNDING:
                behaviour[moves] = np.eye(size)[int(np.argmax(values[moves]))]
            best.append(float(behaviour[moves] @ values[moves]))
        values += bin_sums(plex.parent[low:high], np.array(best), len(values))
    return behaviour


@NativeOutputToStderr()
def find_best_equilibrium(form: SequenceForm, goals: Sequence[Array]) -> list[Array] | None:
    """Return the plans of two players' equilibrium that maximises the sum of `goals` times plans, if it is found."""
    from scipy import optimize

    sizes = [plex.num_sequences for plex in form.plexes]
    ties: list[Array] = [plan_constraints(plex).toarray() for plex in form.plexes]
    tables = []
    for player in range(2):  # what a player earns by its sequences (rows) and those of the other (columns)
        table = np.zeros((sizes[player], sizes[1 - player]))
        np.add.at(table, (form.sequences[player], form.sequences[1 - player]), form.payoffs[player])
        tables.append(table)
    spread = [2.0 * float(np.abs(form.tree.payoffs[:, player]).max() or 1.0) for player in range(2)]
    # Variables: the plans x, y, the binaries of both, the values p, q.
    widths = [*sizes, *sizes, *(tie.shape[0] for tie in ties)]
    places = np.concatenate([[0], np.cumsum(widths)]).astype(int)

    def put(blocks: dict[int, Array], rows: int) -> Array:
        return np.hstack([blocks.get(k, np.zeros((rows, width))) for k, width in enumerate(widths)])

    limits = []
    for player in range(2):
        own, other = sizes[player], 1 - player
        one = np.eye(own)
        slack = {4 + player: ties[player].T, other: -tables[player]}
        first = np.eye(1, ties[player].shape[0])[0]
        limits += [
            optimize.LinearConstraint(put({player: ties[player]}, len(first)), first, first),
            optimize.LinearConstraint(put(slack, own), 0.0, np.inf),
            optimize.LinearConstraint(put({**slack, 2 + player: spread[player] * one}, own), -np.inf, spread[player]),
            optimize.LinearConstraint(put({player: one, 2 + player: -one}, own), -np.inf, 0.0),
        ]
    low, high = np.full(places[-1], -np.inf), np.full(places[-1], np.inf)
    low[: places[4]], high[: places[4]] = 0.0, 1.0
    whole = np.zeros(places[-1])
    whole[places[2] : places[4]] = 1
    aim = np.concatenate([-np.concatenate(goals), np.zeros(places[-1] - places[2])])
    solve: Any = optimize.milp
    found = solve(
        aim,
        constraints=limits,
        integrality=whole,
        bounds=optimize.Bounds(low, high),
        options={"node_limit": _MOST_NODES, "mip_rel_gap": 1e-6},
    )
    if found.status != 0:
        return None
    plans = (found.x[places[k] : places[k + 1]] for k in range(2))
    return [
        plex.plan(plex.normalise(np.where(plan < _ROUNDING, 0.0, plan)))
        for plex, plan in zip(form.plexes, plans, strict=True)
    ]
