"""The linear program of a correlated equilibrium in whole numbers, for the games floating point cannot certify.

Maximise w'p over p >= 0 with G p <= 0 and 1'p <= 1, all numbers integers and w > 0, by fraction-free simplex steps with
the lexicographic rule, so that the answer is exact and the ties of a homogeneous program cannot make it cycle.
"""

from __future__ import annotations

import numpy as np

from bestresponse.theory.equilibria.integer import Dictionary, start, whole_payoffs
from bestresponse.theory.games.normal_form import Array, NormalForm

__all__ = ["exact_correlated"]


def exact_correlated(game: NormalForm, worth: Array, coarse: bool) -> Array:
    """The (coarse) correlated equilibrium of largest expected `worth` (one number per cell), over the flat cells."""
    rows = [row for player in range(game.num_players) for row in _gains(game, player, coarse)]
    cells = int(np.prod(game.shape))
    table = start([*rows, [1] * cells])
    for row in table.rows[:-1]:
        row[-1] = 0
    cost = [-value for value in whole_payoffs(worth.reshape(1, -1))[0]] + [0]
    while True:
        column = min(range(cells), key=cost.__getitem__)
        if cost[column] >= 0:
            point = table.point()
            return np.array([value / sum(point) for value in point])
        table, cost = _step(table, cost, column)


def _step(table: Dictionary, cost: list[int], column: int) -> tuple[Dictionary, list[int]]:
    row = table.leaving(column)
    line, scale = table.rows[row], table.scale
    p, f = line[column], cost[column]
    new = [(a * p - f * b) // scale for a, b in zip(cost, line, strict=True)]
    new[column] = -f
    return table.pivot(row, column), new


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
