"""Iterations of counterfactual regret minimisation as one compiled loop (numba, extra `fast`).

All players' sequences stand in one row, so the kernel knows any number of players. Per player and iteration: one
sparse product over the leaves gives what each own sequence earns, one pass over the own information sets (last
first) gives values, regrets and the next behaviour, one pass (first first) the next realization plan.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestresponse.theory.arrays import Floats, Ints
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.trees.sequence_form import SequenceForm

__all__ = ["NumbaCfr"]


class NumbaCfr:
    """The running state of CFR; `run` continues it, `totals` are the weighted sums of the plans so far."""

    def __init__(self, form: SequenceForm) -> None:
        self._starts = np.cumsum([0, *(plex.num_sequences for plex in form.plexes)])
        self._arrays = (self._starts.astype(np.uint32), *_infosets(form, self._starts), *_leaves(form, self._starts))
        count = int(self._starts[-1])
        self._behaviour = np.concatenate([plex.normalise(np.zeros(plex.num_sequences)) for plex in form.plexes])
        plans = zip(form.plexes, np.split(self._behaviour, self._starts[1:-1]), strict=True)
        self._plan = np.concatenate([plex.plan(behaviour) for plex, behaviour in plans])
        self._regret, self._total, self._value = np.zeros(count), np.zeros(count), np.zeros(count)

    def run(self, schedule: Array, predictive: bool) -> None:
        """One iteration per column of `schedule` (rows: factors of positive and negative regrets, weights)."""
        state = (self._behaviour, self._plan, self._regret, self._total, self._value)
        _compiled()(*self._arrays, *state, schedule, predictive)

    @property
    def totals(self) -> list[Array]:
        """The weighted sum of every player's plans so far."""
        return np.split(self._total, self._starts[1:-1])


def _infosets(form: SequenceForm, starts: Ints) -> tuple[NDArray[np.uint32] | Array, ...]:
    """Where each player's information sets begin, and their parent, first sequence and size."""
    plexes = list(zip(form.plexes, starts[:-1], strict=True))
    begins = np.cumsum([0, *(len(plex.infosets) for plex in form.plexes)])
    parent = np.concatenate([plex.parent + start for plex, start in plexes])
    first = np.concatenate([plex.first + start for plex, start in plexes])
    size = np.concatenate([plex.size for plex in form.plexes])
    return tuple(array.astype(np.uint32) for array in (begins, parent, first, size))


def _leaves(form: SequenceForm, starts: Ints) -> tuple[NDArray[np.uint32] | Array, ...]:
    """Per own sequence the slice of its leaves; per leaf the others' sequences and the own payoff."""
    slices, others, payoffs = [np.zeros(1, dtype=np.int64)], [], []
    for player, plex in enumerate(form.plexes):
        own = form.sequences[player]
        order = np.argsort(own, kind="stable")
        slices.append(np.bincount(own, minlength=plex.num_sequences))
        rest = [q for q in range(form.num_players) if q != player]
        others.append(form.sequences[rest][:, order] + starts[rest][:, None])
        payoffs.append(form.payoffs[player][order])
    ends = np.cumsum(np.concatenate(slices))
    return ends.astype(np.uint32), np.concatenate(others, axis=1).astype(np.uint32), np.concatenate(payoffs)


@cache
def _compiled() -> Any:
    from numba import njit

    return njit(cache=True, error_model="numpy", nogil=True, fastmath={"contract", "nsz", "reassoc"})(_iterate)


def _iterate(
    starts: Ints,
    begins: Ints,
    parent: Ints,
    first: Ints,
    size: Ints,
    ends: Ints,
    others: Ints,
    payoffs: Floats,
    behaviour: Floats,
    plan: Floats,
    regret: Floats,
    total: Floats,
    value: Floats,
    schedule: Floats,
    predictive: bool,
) -> None:
    num_players = starts.shape[0] - 1
    two = others.shape[0] == 1
    facing = others[0] if two else others[:0].ravel()
    for t in range(schedule.shape[1]):
        keep_positive, keep_negative, weight = schedule[0, t], schedule[1, t], schedule[2, t]
        for player in range(num_players):
            for s in range(starts[player], starts[player + 1]):
                earned = 0.0
                if two:
                    for leaf in range(ends[s], ends[s + 1]):
                        earned += payoffs[leaf] * plan[facing[leaf]]
                else:
                    for leaf in range(ends[s], ends[s + 1]):
                        share = payoffs[leaf]
                        for other in range(others.shape[0]):
                            share *= plan[others[other, leaf]]
                        earned += share
                value[s] = earned
            for i in range(begins[player + 1] - 1, begins[player] - 1, -1):
                low, high = first[i], first[i] + size[i]
                mean = 0.0
                for s in range(low, high):
                    mean += behaviour[s] * value[s]
                value[parent[i]] += mean
                positive = 0.0
                for s in range(low, high):
                    total[s] += weight * plan[s]
                    gain = value[s] - mean
                    summed = regret[s] + gain
                    summed *= keep_positive if summed > 0.0 else keep_negative
                    regret[s] = summed
                    if predictive:
                        summed += gain
                    summed = max(summed, 0.0)
                    behaviour[s] = summed
                    positive += summed
                if positive > 0.0:
                    scale = 1.0 / positive
                    for s in range(low, high):
                        behaviour[s] *= scale
                else:
                    for s in range(low, high):
                        behaviour[s] = 1.0 / size[i]
            for i in range(begins[player], begins[player + 1]):
                reach = plan[parent[i]]
                for s in range(first[i], first[i] + size[i]):
                    plan[s] = reach * behaviour[s]
