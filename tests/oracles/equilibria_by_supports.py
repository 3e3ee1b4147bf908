"""Equilibria of two players by trying every pair of supports of equal size, in fractions.

It shares no code with the solver. In a game that is not degenerate this finds all of them; a game
in which a mixture has more best replies than actions is said to be degenerate and left out.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

Table = list[list[Fraction]]
Mix = tuple[Fraction, ...]


def solve(rows: Table) -> list[Fraction] | None:
    """Solve a square system, the right side last in each row; None where it is singular."""
    rows = [list(row) for row in rows]
    size = len(rows)
    for k in range(size):
        pivot = next((i for i in range(k, size) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for i in range(size):
            if i != k and rows[i][k]:
                factor = rows[i][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[-1] for row in rows]


def find_mix(payoffs: Table, rows: tuple[int, ...], columns: tuple[int, ...]) -> Mix | None:
    """Find the mixture of columns that makes the row player indifferent between rows."""
    size = len(columns)
    system = [[*(payoffs[i][j] for j in columns), Fraction(-1), Fraction(0)] for i in rows]
    system.append([Fraction(1)] * size + [Fraction(0), Fraction(1)])
    answer = solve(system)
    if answer is None:
        return None
    mix = [Fraction(0)] * len(payoffs[0])
    for j, weight in zip(columns, answer, strict=False):
        mix[j] = weight
    return tuple(mix)


def find_all(row: Table, col: Table) -> set[tuple[Mix, Mix]] | None:
    """Find all equilibria; None where the game is degenerate."""
    turned = [list(column) for column in zip(*col, strict=True)]
    height, width = len(row), len(row[0])
    found = set()
    for size in range(1, min(height, width) + 1):
        for rows in combinations(range(height), size):
            for columns in combinations(range(width), size):
                y = find_mix(row, rows, columns)
                x = find_mix(turned, columns, rows)
                if x is None or y is None:
                    return None
                if min(x) < 0 or min(y) < 0:
                    continue
                best = [list_best(row, y), list_best(turned, x)]
                if set(rows) <= set(best[0]) and set(columns) <= set(best[1]):
                    if [len(b) for b in best] != [size, size]:
                        return None
                    if 0 in (*(x[i] for i in rows), *(y[j] for j in columns)):
                        return None
                    found.add((x, y))
    return found


def list_best(payoffs: Table, mix: Mix) -> list[int]:
    """List the best rows against a mixture of columns."""
    earned = [sum(u * p for u, p in zip(row, mix, strict=True)) for row in payoffs]
    return [i for i, value in enumerate(earned) if value == max(earned)]
