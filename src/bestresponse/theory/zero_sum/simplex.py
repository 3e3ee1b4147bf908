"""A dense simplex in plain code, and with it zero-sum games, one after the other.

Value and strategies come from one tableau.

With all payoffs B positive, the column player's problem is: maximise 1'y subject to B y <= 1, y >=
0 (Dantzig 1951; Gale, Kuhn and Tucker 1951). The optimal basic y, divided by its sum, is the column
player's strategy; the reduced costs of the slacks, divided by theirs, are the row player's; the
value is 1 over that sum. The tableau is condensed: one row per basic variable, one column per
nonbasic one.

Pivots: the most negative reduced cost enters and the smallest ratio leaves (Dantzig), lowest
position first among equals. After `rows + cols` pivots in a row without progress the rule changes
to the lowest label for both (Bland 1977), which cannot cycle, until there is progress again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bestresponse.theory.arrays import Bools, Indices
from bestresponse.theory.games.normal_form import Array

COST_EPSILON = 1e-13  # a reduced cost above -COST_EPSILON counts as zero
PIVOT_EPSILON = 1e-10  # no pivot on anything smaller
TIE_EPSILON = 1e-13  # ratios closer than this are equal to Bland's rule
BLAND_AFTER = 1  # times (rows + cols) pivots in a row that leave the objective where it is
GIVE_UP_AFTER = 100  # times (rows + cols) pivots: rounding has kept it from finishing
_AT_ONCE = 16_000  # numbers of the tableau that are changed at a time: so many stay in the cache


class Optimum(NamedTuple):
    """Strategies x (rows, batch), y (cols, batch) and the kernel that gave them.

    The kernel is given as flags of rows and columns.
    """

    x: Array
    y: Array
    kernel_rows: Bools
    kernel_cols: Bools


def simplex(games: Array) -> Optimum:
    """Solve games (rows, cols, batch) whose smallest payoff is 0 and largest positive.

    NaN where it got stuck.
    """
    rows, cols, count = games.shape
    optimum = Optimum(
        np.full((rows, count), np.nan),
        np.full((cols, count), np.nan),
        np.zeros((rows, count), dtype=np.bool_),
        np.zeros((cols, count), dtype=np.bool_),
    )
    scales = 1.0 / games.max(axis=(0, 1))
    for k in range(count):
        tableau = _Tableau(games[:, :, k] * scales[k] + 1.0)
        if tableau.optimize():
            levels, prices, is_basic = tableau.read()
            x = np.maximum(prices[cols:], 0.0)
            y = np.maximum(levels[:cols], 0.0)
            optimum.x[:, k] = x / x.sum()
            optimum.y[:, k] = y / y.sum()
            optimum.kernel_rows[:, k] = ~is_basic[cols:]
            optimum.kernel_cols[:, k] = is_basic[:cols]
    return optimum


class _Tableau:
    """The tableau of one game, from y = 0 on."""

    def __init__(self, positive: Array) -> None:
        rows, cols = positive.shape
        self.size = rows + cols
        self.nonbasic: Indices = np.arange(cols)
        self.basic: Indices = np.arange(cols, self.size)
        self.table = np.empty((rows + 1, cols + 1))
        self.table[:-1, :-1] = positive
        self.table[:-1, -1] = 1.0
        self.table[-1, :-1] = -1.0
        self.table[-1, -1] = 0.0
        # The rows that are changed at a time, with room for what they are changed by.
        height = max(1, _AT_ONCE // (cols + 1))
        starts = range(0, rows + 1, height)
        self.parts = [(slice(at, at + height), self.table[at : at + height]) for at in starts]
        self.room = np.empty((height, cols + 1))

    def optimize(self) -> bool:
        """Pivot to the optimum; False if rounding keeps it out of reach."""
        costs = self.table[-1, :-1]
        levels = self.table[:-1, -1]
        ratios = np.empty(len(levels))
        stalled = 0
        for _ in range(GIVE_UP_AFTER * self.size):
            bland = stalled >= BLAND_AFTER * self.size
            entering = int(costs.argmin())
            if costs[entering] >= -COST_EPSILON:
                return True
            if bland:
                entering = _lowest_label(costs < -COST_EPSILON, self.nonbasic)
            column = self.table[:, entering].copy()
            ratios.fill(np.inf)
            np.divide(levels, column[:-1], out=ratios, where=column[:-1] > PIVOT_EPSILON)
            leaving = int(ratios.argmin())
            smallest = ratios[leaving]
            if smallest == np.inf:
                return False
            if bland:
                leaving = _lowest_label(ratios <= smallest + TIE_EPSILON, self.basic)
            stalled = 0 if smallest > TIE_EPSILON else stalled + 1
            self.pivot(leaving, entering, column)
        return False

    def pivot(self, leaving: int, entering: int, column: Array) -> None:
        """Exchange the variables of a row and of a column, which is given as it was."""
        inverse = 1.0 / column[leaving]
        row = self.table[leaving] * inverse
        row[entering] = inverse
        self.table[:, entering] = 0.0
        for place, part in self.parts:
            part -= np.multiply(column[place, None], row, out=self.room[: len(part)])
        self.table[leaving] = row
        swapped = self.basic[leaving]
        self.basic[leaving] = self.nonbasic[entering]
        self.nonbasic[entering] = swapped

    def read(self) -> tuple[Array, Array, Bools]:
        """The level and the price of every variable, and which are in the basis."""
        levels, prices = np.zeros((2, self.size))
        levels[self.basic] = self.table[:-1, -1]
        prices[self.nonbasic] = self.table[-1, :-1]
        is_basic = np.zeros(self.size, dtype=np.bool_)
        is_basic[self.basic] = True
        return levels, prices, is_basic


def _lowest_label(allowed: Bools, labels: Indices) -> int:
    """The place of the lowest label of those allowed."""
    places = np.flatnonzero(allowed)
    return int(places[labels[places].argmin()])
