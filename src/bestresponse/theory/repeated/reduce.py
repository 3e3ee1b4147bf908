"""The smallest automaton that behaves like a given one, and whether two behave alike.

Two states are equivalent if they play the same mixed action and every pair of actions leads to equivalent states; the
partition is refined until it is stable (E. Moore, "Gedanken-experiments on sequential machines", Automata Studies,
1956). States that cannot be reached are left out. With `noise` every action can be played, so every state counts that
some sequence of actions leads to; that is also what is kept without noise.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bestresponse.theory.repeated.automaton import Automaton

__all__ = ["behave_alike", "reduced", "relabelled"]


def reduced(automaton: Automaton) -> Automaton:
    """Reachable states only, equivalent ones merged; state 0 stays the first.

    >>> from bestresponse.theory.repeated.library import classic_strategy
    >>> tit_for_tat = classic_strategy("tit-for-tat")
    >>> tit_for_tat.states, reduced(tit_for_tat).states
    (5, 2)
    """
    step = automaton.step.reshape(automaton.states, -1).tolist()
    reached = _reachable(step)
    classes = _classes(automaton.mix.tolist(), step, reached)
    first: dict[int, int] = {}
    for state in reached:
        first.setdefault(classes[state], state)
    if len(first) == automaton.states:
        return automaton
    kept = [first[number] for number in range(len(first))]
    merged = [[classes[following] for following in step[state]] for state in kept]
    shape = (len(kept), *automaton.step.shape[1:])
    return Automaton(automaton.name, automaton.mix[kept], np.array(merged, dtype=np.int32).reshape(shape))


def behave_alike(first: Automaton, second: Automaton) -> bool:
    """Say whether both do the same after every history."""
    if first.step.shape[1:] != second.step.shape[1:]:
        return False
    one, other = reduced(first), reduced(second)
    return np.array_equal(one.mix, other.mix) and np.array_equal(one.step, other.step)


def relabelled(automaton: Automaton, own: Sequence[int], other: Sequence[int]) -> Automaton:
    """Return the same strategy in a game that lists actions in another order: its action k is `own[k]` there, the other
    player's action k is `other[k]`."""
    mix, step = np.empty_like(automaton.mix), np.empty_like(automaton.step)
    mix[:, list(own)] = automaton.mix
    step[np.ix_(range(automaton.states), own, other)] = automaton.step
    return Automaton(automaton.name, mix, step)


def _reachable(step: list[list[int]]) -> list[int]:
    """States in the order in which a search from the first one finds them."""
    order, seen = [0], {0}
    for state in order:
        for following in step[state]:
            if following not in seen:
                seen.add(following)
                order.append(following)
    return order


def _classes(mix: list[list[float]], step: list[list[int]], reached: list[int]) -> dict[int, int]:
    """The class of every state; classes are numbered in the order of `reached`."""
    classes, count = _numbered({state: tuple(mix[state]) for state in reached})
    while True:
        finer, more = _numbered({state: (classes[state], *map(classes.__getitem__, step[state])) for state in reached})
        if more == count:
            return finer
        classes, count = finer, more


def _numbered(keys: dict[int, tuple[float, ...]]) -> tuple[dict[int, int], int]:
    """Equal keys get equal numbers, in order of first appearance; and how many there are."""
    numbers: dict[tuple[float, ...], int] = {}
    return {state: numbers.setdefault(key, len(numbers)) for state, key in keys.items()}, len(numbers)
