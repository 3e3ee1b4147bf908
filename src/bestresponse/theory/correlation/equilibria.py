"""Correlated and coarse correlated equilibria by linear programming.

Games may have any number of players.

Definition (Aumann 1974): a mediator draws an action profile from a distribution p and tells each
player its own part; p is a correlated equilibrium when obeying is best, that is for every player i
and actions s, s' sum over a with a_i = s of p(a) (u_i(s', a_-i) - u_i(a)) <= 0. It is coarse
correlated (Moulin and Vial 1978) when no player gains by committing to one action before hearing
anything. Every Nash equilibrium is both.

The correlated equilibrium of largest entropy: the one that assumes least beyond obedience (Ortiz et
al. 2007).

Maximise -sum p log p over distributions with G p <= 0. A first linear program finds which cells can
be positive and which constraints can be slack at all; within those the problem has an interior, and
a barrier method with Newton steps follows the central path to within 1e-7 of the optimum. The
optimum is proportional to exp(-G'k) with k >= 0 positive on binding constraints only, which
Newton's method on k then finds to full precision.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import inf
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from bestresponse.core.errors import InvalidGame, NotCertified, TooLarge, UsageError
from bestresponse.theory.arrays import Bools, Indices, find_range
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
    solve_program,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_CELLS_LIMIT = 1500  # every Newton step of the barrier method solves dense equations in the cells
_DUALITY_GAP = 1e-7  # `_polished` solves the binding rows from here to the last digits
_NEWTON_STEPS = 60


def most_random(rows: csr_array, deadline: Deadline = NEVER) -> Array:
    """Return the distribution p of largest entropy with rows p <= 0."""
    cells = rows.shape[1]
    if cells > _CELLS_LIMIT:
        raise TooLarge(
            f"largest entropy over {cells:,} cells: more than {_CELLS_LIMIT:,}; use objective='any'"
        )
    dense = rows.toarray()
    start, possible, slack = _interior(dense, deadline)
    inner = dense[slack][:, possible]
    tight = dense[~slack][:, possible]
    inside = _follow(start[possible], inner, tight, deadline)
    p = np.zeros(cells)
    p[possible] = inside
    return p


def _interior(rows: Array, deadline: Deadline) -> tuple[Array, Bools, Bools]:
    """Find a distribution in the relative interior, and what can be positive or slack.

    Returns the distribution, the cells that can be positive, and the rows that can be slack.

    Linear program over the cone: maximise the sum of t and s with p >= t, rows p + s <= 0, 0 <= t,
    s <= 1.
    """
    count, cells = rows.shape
    cost = np.concatenate([np.zeros(cells), -np.ones(cells + count)])
    positive = np.hstack([-np.eye(cells), np.eye(cells), np.zeros((cells, count))])
    slacked = np.hstack([rows, np.zeros((count, cells)), np.eye(count)])
    bounds = [(0.0, None)] * cells + [(0.0, 1.0)] * (cells + count)
    answer = solve_program(
        cost=cost,
        above=np.vstack([positive, slacked]),
        limits=np.zeros(cells + count),
        bounds=bounds,
        deadline=deadline,
    )
    assert answer is not None  # nothing at all fulfils the constraints
    p, t, s = np.split(answer[0], [cells, 2 * cells])
    possible = t > 0.5
    inside = np.where(possible, p, 0.0)
    return inside / inside.sum(), possible, s > 0.5


def _follow(p: Array, inner: Array, tight: Array, deadline: Deadline) -> Array:
    """The central path: minimise weight * sum p log p - sum log(-walls p).

    p is kept on sum 1 and tight p = 0.
    """
    fixed = np.vstack([np.ones((1, len(p))), tight])
    _, sizes, directions = np.linalg.svd(fixed)
    rank = int((sizes > 1e-10 * sizes[0]).sum())
    free = directions[rank:].T
    # Back onto the planes that rounding has left.
    off = fixed @ p
    off[0] -= 1.0
    shifts = np.linalg.lstsq(fixed @ fixed.T, off, rcond=None)[0]
    p = p - fixed.T @ shifts
    if free.shape[1] == 0:
        return p
    walls = np.vstack([inner, -np.eye(len(p))])
    weight = 1.0
    while True:
        deadline.check("the correlated equilibrium of largest entropy")
        p = _centre(p, walls, free, weight)
        if len(walls) / weight < _DUALITY_GAP:
            return _polished(p, inner, tight, weight)
        weight *= 20.0


def _polished(p: Array, inner: Array, tight: Array, weight: float) -> Array:
    """Newton's method on the multipliers of the binding rows.

    P itself where they turn out not to be the right ones.
    """
    room = -(inner @ p)
    is_binding = 1.0 / weight > room**2
    binding = np.vstack([inner[is_binding], tight])
    columns = np.hstack([binding.T, np.ones((len(p), 1))])
    solved = np.linalg.lstsq(columns, -np.log(p), rcond=None)[0]
    multipliers = solved[:-1]
    for _ in range(_NEWTON_STEPS):
        exponents = -(binding.T @ multipliers)
        if not np.isfinite(exponents).all():
            return p
        new = np.exp(exponents - exponents.max())
        new /= new.sum()
        left = binding @ new
        if np.abs(left).max(initial=0.0) < 1e-15:
            break
        spread = (binding * new) @ binding.T - np.outer(left, left)
        multipliers = multipliers + np.linalg.lstsq(spread, left, rcond=1e-13)[0]
    positive = multipliers[: len(binding) - len(tight)]
    worst = (inner @ new).max(initial=0.0)
    good = np.isfinite(new).all() and positive.min(initial=0.0) > -1e-9 and worst < 1e-14
    return np.asarray(new) if good else p


def _centre(p: Array, walls: Array, free: Array, weight: float) -> Array:
    """Newton's method with halved steps that stay inside."""
    for _ in range(_NEWTON_STEPS):
        room = -(walls @ p)
        pushing = walls.T @ (1.0 / room)
        gradient = weight * (np.log(p) + 1.0) + pushing
        pushed = (walls @ free) / room[:, None]
        curved = free.T * (weight / p)
        hessian = curved @ free + pushed.T @ pushed
        slope = free.T @ gradient
        step = free @ np.linalg.solve(hessian, -slope)
        decrease = float(-gradient @ step)
        if decrease <= 1e-14 * weight:
            return p
        now = _height(p, walls, weight)
        for length in 0.5 ** np.arange(40):
            new = p + length * step
            rounding = 1e-13 * abs(now)
            enough = now - 0.1 * length * decrease + rounding
            is_inside = (walls @ new).max() < 0.0
            if is_inside and _height(new, walls, weight) <= enough:
                p = new
                break
    return p


def _height(p: Array, walls: Array, weight: float) -> float:
    order = (p * np.log(p)).sum()
    room = -(walls @ p)
    return float(weight * order - np.log(room).sum())


Objective = Literal["welfare", "fairness", "entropy", "any"]

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
    (fairness), the entropy in nats (entropy) or the sum of payoffs (any). `violation` is the
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
    "entropy": most random (unique). "any": some equilibrium. Raises TooLarge before building a
    linear program that would not fit, and NotCertified where it takes longer than `seconds`.

    >>> chicken = NormalForm.bimatrix([[0, 7], [2, 6]], [[0, 2], [7, 6]])
    >>> correlated(chicken).distribution.round(6).tolist()
    [[0.0, 0.25], [0.25, 0.5]]
    """
    deadline = Deadline.after(seconds)
    game = as_normal_form(game)
    if objective not in ("welfare", "fairness", "entropy", "any"):
        raise UsageError(
            f"objective: expected welfare, fairness, entropy or any, got {objective!r}"
        )
    rows = incentives(game, coarse)
    if objective == "entropy":
        flat = most_random(rows, deadline)
        method = "barrier method"
    else:
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
    if objective == "entropy":
        drawn = flat[flat > 0]
        value = float(-(drawn * np.log(drawn)).sum())
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
    exempt: int | None = None,
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


def find_exempted(game: NormalForm, leader: int, deadline: Deadline = NEVER) -> Array:
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
