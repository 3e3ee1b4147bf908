"""The smallest automaton that behaves like a given one, and whether two behave alike.

Two states are equivalent if they play the same mixed action and every pair of actions leads to equivalent states; the
partition is refined until it is stable (E. Moore, "Gedanken-experiments on sequential machines", Automata Studies,
1956). States that cannot be reached are left out. With `noise` every action can be played, so every state counts that
some sequence of actions leads to; that is also what is kept without noise.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bestresponse.theory.automaton import Automaton

__all__ = ["behave_alike", "reduced", "relabelled"]


def reduced(automaton: Automaton) -> Automaton:
    """Reachable states only, equivalent ones merged; state 0 stays the first.

    >>> from bestresponse.theory.automaton_library import classic_strategy
    >>> tit_for_tat = classic_strategy("tit-for-tat")
    >>> tit_for_tat.states, reduced(tit_for_tat).states
    (5, 2)
    """
    reached = _reachable(automaton)
    place = np.zeros(automaton.states, dtype=np.int64)
    place[reached] = np.arange(len(reached))
    mix, step = automaton.mix[reached], place[automaton.step[reached]]
    classes = _classes(mix, step)
    _, first = np.unique(classes, return_index=True)
    return Automaton(automaton.name, mix[first], classes[step[first]].astype(np.int32))


def behave_alike(first: Automaton, second: Automaton) -> bool:
    """Whether both do the same after every history."""
    if first.step.shape[1:] != second.step.shape[1:]:
        return False
    one, other = reduced(first), reduced(second)
    return np.array_equal(one.mix, other.mix) and np.array_equal(one.step, other.step)


def relabelled(automaton: Automaton, own: Sequence[int], other: Sequence[int]) -> Automaton:
    """The same strategy in a game that lists actions in another order: its action k is `own[k]` there, the other
    player's action k is `other[k]`."""
    mix, step = np.empty_like(automaton.mix), np.empty_like(automaton.step)
    mix[:, list(own)] = automaton.mix
    step[np.ix_(range(automaton.states), own, other)] = automaton.step
    return Automaton(automaton.name, mix, step)


def _reachable(automaton: Automaton) -> NDArray[np.int64]:
    """States in the order in which a search from the first one finds them."""
    order, seen = [0], {0}
    for state in order:
        for following in automaton.step[state].ravel().tolist():
            if following not in seen:
                seen.add(following)
                order.append(following)
    return np.array(order)


def _classes(mix: NDArray[np.float64], step: NDArray[np.int64]) -> NDArray[np.int64]:
    """The class of every state; classes are numbered by their first state."""
    classes = _numbered(mix)
    while True:
        finer = _numbered(np.column_stack([classes, classes[step].reshape(len(step), -1)]))
        if finer.max() == classes.max():
            return finer
        classes = finer


def _numbered(rows: NDArray[np.generic]) -> NDArray[np.int64]:
    """Equal rows get equal numbers, in order of first appearance."""
    numbers: dict[tuple[object, ...], int] = {}
    return np.array([numbers.setdefault(tuple(row), len(numbers)) for row in rows.tolist()])
