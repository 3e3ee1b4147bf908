"""Well-known strategies for games in which the first action is to cooperate and the second to defect.

Sources: R. Axelrod, The Evolution of Cooperation, 1984 (the two tournaments); M. Nowak & K. Sigmund, "A strategy of
win-stay, lose-shift that outperforms tit-for-tat", Nature 364, 1993; W. Press & F. Dyson, "Iterated prisoner's dilemma
contains strategies that dominate any evolutionary opponent", PNAS 109, 2012 (zero-determinant: extort, set); A. Stewart
& J. Plotkin, PNAS 109, 2012 (zero-determinant: generous); J. Bendor, R. Kramer & S. Stout, J. Conflict Resolution 35,
1991 (generous tit-for-tat).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.core.registry import did_you_mean
from bestresponse.theory.repeated.automaton import (
    Automaton,
    constant,
    cycle,
    memory_one,
    opponent_history,
    state_machine,
)

__all__ = ["classic_strategies", "classic_strategy"]

C, D = 0, 1


def reactive(name: str, first: float, cc: float, cd: float, dc: float, dd: float) -> Automaton:
    """Cooperates first with probability `first`, then with the one for (own, other's) last actions."""
    after = np.array([[cc, cd], [dc, dd]])
    return memory_one(name, [first, 1 - first], np.stack([after, 1 - after], axis=-1))


def _any_of(last: int) -> Callable[[tuple[int, ...]], int]:
    return lambda seen: D if D in seen[-last:] else C


def _grim() -> Automaton:
    moves = {
        ("calm", C): ("calm", C),
        ("calm", D): ("angry", D),
        ("angry", C): ("angry", D),
        ("angry", D): ("angry", D),
    }
    return state_machine("grim", moves, "calm", C)


def _forgiving_grim() -> Automaton:
    """Punishes a defection by defecting four times, then makes peace with two cooperations, and looks again."""
    moves = {("calm", C): ("calm", C), ("calm", D): ("p1", D)}
    order = [("p1", "p2", D), ("p2", "p3", D), ("p3", "p4", D), ("p4", "m1", C), ("m1", "calm", C)]
    for here, there, action in order:
        moves |= {(here, C): (there, action), (here, D): (there, action)}
    return state_machine("soft-grudger", moves, "calm", C)


def _tester() -> Automaton:
    """Defects first; at the first defection it makes up by cooperating and plays tit-for-tat, else it cooperates twice
    and then defects every other round (as Tester in Axelrod's second tournament)."""
    moves = {
        ("probe", C): ("quiet", C), ("probe", D): ("sorry", C),
        ("quiet", C): ("exploit", C), ("quiet", D): ("sorry", C),
        ("exploit", C): ("cheat", D), ("exploit", D): ("tft", C),
        ("cheat", C): ("exploit", C), ("cheat", D): ("tft", C),
        ("sorry", C): ("tft", C), ("sorry", D): ("tft", D),
        ("tft", C): ("tft", C), ("tft", D): ("tft", D),
    }  # fmt: skip
    return state_machine("tester", moves, "probe", D)


def _majority(name: str, soft: bool, depth: int) -> Automaton:
    """Follows what the other did more often in the last `depth` rounds; `soft` cooperates on a tie."""

    def choose(seen: tuple[int, ...]) -> int:
        defections = sum(seen)
        more = defections > len(seen) / 2 if soft else defections >= len(seen) / 2
        return D if more else C

    return opponent_history(name, choose, depth)


def classic_strategies() -> tuple[Automaton, ...]:
    """Return all of them, in alphabetical order."""
    found = [
        constant("cooperator", [1, 0]),
        constant("defector", [0, 1]),
        constant("random", [0.5, 0.5]),
        cycle("alternator", [C, D], 2),
        cycle("cycler-ccd", [C, C, D], 2),
        cycle("cycler-ddc", [D, D, C], 2),
        reactive("tit-for-tat", 1, 1, 0, 1, 0),
        reactive("suspicious-tit-for-tat", 0, 1, 0, 1, 0),
        reactive("anti-tit-for-tat", 1, 0, 1, 0, 1),
        reactive("bully", 0, 0, 1, 0, 1),
        reactive("win-stay-lose-shift", 1, 1, 0, 0, 1),
        reactive("generous-tit-for-tat", 1, 1, 1 / 3, 1, 1 / 3),
        reactive("joss", 1, 0.9, 0, 0.9, 0),
        reactive("firm-but-fair", 1, 1, 0, 1, 2 / 3),
        reactive("stochastic-cooperator", 1, 0.935, 0.229, 0.266, 0.42),
        reactive("stochastic-win-stay-lose-shift", 1, 0.95, 0.05, 0.05, 0.95),
        reactive("zd-extort-2", 1, 8 / 9, 1 / 2, 1 / 3, 0),
        reactive("zd-generous-2", 1, 1, 1 / 8, 1, 1 / 4),
        reactive("zd-set-2", 1, 3 / 4, 1 / 4, 1 / 2, 1 / 4),
        reactive("win-shift-lose-stay", 0, 0, 1, 1, 0),
        opponent_history("tit-for-two-tats", lambda seen: D if seen[-2:] == (D, D) else C, 2),
        opponent_history("two-tits-for-tat", _any_of(2), 2),
        opponent_history("hard-tit-for-tat", _any_of(3), 3),
        opponent_history("hard-tit-for-two-tats", lambda seen: D if (D, D) in pairwise(seen) else C, 3),
        _majority("soft-majority-3", True, 3),
        _majority("hard-majority-3", False, 3),
        _majority("soft-majority-4", True, 4),
        _grim(),
        _forgiving_grim(),
        _tester(),
    ]
    return tuple(sorted(found, key=lambda automaton: automaton.name))


def classic_strategy(name: str) -> Automaton:
    """Return the strategy of that name; UsageError with the nearest name where there is none."""
    known = {automaton.name: automaton for automaton in classic_strategies()}
    if name not in known:
        raise UsageError(f"there is no strategy named {name!r}.{did_you_mean(name, sorted(known))}")
    return known[name]
