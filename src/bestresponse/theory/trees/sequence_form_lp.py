"""Equilibria of two-player trees in sequence form.

Zero-sum ones are found by linear programs, others by Lemke's method.

With A, B the payoffs on pairs of sequences, Ex = e and Fy = f say that x and y are realization
plans. The size is linear in the tree, not exponential as in the normal form.

D. Koller, N. Megiddo and B. von Stengel, "Efficient computation of equilibria for extensive
two-person games", Games and Economic Behavior 14, 1996. B. von Stengel, A. van den Elzen and D.
Talman, "Computing normal form perfect equilibria for extensive two-person games", Econometrica 70,
2002. C. Lemke, "Bimatrix equilibrium points and mathematical programming", Management Science 11,
1965.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from operator import neg
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike

from bestresponse.core.errors import InvalidGame, NotCertified, TooLarge
from bestresponse.theory.arrays import Bools, find_range
from bestresponse.theory.deadline import NEVER, Deadline
from bestresponse.theory.equilibria.integer import Dictionary
from bestresponse.theory.equilibria.lemke_howson import FloatTableau
from bestresponse.theory.games.normal_form import Array, Numbers
from bestresponse.theory.linear_program import load_sparse, solve_program
from bestresponse.theory.trees.sequence_form import (
    SequenceForm,
    Treeplex,
    plan_regrets,
    to_sequence_form,
)
from bestresponse.theory.trees.tree import Policy, TreeLike, as_tree

if TYPE_CHECKING:
    from scipy.sparse import csr_array


_WEIGHT = (0.0, np.inf)
_FREE = (-np.inf, np.inf)
"""Bounds of a variable: of the weight of a sequence, of the value of an information set."""


@dataclass(frozen=True, slots=True, eq=False)
class TreeSolution:
    """An equilibrium policy, the value to each player, and its NashConv as certificate."""

    policy: Policy
    value: dict[str, float]
    nash_conv: float
    method: str


def solve_tree(game: TreeLike, *, seconds: float = inf) -> TreeSolution:
    """Find optimal policies and the value.

    NotCertified where NashConv exceeds 1e-7 of the largest payoff, or where that takes
    longer than `seconds`.

    >>> from bestresponse.theory.catalogue.trees import kuhn_poker
    >>> round(solve_tree(kuhn_poker()).value["player 1"] * 18, 9)
    -1.0
    """
    deadline = Deadline.after(seconds)
    tree = as_tree(game)
    if tree.num_players != 2 or not tree.is_constant_sum:
        other = "solve_general_tree" if tree.num_players == 2 else "cfr and its NashConv"
        raise InvalidGame(
            f"{tree.name or 'the tree'} is not a two-player zero-sum game ({tree.num_players}"
            f" players, payoffs {'of constant' if tree.is_constant_sum else 'without constant'}"
            f" sum); use {other} instead"
        )
    form = to_sequence_form(tree)
    plans = optimise_plans(form, deadline=deadline)
    largest = float(np.abs(tree.payoffs).max())
    return certify_plans(form, plans, "sequence-form LP", 1e-7 * largest)


def certify_plans(
    form: SequenceForm,
    weights: Sequence[Array],
    method: str,
    limit: float,
) -> TreeSolution:
    """Make a solution of weights of all players' sequences.

    NotCertified where NashConv exceeds `limit`.
    """
    behaviours = [plex.normalise(weight) for plex, weight in zip(form.plexes, weights, strict=True)]
    plans = [plex.plan(behaviour) for plex, behaviour in zip(form.plexes, behaviours, strict=True)]
    gap = float(plan_regrets(form, plans).sum())
    if gap > limit:
        raise NotCertified(
            f"the policy of the {method} has NashConv {gap:.3g}; wanted {limit:.3g} or less"
        )
    earned = form.expected(plans).tolist()
    value = dict(zip(form.tree.players, earned, strict=True))
    return TreeSolution(form.policy(behaviours), value, gap, method)


def optimise_plans(
    form: SequenceForm,
    fixed: Mapping[int, Array] | None = None,
    deadline: Deadline = NEVER,
) -> tuple[Array, Array]:
    """Return both players' optimal realization plans, from the primal and dual solution.

    The first player's solves: maximise f'v subject to F'v <= A'x, Ex = e, x >= 0; the dual
    variables of the inequalities are the second player's plan.

    `fixed` gives the first player's probabilities at information sets (by their index in the tree)
    where it is not free to choose; the plan is then the best of those that agree with them.
    """
    sparse = load_sparse()
    own, other = map(plan_constraints, form.plexes)
    if fixed:
        own = sparse.vstack([own, _fix_behaviour(form.plexes[0], fixed)], format="csr")
    payoffs = _write_payoffs(form)
    above = sparse.hstack([-payoffs.T, other.T], format="csr")
    equal = sparse.hstack([own, sparse.csr_array((own.shape[0], other.shape[0]))], format="csr")
    size = own.shape[1]
    goal = np.zeros(size + other.shape[0])
    goal[size] = -1.0
    bounds = np.array([_WEIGHT] * size + [_FREE] * other.shape[0])
    x, prices = _minimise(
        goal=goal,
        above=above,
        limits=np.zeros(above.shape[0]),
        equal=equal,
        bounds=bounds,
        deadline=deadline,
    )
    return x[:size], prices


def find_nearest_plan(form: SequenceForm, plan: Array, value: float) -> Array:
    """Return the first player's optimal realization plan nearest to `plan`.

    It differs least by the sum of differences.

    `value` is what an optimal plan guarantees.
    """
    sparse = load_sparse()
    own, other = map(plan_constraints, form.plexes)
    size = own.shape[1]
    sets = other.shape[0]
    payoffs = _write_payoffs(form)
    same = sparse.eye_array(size)
    secured = sparse.csr_array(([-1.0], ([0], [0])), shape=(1, sets))
    above = sparse.block_array(
        [
            [-payoffs.T, other.T, None],
            [None, secured, None],
            [same, None, -same],
            [-same, None, -same],
        ],
        format="csr",
    )
    largest = np.abs(form.payoffs[0]).max()
    least = value / (float(largest) or 1.0) - 1e-9
    right = np.concatenate([np.zeros(payoffs.shape[1]), [-least], plan, -plan])
    equal = sparse.hstack([own, sparse.csr_array((own.shape[0], sets + size))], format="csr")
    goal = np.concatenate([np.zeros(size + sets), np.ones(size)])
    bounds = np.array([_WEIGHT] * size + [_FREE] * sets + [_WEIGHT] * size)
    nearest, _ = _minimise(
        goal=goal,
        above=above,
        limits=right,
        equal=equal,
        bounds=bounds,
    )
    return nearest[:size]


def turn_form(form: SequenceForm, seat: int) -> SequenceForm:
    """Return the sequence form of a game of two with the given player first."""
    if seat == 0:
        return form
    return SequenceForm(
        form.tree,
        form.plexes[::-1],
        form.sequences[::-1],
        form.payoffs[::-1],
        form.merged_leaves,
    )


def _write_payoffs(form: SequenceForm) -> csr_array:
    """Return the first player's payoffs on pairs of sequences, as shares of the largest."""
    sparse = load_sparse()
    largest = np.abs(form.payoffs[0]).max()
    scale = float(largest) or 1.0
    shape = (form.plexes[0].num_sequences, form.plexes[1].num_sequences)
    payoffs: csr_array = sparse.csr_array(
        (form.payoffs[0] / scale, tuple(form.sequences)), shape=shape
    )
    return payoffs


def _minimise(
    *,
    goal: Array,
    above: csr_array,
    limits: Array,
    equal: csr_array,
    bounds: Array,
    deadline: Deadline = NEVER,
) -> tuple[Array, Array]:
    """Solve a linear program whose equations say that something is a realization plan."""
    right = np.zeros(equal.shape[0])
    right[0] = 1.0
    answer = solve_program(
        cost=goal,
        above=above,
        limits=limits,
        equal=equal,
        totals=right,
        bounds=bounds,
        deadline=deadline,
    )
    if answer is None:
        raise NotCertified(
            "the linear program over realization plans was found to have no solution"
        )
    return answer


def _fix_behaviour(plex: Treeplex, fixed: Mapping[int, Array]) -> csr_array:
    """Write one row per move that fixes its probability.

    Its weight less its probability times that of the sequence before it is 0.
    """
    sparse = load_sparse()
    count = sum(map(len, fixed.values()))
    rows = np.zeros((count, plex.num_sequences))
    row = 0
    for infoset, first, before in zip(plex.infosets.tolist(), plex.first, plex.parent, strict=True):
        for k, probability in enumerate(fixed.get(infoset, ())):
            rows[row, first + k] += 1.0
            rows[row, before] -= probability
            row += 1
    fixed_rows: csr_array = sparse.csr_array(rows[:row])
    return fixed_rows


def plan_constraints(plex: Treeplex) -> csr_array:
    """Row 0: the empty sequence has weight 1.

    Row i: an information set's moves sum to the sequence before it.
    """
    sparse = load_sparse()
    count = len(plex.infosets)
    sets = np.arange(1, count + 1)
    rows = np.concatenate([[0], sets, np.repeat(sets, plex.size)])
    columns = np.concatenate([[0], plex.parent, np.arange(1, plex.num_sequences)])
    entries = np.concatenate([[1.0], -np.ones(count), np.ones(plex.num_sequences - 1)])
    constraints: csr_array = sparse.csr_array(
        (entries, (rows, columns)), shape=(count + 1, plex.num_sequences)
    )
    return constraints


Polynomial = tuple[Fraction, ...]
"""Coefficients, that of the lowest power first."""

_PATH = "the end of Lemke's path"
_MOST_PIVOTS = 20_000


def solve_complementarity(
    matrix: Array,
    cover: Array,
    right: Array,
    deadline: Deadline = NEVER,
) -> tuple[Array, Array]:
    """Find z and w that solve a linear complementarity problem.

    Raises NotCertified if the path ends in a ray, takes more than 20,000 pivots or longer than the
    `deadline`, or floats do not do.

    The problem: z >= 0 with w = Mz + b >= 0 and z'w = 0. An artificial variable z0, whose column
    `cover` has 1 in all rows where b is negative, makes a feasible start; complementary pivoting
    then follows the only path from it, until z0 leaves (a solution) or nothing can leave (a ray).
    The lexicographic rule keeps it from cycling.

    >>> matrix = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> z, w = solve_complementarity(matrix, np.ones(2), np.array([-5.0, -6.0]))
    >>> z.round(9).tolist(), w.tolist()
    ([1.333333333, 2.333333333], [0.0, 0.0])
    """
    size = len(right)
    # Variable k < size is z_k, `size` is z0, size + 1 + k is w_k.
    table = FloatTableau(np.hstack([-matrix, -cover[:, None], right[:, None]]))
    # The row that z0 makes feasible last; of equal ones the last, which is the first in
    # lexicographic order.
    row = min(np.flatnonzero(cover).tolist(), key=lambda k: (right[k], -k), default=-1)
    if row < 0 or right[row] >= 0:
        return np.zeros(size), right.copy()
    left = table.pivot(row, size)
    for _ in range(_MOST_PIVOTS):
        deadline.check(_PATH)
        if left == size:
            return _solve_basis(matrix, right, table.basic)
        left = table.exchange(left - size - 1 if left > size else left + size + 1, preferred=size)
        if left < 0:
            raise NotCertified("Lemke's path ended in a ray")
    raise NotCertified(f"Lemke's path did not end within {_MOST_PIVOTS:,} pivots")


def _solve_basis(matrix: Array, right: Array, basic: Sequence[int]) -> tuple[Array, Array]:
    """Compute z and w from the original numbers, free of the rounding of all pivots."""
    size = len(right)
    columns = np.hstack([-matrix, np.zeros((size, 1)), np.eye(size)])
    values = np.zeros(2 * size + 1)
    try:
        values[basic] = np.maximum(np.linalg.solve(columns[:, basic], right), 0.0)
    except np.linalg.LinAlgError:
        raise NotCertified(
            "Lemke's path ended at numbers that floating point cannot tell apart"
        ) from None
    return values[:size], values[size + 1 :]


def solve_for_small(
    matrix: Sequence[Sequence[int]],
    cover: Sequence[int],
    right: Sequence[Sequence[int]],
    deadline: Deadline = NEVER,
) -> tuple[list[Polynomial], list[Polynomial]]:
    """Find z and w for every small enough positive number eps.

    The right side is a polynomial in eps.

    `cover` is the column of z0, in place of all ones: each number 0 or 1. Where it is 0, the right
    side must be positive. NotCertified where the path ends in a ray, or not before the `deadline`.

    >>> unknowns, slacks = solve_for_small([[2, 1], [1, 2]], [1, 1], [[-5, 0], [-6, 3]])
    >>> [[str(u) for u in z] for z in unknowns]  # 4/3 + eps and 7/3 - 2 eps
    [['4/3', '1'], ['7/3', '-2']]
    """
    size = len(right)
    degree = len(right[0])
    rows = []
    for row, covered, side in zip(matrix, cover, right, strict=True):
        rows.append([*map(neg, row), -covered, *reversed(side)])
    # Variable k < size is z_k, `size` is z0, size + 1 + k is w_k.
    table = Dictionary(
        rows=rows,
        scale=1,
        basic=list(range(size + 1, 2 * size + 1)),
        nonbasic=list(range(size + 1)),
    )
    # The row that z0 makes feasible last; of equal ones the last, which is the first in
    # lexicographic order.
    covered_rows = [k for k in range(size) if cover[k]]
    last = min(covered_rows, key=lambda k: (right[k], -k), default=-1)
    if last >= 0 and list(right[last]) < [0] * degree:
        entered = table.pivot(last, size)
        left = table.basic[last]
        turned = [[-value for value in line] for line in entered.rows]
        table = replace(entered, rows=turned, scale=1)
        while left != size:
            deadline.check(_PATH)
            partner = left - size - 1 if left > size else left + size + 1
            column = table.nonbasic.index(partner)
            leaving = table.leaving(column)
            if leaving < 0:
                raise NotCertified("Lemke's path ended in a ray")
            left = table.basic[leaving]
            table = table.pivot(leaving, column)
    values = [(Fraction(0),) * degree] * (2 * size + 1)
    for variable, line in zip(table.basic, table.rows, strict=True):
        lowest_first = reversed(line[-degree:])
        values[variable] = tuple([Fraction(value, table.scale) for value in lowest_first])
    return values[:size], values[size + 1 :]


_MOST_SEQUENCES = 1000


def solve_general_tree(
    game: TreeLike,
    *,
    seconds: float = inf,
) -> TreeSolution:
    """Find one equilibrium of a two-player tree, certified by its NashConv.

    (x, y) is an equilibrium exactly when there are p, q with E'p >= Ay, F'q >= B'x, x'(E'p - Ay) =
    0 and y'(F'q - B'x) = 0. Solved for the weights of first moves and for p and q, the equations
    leave one pair of unknowns for each sequence: its weight, and what it earns less than the best.
    Lemke's path starts where all players take first moves, and z0 is what all other moves lose in
    addition there; it cannot end in a ray (von Stengel, van den Elzen and Talman 2002).

    NotCertified where NashConv exceeds 1e-10 of the payoff range or the search takes longer
    than `seconds`, TooLarge where the problem does not fit.

    >>> from bestresponse.theory.catalogue import load_tree
    >>> solve_general_tree(load_tree("centipede")).value
    {'player 1': 0.4, 'player 2': 0.1}
    """
    deadline = Deadline.after(seconds)
    tree = as_tree(game)
    if tree.num_players != 2:
        raise InvalidGame(f"{tree.name or 'the tree'} has {tree.num_players} players; expected two")
    form = to_sequence_form(tree)
    if form.num_sequences > _MOST_SEQUENCES:
        sizes = f"{form.num_sequences:,} sequences of moves, more than {_MOST_SEQUENCES:,}"
        raise TooLarge(f"the players have {sizes}; cfr approximates an equilibrium")
    tables = np.zeros((2, *(plex.num_sequences for plex in form.plexes)))
    tables[:, form.sequences[0], form.sequences[1]] = form.payoffs
    leaves = tree.payoffs[tree.leaves]
    ranges = np.ptp(leaves, axis=0)
    tables /= np.where(ranges > 0, ranges, 1.0)[:, None, None]
    problem = write_problem(form, (tables[0], tables[1].T), 1)
    unknowns, slacks = solve_complementarity(
        problem.matrix,
        problem.cover,
        problem.right[:, 0],
        deadline=deadline,
    )
    added = np.where(problem.is_first, slacks, unknowns)
    first, second = np.split(added, [form.plexes[0].num_sequences])
    weights = first + problem.floors[0][:, 0], second + problem.floors[1][:, 0]
    payoff_range = find_range(leaves)
    return certify_plans(form, weights, "sequence-form LCP", 1e-10 * payoff_range)


@dataclass(frozen=True, slots=True, eq=False)
class PlanProblem:
    """Find z >= 0 with w = Mz + b >= 0 and z'w = 0.

    One row for each sequence of both players, the empty ones too.

    The weight of a sequence is its floor and what is added to it: its w where it ends with the
    first move of an information set (`is_first`), else its z. `right` (that is b) and `floors` are
    polynomials in the size of mistakes.
    """

    matrix: Numbers
    cover: Numbers
    right: Numbers
    is_first: Bools
    floors: tuple[Numbers, Numbers]


def write_problem(form: SequenceForm, tables: tuple[Numbers, Numbers], degree: int) -> PlanProblem:
    """Write the problem for payoffs by own and other sequences, in floats or whole numbers.

    Every sequence of k moves has a floor of eps^k, in polynomials of `degree` coefficients: with
    one, mistakes are 0. Information set h supplies eps^k less the floors of its moves; first moves
    carry it on unless another move takes some of it. With x the weights of the other moves and C
    what a shift to them changes, the weights of first moves are start + Cx, and the losses of other
    moves -C'(payoffs + losses of first moves).
    """
    dtype = tables[0].dtype
    carried = [_carry(plex, degree, dtype) for plex in form.plexes]
    own, other = (plex.num_sequences for plex in form.plexes)
    matrix = np.zeros((own + other, own + other), dtype=dtype)
    right = np.zeros((own + other, degree), dtype=dtype)
    spans = (slice(0, own), slice(own, own + other))
    for player, payoffs in enumerate(tables):
        mine = carried[player]
        theirs = carried[1 - player]
        rows = spans[player]
        first = mine.is_first[:, None]
        gains = mine.shifts.T @ payoffs
        losses = np.where(mine.is_first, -mine.shifts.T, 0)
        matrix[rows, rows] = np.where(first, mine.shifts, losses)
        matrix[rows, spans[1 - player]] = np.where(first, 0, -gains @ theirs.shifts)
        right[rows] = np.where(first, mine.start, -gains @ (theirs.start + theirs.floors))
    is_first = np.concatenate([part.is_first for part in carried])
    return PlanProblem(
        matrix=matrix,
        cover=(~is_first).astype(dtype),
        right=right,
        is_first=is_first,
        floors=(carried[0].floors, carried[1].floors),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Carried:
    """What first moves carry, how this shifts, which moves are first, and all floors.

    It shifts when another move takes 1.
    """

    start: Numbers
    shifts: Numbers
    is_first: Bools
    floors: Numbers


def _carry(plex: Treeplex, degree: int, dtype: DTypeLike) -> _Carried:
    """Go through a player's information sets, the last ones first.

    The empty sequence counts as a first move: its weight is given.
    """
    count = plex.num_sequences
    carried = np.eye(count, dtype=np.int64).astype(dtype)
    shifts = np.zeros((count, count), dtype=dtype)
    start = np.zeros((count, degree + 1), dtype=dtype)
    floors = np.zeros((count, degree + 1), dtype=dtype)
    is_first = np.zeros(count, dtype=np.bool_)
    is_first[[0, *plex.first]] = True
    floors[0, 0] = 1
    depths = np.arange(len(plex.levels) - 1)
    powers = np.repeat(depths, np.diff(plex.levels)).tolist()
    for place in range(len(plex.infosets) - 1, -1, -1):
        first = int(plex.first[place])
        size = int(plex.size[place])
        last = first + size
        power = powers[place]
        by_first = carried[:, first]
        carried[:, plex.parent[place]] += by_first
        shifts[:, first + 1 : last] = carried[:, first + 1 : last] - by_first[:, None]
        if power < degree:
            start[:, power] += by_first
            start[:, power + 1] -= size * by_first
            floors[first:last, power + 1] = 1
    return _Carried(
        start=start[:, :degree],
        shifts=shifts,
        is_first=is_first,
        floors=floors[:, :degree],
    )
