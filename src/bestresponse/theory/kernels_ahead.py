"""Compile all loops ahead of their first use, so that no game waits for the compiler.

Numba keeps what it compiles on disk, for the types of the arguments it was called with. So every
step plays or solves something small with the types that callers use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np

from bestresponse import theory
from bestresponse.core.capabilities import AnyPositions, ToMove
from bestresponse.core.game import NATURE
from bestresponse.theory.positions.graph import explore
from bestresponse.theory.positions.solve import solve_positions

_BASE = "bestresponse.theory"


@dataclass(frozen=True, slots=True)
class KernelStep:
    """What is compiled, in words, the modules it is in, and something small that needs all of
    it."""

    words: str
    modules: tuple[str, ...]
    use: Callable[[], object]


def _draw(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.random.default_rng(0).random(shape)


def use_enumeration() -> None:
    """Find the equilibria of games of two players."""
    for size in (2, 3, 4):
        theory.nash(_draw(2, size, size), engine="numba")


def use_zero_sum() -> None:
    """Solve zero-sum games."""
    theory.solve_zero_sum(_draw(2, 4, 4), engine="numba")


class _Toss:
    """A coin is tossed until it shows heads: the smallest game with a cycle of chance."""

    name = "toss"
    roles = ("player 1", "player 2")
    payoff_bounds = (-1.0, 1.0)
    total = 0.0
    endless_result = (0.0, 0.0)

    def begin(self) -> str:
        return "toss"

    def find_turn(self, position: str) -> ToMove:
        return ToMove(NATURE, ("heads", "tails"), (0.5, 0.5)) if position == "toss" else ToMove()

    def find_key(self, position: str) -> str:
        return position

    def advance(self, position: str, move: str) -> str:
        return "toss" if move == "tails" else move

    def find_result(self, position: str) -> tuple[float, ...]:
        return (1.0, -1.0)

    def find_position(self, state: str) -> str:
        return state


STEPS = (
    KernelStep(
        "equilibria of two players",
        (
            f"{_BASE}.equilibria.vertex_kernels",
            f"{_BASE}.equilibria.extreme_kernels",
        ),
        use_enumeration,
    ),
    KernelStep("zero-sum games", (f"{_BASE}.zero_sum.kernels",), use_zero_sum),
    KernelStep(
        "counterfactual regret",
        (f"{_BASE}.trees.cfr",),
        lambda: theory.cfr(theory.load_tree("kuhn-poker"), 1, engine="numba"),
    ),
    KernelStep(
        "positions",
        (f"{_BASE}.positions.kernels",),
        lambda: solve_positions(explore(cast("AnyPositions", _Toss())), engine="numba"),
    ),
)
"""Everything there is to compile."""
