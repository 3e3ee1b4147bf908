"""The equilibrium that earns most from unguided partners, threats included, and worth following off its path.

Of all equilibria of a tree of two players the one is taken whose plans earn most from unguided partners, by a
mixed-integer program. With A and B the payoffs on pairs of sequences, and Ex = e, Fy = f saying that x and y are
realization plans, (x, y) is an equilibrium exactly if there are values p and q of the information sets with

    E'p - Ay >= 0,  F'q - B'x >= 0,   and no sequence has both weight and slack.

The last is said by one binary variable a sequence, which allows either its weight or its slack (Sandholm, Gilpin and
Conitzer 2005 have this for tables, von Stengel 1996 the sequence form). In a game of constant sum any equilibrium will
do, in larger trees and with more players it starts from the one that is given. Then one player after another replaces
its plan x by

    maximise    u(x, unguided others) + d u(x, uniform others)
    subject to  nobody's regret, its own included, is larger than in the policy that it all started from

which is one linear program over realization plans: another player's best reply to x enters by its dual. So NashConv
does not grow (up to rounding). The small weight d of the uniform others gives reasons to choose also where the unguided
never lead, as a tremble does (Selten 1975). Where the player's own plan does not lead, the best reply to the same model
fills the policy in; that changes nobody's payoff.

R. Selten, "Reexamination of the perfectness concept for equilibrium points in extensive games", International Journal
of Game Theory 4, 1975; B. von Stengel, "Efficient computation of behavior strategies", Games and Economic Behavior 14,
1996; T. Sandholm, A. Gilpin and V. Conitzer, "Mixed-integer programming methods for finding Nash equilibria", AAAI
2005.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bestresponse.core.errors import InvalidGame
from bestresponse.core.native_output import NativeOutputToStderr
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.sequence_form import (
    SequenceForm,
    Treeplex,
    best_response_value,
    bin_sums,
    plan_regrets,
    to_sequence_form,
)
from bestresponse.theory.trees.sequence_form_lp import optimise_plans, plan_constraints
from bestresponse.theory.trees.tree import Policy, uniform_policy

_TREMBLE = 1e-4
"""The weight of uniform others beside the unguided ones."""
_SLACK = 1e-6
"""How much a regret may grow in all, as a share of the largest payoff: what the linear program cannot resolve."""
_ROUNDING = 1e-9
"""Weights of a plan below this are 0."""
_PASSES = 8
_MOST_SEQUENCES = 500
"""Above this size the search among all equilibria takes minutes."""
_MOST_LEAVES = 20_000
"""Above this size the linear programs take minutes; only what changes nobody's payoff is filled in there."""


def find_commitment(policy: Policy, unguided: Policy) -> Policy:
    """Refine `policy` against partners that follow `unguided`; no player's regret grows by more than rounding."""
    form = to_sequence_form(policy.tree)
    partners, uniform = form.plans(unguided), form.plans(uniform_policy(policy.tree))
    against = [form.values(player, partners) for player in range(form.num_players)]
    goals = [values + _TREMBLE * form.values(player, uniform) for player, values in enumerate(against)]
    plans = _choose_equilibrium(form, against, policy) or form.plans(policy)
    if form.sequences.shape[1] <= _MOST_LEAVES:
        allowed = plan_regrets(form, plans) + _SLACK * (float(np.abs(form.tree.payoffs).max()) or 1.0)
        plans = _improve_plans(form, plans, goals, allowed)
    return form.policy([_fill_in(*parts) for parts in zip(form.plexes, plans, goals, strict=True)])


def _choose_equilibrium(form: SequenceForm, against: Sequence[Array], policy: Policy) -> list[Array] | None:
    """Return the equilibrium that earns most from unguided others, if it can be found and is as exact as `policy`."""
    plans: list[Array] | None = None
    if form.num_players == 2 and form.tree.is_constant_sum:
        # Any equilibrium will do: plans of different ones are equilibria too, so the linear programs find the best.
        exact = zip(form.plexes, optimise_plans(form), strict=True)
        plans = [plex.plan(plex.normalise(np.where(plan < _ROUNDING, 0.0, plan))) for plex, plan in exact]
    elif form.num_players == 2 and sum(plex.num_sequences for plex in form.plexes) <= _MOST_SEQUENCES:
        plans = find_best_equilibrium(form, against)
    if plans is None:
        return None
    slack = _SLACK * (float(np.abs(form.tree.payoffs).max()) or 1.0)
    known = plan_regrets(form, form.plans(policy)).sum()
    return plans if plan_regrets(form, plans).sum() <= known + slack else None


def _improve_plans(form: SequenceForm, plans: Sequence[Array], goals: Sequence[Array], allowed: Array) -> list[Array]:
    """Let one player after another take its best plan, until nobody's goal grows."""
    found = list(plans)
    for _ in range(_PASSES):
        before = [float(goal @ plan) for goal, plan in zip(goals, found, strict=True)]
        for player, goal in enumerate(goals):
            found[player] = _best_plan(form, player, found, goal, allowed)
        if all(goal @ plan <= old + 1e-9 for goal, plan, old in zip(goals, found, before, strict=True)):
            break
    return found


@NativeOutputToStderr()
def _best_plan(form: SequenceForm, player: int, plans: Sequence[Array], goal: Array, allowed: Array) -> Array:
    """Return the plan of `player` that maximises `goal` and keeps everybody's regret within what is allowed."""
    from scipy import optimize, sparse

    plex = form.plexes[player]
    others = [other for other in range(form.num_players) if other != player]
    duals = [plan_constraints(form.plexes[other]) for other in others]
    starts = plex.num_sequences + np.concatenate([[0], np.cumsum([dual.shape[0] for dual in duals])]).astype(int)
    best = best_response_value(form, player, plans)
    least = np.zeros((1, starts[-1]))
    least[0, : plex.num_sequences] = -form.values(player, plans)
    rows, most = [sparse.csr_array(least)], [np.array([allowed[player] - best])]
    for other, dual, start in zip(others, duals, starts[:-1], strict=True):
        rows += _regret_rows(_payoffs_to(form, other, player, plans), dual, plans[other], int(start), int(starts[-1]))
        most += [np.zeros(dual.shape[1]), np.array([allowed[other]])]
    own = plan_constraints(plex)
    equal = sparse.hstack([own, sparse.csr_array((own.shape[0], starts[-1] - plex.num_sequences))], format="csr")
    free = [(-np.inf, np.inf)] * int(starts[-1] - plex.num_sequences)
    minimise: Any = optimize.linprog
    found = minimise(
        np.concatenate([-goal, np.zeros(len(free))]),
        A_ub=sparse.vstack(rows, format="csr"),
        b_ub=np.concatenate(most),
        A_eq=equal,
        b_eq=np.eye(1, own.shape[0])[0],
        bounds=np.array([(0.0, np.inf)] * plex.num_sequences + free),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
    )
    if found.status != 0:  # rounding left the program no other plan; the one there is keeps to what is allowed
        return plans[player]
    return plex.plan(plex.normalise(np.where(found.x < _ROUNDING, 0.0, found.x)[: plex.num_sequences]))


def _payoffs_to(form: SequenceForm, other: int, player: int, plans: Sequence[Array]) -> Any:
    """Return what `other` earns by its sequences (rows) and those of `player` (columns), everybody else as planned."""
    from scipy import sparse

    weights = form.payoffs[other].copy()
    for third, plan in enumerate(plans):
        if third not in (player, other):
            weights *= plan[form.sequences[third]]
    shape = (form.plexes[other].num_sequences, form.plexes[player].num_sequences)
    return sparse.csr_array((weights, (form.sequences[other], form.sequences[player])), shape=shape)


def _regret_rows(payoffs: Any, dual: Any, plan: Array, start: int, width: int) -> list[Any]:
    """Return the rows that bound a best reply by its dual variables, and the row of the regret of `plan`."""
    from scipy import sparse

    before = sparse.csr_array((payoffs.shape[0], start - payoffs.shape[1]))
    after = sparse.csr_array((payoffs.shape[0], width - start - dual.shape[0]))
    regret = np.zeros((1, width))
    regret[0, : payoffs.shape[1]] = -(payoffs.T @ plan)
    regret[0, start] = 1.0
    return [sparse.hstack([payoffs, before, -dual.T, after]), sparse.csr_array(regret)]


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
def find_best_equilibrium(form: SequenceForm, goals: Sequence[Array], nodes: int = 2_000) -> list[Array] | None:
    """Return the plans of an equilibrium that maximises the sum of `goals` times plans; None after too many nodes.

    `nodes` bounds the search and not its time, so that the result is the same on every machine.
    """
    from scipy import optimize

    if form.num_players != 2:
        raise InvalidGame(f"the best equilibrium is found for two players; this tree has {form.num_players}")
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
        options={"node_limit": nodes, "mip_rel_gap": 1e-6},
    )
    if found.status != 0:
        return None
    plans = (found.x[places[k] : places[k + 1]] for k in range(2))
    return [
        plex.plan(plex.normalise(np.where(plan < 1e-9, 0.0, plan)))
        for plex, plan in zip(form.plexes, plans, strict=True)
    ]
