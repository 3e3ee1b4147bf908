"""Two-player zero-sum games, many at once: values, optimal strategies of both players, and a certificate for each.

The row player gets `payoffs[i, j]` and the column player pays it. A pair (x, y) of mixed strategies is optimal when
x guarantees the value v against every column and y concedes no more than v to any row (von Neumann 1928). Every
answer carries its duality gap, max_i (A y)_i - min_j (x A)_j, which is 0 exactly at an optimal pair; none is returned
with a gap above 1e-9 of the range of its payoffs. `zero_sum_batch` has the steps, `zero_sum_closed` and
`zero_sum_simplex` say which pair is taken where several are optimal; the value is always unique.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bestresponse.core.errors import InvalidGame, TooLarge
from bestresponse.theory.engines import Engine, choose_engine, is_loaded
from bestresponse.theory.games.normal_form import Array, as_payoffs
from bestresponse.theory.trees.memory import measure_machine
from bestresponse.theory.zero_sum.batch import Solved, ZeroSumStep, solve_chunk

__all__ = ["ZeroSumSolution", "ZeroSumSolutions", "ZeroSumStep", "as_batch", "solve_zero_sum", "solve_zero_sum_game"]

_KERNELS = "bestresponse.theory.zero_sum.kernels"
_CHUNK_BYTES = 1_600_000  # of tableaus at a time: with fewer, calls of numpy prevail; with more, they leave the cache
_CELL_SECONDS = 4e-9  # numpy takes about this long per cell of a tableau and action of either player, 2x2 to 100x100
_NUMBA_START = 0.7  # seconds to import numba and load a kernel that it has on disk


@dataclass(frozen=True, slots=True)
class ZeroSumSolution:
    """An optimal pair of one game. `gap` bounds what either player could gain; `relative_gap` is per payoff range."""

    value: float
    row: tuple[float, ...]
    col: tuple[float, ...]
    gap: float
    relative_gap: float
    step: ZeroSumStep


@dataclass(frozen=True, slots=True, eq=False)
class ZeroSumSolutions:
    """Optimal pairs of n games: `row` is (n, rows), `col` is (n, cols), everything else (n,).

    `gaps` are absolute duality gaps, `ranges` the largest less the smallest payoff, `steps` codes of `ZeroSumStep`.
    """

    values: Array
    row: Array
    col: Array
    gaps: Array
    ranges: Array
    steps: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: int) -> ZeroSumSolution:
        gap, spread = float(self.gaps[index]), float(self.ranges[index])
        return ZeroSumSolution(
            value=float(self.values[index]),
            row=tuple(self.row[index].tolist()),
            col=tuple(self.col[index].tolist()),
            gap=gap,
            relative_gap=gap / spread if spread > 0.0 else 0.0,
            step=ZeroSumStep(self.steps[index]),
        )

    def __iter__(self) -> Iterator[ZeroSumSolution]:
        return (self[index] for index in range(len(self)))

    @property
    def relative_gaps(self) -> Array:
        """The gaps as shares of the payoff ranges; 0 for a game with only one payoff."""
        return np.divide(self.gaps, self.ranges, out=np.zeros_like(self.gaps), where=self.ranges > 0.0)


def solve_zero_sum(batch: ArrayLike, *, engine: Engine = "auto") -> ZeroSumSolutions:
    """Solve payoffs (n, rows, cols), or one matrix (rows, cols) as a batch of one.

    "numba" needs the extra `fast` and uses all cores; "auto" takes it where it is installed and the batch large enough
    to repay starting it, or it is running already. Both give the same solutions.

    >>> solutions = solve_zero_sum([[[1, -1], [-1, 1]], [[3, -1], [-2, 1]], [[4, 2], [3, 1]]])
    >>> solutions.values.round(4).tolist()
    [0.0, 0.1429, 2.0]
    >>> [ZeroSumStep(step).name for step in solutions.steps]
    ['CLOSED_FORM', 'CLOSED_FORM', 'SADDLE']
    """
    known = isinstance(batch, np.ndarray) and batch.dtype == np.float64 and batch.ndim == 3 and batch.size > 0
    games = np.ascontiguousarray(batch) if known else as_batch(batch)
    _refuse_large(*games.shape[1:])
    out = Solved.empty(*games.shape)
    if choose_engine(engine, pays=engine == "auto" and _repays_numba(games)) == "numba":
        _solve_with_numba(games, out)
    else:
        _solve_with_numpy(games, out)
    return ZeroSumSolutions(*out)


def solve_zero_sum_game(matrix: ArrayLike) -> ZeroSumSolution:
    """Solve one game, given by the row player's payoffs.

    >>> solve_zero_sum_game([[0, -1, 1], [1, 0, -1], [-1, 1, 0]]).value
    0.0
    """
    payoffs = as_payoffs(matrix)
    if payoffs.ndim != 2:
        raise InvalidGame(f"payoffs: expected one matrix (rows, cols), got an array with {payoffs.ndim} axes")
    return solve_zero_sum(payoffs)[0]


def as_batch(numbers: ArrayLike) -> Array:
    """Return payoffs as a finite contiguous array (n, rows, cols), or InvalidGame; one matrix is a batch of one."""
    games = as_payoffs(numbers)
    if games.ndim == 2:
        games = games[None]
    if games.ndim != 3:
        raise InvalidGame(
            f"payoffs: expected a matrix (rows, cols) or a batch (n, rows, cols), got an array with {games.ndim} axes"
        )
    return np.ascontiguousarray(games)


def _refuse_large(rows: int, cols: int) -> None:
    """Refuse a game whose tableau and its copy would take more than half of the machine's memory."""
    needed, allowed = 16 * (rows + 1) * (cols + 1), measure_machine() // 2
    if needed > allowed:
        raise TooLarge(
            f"a {rows}x{cols} game needs {needed >> 20:,} MB for the simplex method, more than {allowed >> 20:,} MB; "
            "search_matrix solves it through best replies where few actions matter"
        )


def _repays_numba(games: Array) -> bool:
    if is_loaded(_KERNELS):
        from bestresponse.theory.zero_sum.kernels import is_compiled_for

        if is_compiled_for(games):
            return True
    count, rows, cols = games.shape
    seconds = count * (rows + 1) * (cols + 1) * (rows + cols) * _CELL_SECONDS
    return bool(seconds > _NUMBA_START)


def _solve_with_numpy(games: Array, out: Solved) -> None:
    """Solve chunk by chunk, so that memory in use does not grow with the batch."""
    count, rows, cols = games.shape
    size = max(1, _CHUNK_BYTES // (8 * (rows + 1) * (cols + 1)))
    for start in range(0, count, size):
        part = slice(start, start + size)
        _refuse_infinite(games[part], games)
        solve_chunk(games[part], out.part(part))


def _solve_with_numba(games: Array, out: Solved) -> None:
    """Kernels leave what they cannot certify, and payoffs that are not finite, to be dealt with here."""
    from bestresponse.theory.zero_sum.kernels import solve_compiled

    solve_compiled(games, out)
    if np.count_nonzero(out.steps) == len(games):
        return
    unsolved = np.flatnonzero(out.steps == 0)
    rest = games[unsolved]
    _refuse_infinite(rest, games)
    again = Solved.empty(*rest.shape)
    _solve_with_numpy(rest, again)
    out.put(unsolved, again)


def _refuse_infinite(part: Array, games: Array) -> None:
    if not np.isfinite(part).all():
        as_payoffs(games)  # raises, and names the place in the whole batch
