"""One Nash equilibrium of a two-player game by the path of Lemke and Howson (1964).

Labels: 0..m-1 are the row player's actions, m..m+n-1 the column player's. A pair of points of the
best-response polytopes carries the labels of unused actions and of best replies. The path starts
where nothing is played, gives up one label and restores complementarity by alternating pivots; it
ends at an equilibrium. The lexicographic rule keeps it from cycling in degenerate games (Shapley
1974; von Stengel 2002). Paths can be exponentially long (Savani and von Stengel 2006), and not
every equilibrium lies at the end of one.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import inf

import numpy as np

from bestresponse.core.errors import InvalidGame, NotCertified
from bestresponse.theory.arrays import find_range
from bestresponse.theory.deadline import Deadline
from bestresponse.theory.equilibria.extremes import find_largest_regret, require_two_players
from bestresponse.theory.equilibria.integer import make_dictionary, whole_matrix
from bestresponse.theory.equilibria.result import Equilibrium
from bestresponse.theory.games.normal_form import Array, GameLike, NormalForm, as_normal_form

_REGRET_LIMIT = 1e-9  # of the payoff range; an answer with more is computed again in whole numbers
_EXACT_LABELS = 24  # above, floats are tried first: whole numbers grow with the game
_TIE = 1e-10  # above rounding, as a tie that is missed can make a path cycle
_WHAT = "the end of a path of Lemke and Howson"
_LEAST_PIVOT = 1e-11  # what rounding leaves of a 0 after many pivots
_MOST_PIVOTS = 100_000  # a path that rounding made cycle has no end
_WHOLE_LABELS = 200  # above, a path in whole numbers takes longer than anybody waits
_FEW_PIVOTS = 16  # of each path that is tried first; then four times as many, and so on
_PATHS = 40  # that are tried in turn


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
    labels = sum(game.shape)
    if not 0 <= label < labels:
        m, n = game.shape
        raise InvalidGame(f"label: a {m}x{n} game has labels 0 to {labels - 1}, got {label}")
    if labels > _EXACT_LABELS:
        found = _follow_in_floats(game, label, deadline, _MOST_PIVOTS)
        if found is not None:
            return found
    if labels > _WHOLE_LABELS:
        raise NotCertified(
            f"the path of label {label} did not end within {_MOST_PIVOTS:,} pivots; nash_one"
            " follows a shorter one"
        )
    turned = [list(line) for line in zip(*whole_matrix(game, 1), strict=True)]
    whole = [_WholeTableau(turned), _WholeTableau(whole_matrix(game, 0))]
    _walk(whole, label, game.shape, deadline)
    exact = tuple([table.point() for table in whole])
    strategies = tuple([np.array(mix, dtype=np.float64) for mix in exact])
    return Equilibrium.at(game, strategies, exact if game.is_exact else None)


def follow_short_path(game: NormalForm, deadline: Deadline) -> Equilibrium:
    """Find the equilibrium at the end of a short path.

    The paths of a game differ in length by factors of thousands (Codenotti, De Rossi, Pagan 2008),
    so that some are followed in turn, each for a few pivots, then for more.
    """
    labels = sum(game.shape)
    most = _FEW_PIVOTS
    while labels > _EXACT_LABELS and most < _MOST_PIVOTS:
        for label in range(0, labels, -(-labels // _PATHS)):
            found = _follow_in_floats(game, label, deadline, most)
            if found is not None:
                return found
        most *= 4
    return _follow_path(game, 0, deadline)


def _follow_in_floats(
    game: NormalForm, label: int, deadline: Deadline, most: int
) -> Equilibrium | None:
    """Return the end of a path of so many pivots at most; None where it is longer or not exact."""
    row, col = game.payoffs
    tables = [_make_tableau(col.T), _make_tableau(row)]
    if _walk(tables, label, game.shape, deadline, most):
        x, y = (table.point() for table in tables)
        if find_largest_regret(game.payoffs, x[None], y[None]) <= _REGRET_LIMIT:
            return Equilibrium.at(game, (x, y))
    return None


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


class FloatTableau:
    """Variables and slacks of rows, of which those that are not basic have columns, in floats.

    The last column is the right side.
    """

    def __init__(self, rows: Array) -> None:
        self.numbers = np.asfortranarray(rows)
        self.width = rows.shape[1] - 1
        self.basic = list(range(self.width, self.width + len(rows)))
        self.column_of = {variable: variable for variable in range(self.width)}

    def exchange(self, variable: int, preferred: int = -1) -> int:
        """Let a variable enter, and say which one leaves; -1 where none can.

        Of several that could, that is the `preferred` one.
        """
        column = self.numbers[:, self.column_of[variable]]
        rows = (column > _LEAST_PIVOT).nonzero()[0]
        if not rows.size:
            return -1
        # The right side, and where that ties the slacks one by one: the lexicographic rule.
        for slack in range(-1, len(column)):
            side = self.numbers[:, -1] if slack < 0 else self._read_slack(slack)
            ratios = side[rows] / column[rows]
            rows = rows[ratios <= ratios.min() + _TIE]
            if rows.size == 1:
                break
            if preferred in (wanted := [self.basic[row] for row in rows]):
                return self.pivot(int(rows[wanted.index(preferred)]), variable)
        return self.pivot(int(rows[0]), variable)

    def pivot(self, row: int, variable: int) -> int:
        """Let a variable enter in a row, and say which one leaves it."""
        from scipy.linalg.blas import dger

        numbers = self.numbers
        place = self.column_of.pop(variable)
        left = self.basic[row]
        self.basic[row] = variable
        self.column_of[left] = place
        column = numbers[:, place].copy()
        share = 1.0 / column[row]
        pivot = numbers[row] * share
        # In place, columns first: a quarter of the time that `outer` takes.
        dger(-1.0, column, pivot, a=numbers, overwrite_a=True)
        numbers[row] = pivot
        numbers[:, place] = column * -share
        numbers[row, place] = share
        return left

    def _read_slack(self, slack: int) -> Array:
        place = self.column_of.get(self.width + slack)
        if place is not None:
            return self.numbers[:, place]
        unit = np.zeros(len(self.basic))
        unit[self.basic.index(self.width + slack)] = 1.0
        return unit

    def point(self) -> Array:
        """z, with the sum 1."""
        values = np.zeros(self.width + len(self.basic))
        values[self.basic] = self.numbers[:, -1]
        shares = np.maximum(values[: self.width], 0.0)
        return np.asarray(shares / shares.sum())


def _make_tableau(payoffs: Array) -> FloatTableau:
    """Write {z >= 0, Mz <= 1}, M being payoffs moved and scaled into [1, 2]."""
    scaled = (payoffs - payoffs.min()) / find_range(payoffs) + 1.0
    return FloatTableau(np.hstack([scaled, np.ones((len(payoffs), 1))]))


class _WholeTableau:
    """The same polytope in whole numbers, M being what a player wants."""

    def __init__(self, matrix: list[list[int]]) -> None:
        self._dictionary = make_dictionary(matrix)

    def exchange(self, variable: int) -> int:
        """Let a variable enter, and say which one leaves."""
        column = self._dictionary.nonbasic.index(variable)
        row = self._dictionary.leaving(column)
        left = self._dictionary.basic[row]
        self._dictionary = self._dictionary.pivot(row, column)
        return left

    def point(self) -> tuple[Fraction, ...]:
        """z, with the sum 1."""
        values = self._dictionary.point()
        total = sum(values)
        return tuple([Fraction(value, total) for value in values])


def _walk(
    tables: Sequence[FloatTableau] | Sequence[_WholeTableau],
    label: int,
    shape: tuple[int, ...],
    deadline: Deadline,
    most: float = inf,
) -> bool:
    """Walk to the end of a path; say whether it was reached in so many pivots at most."""
    m, n = shape
    current = label
    side = int(label >= m)
    pivots = 0
    while pivots < most:
        deadline.check(_WHAT)
        # In the second table, the variables of the second player come first.
        left = tables[side].exchange(_turn(current, m, n) if side else current)
        if left < 0:
            return False
        current = _turn(left, n, m) if side else left
        if current == label:
            return True
        side = 1 - side
        pivots += 1
    return False


def _turn(label: int, m: int, n: int) -> int:
    """Give the number of a label where the other player's variables come first."""
    return label - m if label >= m else label + n
