"""Iterations of counterfactual regret minimisation in numpy: whole levels of information sets at a time.

The same iterates as the compiled loop up to rounding. What can be done for all of a player's information sets at
once (regrets, next behaviour) is one array operation; only values (last level first) and plans (first level first)
go level by level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.sequence_form import SequenceForm, Treeplex
from bestresponse.theory.trees.tree import IntArray

__all__ = ["NumpyCfr"]


class NumpyCfr:
    """The running state of CFR; `run` continues it, `totals` are the weighted sums of the plans so far."""

    def __init__(self, form: SequenceForm) -> None:
        self._sides = [_Side(form, player) for player in range(form.num_players)]
        self._plans = [side.plan for side in self._sides]

    def run(self, schedule: Array, predictive: bool) -> None:
        """One iteration per column of `schedule` (rows: factors of positive and negative regrets, weights)."""
        for keep_positive, keep_negative, weight in schedule.T.tolist():
            for side in self._sides:
                side.total += side.plan if weight == 1.0 else weight * side.plan
                gains = side.gains(self._plans)
                side.learn(gains, keep_positive, keep_negative, predictive)

    @property
    def totals(self) -> list[Array]:
        """The weighted sum of every player's plans so far."""
        return [side.total for side in self._sides]


@dataclass(frozen=True, slots=True, eq=False)
class _Level:
    """Information sets `sets` with sequences `span`; where each begins in the span; their parents, one per sequence."""

    sets: slice
    span: slice
    begins: IntArray
    parent: IntArray
    parents: IntArray


class _Side:
    """One player's arrays; `plan` is updated in place, the other players read it."""

    def __init__(self, form: SequenceForm, player: int) -> None:
        plex = form.plexes[player]
        self.plex = plex
        self.levels = _list_levels(plex)
        self.set_of = np.repeat(np.arange(len(plex.infosets)), plex.size)
        self.begins = plex.first - 1
        self.uniform = np.repeat(1.0 / plex.size, plex.size)
        self.behaviour = plex.normalise(np.zeros(plex.num_sequences))
        self.plan = plex.plan(self.behaviour)
        self.regret = np.zeros(plex.num_sequences - 1)
        self.total = np.zeros(plex.num_sequences)
        self.means = np.zeros(len(plex.infosets))
        self.earn = _earnings(form, player)

    def gains(self, plans: list[Array]) -> Array:
        """Say what each move would have earned more than the current behaviour at its information set."""
        values = self.earn(plans)
        for level in reversed(self.levels):
            earned = self.behaviour[level.span] * values[level.span]
            means = np.add.reduceat(earned, level.begins, out=self.means[level.sets])
            values[: level.span.start] += np.bincount(level.parent, means, level.span.start)
        gains: Array = values[1:] - self.means.take(self.set_of)
        return gains

    def learn(self, gains: Array, keep_positive: float, keep_negative: float, predictive: bool) -> None:
        """Add the gains to the regrets, and set the behaviour and the plan of the next iteration."""
        regret = self.regret
        regret += gains
        if keep_negative == 0.0 and keep_positive == 1.0:
            np.maximum(regret, 0.0, out=regret)
        elif keep_negative != 1.0 or keep_positive != 1.0:
            regret *= np.where(regret > 0.0, keep_positive, keep_negative)
        self._match(np.maximum(regret + gains if predictive else regret, 0.0))
        plan, behaviour = self.plan, self.behaviour
        for level in self.levels:
            np.multiply(plan.take(level.parents), behaviour[level.span], out=plan[level.span])

    def _match(self, positive: Array) -> None:
        """Regret matching: play in proportion to positive regret, uniformly where there is none."""
        if not len(positive):
            return
        sums = np.add.reduceat(positive, self.begins)
        idle = sums == 0.0
        if idle.any():
            sums[idle] = 1.0
            positive += np.where(idle.take(self.set_of), self.uniform, 0.0)
        np.divide(positive, sums.take(self.set_of), out=self.behaviour[1:])


def _list_levels(plex: Treeplex) -> list[_Level]:
    levels = []
    for low, high in zip(plex.levels[:-1].tolist(), plex.levels[1:].tolist(), strict=True):
        start, stop = plex.span(low, high)
        parent = plex.parent[low:high]
        parents = np.repeat(parent, plex.size[low:high])
        levels.append(_Level(slice(low, high), slice(start, stop), plex.first[low:high] - start, parent, parents))
    return levels


def _earnings(form: SequenceForm, player: int) -> Any:
    """A function of all plans: what each own sequence earns at the leaves it ends at."""
    own = form.sequences[player]
    order = np.argsort(own, kind="stable")
    ends, begins = np.unique(own[order], return_index=True)
    payoffs = form.payoffs[player][order]
    others = [(q, form.sequences[q][order]) for q in range(form.num_players) if q != player]
    count = form.plexes[player].num_sequences

    def earn(plans: list[Array]) -> Array:
        weights = payoffs
        for other, sequences in others:
            weights = weights * plans[other].take(sequences)
        values = np.zeros(count)
        values[ends] = np.add.reduceat(weights, begins)
        return values

    return earn
