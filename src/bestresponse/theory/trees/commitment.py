"""Commitment in trees of two players: the leader commits to a policy, the follower replies.

The leader's policies are realization plans of the sequence form, so that one linear program per
plan of the follower finds the leader's best policy among those to which the plan is a best reply:
every information set of the follower has a value, at least what each of its moves earns, and the
plan must earn the value of the root (duality). Plans are tried in the order of what the leader
would earn if the follower played them whatever happens; where that is no more than what is found
already, the search ends. The problem is NP-hard (Letchford and Conitzer 2010), so the number of
plans is limited.

J. Letchford and V. Conitzer, "Computing optimal strategies to commit to in extensive-form games",
EC 2010.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bestresponse.core.errors import NotCertified, TooLarge, UsageError
from bestresponse.theory.arrays import find_range
from bestresponse.theory.correlation.equilibria import VIOLATION_LIMIT
from bestresponse.theory.deadline import Deadline
from bestresponse.theory.equilibria.commitment import find_leader
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.linear_program import load_sparse, solve_program
from bestresponse.theory.trees.normal_form import count_plans, list_plans
from bestresponse.theory.trees.sequence_form import (
    SequenceForm,
    best_response_value,
    find_best_values,
    to_sequence_form,
)
from bestresponse.theory.trees.sequence_form_lp import plan_constraints, turn_form
from bestresponse.theory.trees.tree import Policy, Tree, as_tree

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_MOST_PLANS = 20_000
_SAME = 1e-10  # of the leader's payoff range: what is not more than this better is no better


@dataclass(frozen=True, slots=True, eq=False)
class TreeCommitment:
    """The policy of both players: what the leader commits to, and the follower's best reply.

    `gain` is the most that the follower could gain by another reply.
    """

    leader: str
    policy: Policy
    payoffs: dict[str, float]
    gain: float
    method: str

    @property
    def value(self) -> float:
        """What the leader earns."""
        return self.payoffs[self.leader]


def stackelberg_tree(
    tree: Tree | str | Path, leader: int | str = 0, *, seconds: float = 60.0
) -> TreeCommitment:
    """Find the best policy for a leader to commit to in a tree of two players.

    Among equally good replies the follower takes the one that is best for the leader. TooLarge
    where the follower has too many plans, NotCertified where the search takes longer than
    `seconds`.

    >>> from bestresponse.theory.catalogue import load_tree
    >>> stackelberg_tree(load_tree("entry-deterrence"), "incumbent").payoffs
    {'entrant': 1.0, 'incumbent': 5.0}
    """
    tree = as_tree(tree)
    if tree.num_players != 2:
        raise UsageError(
            f"{tree.name or 'the tree'} has {tree.num_players} players; a commitment in a tree is"
            " for two, that of more is found in the reduced normal form (stackelberg)"
        )
    deadline = Deadline.after(seconds)
    number = find_leader(tree.players, leader)
    form = turn_form(to_sequence_form(tree), number)
    plans = count_plans(form.plexes[1])
    if plans > _MOST_PLANS:
        raise TooLarge(
            f"{tree.players[1 - number]} has {plans:,} plans, more than the {_MOST_PLANS:,} that"
            " are tried one by one; solve a smaller version of the game"
        )
    search = _Search(form, 1 - number)
    best = search.find_best(deadline)
    return search.describe(best)


class _Search:
    """The follower's plans, and the program of the leader's policy for each.

    The leader is first in `form`.
    """

    def __init__(self, form: SequenceForm, follower: int) -> None:
        leaves = form.tree.payoffs[form.tree.leaves]
        ranges = np.ptp(leaves, axis=0)
        units = np.where(ranges > 0, ranges, 1.0)
        self.form = form
        self.follower = follower
        self.own = form.payoffs[0] / units[1 - follower]
        self.others = form.payoffs[1] / units[follower]
        self._write_replies()

    def _write_replies(self) -> None:
        """Write that values of information sets are at least what their moves earn.

        These are the follower's constraints of plans, turned round.
        """
        sparse = load_sparse()
        leader, follower = self.form.plexes
        shape = (follower.num_sequences, leader.num_sequences)
        entries = (self.others, (self.form.sequences[1], self.form.sequences[0]))
        earned: csr_array = sparse.csr_array(entries, shape=shape)
        values = plan_constraints(follower).T
        self.above: csr_array = sparse.hstack([earned, -values], format="csr")
        rows = plan_constraints(leader)
        self.equal: csr_array = sparse.hstack(
            [rows, sparse.csr_array((rows.shape[0], values.shape[1]))], format="csr"
        )

    def list_plans(self) -> Iterator[Array]:
        """Give every plan of the follower as weights of sequences."""
        plex = self.form.plexes[1]
        listed = list_plans(self.form.tree, self.follower, limit=_MOST_PLANS)
        for moves in listed.moves:
            chosen = np.zeros(plex.num_sequences)
            chosen[0] = 1.0
            for place, infoset in enumerate(plex.infosets.tolist()):
                if moves[infoset] >= 0:
                    chosen[plex.first[place] + moves[infoset]] = 1.0
            yield chosen

    def find_best(self, deadline: Deadline) -> tuple[Array, Array]:
        """Find the leader's plan and the follower's reply that earn the leader most."""
        plans = list(self.list_plans())
        empty = np.zeros(self.form.plexes[0].num_sequences)
        bounds = [best_response_value(self.form, 0, [empty, plan]) for plan in plans]
        unit = find_range(self.form.tree.payoffs[:, 1 - self.follower])
        found = -np.inf
        best = (empty, empty)
        for k in np.argsort(-np.array(bounds), kind="stable").tolist():
            if bounds[k] <= found + _SAME * unit:
                break
            if deadline.is_over:
                raise NotCertified(
                    f"the best commitment was not found within {deadline.seconds:g} s: the leader"
                    f" earns between {found:g} and {bounds[k]:g}; allow more seconds"
                )
            answer = self._solve(plans[k], deadline)
            if answer is None:
                continue
            earned = float(self.form.expected([answer, plans[k]])[0])
            if earned > found:
                found = earned
                best = (answer, plans[k])
        return best

    def _solve(self, plan: Array, deadline: Deadline) -> Array | None:
        """Find the leader's best plan to which this one is a best reply; None if there is none."""
        sparse = load_sparse()
        leader, follower = self.form.plexes
        played = plan[self.form.sequences[1]]
        size = leader.num_sequences
        sets = len(follower.infosets) + 1
        cost = np.zeros(size + sets)
        np.add.at(cost, self.form.sequences[0], -self.own * played)
        best = np.zeros(size + sets)
        np.add.at(best, self.form.sequences[0], -self.others * played)
        best[size] = 1.0  # the value of the root is what the plan earns
        above = sparse.vstack([self.above, sparse.csr_array(best[None, :])], format="csr")
        bounds = np.array([(0.0, np.inf)] * size + [(-np.inf, np.inf)] * sets)
        totals = np.zeros(self.equal.shape[0])
        totals[0] = 1.0
        answer = solve_program(
            cost=cost,
            above=above,
            limits=np.zeros(above.shape[0]),
            equal=self.equal,
            totals=totals,
            bounds=bounds,
            deadline=deadline,
        )
        if answer is None:
            return None
        found, _ = answer
        return np.clip(found[:size], 0.0, None)

    def describe(self, plans: tuple[Array, Array]) -> TreeCommitment:
        """Turn plans into a policy, and certify the reply.

        The follower replies best if its plan does not say what to do.
        """
        tree = self.form.tree
        leader, follower = self.form.plexes
        behaviour = leader.normalise(plans[0])
        own = leader.plan(behaviour)
        values = find_best_values(self.form, 1, [own, plans[1]])
        reply = follower.normalise(plans[1])
        for first, size in zip(follower.first.tolist(), follower.size.tolist(), strict=True):
            moves = slice(first, first + size)
            if not plans[1][moves].any():
                best = int(np.argmax(values[moves]))
                reply[moves] = np.eye(size)[best]
        earned = self.form.expected([own, plans[1]])
        gain = max(float(values[0] - earned[1]), 0.0)
        unit = find_range(tree.payoffs[tree.leaves, self.follower])
        if gain > VIOLATION_LIMIT * unit:
            raise NotCertified(
                f"the reply found is {gain / unit:.1e} of the follower's payoff range behind its"
                f" best one, more than {VIOLATION_LIMIT:g}"
            )
        in_order = earned if self.follower == 1 else earned[::-1]
        return TreeCommitment(
            leader=tree.players[1 - self.follower],
            policy=self.form.policy([behaviour, reply]),
            payoffs=dict(zip(tree.players, in_order.tolist(), strict=True)),
            gain=gain,
            method="one linear program over realization plans per reply",
        )
