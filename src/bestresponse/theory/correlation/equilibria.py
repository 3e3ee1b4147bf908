"""Correlated and coarse correlated equilibria by linear programming.

Games may have any number of players.

Definition (Aumann 1974): a mediator draws an action profile from a distribution p and tells each
player its own part; p is a correlated equilibrium when obeying is best, that is for every player i
and actions s, s' sum over a with a_i = s of p(a) (u_i(s', a_-i) - u_i(a)) <= 0. It is coarse
correlated (Moulin and Vial 1978) when no player gains by committing to one action before hearing
anything. Every Nash equilibrium is both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import inf
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import InvalidGame, NotCertified, TooLarge, UsageError
from bestresponse.theory.arrays import Indices, find_range
from bestresponse.theory.deadline import NEVER, Deadline
from bestresponse.theory.equilibria.integer import maximize, whole_payoffs
from bestresponse.theory.games.normal_form import (
    Array,
    GameLike,
    NormalForm,
    Numbers,
    as_normal_form,
)
from bestresponse.theory.linear_program import (
    find_fairest_mixture,
    find_mixture,
    load_sparse,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Objective = Literal["welfare", "fairness", "any"]

_NUMBERS_LIMIT = 20_000_000
_FLOOR_SLACKS = (
    1e-10,
    1e-9,
    1e-8,
)  # how much of the lowest payoff may be given up for the largest sum
VIOLATION_LIMIT = 1e-9  # of a payoff range, as everywhere in this package
_EXACT_CELLS = (
    36  # above, whole numbers would take too long, and what HiGHS says stands or is refused
)


@dataclass(frozen=True, eq=False, slots=True)
class CorrelatedEquilibrium:
    """A distribution over action profiles that nobody gains by disobeying.

    `value` is what the objective asked for: the sum of payoffs (welfare), the lowest payoff
    (fairness) or the sum of payoffs (any). `violation` is the
    largest amount any player could gain.
    """

    distribution: Array
    payoffs: Array
    objective: Objective
    value: float
    coarse: bool
    violation: float
    method: str

    @property
    def welfare(self) -> float:
        """The sum of the payoffs."""
        return float(self.payoffs.sum())


def correlated(
    game: GameLike,
    objective: Objective = "welfare",
    *,
    coarse: bool = False,
    seconds: float = inf,
) -> CorrelatedEquilibrium:
    """Find the (coarse) correlated equilibrium that is best by `objective`.

    Its constraints are checked to 1e-9.

    "welfare": largest sum of payoffs. "fairness": largest lowest payoff, then largest sum.
    "any": some equilibrium. Raises TooLarge before building a
    linear program that would not fit, and NotCertified where it takes longer than `seconds`.

    >>> chicken = NormalForm.bimatrix([[0, 7], [2, 6]], [[0, 2], [7, 6]])
    >>> correlated(chicken).distribution.round(6).tolist()
    [[0.0, 0.25], [0.25, 0.5]]
    """
    deadline = Deadline.after(seconds)
    game = as_normal_form(game)
    if objective not in get_args(Objective):
        raise UsageError(f"objective: expected welfare, fairness or any, got {objective!r}")
    rows = incentives(game, coarse)
    flat, method = _certified(_Wanted(game, objective, coarse, deadline), rows)
    distribution = flat.reshape(game.shape)
    violation = relative_violation(rows, flat)
    if violation > VIOLATION_LIMIT:
        raise NotCertified(
            f"the {objective} correlated equilibrium found gives a player an incentive of"
            f" {violation:.1e} of its payoff range to disobey, more than {VIOLATION_LIMIT:g}; try"
            " another objective"
        )
    payoffs = expect_payoffs(game, distribution)
    value = float(payoffs.min() if objective == "fairness" else payoffs.sum())
    gains = correlated_regret(game, distribution, coarse=coarse)
    return CorrelatedEquilibrium(
        distribution=distribution,
        payoffs=payoffs,
        objective=objective,
        value=value,
        coarse=coarse,
        violation=float(gains.max()),
        method=method,
    )


def expect_payoffs(game: NormalForm, distribution: Array) -> Array:
    """Compute what every player expects where cells are drawn."""
    return np.array([float((distribution * table).sum()) for table in game.payoffs])


def correlated_regret(game: GameLike, distribution: ArrayLike, *, coarse: bool = False) -> Array:
    """Return for each player what the best rule for disobeying recommendations would gain.

    All zero at an equilibrium.

    With `coarse`, what the best single action chosen beforehand would gain.

    >>> pd = NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])
    >>> correlated_regret(pd, [[0.5, 0], [0, 0.5]]).tolist()
    [1.0, 1.0]
    """
    game = as_normal_form(game)
    p = np.asarray(distribution, dtype=np.float64)
    if p.shape != game.shape:
        raise InvalidGame(
            f"distribution: expected one probability per cell, shape {game.shape}, got {p.shape}"
        )
    total = float(p.sum())
    if not abs(total - 1.0) <= 1e-6 or float(p.min()) < -1e-6:
        raise InvalidGame(f"distribution: expected probabilities that sum to 1, got sum {total:g}")
    regrets = []
    for i in range(game.num_players):
        shifted = game.payoffs[i] - game.payoffs[i].min()
        table = _put_first(shifted, i)
        weight = _put_first(p, i)
        if coarse:
            instead = table @ weight.sum(axis=0)
            gain = instead.max() - (table * weight).sum()
        else:
            switched = table @ weight.T
            gain = (switched.max(axis=0) - np.diag(switched)).sum()
        regrets.append(max(float(gain), 0.0))
    return np.array(regrets)


def _put_first(table: Numbers, player: int) -> Numbers:
    """Give one row per action of a player, and one column per choice of all others."""
    turned = np.moveaxis(table, player, 0)
    return turned.reshape(len(turned), -1)


def incentives(game: NormalForm, coarse: bool, exempt: int | None = None) -> csr_array:
    """Write the incentive constraints G p <= 0 as a sparse matrix over cells.

    They are in units of payoff ranges. Whoever is exempt has none.
    """
    sparse = load_sparse()
    cells = int(np.prod(game.shape))
    numbers = cells * sum(m - (not coarse) for m in game.shape)
    if numbers > _NUMBERS_LIMIT:
        raise TooLarge(
            f"the incentive constraints of a {'x'.join(map(str, game.shape))} game have {numbers:,}"
            f" numbers, more than {_NUMBERS_LIMIT:,}; regret matching approaches the coarse"
            " correlated equilibria of such a game"
        )
    tables = [table / find_range(table) for table in game.payoffs]
    rows = list(_list_disobediences(tables, coarse, exempt))
    ends = np.cumsum([0, *(len(gains) for gains, _ in rows)])
    if not rows:  # nobody has a choice
        nothing: csr_array = sparse.csr_array((0, cells))
        return nothing
    entries = (
        np.concatenate([gains for gains, _ in rows]),
        np.concatenate([columns for _, columns in rows]),
        ends,
    )
    constraints: csr_array = sparse.csr_array(entries, shape=(len(rows), cells))
    return constraints


def _list_disobediences(
    tables: Sequence[Numbers],
    coarse: bool,
    exempt: int | None,
) -> Iterator[tuple[Numbers, Indices]]:
    """Yield what every disobedience gains, with the cells in which it does.

    They come player by player, told and instead.

    Whoever commits beforehand plays one action instead of all.
    """
    for player, table in enumerate(tables):
        if player == exempt:
            continue
        count = table.shape[player]
        payoffs = _put_first(table, player)
        numbers = np.arange(table.size).reshape(table.shape)
        cells = _put_first(numbers, player)
        everything = list(range(count))
        if coarse:
            moves = [(everything, b) for b in everything]
        else:
            moves = [([a], b) for a, b in permutations(everything, 2)]
        for recommended, instead in moves:
            yield (payoffs[instead] - payoffs[recommended]).ravel(), cells[recommended].ravel()


def relative_violation(rows: csr_array, flat: Array) -> float:
    """Return the largest left side of an incentive constraint.

    It is how much one disobedience gains, per payoff range.
    """
    gains = rows @ flat
    return float(max(gains.max(initial=0.0), 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class _Wanted:
    """Which equilibrium of a game is looked for, and until when."""

    game: NormalForm
    objective: Objective
    coarse: bool
    deadline: Deadline


def _certified(wanted: _Wanted, rows: csr_array) -> tuple[Array, str]:
    """HiGHS's answer if it holds.

    For objectives without a second stage and small games else an exact one.
    """
    game = wanted.game
    final = wanted.objective == "fairness" or rows.shape[1] > _EXACT_CELLS
    try:
        flat = _by_linear_program(wanted, rows)
        if final or relative_violation(rows, flat) <= VIOLATION_LIMIT:
            return flat, "linear program (HiGHS)"
    except NotCertified:
        if final:
            raise
    welfare = game.payoffs.sum(axis=0)
    exact = exact_correlated(game, welfare, wanted.coarse, deadline=wanted.deadline)
    return exact, "linear program (exact)"


def find_exempted(game: NormalForm, leader: int, deadline: Deadline) -> Array:
    """Find the distribution that earns a leader most of those that all others obey.

    It has promised to obey itself.
    """
    cells = int(np.prod(game.shape))
    worth = game.payoffs[leader]
    if cells <= _EXACT_CELLS:
        flat = exact_correlated(
            game,
            worth,
            coarse=False,
            exempt=leader,
            deadline=deadline,
        )
        return flat.reshape(game.shape)
    rows = incentives(game, coarse=False, exempt=leader)
    scaled = worth.ravel() / find_range(worth)
    mixture = find_mixture(-scaled, rows, np.zeros(rows.shape[0]), deadline)
    if mixture is None or relative_violation(rows, mixture) > VIOLATION_LIMIT:
        raise NotCertified(
            "the linear program of the commitment was not solved to the precision of a certificate"
        )
    return mixture.reshape(game.shape)


def exact_correlated(
    game: NormalForm,
    worth: Array,
    coarse: bool,
    exempt: int | None = None,
    deadline: Deadline = NEVER,
) -> Array:
    """Find the (coarse) correlated equilibrium of largest expected `worth`.

    `worth` has one number per cell. The work is in whole numbers.
    """
    tables = []
    for table in game.payoffs:
        whole = np.array(_make_whole(table), dtype=object)
        tables.append(whole.reshape(table.shape))
    rows = []
    for gains, cells in _list_disobediences(tables, coarse, exempt):
        row = np.zeros(worth.size, dtype=object)
        row[cells] = gains
        rows.append(row.tolist())
    point = maximize(rows, _make_whole(worth), deadline)
    total = sum(point)
    return np.array([value / total for value in point])


def _make_whole(table: Array) -> list[int]:
    """Give the numbers of a table in one row, as whole multiples of a unit."""
    (row,) = whole_payoffs(table.reshape(1, -1))
    return row


def _by_linear_program(wanted: _Wanted, rows: csr_array) -> Array:
    game = wanted.game
    cells = int(np.prod(game.shape))
    flat = game.payoffs.reshape(game.num_players, cells)
    scale = find_range(flat)
    scaled = (flat - flat.min(axis=1, keepdims=True)) / scale
    total = scaled.sum(axis=0)
    if wanted.objective == "fairness":
        comparable = (flat - flat.min()) / scale
        return _find_fairest(rows, comparable, total, wanted.deadline)
    cost = -total if wanted.objective == "welfare" else 0.0 * total
    mixture = find_mixture(cost, rows, np.zeros(rows.shape[0]), wanted.deadline)
    if mixture is None:
        raise NotCertified(
            "the linear program of the correlated equilibrium was found to have no solution"
        )
    return mixture


def _find_fairest(
    rows: csr_array,
    payoffs: Array,
    total: Array,
    deadline: Deadline,
) -> Array:
    """Largest lowest payoff first; then, keeping it, the largest sum."""
    from scipy import sparse

    fairest = find_fairest_mixture(payoffs, rows, deadline)
    floor = float((payoffs @ fairest).min())
    above = sparse.vstack([rows, sparse.csr_array(-payoffs)], format="csr")
    for slack in _FLOOR_SLACKS:  # rounding may have made the floor a little too high for HiGHS
        limits = np.concatenate([np.zeros(rows.shape[0]), np.full(len(payoffs), slack - floor)])
        mixture = find_mixture(-total, above, limits, deadline)
        if mixture is not None:
            return mixture
    return fairest
