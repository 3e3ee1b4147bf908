"""Double oracle: a large zero-sum matrix solved through small ones, with bounds on its value at every step.

Both players start with one action. The game between the actions so far is solved; each player's best reply to the
other's mixture in the whole game is added, until neither earns more. What the replies earn bounds the value from both
sides at every step, so that a search that is stopped has an answer as good as its gap. `tree_oracle` does so for trees.

H. B. McMahan, G. J. Gordon and A. Blum, "Planning in the presence of cost functions controlled by an adversary", ICML
2003.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.theory.games.normal_form import as_payoffs
from bestresponse.theory.zero_sum.solve import solve_zero_sum_game

__all__ = ["Bounds", "OracleSolution", "describe_bounds", "search_matrix"]

Mixture = tuple[tuple[float, int], ...]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Between which numbers the value lies after `steps` steps."""

    low: float
    high: float
    steps: int


def describe_bounds(bounds: Bounds) -> str:
    """Say what is known of the value."""
    return f"the value lies between {bounds.low:.6g} and {bounds.high:.6g} after {bounds.steps:,} steps"


@dataclass(frozen=True, slots=True, eq=False)
class OracleSolution:
    """Both mixtures as probabilities and numbers of rows or columns, and the bounds that they prove."""

    first: Mixture
    second: Mixture
    bounds: Bounds


def search_matrix(
    matrix: ArrayLike, *, gap: float = 1e-9, steps: int = 1000, report: Callable[[Bounds], None] | None = None
) -> OracleSolution:
    """Solve a matrix of any size, which may be a memory map: only rows and columns that are replies are read often.

    The search ends where the bounds are `gap` of the payoff range apart or `steps` are used up; `report` hears of every
    step.

    >>> found = search_matrix([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    >>> [round(p, 6) for p, _ in found.first], round(found.bounds.low, 9) + 0.0
    ([0.333333, 0.333333, 0.333333], 0.0)
    """
    payoffs = matrix if isinstance(matrix, np.memmap) else as_payoffs(matrix)
    wanted = gap * (float(payoffs.max() - payoffs.min()) or 1.0)
    rows = [int(payoffs.min(axis=1).argmax())]
    cols = [int(payoffs[rows[0]].argmin())]
    best: OracleSolution | None = None
    for step in range(1, steps + 1):
        solved = solve_zero_sum_game(payoffs[np.ix_(rows, cols)])
        earned = payoffs[:, cols] @ np.array(solved.col)
        left = np.array(solved.row) @ payoffs[rows]
        bounds = Bounds(float(left.min()), float(earned.max()), step)
        if best is None or bounds.high - bounds.low < best.bounds.high - best.bounds.low:
            best = OracleSolution(_mix(solved.row, rows), _mix(solved.col, cols), bounds)
        if report is not None:
            report(best.bounds)
        if bounds.high - bounds.low <= wanted:
            break
        rows.append(int(earned.argmax()))
        cols.append(int(left.argmin()))
    assert best is not None
    return best


def _mix(weights: Sequence[float], actions: Sequence[int]) -> Mixture:
    return tuple((p, one) for p, one in zip(weights, actions, strict=True) if p > 0.0)
