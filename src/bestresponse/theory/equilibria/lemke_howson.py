"""One Nash equilibrium of a two-player game by the path of Lemke and Howson (1964).

It is found alone or for many games at once.

Labels: 0..m-1 are the row player's actions, m..m+n-1 the column player's. A pair of points of the
best-response polytopes carries the labels of unused actions and of best replies. The path starts
where nothing is played, gives up one label and restores complementarity by alternating pivots; it
ends at an equilibrium. The lexicographic rule keeps it from cycling in degenerate games (Shapley
1974; von Stengel 2002). Paths can be exponentially long (Savani and von Stengel 2006), and not
every equilibrium lies at the end of one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import InvalidGame
from bestresponse.theory.arrays import Bools, Ints, find_range
from bestresponse.theory.deadline import NEVER, Deadline
from bestresponse.theory.engines import Engine, load_kernels
from bestresponse.theory.equilibria.extremes import find_largest_regret, require_two_players
from bestresponse.theory.equilibria.integer import make_dictionary, whole_matrix, whole_payoffs
from bestresponse.theory.equilibria.result import Equilibrium, Fractions
from bestresponse.theory.games.normal_form import (
    Array,
    GameLike,
    NormalForm,
    as_normal_form,
    as_payoffs,
)

_REGRET_LIMIT = 1e-9  # of the payoff range; an answer with more is computed again in whole numbers
_WORTH_COMPILING = 1e8  # numbers that pivots change: from here on loading the compiled loop pays
_PER_PIVOT = 4000  # numbers: calling numpy takes as long as changing so many
_KERNELS = "bestresponse.theory.equilibria.lemke_howson_kernels"
_EXACT_LABELS = 24  # above, floats are tried first: whole numbers grow with the game
_TIE = 1e-11  # of ratios, payoffs being scaled into [1, 2]
_WHAT = "the end of a path of Lemke and Howson"
_LEAST_PIVOT = 1e-10
_MOST_PIVOTS = 100_000  # a path that rounding made cycle has no end


@dataclass(frozen=True, eq=False, slots=True)
class LemkeHowsonBatch:
    """One equilibrium of each of n games: x is (n, rows), y is (n, columns).

    `regret` is the larger of both players' regrets as a share of their payoff ranges; none is above
    1e-9. `pivots` is the length of each path; `exact` marks the games that were solved with
    integers of any length.
    """

    x: Array
    y: Array
    regret: Array
    pivots: Ints
    exact: Bools


def lemke_howson(game: GameLike, label: int = 0, *, seconds: float = inf) -> Equilibrium:
    """Find the equilibrium at the end of the path that gives up `label` first.

    NotCertified where a path in whole numbers takes longer than `seconds`.

    >>> battle = NormalForm.bimatrix([[2, 0], [0, 1]], [[1, 0], [0, 2]])
    >>> [lemke_howson(battle, label).supports for label in range(4)]
    [((0,), (0,)), ((1,), (1,)), ((0,), (0,)), ((1,), (1,))]
    """
    return _follow_path(as_normal_form(game), label, Deadline.after(seconds))


def _follow_path(game: NormalForm, label: int, deadline: Deadline) -> Equilibrium:
    require_two_players(game, "lemke_howson")
    _check_label(label, game.shape)
    if sum(game.shape) > _EXACT_LABELS:
        batch = _solve(
            game.payoffs[:1],
            game.payoffs[1:],
            label,
            "auto",
            pure_first=False,
            deadline=deadline,
        )
        if not batch.exact[0]:
            return Equilibrium.at(game, (batch.x[0], batch.y[0]))
    exact = follow_exactly(game, label, deadline)
    strategies = tuple([np.array(mix, dtype=np.float64) for mix in exact])
    return Equilibrium.at(game, strategies, exact if game.is_exact else None)


def lemke_howson_all(game: GameLike, *, seconds: float = inf) -> tuple[Equilibrium, ...]:
    """Return the different equilibria at the ends of the paths from every label.

    These are at least one, seldom all there are. Raises NotCertified if they take longer than
    `seconds`.
    """
    deadline = Deadline.after(seconds)
    game = as_normal_form(game)
    equilibria: dict[tuple[object, ...], Equilibrium] = {}
    for label in range(sum(game.shape)):
        e = _follow_path(game, label, deadline)
        rounded = np.round(np.concatenate(e.strategies), 9)
        equilibria.setdefault(tuple(rounded.tolist()), e)
    return tuple(equilibria.values())


def lemke_howson_batch(
    row: ArrayLike,
    col: ArrayLike,
    label: int = 0,
    *,
    engine: Engine = "auto",
) -> LemkeHowsonBatch:
    """Find the equilibrium at the end of the path of `label` in each game.

    Row[g], col[g] are the payoffs of game g.

    Compiled when numba is there and the batch is large enough; every answer is checked, and what is
    not an equilibrium to 1e-9 of the payoff range is solved again with integers.

    >>> batch = lemke_howson_batch([[[0, 1], [1, 0]]], [[[1, 0], [0, 1]]])
    >>> batch.x.round(12).tolist(), batch.y.round(12).tolist(), batch.pivots.tolist()
    ([[0.5, 0.5]], [[0.5, 0.5]], [4])
    """
    return _solve(row, col, label, engine, pure_first=False)


def nash_one_batch(row: ArrayLike, col: ArrayLike, *, engine: Engine = "auto") -> LemkeHowsonBatch:
    """Find one equilibrium of each game.

    It is the first pure one (by row, then column) if there is one, else Lemke-Howson's.

    >>> batch = nash_one_batch([[[2, 0], [0, 1]]], [[[1, 0], [0, 2]]])
    >>> batch.x.tolist(), batch.y.tolist(), batch.regret.tolist()
    ([[1.0, 0.0]], [[1.0, 0.0]], [0.0])
    """
    return _solve(row, col, 0, engine, pure_first=True)


def _solve(
    row: ArrayLike,
    col: ArrayLike,
    label: int,
    engine: Engine,
    *,
    pure_first: bool,
    deadline: Deadline = NEVER,
) -> LemkeHowsonBatch:
    first = as_payoffs(row, "row payoffs")
    second = as_payoffs(col, "column payoffs")
    if first.ndim != 3 or first.shape != second.shape:
        raise InvalidGame(
            f"expected two arrays of one shape (games, rows, columns), got {first.shape},"
            f" {second.shape}"
        )
    games, m, n = first.shape
    _check_label(label, (m, n))
    x = np.zeros((games, m))
    y = np.zeros((games, n))
    regrets = np.full(games, np.inf)
    pivots = np.zeros(games, dtype=np.int64)
    if pure_first:
        _take_pure(first, second, x, y, regrets)
    # A path has about as many pivots as labels, each of which changes all numbers.
    work = np.count_nonzero(regrets) * (m + n) * (m * n + _PER_PIVOT)
    kernels = load_kernels(_KERNELS, engine, work, _WORTH_COMPILING)
    if kernels is not None:
        payoffs = np.ascontiguousarray(first), np.ascontiguousarray(second)
        kernels.follow_all(*payoffs, label, x, y, regrets, pivots)

    def keep(g: int, points: Sequence[Sequence[float]]) -> None:
        """Keep the end of a path, and what its regret is."""
        x[g], y[g] = ([value / sum(point) for value in point] for point in points)
        both = np.stack([first[g], second[g]])
        regrets[g] = find_largest_regret(both, x[g : g + 1], y[g : g + 1])

    unsolved = np.flatnonzero(regrets).tolist() if kernels is None else []
    for g in unsolved:
        found, pivots[g] = _float_path(first[g], second[g], label, deadline)
        if found:
            keep(g, found)
    wrong = ~(regrets <= _REGRET_LIMIT)
    for g in np.flatnonzero(wrong).tolist():
        whole = whole_payoffs(first[g]), whole_payoffs(second[g])
        points, pivots[g] = _exact_path(*whole, label, deadline)
        keep(g, points)
    return LemkeHowsonBatch(x, y, np.maximum(regrets, 0.0), pivots, wrong)


def _take_pure(row: Array, col: Array, x: Array, y: Array, regrets: Array) -> None:
    """Into x, y the first pure equilibrium of each game that has one."""
    mutual = (row == row.max(axis=1, keepdims=True)) & (col == col.max(axis=2, keepdims=True))
    flat = mutual.reshape(len(row), -1)
    games = np.flatnonzero(flat.any(axis=1))
    rows, columns = np.divmod(flat[games].argmax(axis=1), row.shape[2])
    x[games, rows] = y[games, columns] = 1.0
    regrets[games] = 0.0


def _check_label(label: int, shape: tuple[int, ...]) -> None:
    if not 0 <= label < sum(shape):
        raise InvalidGame(
            f"label: a {shape[0]}x{shape[1]} game has labels 0 to {sum(shape) - 1}, got {label}"
        )


def follow_exactly(game: NormalForm, label: int = 0, deadline: Deadline = NEVER) -> Fractions:
    """Follow the path of `label` in whole numbers, and give both strategies.

    The game may have any size.
    """
    points, _ = _exact_path(
        whole_matrix(game, 0),
        whole_matrix(game, 1),
        label,
        deadline,
    )
    strategies = []
    for point in points:
        total = sum(point)
        strategies.append(tuple([Fraction(value, total) for value in point]))
    return tuple(strategies)


class _Tableau:
    """{z >= 0, Mz <= 1} in floats, M being payoffs moved and scaled into [1, 2].

    Its columns are the variables z, the slacks of the rows, and the right side.
    """

    def __init__(self, payoffs: Array) -> None:
        rows, self.width = payoffs.shape
        scaled = (payoffs - payoffs.min()) / find_range(payoffs) + 1.0
        self.numbers = np.hstack([scaled, np.eye(rows), np.ones((rows, 1))])
        self.basic = np.arange(self.width, self.width + rows)

    def exchange(self, variable: int) -> int:
        """Let a variable enter, and say which one leaves; -1 where rounding left no choice."""
        column = self.numbers[:, variable].copy()
        rows = np.flatnonzero(column > _LEAST_PIVOT)
        if not rows.size:
            return -1
        # The right side, and where that ties the slacks one by one: the lexicographic rule.
        for at in range(-1, len(column)):
            ratios = self.numbers[rows, at if at < 0 else self.width + at] / column[rows]
            rows = rows[ratios <= ratios.min() + _TIE]
            if len(rows) == 1:
                break
        row = rows[0]
        left = int(self.basic[row])
        self.basic[row] = variable
        pivot = self.numbers[row] / column[row]
        self.numbers -= np.outer(column, pivot)
        self.numbers[row] = pivot
        return left

    def point(self) -> list[float]:
        """z, unscaled."""
        values = np.zeros(self.numbers.shape[1])
        values[self.basic] = self.numbers[:, -1]
        shares: list[float] = np.maximum(values[: self.width], 0.0).tolist()
        return shares


def _float_path(
    row: Array,
    col: Array,
    label: int,
    deadline: Deadline,
) -> tuple[list[list[float]], int]:
    """Both strategies, unscaled, and the number of pivots; no strategies where it got lost."""
    m, n = row.shape
    tables = [_Tableau(col.T), _Tableau(row)]
    current = label
    side = int(label >= m)
    for steps in range(1, _MOST_PIVOTS):
        deadline.check(_WHAT)
        left = tables[side].exchange(_turn(current, m, n) if side else current)
        if left < 0:
            return [], steps
        current = _turn(left, n, m) if side else left
        if current == label:
            return [table.point() for table in tables], steps
        side = 1 - side
    return [], _MOST_PIVOTS


def _turn(label: int, m: int, n: int) -> int:
    """Give the number of a label where the other player's variables come first."""
    return label - m if label >= m else label + n


def _exact_path(
    row: list[list[int]],
    col: list[list[int]],
    label: int,
    deadline: Deadline,
) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], int]:
    """Both strategies, unscaled, and the number of pivots."""
    m = len(row)
    n = len(row[0])
    tables = [
        make_dictionary([list(line) for line in zip(*col, strict=True)]),
        make_dictionary(row),
    ]
    current = label
    side = int(label >= m)
    steps = 0
    while True:
        deadline.check(_WHAT)
        # In the second table, the variables of the second player come first.
        variable = _turn(current, m, n) if side else current
        column = tables[side].nonbasic.index(variable)
        row_number = tables[side].leaving(column)
        left = tables[side].basic[row_number]
        tables[side] = tables[side].pivot(row_number, column)
        current = _turn(left, n, m) if side else left
        steps += 1
        if current == label:
            return (tables[0].point(), tables[1].point()), steps
        side = 1 - side
