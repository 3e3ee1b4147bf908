"""One Nash equilibrium of a two-player game by the path of Lemke and Howson (1964).

It is found alone or for many games at once.

Labels: 0..m-1 are the row player's actions, m..m+n-1 the column player's. A pair of points of the
best-response polytopes carries the labels of unused actions and of best replies. The path starts
where nothing is played, gives up one label and restores complementarity by alternating pivots; it
ends at an equilibrium. The lexicographic rule keeps it from cycling in degenerate games (Shapley
1974; von Stengel 2002). Paths can be exponentially long (Savani and von Stengel 2006), and not
every equilibrium lies at the end of one.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bestresponse.core.errors import InvalidGame
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
_WORTH_COMPILING = 20_000  # payoffs of each player: from here on loading the compiled loop pays
_KERNELS = "bestresponse.theory.equilibria.lemke_howson_kernels"
_EXACT_LABELS = 24  # above, floats are tried first: whole numbers grow with the game


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
    pivots: NDArray[np.int64]
    exact: NDArray[np.bool_]


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
    kernels = load_kernels(_KERNELS, engine, first.size, _WORTH_COMPILING)
    if kernels is not None:
        payoffs = np.ascontiguousarray(first), np.ascontiguousarray(second)
        kernels.follow_all(*payoffs, label, x, y, regrets, pivots)
    wrong = ~(regrets <= _REGRET_LIMIT)
    for g in np.flatnonzero(wrong):
        whole = whole_payoffs(first[g]), whole_payoffs(second[g])
        points, pivots[g] = _exact_path(*whole, label, deadline)
        x[g], y[g] = ([value / sum(point) for value in point] for point in points)
        regrets[g] = find_largest_regret(
            np.stack([first[g], second[g]]),
            x[g : g + 1],
            y[g : g + 1],
        )
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
        deadline.check("the end of a path of Lemke and Howson")
        # In the second table, the variables of the second player come first.
        variable = current
        if side == 1:
            variable = current - m if current >= m else current + n
        column = tables[side].nonbasic.index(variable)
        row_number = tables[side].leaving(column)
        left = tables[side].basic[row_number]
        tables[side] = tables[side].pivot(row_number, column)
        current = left
        if side == 1:
            current = left + m if left < n else left - n
        steps += 1
        if current == label:
            return (tables[0].point(), tables[1].point()), steps
        side = 1 - side
