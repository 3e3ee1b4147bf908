"""The linear program of a correlated equilibrium in whole numbers, for the games floating point cannot certify."""

from __future__ import annotations

import numpy as np

from bestresponse.theory.equilibria.integer import maximize, whole_payoffs
from bestresponse.theory.games.normal_form import Array, NormalForm

__all__ = ["exact_correlated"]


def exact_correlated(game: NormalForm, worth: Array, coarse: bool) -> Array:
    """Find the (coarse) correlated equilibrium of largest expected `worth` (one number per cell), over flat cells."""
    rows = [row for player in range(game.num_players) for row in _gains(game, player, coarse)]
    point = maximize(rows, whole_payoffs(worth.reshape(1, -1))[0])
    return np.array([value / sum(point) for value in point])


def _gains(game: NormalForm, player: int, coarse: bool) -> list[list[int]]:
    """What each disobedience gains in each cell, in whole numbers."""
    count = game.shape[player]
    own = np.moveaxis(game.payoffs[player], player, 0).reshape(count, -1)
    place = np.moveaxis(np.arange(own.size).reshape(game.shape), player, 0).reshape(count, -1)
    whole = whole_payoffs(own)
    moves = (
        [(None, b) for b in range(count)] if coarse else [(a, b) for a in range(count) for b in range(count) if a != b]
    )
    rows = []
    for told, instead in moves:
        row = [0] * own.size
        for a in range(count) if told is None else [told]:
            for k, cell in enumerate(place[a]):
                row[int(cell)] = whole[instead][k] - whole[a][k]
        rows.append(row)
    return rows
