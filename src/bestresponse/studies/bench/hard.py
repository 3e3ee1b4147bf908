"""Hard payoff tables: zero-sum games of 6 to 12 actions, chosen by theory and by no model's score.

Both players mix at least four actions in the equilibrium, so nobody finds it by looking. Of the
tables drawn for one game that are like this, the one is taken in which an action that the
equilibrium never plays comes closest to one that it plays: a small slip then makes a mistake.
"""

from __future__ import annotations

from itertools import count

import numpy as np

from bestresponse.core.seeds import split
from bestresponse.studies.bench.families import draw_family
from bestresponse.theory.games.normal_form import Array
from bestresponse.theory.zero_sum.solve import solve_zero_sum

LEAST = 6
"""Actions of each player in the first game; each of the next has one more, up to twelve."""
_SIZES = 7
LEAST_SUPPORT = 4
_CANDIDATES = 16
_PLAYED = 1e-9
"""Of a probability: what linear programs leave is less."""


def draw_hard(number: int, seed: int, scale: float, decimals: int) -> Array:
    """Draw game `number`, payoffs (2, rows, columns), which depends on the seed and on it alone."""
    size = LEAST + number % _SIZES
    for attempt in count():
        games = draw_family(
            "zero-sum",
            _CANDIDATES,
            split(seed, "hard", number, attempt),
            shape=(size, size),
            scale=scale,
            decimals=decimals,
        )
        solved = solve_zero_sum(games[:, 0])
        margins = []
        for game, row, col in zip(games, solved.row, solved.col, strict=True):
            margins.append(measure_margin(game[0], row, col))
        if min(margins) < np.inf:
            return np.array(games[int(np.argmin(margins))])
    raise AssertionError("unreachable: attempts do not end")


def measure_margin(payoffs: Array, row: Array, col: Array) -> float:
    """Return what the best action outside the equilibrium's support loses, for either player.

    It is infinite where somebody plays fewer than four actions, or all of them.
    """
    margins = []
    for against, mix in ((payoffs @ col, row), (-row @ payoffs, col)):
        played = mix > _PLAYED
        if played.sum() < LEAST_SUPPORT or played.all():
            return float("inf")
        margins.append(against.max() - against[~played].max())
    return float(min(margins))
