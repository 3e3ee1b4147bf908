"""Equilibria in pure strategies, for any number of players.

Definition: a cell of the game is a pure Nash equilibrium when no player gains by changing its own action alone; it is
strict when every such change loses.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestresponse.theory.games.normal_form import GameLike, NormalForm, as_normal_form

__all__ = ["pure_nash"]

_ROUNDING = 1e-12


def pure_nash(game: GameLike, *, strict: bool = False, tolerance: float | None = None) -> tuple[tuple[int, ...], ...]:
    """Find every pure Nash equilibrium as a tuple of action numbers, in lexicographic order.

    `tolerance` is relative to each player's payoff range: payoffs closer than that count as equal. It is 0 where the
    payoffs are exact, 1e-12 for other floats.

    >>> stag_hunt = NormalForm.bimatrix([[4, 1], [3, 3]], [[4, 3], [1, 3]])
    >>> pure_nash(stag_hunt)
    ((0, 0), (1, 1))
    """
    game = as_normal_form(game)
    if tolerance is None:
        tolerance = 0.0 if game.is_exact else _ROUNDING
    stays = np.ones(game.shape, dtype=np.bool_)
    for player in range(game.num_players):
        stays &= _best_cells(game, player, strict, tolerance)
    return tuple(tuple(int(a) for a in cell) for cell in np.argwhere(stays))


def _best_cells(game: NormalForm, player: int, strict: bool, tolerance: float) -> NDArray[np.bool_]:
    if tolerance:
        own = game.payoffs[player]
        best = own >= own.max(axis=player, keepdims=True) - tolerance * float(np.ptp(own))
    else:
        own = game.given[player]
        best = own == own.max(axis=player, keepdims=True)
    if strict:
        best &= best.sum(axis=player, keepdims=True) == 1
    return np.asarray(best, dtype=np.bool_)
