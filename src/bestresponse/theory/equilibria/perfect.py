"""Trembling-hand perfect equilibria of two-player games in normal form.

Definition (Selten 1975): the limit of equilibria of games in which every action is played with some small probability.
With two players an equilibrium is perfect exactly when neither strategy is weakly dominated (van Damme 1991, Theorem
3.2.2); that is a linear program, solved in whole numbers where the equilibrium is known in fractions.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from bestresponse.core.errors import UsageError
from bestresponse.theory.equilibria.bimatrix import solve_bimatrix
from bestresponse.theory.equilibria.integer import maximize
from bestresponse.theory.equilibria.result import Equilibrium
from bestresponse.theory.games.dominance import find_weak_mixture
from bestresponse.theory.games.normal_form import GameLike, NormalForm, as_normal_form

__all__ = ["PerfectEquilibria", "find_perfect", "is_perfect"]


@dataclass(frozen=True, slots=True, eq=False)
class PerfectEquilibria:
    """The extreme Nash equilibria of a game, and which of them are perfect; `complete` as for `nash`."""

    equilibria: tuple[Equilibrium, ...]
    perfect: tuple[bool, ...]
    method: str
    complete: bool


def find_perfect(game: GameLike) -> PerfectEquilibria:
    """Find the extreme Nash equilibria of a two-player game and say which are trembling-hand perfect.

    >>> chain_store = NormalForm.bimatrix([[0, 0], [-1, 1]], [[2, 2], [-1, 1]])
    >>> found = find_perfect(chain_store)
    >>> [(e.supports, p) for e, p in zip(found.equilibria, found.perfect)]
    [(((0,), (0,)), False), (((1,), (1,)), True), (((0,), (0, 1)), False)]
    """
    form = as_normal_form(game)
    if form.num_players != 2:
        raise UsageError(f"perfect equilibria are computed for two players; this game has {form.num_players}")
    found = solve_bimatrix(form)
    kept = tuple(is_perfect(form, e) for e in found.equilibria)
    how = "exact" if all(e.exact is not None for e in found.equilibria) else "to 1e-9"
    return PerfectEquilibria(found.equilibria, kept, f"{found.method}; undominated strategies, {how}", found.complete)


def is_perfect(game: NormalForm, equilibrium: Equilibrium) -> bool:
    """Say whether an equilibrium of two players is trembling-hand perfect."""
    return not any(_is_dominated(game, equilibrium, player) for player in (0, 1))


def _is_dominated(game: NormalForm, equilibrium: Equilibrium, player: int) -> bool:
    """Say whether some mixture never earns less than the player's strategy and sometimes more."""
    if equilibrium.exact is None or not game.is_exact:
        own = np.moveaxis(game.payoffs[player], player, 0)
        return find_weak_mixture((own - equilibrium.strategies[player] @ own) / (float(np.ptp(own)) or 1.0)) is not None
    own_exact = [[Fraction(u) for u in row] for row in np.moveaxis(game.given[player], player, 0).tolist()]
    mean = [
        sum(p * u for p, u in zip(equilibrium.exact[player], col, strict=True)) for col in zip(*own_exact, strict=True)
    ]
    lead = [[u - m for u, m in zip(row, mean, strict=True)] for row in own_exact]
    unit = lcm(*(u.denominator for row in lead for u in row))
    whole = [[int(u * unit) for u in row] for row in lead]
    point = maximize([[-u for u in column] for column in zip(*whole, strict=True)], [sum(row) for row in whole])
    return sum(sum(row) * p for row, p in zip(whole, point, strict=True)) > 0
