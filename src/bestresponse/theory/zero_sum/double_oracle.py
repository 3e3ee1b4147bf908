"""Double oracle: a large zero-sum game solved through small ones, with bounds on its value at every step.

Both players start with one strategy. The game between the strategies so far is solved; each player's best reply to the
other's mixture in the whole game is added, until neither earns more. What the replies earn bounds the value from both
sides at every step, so that a search that is stopped has an answer as good as its gap. Strategies are whatever the
oracle understands: numbers of rows and columns, or plans of a tree, of which there are far too many to list.

H. B. McMahan, G. J. Gordon and A. Blum, "Planning in the presence of cost functions controlled by an adversary", ICML
2003.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.theory.games.normal_form import Array, as_payoffs
from bestresponse.theory.zero_sum.solve import solve_zero_sum_game

__all__ = ["Bounds", "Oracle", "OracleSolution", "describe_bounds", "search_matrix", "search_with_oracle"]

S = TypeVar("S")


class Oracle(Protocol[S]):
    """A zero-sum game that can say what a strategy earns the first player, and what is best against a mixture."""

    def start(self) -> tuple[S, S]:
        """Give one strategy of each player."""

    def earn(self, first: S, second: S) -> float:
        """Say what the first player earns."""

    def reply_first(self, mixture: Sequence[tuple[float, S]]) -> tuple[S, float]:
        """Find the first player's best reply to a mixture of the second's, and what it earns."""

    def reply_second(self, mixture: Sequence[tuple[float, S]]) -> tuple[S, float]:
        """Find the second player's best reply, and what it leaves the first."""


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
class OracleSolution(Generic[S]):
    """Both mixtures, and the bounds that they prove."""

    first: tuple[tuple[float, S], ...]
    second: tuple[tuple[float, S], ...]
    bounds: Bounds


def search_with_oracle(
    oracle: Oracle[S],
    *,
    gap: float = 1e-9,
    steps: int = 1000,
    report: Callable[[Bounds], None] | None = None,
) -> OracleSolution[S]:
    """Search until the bounds are `gap` apart or `steps` are used up; `report` hears of every step."""
    rows, cols = ([one] for one in oracle.start())
    table = np.array([[oracle.earn(rows[0], cols[0])]])
    best: OracleSolution[S] | None = None
    for step in range(1, steps + 1):
        solved = solve_zero_sum_game(table)
        first, second = _mix(solved.row, rows), _mix(solved.col, cols)
        (row, high), (col, low) = oracle.reply_first(second), oracle.reply_second(first)
        bounds = Bounds(low, high, step)
        if best is None or high - low < best.bounds.high - best.bounds.low:
            best = OracleSolution(first, second, bounds)
        if report is not None:
            report(best.bounds)
        if high - low <= gap:
            break
        rows.append(row)
        cols.append(col)
        table = _extend(oracle, table, rows, cols)
    assert best is not None
    return best


def _mix(weights: Sequence[float], strategies: Sequence[S]) -> tuple[tuple[float, S], ...]:
    return tuple((p, one) for p, one in zip(weights, strategies, strict=True) if p > 0.0)


def _extend(oracle: Oracle[S], table: Array, rows: Sequence[S], cols: Sequence[S]) -> Array:
    new = np.empty((len(rows), len(cols)))
    new[:-1, :-1] = table
    new[-1] = [oracle.earn(rows[-1], col) for col in cols]
    new[:-1, -1] = [oracle.earn(row, cols[-1]) for row in rows[:-1]]
    return new


@dataclass(frozen=True, slots=True, eq=False)
class _MatrixOracle:
    payoffs: Array

    def start(self) -> tuple[int, int]:
        row = int(self.payoffs.min(axis=1).argmax())
        return row, int(self.payoffs[row].argmin())

    def earn(self, first: int, second: int) -> float:
        return float(self.payoffs[first, second])

    def reply_first(self, mixture: Sequence[tuple[float, int]]) -> tuple[int, float]:
        earned = self.payoffs[:, [col for _, col in mixture]] @ np.array([p for p, _ in mixture])
        best = int(np.argmax(earned))
        return best, float(earned[best])

    def reply_second(self, mixture: Sequence[tuple[float, int]]) -> tuple[int, float]:
        left = np.array([p for p, _ in mixture]) @ self.payoffs[[row for _, row in mixture]]
        best = int(np.argmin(left))
        return best, float(left[best])


def search_matrix(
    matrix: ArrayLike, *, gap: float = 1e-9, steps: int = 1000, report: Callable[[Bounds], None] | None = None
) -> OracleSolution[int]:
    """Solve a matrix of any size, which may be a memory map: only rows and columns that are replies are read often.

    >>> found = search_matrix([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    >>> [round(p, 6) for p, _ in found.first], round(found.bounds.low, 9) + 0.0
    ([0.333333, 0.333333, 0.333333], 0.0)
    """
    payoffs = matrix if isinstance(matrix, np.memmap) else as_payoffs(matrix)
    scale = float(payoffs.max() - payoffs.min()) or 1.0
    return search_with_oracle(_MatrixOracle(payoffs), gap=gap * scale, steps=steps, report=report)
