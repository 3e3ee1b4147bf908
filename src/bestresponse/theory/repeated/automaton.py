"""Strategies for repeated games as finite automata.

A strategy with finite memory is an automaton: in each state it plays a mixed action, and the pair (own action, other's
action) leads to the next state (Rubinstein, "Finite automata play the repeated prisoner's dilemma", JET 39, 1986).
`mix[s]` is the mixed action in state s, `step[s, a, b]` the state after playing a against b.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bestresponse.core.errors import InvalidGame
from bestresponse.theory.games.normal_form import Array

__all__ = ["Automaton", "constant", "cycle", "memory_one", "opponent_history", "state_machine"]

States = NDArray[np.int32]
_LARGEST = 4096


@dataclass(frozen=True, eq=False)
class Automaton:
    """`mix` is (states, own actions), `step` (states, own actions, other's actions); play begins in state 0.

    >>> tit_for_tat = memory_one("tit-for-tat", [1, 0], [[[1, 0], [0, 1]], [[1, 0], [0, 1]]])
    >>> tit_for_tat.states, tit_for_tat.pure
    (5, True)
    """

    name: str
    mix: Array
    step: States

    def __post_init__(self) -> None:
        mix, step = np.array(self.mix, dtype=np.float64), np.array(self.step, dtype=np.int32)
        if mix.ndim != 2 or step.ndim != 3 or step.shape[:2] != mix.shape or not mix.size or not step.size:
            raise InvalidGame(f"automaton {self.name!r}: mix {mix.shape} and step {step.shape} do not fit together")
        if len(mix) > _LARGEST:
            raise InvalidGame(f"automaton {self.name!r} has {len(mix)} states; at most {_LARGEST} are allowed")
        if not (np.isfinite(mix).all() and (mix >= 0).all() and np.allclose(mix.sum(axis=1), 1.0, atol=1e-9)):
            raise InvalidGame(f"automaton {self.name!r}: the actions of every state need probabilities that sum to 1")
        if (step < 0).any() or (step >= len(mix)).any():
            raise InvalidGame(f"automaton {self.name!r}: a step leads to a state that does not exist")
        for array in (mix, step):
            array.setflags(write=False)
        object.__setattr__(self, "mix", mix)
        object.__setattr__(self, "step", step)

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.mix)

    @property
    def pure(self) -> bool:
        """Whether it leaves nothing to chance."""
        return bool((self.mix.max(axis=1) == 1.0).all())


def constant(name: str, mix: ArrayLike, others: int | None = None) -> Automaton:
    """Always the same mixed action; `others` is how many actions the other player has (default: as many)."""
    action = np.asarray(mix, dtype=np.float64)
    return Automaton(name, action[None], np.zeros((1, len(action), others or len(action)), dtype=np.int32))


def cycle(name: str, actions: Sequence[int], count: int, others: int | None = None) -> Automaton:
    """These actions over and over, out of `count`."""
    mix = np.eye(count)[list(actions)]
    following = (np.arange(len(actions)) + 1) % len(actions)
    step = np.broadcast_to(following[:, None, None], (len(actions), count, others or count))
    return Automaton(name, mix, step.astype(np.int32))


def memory_one(name: str, first: ArrayLike, after: ArrayLike) -> Automaton:
    """The mixed action `first`, then `after[a][b]` once own a met b."""
    opening, replies = np.asarray(first, dtype=np.float64), np.asarray(after, dtype=np.float64)
    own, other = replies.shape[:2]
    step = np.broadcast_to(1 + np.arange(own * other).reshape(own, other), (1 + own * other, own, other))
    return Automaton(name, np.vstack([opening[None], replies.reshape(own * other, -1)]), step.astype(np.int32))


def opponent_history(name: str, choose: Callable[[tuple[int, ...]], int], depth: int, count: int = 2) -> Automaton:
    """Return the action that `choose` gives for the other's last `depth` actions (fewer at the beginning)."""
    numbers: dict[tuple[int, ...], int] = {(): 0}
    histories: list[tuple[int, ...]] = [()]
    step: list[list[list[int]]] = []
    for history in histories:
        following = []
        for action in range(count):
            seen = (*history, action)[-depth:]
            if seen not in numbers:
                numbers[seen] = len(histories)
                histories.append(seen)
            following.append(numbers[seen])
        step.append([following] * count)
    return Automaton(name, np.eye(count)[[choose(history) for history in histories]], np.array(step))


def state_machine(
    name: str, moves: Mapping[tuple[str, int], tuple[str, int]], start: str, first: int, count: int = 2
) -> Automaton:
    """Build a machine that plays on its transitions: in a state, the other's action b leads to (next, own action)."""
    places: dict[tuple[str, int], int] = {(start, first): 0}
    order = [(start, first)]
    step: list[list[list[int]]] = []
    for state, _ in order:
        following = []
        for seen in range(count):
            target = moves[state, seen]
            if target not in places:
                places[target] = len(order)
                order.append(target)
            following.append(places[target])
        step.append([following] * count)
    return Automaton(name, np.eye(count)[[action for _, action in order]], np.array(step))
