"""Exact pivoting with integers of any length.

It serves vertices of best-response polytopes and linear programs.

A best-response polytope is {z >= 0, Mz <= 1} for a matrix M of positive integers. A tableau is
condensed (only nonbasic columns and the right side) and fraction-free: its numbers are the true
ones times `scale`, the determinant of the basis (Bareiss 1968, as used by Avis' lrs and by Gambit).
Ties are broken by the lexicographic rule.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bestresponse.theory.deadline import NEVER, Deadline
from bestresponse.theory.games.normal_form import Array, NormalForm
from bestresponse.theory.games.ties import count_units, read_floats


def whole_matrix(game: NormalForm, player: int) -> list[list[int]]:
    """Give a positive integer matrix with the best responses of a two-player game.

    The matrix is exact if the game is exact.
    """
    if game.meant is None:
        return whole_payoffs(game.payoffs[player])
    numbers = game.meant[player].ravel().tolist()
    return _in_rows(count_units(numbers), game.shape[1])


def whole_payoffs(matrix: Array) -> list[list[int]]:
    """Return a positive integer matrix with the same best responses, shifted and scaled.

    It is scaled by a common unit; floats are read by the rule of `games.ties`.

    >>> import numpy as np
    >>> whole_payoffs(np.array([[1 / 3, 2 / 3], [0.0, 0.5]]))
    [[3, 5], [1, 4]]
    """
    return _in_rows(count_units(read_floats(matrix.ravel().tolist())), len(matrix[0]))


def _in_rows(whole: list[int], width: int) -> list[list[int]]:
    return [whole[at : at + width] for at in range(0, len(whole), width)]


@dataclass(slots=True)
class Dictionary:
    """A basis of {z >= 0, Mz <= b}.

    Variable j < `width` is z_j, and variable width + i is the slack of row i.

    The last number of a row is its right side. Where the right side is a polynomial in a small
    positive number, its coefficients are at the end of the row, that of the highest power first.
    """

    rows: list[list[int]]
    scale: int
    basic: list[int]
    nonbasic: list[int]

    @property
    def width(self) -> int:
        """How many variables z has."""
        return len(self.nonbasic)

    def leaving(self, column: int) -> int:
        """Return the row whose variable reaches zero first when `column` grows.

        Ties by the lexicographic rule.
        """
        best = -1
        for i, row in enumerate(self.rows):
            if row[column] > 0 and (best < 0 or self._before(i, best, column)):
                best = i
        return best

    def _before(self, i: int, k: int, column: int) -> bool:
        first = self.rows[i]
        second = self.rows[k]
        p = first[column]
        q = second[column]
        cross = first[-1] * q - second[-1] * p
        if cross:
            return cross < 0
        for at in range(len(first) - 2, self.width - 1, -1):
            cross = first[at] * q - second[at] * p
            if cross:
                return cross < 0
        for slack in range(self.width, self.width + len(self.rows)):
            if slack in self.nonbasic:
                at = self.nonbasic.index(slack)
                cross = first[at] * q - second[at] * p
            else:
                at = self.basic.index(slack)
                cross = self.scale * ((at == i) * q - (at == k) * p)
            if cross:
                return cross < 0
        raise AssertionError("two rows of a basis inverse are never proportional")

    def pivot(self, row: int, column: int) -> Dictionary:
        """Return the dictionary after `column`'s variable enters and `row`'s leaves."""
        pivot_row = self.rows[row]
        p = pivot_row[column]
        scale = self.scale
        rows = []
        for i, old in enumerate(self.rows):
            if i == row:
                new = pivot_row.copy()
                new[column] = scale
            else:
                f = old[column]
                new = [(a * p - f * b) // scale for a, b in zip(old, pivot_row, strict=True)]
                new[column] = -f
            rows.append(new)
        basic = self.basic.copy()
        nonbasic = self.nonbasic.copy()
        basic[row] = self.nonbasic[column]
        nonbasic[column] = self.basic[row]
        return Dictionary(rows, p, basic, nonbasic)

    def point(self) -> tuple[int, ...]:
        """z times `scale`."""
        values = [0] * self.width
        for variable, row in zip(self.basic, self.rows, strict=True):
            if variable < self.width:
                values[variable] = row[-1]
        return tuple(values)


def make_dictionary(matrix: list[list[int]]) -> Dictionary:
    """Return the dictionary of z = 0."""
    width = len(matrix[0])
    return Dictionary(
        rows=[[*row, 1] for row in matrix],
        scale=1,
        basic=list(range(width, width + len(matrix))),
        nonbasic=list(range(width)),
    )


@dataclass(frozen=True, slots=True)
class Vertex:
    """One basis of a vertex: bit masks of its variables, and the point, unscaled.

    The masks are those of its nonbasic variables and of all its zero ones.
    """

    basis: int
    zeros: int
    point: tuple[int, ...]

    @property
    def is_degenerate(self) -> bool:
        """Whether more variables are 0 than are nonbasic."""
        return self.basis != self.zeros


def vertices(matrix: list[list[int]], deadline: Deadline = NEVER) -> Iterator[Vertex]:
    """Return every lexicographically feasible basis, breadth first from the origin.

    A degenerate vertex has several. NotCertified where they take longer than the `deadline`.
    """
    first = make_dictionary(matrix)
    waiting = deque([(first, (1 << first.width) - 1)])
    seen = {waiting[0][1]}
    while waiting:
        deadline.check("all vertices of a best-response polytope")
        here, basis = waiting.popleft()
        zeros = basis
        for variable, row in zip(here.basic, here.rows, strict=True):
            if row[-1] == 0:
                zeros |= 1 << variable
        yield Vertex(basis, zeros, here.point())
        for column in range(here.width):
            leaving = here.leaving(column)
            enters = 1 << here.nonbasic[column]
            leaves = 1 << here.basic[leaving]
            neighbour = basis & ~enters | leaves
            if neighbour not in seen:
                seen.add(neighbour)
                waiting.append((here.pivot(leaving, column), neighbour))


def optimize(
    matrix: Sequence[Sequence[int]],
    right: Sequence[int],
    worth: Sequence[int],
    deadline: Deadline = NEVER,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Maximise w'p over p >= 0 with Mp <= b, given that b >= 0.

    Returns the best p and the prices of the rows, times one factor.

    From the origin, with the lexicographic rule, so that ties cannot make it cycle.

    >>> optimize([[2, 3], [1, 1]], [12, 5], [1, 1])
    ((5, 0), (0, 1))
    """
    table = make_dictionary([list(row) for row in matrix])
    for row, bound in zip(table.rows, right, strict=True):
        row[-1] = bound
    cost = [-value for value in worth] + [0]
    while min(cost[:-1]) < 0:
        deadline.check("the solution of a linear program")
        column = cost.index(min(cost[:-1]))
        row_number = table.leaving(column)
        line = table.rows[row_number]
        p = line[column]
        f = cost[column]
        cost = [(a * p - f * b) // table.scale for a, b in zip(cost, line, strict=True)]
        cost[column] = -f
        table = table.pivot(row_number, column)
    prices = dict(zip(table.nonbasic, cost, strict=False))
    slacks = range(table.width, table.width + len(right))
    return table.point(), tuple(prices.get(slack, 0) for slack in slacks)


def maximize(
    gains: Sequence[Sequence[int]],
    worth: Sequence[int],
    deadline: Deadline = NEVER,
) -> tuple[int, ...]:
    """Maximise w'p over p >= 0 with Gp <= 0 and 1'p <= 1, up to a common factor.

    Zeros where nothing is worth more.

    >>> maximize([[-2, 3]], [0, 1])
    (3, 2)
    """
    matrix = [*gains, [1] * len(worth)]
    right = [0] * len(gains) + [1]
    point, _ = optimize(matrix, right, worth, deadline)
    return point


def determinant_sign(matrix: list[list[int]]) -> int:
    """Sign of the determinant of an integer matrix, by fraction-free elimination."""
    rows = [row.copy() for row in matrix]
    sign = 1
    before = 1
    for k in range(len(rows)):
        at = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if at is None:
            return 0
        if at != k:
            rows[k], rows[at] = rows[at], rows[k]
            sign = -sign
        pivot_row = rows[k]
        pivot = pivot_row[k]
        for row in rows[k + 1 :]:
            f = row[k]
            for j in range(k + 1, len(rows)):
                row[j] = (row[j] * pivot - f * pivot_row[j]) // before
        before = pivot
    return sign if before > 0 else -sign
