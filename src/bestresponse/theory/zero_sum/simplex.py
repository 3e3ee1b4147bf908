"""A dense simplex for many programs at once, and with it zero-sum games.

Value and strategies come from one tableau.

With all payoffs B positive, the column player's problem is: maximise 1'y subject to B y <= 1, y >=
0 (Dantzig 1951; Gale, Kuhn and Tucker 1951). The optimal basic y, divided by its sum, is the column
player's strategy; the reduced costs of the slacks, divided by theirs, are the row player's; the
value is 1 over that sum. The tableau is condensed: one row per basic variable, one column per
nonbasic one, and it is stored batch last, (rows + 1, cols + 1, batch).

Pivots: the most negative reduced cost enters and the smallest ratio leaves (Dantzig), lowest
position first among equals. After `rows + cols` pivots in a row without progress the rule changes
to the lowest label for both (Bland 1977), which cannot cycle, until there is progress again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestresponse.theory.arrays import Indices
from bestresponse.theory.games.normal_form import Array

COST_EPSILON = 1e-13  # a reduced cost above -COST_EPSILON counts as zero
PIVOT_EPSILON = 1e-10  # no pivot on anything smaller
TIE_EPSILON = 1e-13  # ratios closer than this are equal to Bland's rule
BLAND_AFTER = 1  # times (rows + cols) pivots in a row that leave the objective where it is
GIVE_UP_AFTER = 100  # times (rows + cols) pivots: rounding has kept it from finishing

Flags = NDArray[np.bool_]


class Optimum(NamedTuple):
    """Strategies x (rows, batch), y (cols, batch) and the kernel that gave them.

    The kernel is given as flags of rows and columns.
    """

    x: Array
    y: Array
    kernel_rows: Flags
    kernel_cols: Flags


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
    table = np.empty((rows + 1, cols + 1, count))
    table[:-1, :-1] = games * (1.0 / games.max(axis=(0, 1))) + 1.0
    table[:-1, -1] = 1.0
    table[-1, :-1] = -1.0
    table[-1, -1] = 0.0
    tableaus = _Tableaus(table)
    for _ in range(GIVE_UP_AFTER * (rows + cols)):
        entering = tableaus.entering()
        finished = tableaus.costs.min(axis=0) >= -COST_EPSILON
        if finished.any():
            _read_optimum(tableaus, np.flatnonzero(finished), optimum)
            going = np.flatnonzero(~finished)
            if not going.size:
                break
            tableaus.keep(going)
            entering = entering[going]
        tableaus.pivot(entering)
    return optimum


def _read_optimum(tableaus: _Tableaus, done: Indices, optimum: Optimum) -> None:
    """Write the strategies and kernels of the tableaus that are done."""
    rows = tableaus.rows
    cols = tableaus.cols
    each = np.arange(len(done))
    number = tableaus.number[done]
    basic = tableaus.basic[:, done]
    nonbasic = tableaus.nonbasic[:, done]
    levels, prices = np.zeros((2, rows + cols, len(each)))
    levels[basic, each] = tableaus.table[:-1, -1, done]
    prices[nonbasic, each] = tableaus.costs[:, done]
    y = np.maximum(levels[:cols], 0.0)
    x = np.maximum(prices[cols:], 0.0)
    optimum.x[:, number] = x / x.sum(axis=0)
    optimum.y[:, number] = y / y.sum(axis=0)
    is_basic = np.zeros(levels.shape, dtype=np.bool_)
    is_basic[basic, each] = True
    optimum.kernel_cols[:, number] = is_basic[:cols]
    optimum.kernel_rows[:, number] = ~is_basic[cols:]


class _Tableaus:
    """The tableaus still being solved; `number` says which of all each is."""

    __slots__ = ("basic", "cols", "nonbasic", "number", "rows", "stalled", "table")

    def __init__(self, table: Array) -> None:
        self.rows = table.shape[0] - 1
        self.cols = table.shape[1] - 1
        count = table.shape[2]
        self.table = table
        labels = np.arange(self.rows + self.cols)[:, None]
        self.nonbasic = np.repeat(labels[: self.cols], count, axis=1)
        self.basic = np.repeat(labels[self.cols :], count, axis=1)
        self.number: Indices = np.arange(count)
        self.stalled: Indices = np.zeros(count, dtype=np.int64)

    @property
    def costs(self) -> Array:
        return self.table[-1, :-1]

    @property
    def bland(self) -> Flags:
        """Which games have stalled for too long."""
        return np.asarray(self.stalled >= BLAND_AFTER * (self.rows + self.cols))

    def entering(self) -> Indices:
        chosen = np.asarray(self.costs.argmin(axis=0))
        bland = self.bland
        if bland.any():
            labels = np.where(self.costs < -COST_EPSILON, self.nonbasic, self.rows + self.cols)
            return np.where(bland, labels.argmin(axis=0), chosen)
        return chosen

    def leaving(self, column: Array) -> tuple[Indices, Flags]:
        """Find the row each game pivots on and which games have none.

        Also counts the pivots without progress.
        """
        ratios = np.full(column.shape, np.inf)
        np.divide(self.table[:-1, -1], column, out=ratios, where=column > PIVOT_EPSILON)
        smallest = ratios.min(axis=0)
        chosen = ratios.argmin(axis=0)
        bland = self.bland
        if bland.any():
            tied = ratios <= smallest + TIE_EPSILON
            lowest = np.where(tied, self.basic, self.rows + self.cols).argmin(axis=0)
            chosen = np.where(bland, lowest, chosen)
        self.stalled = np.where(smallest > TIE_EPSILON, 0, self.stalled + 1)
        return chosen, np.isinf(smallest)

    def pivot(self, entering: Indices) -> None:
        count = len(self.number)
        each = np.arange(count)
        flat = self.table.reshape(-1)
        width = (self.cols + 1) * count
        in_column = np.arange(self.rows + 1)[:, None] * width + (entering * count + each)
        column = flat[in_column]
        leaving, stuck = self.leaving(column[:-1])
        in_row = np.arange(self.cols + 1)[:, None] * count + (leaving * width + each)
        with np.errstate(all="ignore"):
            inverse = 1.0 / column[leaving, each]
            row = flat[in_row] * inverse
            row[entering, each] = inverse
            flat[in_column] = 0.0
            self.table -= column[:, None, :] * row
        flat[in_row] = row
        swapped = self.basic[leaving, each]
        self.basic[leaving, each] = self.nonbasic[entering, each]
        self.nonbasic[entering, each] = swapped
        if stuck.any():
            self.keep(np.flatnonzero(~stuck))

    def keep(self, going: Indices) -> None:
        self.table = np.take(self.table, going, axis=2)
        self.basic = self.basic[:, going]
        self.nonbasic = self.nonbasic[:, going]
        self.number = self.number[going]
        self.stalled = self.stalled[going]
