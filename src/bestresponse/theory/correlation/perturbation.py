"""The right sides and tolerances that the simplex for correlated equilibria uses, compiled or not.

All incentive constraints have right side 0, so every basis is degenerate. Pivots are chosen as if row r had a small
positive right side of its own, irregular enough that no two rows tie; the true right side is carried along.
"""

from __future__ import annotations

import numpy as np

from bestresponse.theory.games.normal_form import Array

__all__ = ["ACCEPTED", "COST_EPSILON", "GIVE_UP_AFTER", "PIVOT_EPSILON", "perturbations"]

ACCEPTED = 1e-9
COST_EPSILON = 1e-11
PIVOT_EPSILON = 1e-10
GIVE_UP_AFTER = 2000
_SIZES = (1e-6, 1e-8, 1e-5)


def perturbations(rows: int) -> Array:
    """Three choices of one shift per row, each between a size and twice that, by multiples of irrational numbers."""
    steps = np.arange(1, rows + 1)
    factors = (0.6180339887498949, 0.4142135623730951, 0.7320508075688772)
    return np.stack([size * (1.0 + (steps * f) % 1.0) for size, f in zip(_SIZES, factors, strict=True)])
