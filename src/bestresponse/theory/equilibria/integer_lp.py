"""A linear program in whole numbers: exact answers for ties that floating point cannot decide.

Maximise w'p over p >= 0 with Gp <= 0 and 1'p <= 1, by fraction-free simplex steps from the origin with the
lexicographic rule, so that the ties of a homogeneous program cannot make it cycle.
"""

from __future__ import annotations

from collections.abc import Sequence

from bestresponse.theory.equilibria.integer import Dictionary, start

__all__ = ["maximize"]


def maximize(gains: Sequence[Sequence[int]], worth: Sequence[int]) -> tuple[int, ...]:
    """Find the best p, up to a common positive factor; all zeros where nothing is worth more than 0.

    >>> maximize([[-2, 3]], [0, 1])
    (3, 2)
    """
    table = start([*map(list, gains), [1] * len(worth)])
    for row in table.rows[:-1]:
        row[-1] = 0
    cost = [-value for value in worth] + [0]
    while True:
        column = min(range(len(worth)), key=cost.__getitem__)
        if cost[column] >= 0:
            return table.point()
        table, cost = _step(table, cost, column)


def _step(table: Dictionary, cost: list[int], column: int) -> tuple[Dictionary, list[int]]:
    row = table.leaving(column)
    line, scale = table.rows[row], table.scale
    p, f = line[column], cost[column]
    new = [(a * p - f * b) // scale for a, b in zip(cost, line, strict=True)]
    new[column] = -f
    return table.pivot(row, column), new
