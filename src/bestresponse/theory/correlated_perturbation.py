"""The right sides and tolerances that the simplex for correlated equilibria uses, compiled or not.

All incentive constraints have right side 0, so every basis is degenerate. Pivots are chosen as if row r had a small
positive right side of its own, irregular enough that no two rows tie; the true right side is carried along.
"""

from __future__ import annotations

import numpy as np

from bestresponse.theory.normal_form import Array

__all__ = ["COST_EPSILON", "GIVE_UP_AFTER", "PIVOT_EPSILON", "perturbation"]

COST_EPSILON = 1e-11
PIVOT_EPSILON = 1e-10
GIVE_UP_AFTER = 2000
_SIZE = 1e-6


def perturbation(rows: int) -> Array:
    """One shift per row, between 1e-6 and 2e-6, by multiples of the golden ratio."""
    return np.asarray(_SIZE * (1.0 + (np.arange(1, rows + 1) * 0.6180339887498949) % 1.0))
