"""The games of a run: drawn once from (family, shape, seed), rounded so that they can be shown exactly, then solved.

Game k depends only on the seed and k. Payoffs are multiplied by `scale` and rounded to `decimals`, then solved as
rounded: what a model is shown is what it is measured against.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from inspect import signature

import numpy as np

from bestresponse.core.errors import InvalidGame
from bestresponse.core.json import JsonObject
from bestresponse.studies.bench.config import BenchConfig
from bestresponse.studies.bench.games.given import Order, UserGame
from bestresponse.theory.equilibria.solve import nash
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.generators.draw import generate
from bestresponse.theory.generators.family import FAMILIES
from bestresponse.theory.zero_sum.solve import ZeroSumSolutions, solve_zero_sum

__all__ = ["Drawn", "draw", "own_view"]


def own_view(payoffs: Array, seat: int) -> tuple[Array, Array]:
    """A game (2, rows, cols) as one seat sees it: its own payoffs and the other's, its own actions as rows."""
    return (payoffs[0], payoffs[1]) if seat == 0 else (payoffs[1].T, payoffs[0].T)


@dataclass(frozen=True)
class Drawn:
    """All games of a run, payoffs (n, 2, rows, cols); `orders` where they are one game in several orders."""

    payoffs: Array
    orders: tuple[Order, ...] = ()

    def __len__(self) -> int:
        return len(self.payoffs)

    @cached_property
    def zero_sum(self) -> bool:
        """Whether all games are zero-sum."""
        return bool((self.payoffs[:, 0] == -self.payoffs[:, 1]).all())

    @cached_property
    def solved(self) -> ZeroSumSolutions:
        """The zero-sum solutions, from the row player's side."""
        return solve_zero_sum(self.payoffs[:, 0])

    @cached_property
    def _first_equilibrium(self) -> tuple[Array, ...]:
        """Solve the game in its own order, so that the equilibrium is the same in every order."""
        return nash(NormalForm(self.payoffs[0])).equilibria[0].strategies

    @cached_property
    def _found(self) -> dict[int, tuple[Array, Array]]:
        return {}

    def get_equilibrium(self, game: int) -> tuple[Array, Array]:
        """Return the equilibrium (row, column strategy) that opponents and the baseline `equilibrium` play."""
        if self.zero_sum:
            return self.solved.row[game], self.solved.col[game]
        if game not in self._found:
            if self.orders:
                first, (rows, cols) = self._first_equilibrium, self.orders[game]
                self._found[game] = first[0][list(rows)], first[1][list(cols)]
            else:
                row, col = nash(NormalForm(self.payoffs[game])).equilibria[0].strategies
                self._found[game] = row, col
        return self._found[game]

    def get_opponent(self, game: int, seat: int) -> tuple[float, ...]:
        """Return the equilibrium strategy that the seat's opponent is fixed to."""
        return tuple(self.get_equilibrium(game)[1 - seat].tolist())


@lru_cache(maxsize=2)
def draw(config: BenchConfig) -> Drawn:
    """Draw the games of `config`; playing and measuring a run share them."""
    if config.given is not None:
        return _in_orders(config.given, config.num_games, config.seed)
    batch = generate(config.family, config.num_games, seed=config.seed, **_properties(config))
    if batch.payoffs.shape[1] != 2:
        raise InvalidGame(
            f"the benchmark plays two-player games; {config.family} makes {batch.payoffs.shape[1]} players"
        )
    payoffs = np.round(batch.payoffs * config.scale, config.decimals) + 0.0
    payoffs.setflags(write=False)
    return Drawn(payoffs)


def _in_orders(given: UserGame, count: int, seed: int) -> Drawn:
    orders = given.orders(count, seed)
    payoffs = np.stack([given.array[:, list(rows)][:, :, list(cols)] for rows, cols in orders])
    payoffs.setflags(write=False)
    return Drawn(payoffs, orders)


def _properties(config: BenchConfig) -> JsonObject:
    """The shape where the family has one, and payoffs from -1 to 1 (times the scale) where the range is a setting."""
    takes = signature(FAMILIES[config.family]).parameters
    shape = {"shape": config.shape} if "shape" in takes else {}
    ranged = {"low": -1.0, "high": 1.0} if config.family in ("zero-sum", "uniform") else {}
    return shape | ranged
