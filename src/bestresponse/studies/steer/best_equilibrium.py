"""The equilibrium of a two-player tree that is best for some goal, by a mixed-integer program over realization plans.

With A and B the payoffs on pairs of sequences, and Ex = e, Fy = f saying that x and y are realization plans, (x, y) is
an equilibrium exactly if there are values p and q of the information sets with

    E'p - Ay >= 0,  F'q - B'x >= 0,   and no sequence has both weight and slack.

The last is said by one binary variable a sequence, which allows either its weight or its slack. So the program ranges
over all equilibria, not only those that an algorithm happens to find, and maximises any linear goal c'x + d'y exactly.

T. Sandholm, A. Gilpin and V. Conitzer, "Mixed-integer programming methods for finding Nash equilibria", AAAI 2005, have
this for tables; B. von Stengel, "Efficient computation of behavior strategies", Games and Economic Behavior 14, 1996,
the sequence form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bestresponse.core.errors import InvalidGame
from bestresponse.core.native_output import NativeOutputToStderr
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.sequence_form import SequenceForm
from bestresponse.theory.trees.sequence_form_lp import plan_constraints

__all__ = ["find_best_equilibrium"]


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
    tables = [_list_payoffs(form, 0), _list_payoffs(form, 1)]
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


def _list_payoffs(form: SequenceForm, player: int) -> Array:
    """Return what `player` earns by its sequences (rows) and those of the other (columns)."""
    table = np.zeros([form.plexes[seat].num_sequences for seat in (player, 1 - player)])
    np.add.at(table, (form.sequences[player], form.sequences[1 - player]), form.payoffs[player])
    return table
