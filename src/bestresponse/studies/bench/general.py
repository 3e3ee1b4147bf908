"""What an answer is worth where equilibria are many: general-sum games.

equilibrium_distance   total variation distance to the nearest equilibrium strategy of the seat
gap_nearest            the Nash gap against that equilibrium's opponent
dominated_mass         probability on actions that are strictly dominated (also by mixtures)
security_loss          the seat's maximin value less what the answer guarantees
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from bestresponse.core.errors import TooLarge
from bestresponse.core.json import JsonObject
from bestresponse.theory.equilibria.solve import nash
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.zero_sum.solve import solve_zero_sum

__all__ = ["compute_correlated_regret", "general_sum_measures"]


def general_sum_measures(own: Array, other: Array, x: Array) -> JsonObject:
    """Compute the figures of strategy `x` in the game (own, other)."""
    security = float(solve_zero_sum(own).values[0])
    row: JsonObject = {
        "dominated_mass": float(x[list(_dominated(own.shape, own.tobytes()))].sum()),
        "security_loss": _without_noise(security - float((x @ own).min()), own),
        "equilibrium_distance": None,
        "gap_nearest": None,
    }
    strategies = _equilibria(own.shape, own.tobytes(), other.tobytes())
    if strategies:
        distances = [0.5 * float(np.abs(x - mine).sum()) for mine, _ in strategies]
        nearest = int(np.argmin(distances))
        against = own @ strategies[nearest][1]
        row["equilibrium_distance"] = distances[nearest]
        row["gap_nearest"] = _without_noise(float(against.max() - x @ against), own)
    return row


def _without_noise(figure: float, own: Array) -> float:
    return figure if figure > 1e-9 * float(np.abs(own).max()) else 0.0


@lru_cache(maxsize=4096)
def _equilibria(shape: tuple[int, int], own: bytes, other: bytes) -> tuple[tuple[Array, Array], ...]:
    """All (extreme) equilibria; none where the game is too large to enumerate."""
    game = NormalForm.bimatrix(_matrix(own, shape), _matrix(other, shape))
    try:
        found = nash(game).equilibria
    except TooLarge:
        return ()
    return tuple((e.strategies[0], e.strategies[1]) for e in found)


@lru_cache(maxsize=4096)
def _dominated(shape: tuple[int, int], own: bytes) -> tuple[int, ...]:
    """Actions that some mixture of the others beats against everything: a zero-sum game each."""
    matrix = _matrix(own, shape)
    tolerance = 1e-9 * float(np.ptp(matrix))
    if shape[0] == 1:
        return ()
    losers = []
    for action in range(shape[0]):
        advantage = np.delete(matrix, action, axis=0) - matrix[action]
        if float(solve_zero_sum(advantage).values[0]) > tolerance:
            losers.append(action)
    return tuple(losers)


def _matrix(data: bytes, shape: tuple[int, int]) -> Array:
    return np.frombuffer(data, dtype=np.float64).reshape(shape)


def compute_correlated_regret(payoffs: Array, row: Array, col: Array) -> float:
    """Compute the largest gain either seat could make by swapping actions when both play these strategies."""
    gains = []
    for own, x, y in ((payoffs[0], row, col), (payoffs[1].T, col, row)):
        against = own @ y
        gains.append(float(x @ (against.max() - against)))
    return max(gains)
