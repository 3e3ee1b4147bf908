"""The game of a run with its equilibrium: what a policy, whole or in part, is worth in it.

For a player i with policy s_i, an equilibrium e of value v_i and best responses of the others:

    gap_i              max over i's policies of u_i(., e_-i) - u_i(s_i, e_-i): lost against equilibrium opponents
    exploitability_i   v_i - min over the other's policies of u_i(s_i, .): what a best-responding opponent takes (two
                       players, constant sum)
    regret_i           max over i's policies of u_i(., s_-i) - u_i(s): what i gains by deviating when all follow s
    NashConv           the sum of all regrets; in a two-player constant-sum game also the sum of both exploitabilities

By information set I, with Q(I, a) the counterfactual value of move a (weighted by chance and the others, i playing best
afterwards) and r_i(I) the probability that i's own moves lead to I,

    loss(I) = r_i(I) * (max_a Q(I, a) - sum_a s(I, a) Q(I, a)),

and the losses of a player's information sets sum to its gap (others play e) or to its regret (others play s).

Where a policy is known at some information sets only, gap and exploitability lie between bounds: the best and the worst
completion. All are attained, except that the upper bound of the exploitability lets opponents and missing moves know
the whole history, which makes it too large rather than too small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.sequence_form import (
    SequenceForm,
    best_response_value,
    bin_sums,
    counterfactual_values,
    plan_regrets,
)
from bestresponse.theory.trees.sequence_form_lp import find_nearest_plan, optimise_plans, turn_form
from bestresponse.theory.trees.tree import CHANCE, LEAF, Policy, Tree

_NOISE = 1e-9
_REACHED = 1e-7

Ends = tuple[float, float]
"""The least and the most that a figure can be."""


def cut(tree: Tree, row: Array, infoset: int) -> Array:
    """Return the probabilities at one information set of a policy in a row."""
    return row[tree.first_move[infoset] : tree.first_move[infoset + 1]]


@dataclass(frozen=True, slots=True)
class Partial:
    """A policy in a row, as in `Policy`, and the information sets at which it is known; elsewhere it is uniform."""

    row: Array
    known: NDArray[np.bool_]

    def is_complete(self, tree: Tree, seats: Sequence[int]) -> bool:
        """Say whether it is known at every information set of these players."""
        return all(self.known[k] for k, infoset in enumerate(tree.infosets) if infoset.player in seats)


@dataclass(frozen=True)
class Arena:
    """A tree in sequence form, and an equilibrium of it where one was found."""

    form: SequenceForm
    equilibrium: Policy | None = None

    @property
    def tree(self) -> Tree:
        """The game tree."""
        return self.form.tree

    @cached_property
    def is_zero_sum(self) -> bool:
        """Whether exploitability is defined: two players, payoffs of constant sum, a known value."""
        return self.tree.num_players == 2 and self.tree.is_constant_sum and self.equilibrium is not None

    @cached_property
    def ranges(self) -> Array:
        """The range of every player's payoffs."""
        spread: Array = np.ptp(self.tree.payoffs[self.tree.leaves], axis=0)
        return spread

    @cached_property
    def _opponents(self) -> list[Array]:
        """The equilibrium's realization plans."""
        return [] if self.equilibrium is None else self.form.plans(self.equilibrium)

    @cached_property
    def _worths(self) -> list[Array]:
        """By player, what each of its sequences earns against the equilibrium."""
        return [self.form.values(seat, self._opponents) for seat in range(self.tree.num_players)]

    @cached_property
    def _bests(self) -> list[float]:
        """What the best response of every player to the equilibrium earns."""
        return [best_response_value(self.form, seat, self._opponents) for seat in range(self.tree.num_players)]

    @cached_property
    def values(self) -> Array:
        """What the equilibrium earns every player."""
        return self.form.expected(self._opponents)

    def _clean(self, figure: float) -> float:
        """Set negative figures and rounding errors to 0."""
        return figure if figure > _NOISE * float(np.abs(self.tree.payoffs).max()) else 0.0

    def find_nearest(self, policy: Policy) -> Policy:
        """Return the equilibrium nearest to a policy; where the game is not zero-sum, the one that is known."""
        if not self.is_zero_sum or self.equilibrium is None:
            return self.equilibrium or policy
        plans = self.form.plans(policy)
        row = policy.probabilities.copy()
        for seat, plex in enumerate(self.form.plexes):
            plan = find_nearest_plan(turn_form(self.form, seat), plans[seat], float(self.values[seat]))
            for index, first, size, before in zip(plex.infosets, plex.first, plex.size, plex.parent, strict=True):
                if plan[before] > _REACHED:
                    start = self.tree.first_move[int(index)]
                    moves = np.maximum(plan[first : first + size], 0.0)
                    row[start : start + size] = moves / moves.sum()
        return Policy(self.tree, row)

    def earn(self, seat: int, plan: Array) -> float:
        """Return what a plan earns against the equilibrium."""
        return float(self._worths[seat] @ plan)

    def measure_gap(self, seat: int, plan: Array) -> float | None:
        """Return what a plan loses against the equilibrium."""
        return None if self.equilibrium is None else self._clean(self._bests[seat] - self.earn(seat, plan))

    def measure_exploitability(self, seat: int, plan: Array) -> float | None:
        """Return what a best-responding opponent takes from a plan."""
        if not self.is_zero_sum:
            return None
        total = float(self.tree.payoffs[self.tree.leaves[0]].sum())
        taken = best_response_value(self.form, 1 - seat, [plan, plan])
        return self._clean(float(self.values[seat]) - total + taken)

    def measure_regrets(self, plans: Sequence[Array]) -> Array:
        """Return what every player gains by deviating when all follow these plans."""
        return np.array([self._clean(float(regret)) for regret in plan_regrets(self.form, plans)])

    def split_losses(self, partial: Partial, others: Policy) -> dict[int, float | None]:
        """Return by known information set its loss against `others`.

        It is None where it is not known how likely the player's own moves lead there.
        """
        losses: dict[int, float | None] = {}
        values = counterfactual_values(self.tree, others)
        policy = Policy(self.tree, partial.row)
        for plex in self.form.plexes:
            reach, sure = plex.plan(plex.behaviour(policy)), np.ones(plex.num_sequences, dtype=bool)
            for index, first, size, before in zip(plex.infosets, plex.first, plex.size, plex.parent, strict=True):
                k = int(index)
                sure[first : first + size] = (sure[before] and partial.known[k]) or reach[before] == 0
                if partial.known[k]:
                    lost = self._clean(float(values[k].max() - values[k] @ cut(self.tree, partial.row, k)))
                    losses[k] = lost * float(reach[before]) if sure[before] else None
        return losses

    def bound_gap(self, seat: int, partial: Partial) -> Ends | None:
        """Return the least and the most that a policy of which only a part is known loses against the equilibrium."""
        if self.equilibrium is None:
            return None
        best = self._bests[seat]
        least, most = (best - self._complete(seat, partial, pick) for pick in (np.maximum, np.minimum))
        return self._clean(least), self._clean(most)

    def _complete(self, seat: int, partial: Partial, pick: np.ufunc) -> float:
        """Return what a policy earns against the equilibrium if `pick` chooses where it is not known."""
        values, plex = self.form.values(seat, self._opponents), self.form.plexes[seat]
        behaviour = plex.behaviour(Policy(self.tree, partial.row))
        for level in range(len(plex.levels) - 2, -1, -1):
            low, high = int(plex.levels[level]), int(plex.levels[level + 1])
            start, stop = plex.span(low, high)
            places = plex.first[low:high] - start
            mean = np.add.reduceat(values[start:stop] * behaviour[start:stop], places)
            chosen = pick.reduceat(values[start:stop], places)
            known = partial.known[plex.infosets[low:high]]
            values += bin_sums(plex.parent[low:high], np.where(known, mean, chosen), len(values))
        return float(values[0])

    def bound_exploitability(self, seat: int, partial: Partial) -> Ends | None:
        """Return bounds of what a best-responding opponent takes from a policy of which only a part is known."""
        if not self.is_zero_sum:
            return None
        sets = [k for k, infoset in enumerate(self.tree.infosets) if infoset.player == seat and partial.known[k]]
        plan, _ = optimise_plans(turn_form(self.form, seat), {k: cut(self.tree, partial.row, k) for k in sets})
        least = self.measure_exploitability(seat, plan) or 0.0
        most = self._clean(float(self.values[seat]) - self._find_worst(seat, partial))
        return min(least, most), most

    def _find_worst(self, seat: int, partial: Partial) -> float:
        """Return what is left to a seat if all opponents and its missing moves know everything and work against it."""
        tree = self.tree
        own = tree.payoffs[:, seat]
        values = np.where(tree.owner == LEAF, own, np.where(tree.owner == CHANCE, 0.0, np.inf))
        settled = (tree.owner == seat) & (tree.infoset >= 0)
        settled[settled] = partial.known[tree.infoset[settled]]
        values[settled] = 0.0
        for node in range(tree.num_nodes - 1, 0, -1):
            parent = int(tree.parent[node])
            if tree.owner[parent] == CHANCE:
                values[parent] += tree.probability[node] * values[node]
            elif settled[parent]:
                values[parent] += partial.row[tree.first_move[tree.infoset[parent]] + tree.move[node]] * values[node]
            else:
                values[parent] = min(values[parent], values[node])
        return float(values[0])
