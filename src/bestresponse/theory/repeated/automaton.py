"""Strategies for repeated games as finite automata: building, reducing, naming and comparing them.

A strategy with finite memory is an automaton: in each state it plays a mixed action, and the pair
(own action, other's action) leads to the next state (Rubinstein, "Finite automata play the repeated
prisoner's dilemma", JET 39, 1986). `mix[s]` is the mixed action in state s, `step[s, a, b]` the
state after playing a against b.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product
from operator import itemgetter
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.core.registry import did_you_mean
from bestresponse.theory.games.normal_form import (
    Array,
    GameLike,
    NormalForm,
    as_normal_form,
)

State = TypeVar("State")
States = NDArray[np.int32]
_LARGEST = 4096


@dataclass(frozen=True, eq=False)
class Automaton:
    """`mix` is (states, own actions), `step` (states, own actions, other's actions).

    Play begins in state 0.

    >>> tit_for_tat = memory_one("tit-for-tat", [1, 0], [[[1, 0], [0, 1]], [[1, 0], [0, 1]]])
    >>> tit_for_tat.states, tit_for_tat.pure
    (5, True)
    """

    name: str
    mix: Array
    step: States

    def __post_init__(self) -> None:
        mix = np.array(self.mix, dtype=np.float64)
        step = np.array(self.step, dtype=np.int32)
        fits = mix.ndim == 2 and step.ndim == 3 and step.shape[:2] == mix.shape
        if not fits or not mix.size or not step.size:
            raise InvalidGame(
                f"automaton {self.name!r}: mix {mix.shape} and step {step.shape} do not fit"
                " together"
            )
        if len(mix) > _LARGEST:
            raise InvalidGame(
                f"automaton {self.name!r} has {len(mix)} states; at most {_LARGEST} are allowed"
            )
        is_possible = np.isfinite(mix).all() and (mix >= 0).all()
        if not is_possible or not np.allclose(mix.sum(axis=1), 1.0, atol=1e-9):
            raise InvalidGame(
                f"automaton {self.name!r}: the actions of every state need probabilities that sum"
                " to 1"
            )
        if (step < 0).any() or (step >= len(mix)).any():
            raise InvalidGame(
                f"automaton {self.name!r}: a step leads to a state that does not exist"
            )
        for field, array in (("mix", mix), ("step", step)):
            array.setflags(write=False)
            object.__setattr__(self, field, array)

    @property
    def states(self) -> int:
        """How many states there are."""
        return len(self.mix)

    @property
    def pure(self) -> bool:
        """Whether it leaves nothing to chance."""
        return bool((self.mix.max(axis=1) == 1.0).all())


def constant(name: str, mix: ArrayLike) -> Automaton:
    """Always the same mixed action."""
    action = np.asarray(mix, dtype=np.float64)
    stay = np.zeros((1, len(action), len(action)), dtype=np.int32)
    return Automaton(name, action[None], stay)


def cycle(name: str, actions: Sequence[int], count: int) -> Automaton:
    """These actions over and over, out of `count`."""
    following = (np.arange(len(actions)) + 1) % len(actions)
    step = np.broadcast_to(following[:, None, None], (len(actions), count, count))
    mix = np.eye(count)[list(actions)]
    return Automaton(name, mix, step.astype(np.int32))


def memory_one(name: str, first: ArrayLike, after: ArrayLike) -> Automaton:
    """The mixed action `first`, then `after[a][b]` once own a met b."""
    opening = np.asarray(first, dtype=np.float64)
    replies = np.asarray(after, dtype=np.float64)
    own, other = replies.shape[:2]
    outcomes = own * other
    # State 0 is the opening, and each outcome of a round has a state of its own.
    following = 1 + np.arange(outcomes).reshape(own, other)
    step = np.broadcast_to(following, (1 + outcomes, own, other))
    mix = np.vstack([opening[None], replies.reshape(outcomes, -1)])
    return Automaton(name, mix, step.astype(np.int32))


def opponent_history(
    name: str,
    choose: Callable[[tuple[int, ...]], int],
    depth: int,
) -> Automaton:
    """Return the action that `choose` gives for the other's last `depth` actions.

    At the beginning there are fewer.
    """

    def follow(history: tuple[int, ...], seen: int) -> tuple[int, ...]:
        return (*history, seen)[-depth:]

    first: tuple[int, ...] = ()
    return _unfold(name, first, follow=follow, act=choose)


def state_machine(
    name: str,
    moves: Mapping[tuple[str, int], tuple[str, int]],
    start: str,
    first: int,
) -> Automaton:
    """Build a machine that plays on its transitions.

    In a state, the other's action b leads to (next, own action).
    """

    def follow(at: tuple[str, int], seen: int) -> tuple[str, int]:
        state, _ = at
        return moves[state, seen]

    return _unfold(name, (start, first), follow=follow, act=itemgetter(1))


def _unfold(
    name: str,
    start: State,
    follow: Callable[[State, int], State],
    act: Callable[[State], int],
) -> Automaton:
    """Number the states that the other's two actions lead to from `start`.

    `act` says what is played in each.
    """
    numbers = {start: 0}
    order = [start]
    step: list[list[list[int]]] = []
    for state in order:
        following = [follow(state, seen) for seen in (C, D)]
        for target in following:
            if target not in numbers:
                numbers[target] = len(order)
                order.append(target)
        leads_to = [numbers[target] for target in following]
        step.append([leads_to] * 2)
    actions = list(map(act, order))
    return Automaton(name, np.eye(2)[actions], np.array(step))


def reduced(automaton: Automaton) -> Automaton:
    """Return the smallest automaton that behaves alike.

    It has reachable states only, and equivalent ones are merged. State 0 stays the first.

    Two states are equivalent if they play the same mixed action and every pair of actions leads to
    equivalent states; the partition is refined until it is stable (E. Moore, "Gedanken-experiments
    on sequential machines", Automata Studies, 1956). With noise every action can be played, so
    every state counts that some sequence of actions leads to; that is also what is kept without
    noise.

    >>> from bestresponse.theory.repeated.automaton import classic_strategy
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
    merged = np.empty((len(kept), len(step[0])), dtype=np.int32)
    for number, state in enumerate(kept):
        merged[number] = [classes[following] for following in step[state]]
    shape = (len(kept), *automaton.step.shape[1:])
    return Automaton(automaton.name, automaton.mix[kept], merged.reshape(shape))


def behave_alike(first: Automaton, second: Automaton) -> bool:
    """Say whether both do the same after every history."""
    if first.step.shape[1:] != second.step.shape[1:]:
        return False
    left = reduced(first)
    right = reduced(second)
    return np.array_equal(left.mix, right.mix) and np.array_equal(left.step, right.step)


def relabelled(automaton: Automaton, own: Sequence[int], other: Sequence[int]) -> Automaton:
    """Return the same strategy in a game that lists actions in another order.

    Its action k is `own[k]` there, the other player's action k is `other[k]`.
    """
    mix = np.empty_like(automaton.mix)
    step = np.empty_like(automaton.step)
    mix[:, list(own)] = automaton.mix
    step[np.ix_(range(automaton.states), own, other)] = automaton.step
    return Automaton(automaton.name, mix, step)


def _reachable(step: list[list[int]]) -> list[int]:
    """States in the order in which a search from the first one finds them."""
    order = [0]
    seen = {0}
    for state in order:
        for following in step[state]:
            if following not in seen:
                seen.add(following)
                order.append(following)
    return order


def _classes(mix: list[list[float]], step: list[list[int]], reached: list[int]) -> dict[int, int]:
    """The class of every state; classes are numbered in the order of `reached`."""
    classes = _numbered({state: tuple(mix[state]) for state in reached})
    count = len(set(classes.values()))
    while True:
        keys = {}
        for state in reached:
            keys[state] = (classes[state], *map(classes.__getitem__, step[state]))
        finer = _numbered(keys)
        more = len(set(finer.values()))
        if more == count:
            return finer
        classes = finer
        count = more


def _numbered(keys: Mapping[int, tuple[float, ...]]) -> dict[int, int]:
    """Equal keys get equal numbers, in order of first appearance."""
    numbers: dict[tuple[float, ...], int] = {}
    return {state: numbers.setdefault(key, len(numbers)) for state, key in keys.items()}


C = 0
D = 1
_GRIM = {
    ("calm", C): ("calm", C),
    ("calm", D): ("angry", D),
    ("angry", C): ("angry", D),
    ("angry", D): ("angry", D),
}


def reactive(
    name: str,
    first: float,
    cc: float,
    cd: float,
    dc: float,
    dd: float,
) -> Automaton:
    """Cooperates first with probability `first`, then with one for the last actions.

    The last actions are (own, other's).
    """
    after = np.array([[cc, cd], [dc, dd]])
    return memory_one(name, [first, 1 - first], np.stack([after, 1 - after], axis=-1))


def _any_of(last: int) -> Callable[[tuple[int, ...]], int]:
    return lambda seen: D if D in seen[-last:] else C


def _forgiving_grim() -> Automaton:
    """Punishes a defection by defecting four times, then makes peace, and looks again.

    It makes peace with two cooperations.
    """
    moves = {("calm", C): ("calm", C), ("calm", D): ("p1", D)}
    order = [
        ("p1", "p2", D),
        ("p2", "p3", D),
        ("p3", "p4", D),
        ("p4", "m1", C),
        ("m1", "calm", C),
    ]
    for here, there, action in order:
        moves |= {(here, C): (there, action), (here, D): (there, action)}
    return state_machine("soft-grudger", moves, "calm", C)


def _tester() -> Automaton:
    """Defects first, then makes up or exploits.

    At the first defection it makes up by cooperating and plays tit-for-tat. Otherwise it cooperates
    twice and then defects every other round (as Tester in Axelrod's second tournament).
    """
    moves = {
        ("probe", C): ("quiet", C),
        ("probe", D): ("sorry", C),
        ("quiet", C): ("exploit", C),
        ("quiet", D): ("sorry", C),
        ("exploit", C): ("cheat", D),
        ("exploit", D): ("tft", C),
        ("cheat", C): ("exploit", C),
        ("cheat", D): ("tft", C),
        ("sorry", C): ("tft", C),
        ("sorry", D): ("tft", D),
        ("tft", C): ("tft", C),
        ("tft", D): ("tft", D),
    }
    return state_machine("tester", moves, "probe", D)


def _majority(name: str, soft: bool, depth: int) -> Automaton:
    """Follows what the other did more often in the last `depth` rounds.

    `soft` cooperates on a tie.
    """

    def choose(seen: tuple[int, ...]) -> int:
        defections = sum(seen)
        more = defections > len(seen) / 2 if soft else defections >= len(seen) / 2
        return D if more else C

    return opponent_history(name, choose, depth)


@cache  # none of them can be changed, and every name of a player is looked up among them
def classic_strategies() -> tuple[Automaton, ...]:
    """Return well-known strategies in alphabetical order.

    They are for games in which the first action is to cooperate and the second to defect.

    Sources: R. Axelrod, The Evolution of Cooperation, 1984 (the two tournaments); M. Nowak & K.
    Sigmund, "A strategy of win-stay, lose-shift that outperforms tit-for-tat", Nature 364, 1993; W.
    Press & F. Dyson, "Iterated prisoner's dilemma contains strategies that dominate any
    evolutionary opponent", PNAS 109, 2012 (zero-determinant: extort, set); A. Stewart & J. Plotkin,
    PNAS 109, 2012 (zero-determinant: generous); J. Bendor, R. Kramer & S. Stout, J. Conflict
    Resolution 35, 1991 (generous tit-for-tat).
    """
    strategies = [
        constant("cooperator", [1, 0]),
        constant("defector", [0, 1]),
        constant("random", [0.5, 0.5]),
        cycle("alternator", [C, D], 2),
        cycle("cycler-ccd", [C, C, D], 2),
        cycle("cycler-ddc", [D, D, C], 2),
        reactive("tit-for-tat", 1, cc=1, cd=0, dc=1, dd=0),
        reactive("suspicious-tit-for-tat", 0, cc=1, cd=0, dc=1, dd=0),
        reactive("anti-tit-for-tat", 1, cc=0, cd=1, dc=0, dd=1),
        reactive("bully", 0, cc=0, cd=1, dc=0, dd=1),
        reactive("win-stay-lose-shift", 1, cc=1, cd=0, dc=0, dd=1),
        reactive("generous-tit-for-tat", 1, cc=1, cd=1 / 3, dc=1, dd=1 / 3),
        reactive("joss", 1, cc=0.9, cd=0, dc=0.9, dd=0),
        reactive("firm-but-fair", 1, cc=1, cd=0, dc=1, dd=2 / 3),
        reactive("stochastic-cooperator", 1, cc=0.935, cd=0.229, dc=0.266, dd=0.42),
        reactive(
            "stochastic-win-stay-lose-shift",
            1,
            cc=0.95,
            cd=0.05,
            dc=0.05,
            dd=0.95,
        ),
        reactive("zd-extort-2", 1, cc=8 / 9, cd=1 / 2, dc=1 / 3, dd=0),
        reactive("zd-generous-2", 1, cc=1, cd=1 / 8, dc=1, dd=1 / 4),
        reactive("zd-set-2", 1, cc=3 / 4, cd=1 / 4, dc=1 / 2, dd=1 / 4),
        reactive("win-shift-lose-stay", 0, cc=0, cd=1, dc=1, dd=0),
        opponent_history("tit-for-two-tats", lambda seen: D if seen[-2:] == (D, D) else C, 2),
        opponent_history("two-tits-for-tat", _any_of(2), 2),
        opponent_history("hard-tit-for-tat", _any_of(3), 3),
        opponent_history(
            "hard-tit-for-two-tats",
            lambda seen: D if (D, D) in pairwise(seen) else C,
            3,
        ),
        _majority("soft-majority-3", True, 3),
        _majority("hard-majority-3", False, 3),
        _majority("soft-majority-4", True, 4),
        state_machine("grim", _GRIM, "calm", C),
        _forgiving_grim(),
        _tester(),
    ]
    return tuple(sorted(strategies, key=lambda automaton: automaton.name))


def classic_strategy(name: str) -> Automaton:
    """Return the strategy of that name; UsageError with the nearest name where there is none."""
    known = {automaton.name: automaton for automaton in classic_strategies()}
    if name not in known:
        raise UsageError(f"there is no strategy named {name!r}.{did_you_mean(name, sorted(known))}")
    return known[name]


def cooperative_actions(game: GameLike) -> tuple[int, int]:
    """Return the action that is to cooperate, for each player.

    InvalidGame says why where there is none.

    A two-player game with two actions each has such actions if for both players (R. Dawes, "Social
    dilemmas", Annual Review of Psychology 31, 1980; M. Macy & A. Flache, PNAS 99, 2002): the
    other's cooperation helps whatever one does oneself (R > S and T >= P), and all cooperating is
    better than all defecting (R > P). The prisoner's dilemma, chicken and the stag hunt have them;
    matching pennies, battle of the sexes and pure coordination do not.

    >>> from bestresponse.theory.catalogue.tables import load
    >>> cooperative_actions(load("prisoners-dilemma"))
    (0, 0)
    """
    game = as_normal_form(game)
    if game.num_players != 2 or game.shape != (2, 2):
        raise InvalidGame(
            f"cooperating and defecting needs two players with two actions each, got {game.shape}"
        )
    for first, second in product(range(2), repeat=2):
        if _cooperative(game, first, second):
            return first, second
    raise InvalidGame(
        "no action of this game is to cooperate: one that never hurts the other player, and is"
        " better for both than the other action if both take it"
    )


def _cooperative(game: NormalForm, first: int, second: int) -> bool:
    first_own = game.payoffs[0]
    second_own = game.payoffs[1].T
    for table, mine, theirs in ((first_own, first, second), (second_own, second, first)):
        reward = table[mine, theirs]
        sucker = table[mine, 1 - theirs]
        temptation = table[1 - mine, theirs]
        punishment = table[1 - mine, 1 - theirs]
        if not (reward > sucker and temptation >= punishment and reward > punishment):
            return False
    return True
