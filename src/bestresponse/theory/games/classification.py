"""What kind of game it is.

The kinds are zero-sum, symmetric, potential, common interest, coordination and dominance solvable.

Definitions: Moulin and Vial (1978) for strategically zero-sum, Monderer and Shapley (1996) for
potentials and the finite improvement property. Payoffs are compared exactly, as the
numbers that are meant (see `games.ties`); only in tables of more than 2,000 floats, what is summed
or compared between players counts as equal within 1e-9 of the payoffs' range.

Beside it: which outcomes are good (Pareto optimality, efficiency), and which equilibria stand out
(payoff and risk dominance).
"""

from dataclasses import dataclass

import numpy as np

from bestresponse.core.errors import TooLarge
from bestresponse.theory.arrays import Bools, as_fractions
from bestresponse.theory.equilibria.extremes import require_two_players
from bestresponse.theory.equilibria.result import Equilibrium, NashResult, pure_nash
from bestresponse.theory.games.dominance import iterated_elimination
from bestresponse.theory.games.normal_form import (
    Array,
    GameLike,
    NormalForm,
    Numbers,
    Rationals,
    as_normal_form,
)

_EQUAL = 1e-9  # of a payoff range: rounding of floats that are not exact
_CELLS_LIMIT = 200_000


@dataclass(frozen=True, eq=False, slots=True)
class GameKind:
    """Properties of a game.

    `potential` is an exact potential over the cells, 0 in the first cell, or None.

    `constant_sum`: payoffs of all players add up to the same in every cell; `zero_sum`: to 0.
    `strategically_zero_sum` (two players): scaling payoffs and adding to each player's what the
    other alone decides makes it zero-sum. `common_interest`: the players' payoffs are the same up
    to positive scale and shift. `coordination`: a square game in which every action belongs to
    exactly one strict equilibrium. `symmetric`: renaming the players changes nothing.
    """

    zero_sum: bool
    constant_sum: bool
    strategically_zero_sum: bool
    symmetric: bool
    common_interest: bool
    coordination: bool
    potential: Array | None
    finite_improvement: bool | None
    dominance_solvable: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The properties that hold, in words."""
        holds = {
            "zero sum": self.zero_sum,
            "constant sum": self.constant_sum,
            "strategically zero sum": self.strategically_zero_sum,
            "symmetric": self.symmetric,
            "common interest": self.common_interest,
            "coordination": self.coordination,
            "exact potential": self.potential is not None,
            "finite improvement": self.finite_improvement,
            "dominance solvable": self.dominance_solvable,
        }
        return tuple(name for name, it_does in holds.items() if it_does)


def classify(game: GameLike) -> GameKind:
    """Say which of the named properties `game` has.

    >>> classify(NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])).names
    ('symmetric', 'exact potential', 'finite improvement', 'dominance solvable')
    """
    game = as_normal_form(game)
    constant = has_constant_sum(game)
    total, slack = _add_up(game)
    return GameKind(
        zero_sum=constant and bool(abs(total).max() <= slack),
        constant_sum=constant,
        strategically_zero_sum=game.num_players == 2 and _strategically_zero_sum(game),
        symmetric=_symmetric(game),
        common_interest=_common_interest(game),
        coordination=_coordination(game),
        potential=exact_potential(game),
        finite_improvement=finite_improvement(game) if total.size <= _CELLS_LIMIT else None,
        dominance_solvable=iterated_elimination(game).solved,
    )


def exact_potential(game: GameLike) -> Array | None:
    """Find the function that changes by what a deviating player gains, 0 in the first cell.

    Returns None if there is none.

    >>> exact_potential(NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]])).tolist()
    [[0.0, 2.0], [2.0, 3.0]]
    """
    game = as_normal_form(game)
    numbers, slack = _choose_numbers(game)
    potential = _sum_gains(numbers)
    for i, table in enumerate(numbers):
        rest = table - potential
        spread = rest.max(axis=i, keepdims=True) - rest.min(axis=i, keepdims=True)
        if spread.max() > slack:
            return None
    return np.asarray(_sum_gains(_read(game)), dtype=np.float64)


def _sum_gains(payoffs: Numbers) -> Numbers:
    """What the players gain one after the other on the way from the first cell to each cell."""
    total: Numbers = payoffs[0] - payoffs[0]
    for i, table in enumerate(payoffs):
        moved = [slice(None)] * (i + 1)
        still_first = [slice(0, 1)] * (len(payoffs) - i - 1)
        later = table[(*moved, *still_first)]
        total = total + (later - later.take([0], axis=i))
    return total


def _choose_numbers(game: NormalForm) -> tuple[Numbers, float]:
    """The payoffs to compare, and how close equal ones are: whole units where they are exact."""
    if game.units is not None:
        return game.units, 0.0
    ranges = [float(np.ptp(table)) for table in game.payoffs]
    unit = max(ranges) or _largest(game.payoffs)
    return game.payoffs, _EQUAL * unit


def finite_improvement(game: GameLike) -> bool:
    """Return whether players who improve one at a time always reach a pure equilibrium.

    They may improve in any order.

    >>> finite_improvement(NormalForm.zero_sum([[1, -1], [-1, 1]]))
    False
    """
    game = as_normal_form(game)
    cells = int(np.prod(game.shape))
    if cells > _CELLS_LIMIT:
        raise TooLarge(f"improvement paths over {cells:,} cells: more than {_CELLS_LIMIT:,}")
    alive = np.ones(game.shape, dtype=np.bool_)
    while True:
        stuck = alive & ~_can_improve(game, alive)
        if not stuck.any():
            return not alive.any()
        alive &= ~stuck


def _can_improve(game: NormalForm, alive: Bools) -> Bools:
    """Cells from which some player gains by moving alone to a cell that is alive."""
    better = np.zeros(game.shape, dtype=np.bool_)
    for i, table in enumerate(game.compared):
        reachable = np.where(alive, table, table.min())
        better |= reachable.max(axis=i, keepdims=True) > table
    return better


def has_constant_sum(game: NormalForm) -> bool:
    """Return whether payoffs have the same sum in every cell.

    The test is exact if they are exact, else up to 1e-9 of a range.
    """
    total, slack = _add_up(game)
    return bool(total.max() - total.min() <= slack)


def _add_up(game: NormalForm) -> tuple[Array | Rationals, float]:
    """The sum of all payoffs in every cell, and how close equal ones are."""
    _, slack = _choose_numbers(game)
    return _read(game).sum(axis=0), slack


def _read(game: NormalForm) -> Array | Rationals:
    """The payoffs as they are meant, or as floats where they are too many to be read."""
    return game.payoffs if game.meant is None else game.meant


def _strategically_zero_sum(game: NormalForm) -> bool:
    """Check that payoffs less row and column means are opposite up to scale.

    Both players' payoffs are meant.
    """
    tables, slack = _scale(game)
    parts = []
    for table in tables:
        by_column = table.mean(axis=0, keepdims=True)
        by_row = table.mean(axis=1, keepdims=True)
        parts.append(table - (by_column + by_row - table.mean()))
    sizes = [abs(part).max() for part in parts]
    if min(sizes) <= slack:
        return bool(max(sizes) <= slack)
    total = parts[0] / sizes[0] + parts[1] / sizes[1]
    most = abs(total).max()
    return bool(most <= slack)


def _common_interest(game: NormalForm) -> bool:
    """Return whether all players' payoffs are equal up to positive scale and shift."""
    (first, *others), slack = _scale(game)
    differences = [abs(first - table).max() for table in others]
    return bool(max(differences, default=0.0) <= slack)


def _scale(game: NormalForm) -> tuple[list[Numbers], float]:
    """Every player's payoffs from 0 to 1, and how close equal ones are.

    They are fractions if the payoffs are exact.
    """
    numbers = game.payoffs if game.units is None else as_fractions(game.units)
    scaled = []
    for table in numbers:
        low = table.min()
        spread = table.max() - low
        scaled.append((table - low) / (spread or 1))
    return scaled, _EQUAL if game.units is None else 0.0


def _symmetric(game: NormalForm) -> bool:
    if len(set(game.shape)) > 1:
        return False
    numbers, slack = _choose_numbers(game)
    for i in range(game.num_players - 1):
        swapped = np.swapaxes(numbers, i + 1, i + 2).copy()
        swapped[[i, i + 1]] = swapped[[i + 1, i]]
        if abs(swapped - numbers).max() > slack:
            return False
    return True


def _coordination(game: NormalForm) -> bool:
    count = game.shape[0]
    if count < 2 or any(m != count for m in game.shape):
        return False
    strict = pure_nash(game, strict=True)
    if len(strict) != count:
        return False
    for i in range(game.num_players):
        used = {cell[i] for cell in strict}
        if len(used) != count:
            return False
    return True


_COMPARED_LIMIT = 20_000  # cells, each compared with all others
_TIED = 1e-12  # of what is summed: rounding of a sum


@dataclass(frozen=True, slots=True)
class Efficiency:
    """The largest sum of payoffs anywhere, at the best and worst equilibrium, and ratios.

    The price of anarchy (stability) is the largest welfare of any outcome divided by that of the
    worst (best) equilibrium (Koutsoupias and Papadimitriou 1999; Anshelevich et al. 2004).

    Welfare that is only rounding is 0. A ratio is None where an equilibrium's welfare is not
    positive, so that it would mean nothing. With `complete` the equilibria were all known;
    otherwise the prices are bounds: anarchy from below, stability from above.
    """

    optimum: float
    best_equilibrium: float
    worst_equilibrium: float
    price_of_anarchy: float | None
    price_of_stability: float | None
    complete: bool


def efficiency(game: GameLike, result: NashResult) -> Efficiency:
    """Say how much welfare the equilibria in `result` leave on the table.

    Welfare is bilinear on a Nash subset, so its extremes are at the extreme equilibria that
    `result` lists.
    """
    game = as_normal_form(game)
    unit = 0.0 if game.is_exact else _largest(game.payoffs)
    optimum = _drop_rounding(float(game.given.sum(axis=0).max()), unit)
    welfare = []
    for e in result.equilibria:
        added = game.payoffs if e.exact is None else e.payoffs
        welfare.append(_drop_rounding(e.welfare, _largest(added)))
    best = max(welfare)
    worst = min(welfare)
    return Efficiency(
        optimum=optimum,
        best_equilibrium=best,
        worst_equilibrium=worst,
        price_of_anarchy=optimum / worst if worst > 0 else None,
        price_of_stability=optimum / best if best > 0 else None,
        complete=result.complete,
    )


def _largest(payoffs: Array) -> float:
    return float(np.abs(payoffs).max())


def _drop_rounding(total: float, unit: float) -> float:
    """A sum of numbers of size `unit`, or 0 where it is their rounding."""
    return 0.0 if abs(total) <= _TIED * unit else total


def pareto_optimal(game: GameLike) -> tuple[tuple[int, ...], ...]:
    """Find the cells in which nobody can be better off without making another worse off.

    Being better off means being so in another cell.

    >>> pareto_optimal(NormalForm.bimatrix([[3, 0], [5, 1]], [[3, 5], [0, 1]]))
    ((0, 0), (0, 1), (1, 0))
    """
    game = as_normal_form(game)
    numbers = game.payoffs if game.units is None else game.units
    points = numbers.reshape(game.num_players, -1).T
    if len(points) > _COMPARED_LIMIT:
        raise TooLarge(
            f"comparing {len(points):,} cells with each other: more than {_COMPARED_LIMIT:,}"
        )
    if game.units is None:
        slack = _TIED * np.ptp(points, axis=0)
    else:
        slack = np.zeros(game.num_players, dtype=np.int64)
    # The largest sums first: they leave the fewest points to compare with.
    front = points
    for point in points[np.argsort(-points.sum(axis=1), kind="stable")]:
        never_better = (front <= point + slack).all(axis=1)
        sometimes_worse = (front < point - slack).any(axis=1)
        front = front[~(never_better & sometimes_worse)]

    cells = []
    for point, cell in zip(points, np.ndindex(*game.shape), strict=True):
        is_on_front = (abs(front - point) <= slack).all(axis=1)
        if is_on_front.any():
            cells.append(cell)
    return tuple(cells)


def payoff_dominant(result: NashResult) -> Equilibrium | None:
    """Find the equilibrium that is best for every player (Harsanyi and Selten 1988).

    It gives every player at least as much as any other, and somebody more. Returns None if there is
    none.
    """
    for e in result.equilibria:
        others = [other for other in result.equilibria if other is not e]
        if others and all(_dominates(e, other) for other in others):
            return e
    return None


def _dominates(e: Equilibrium, other: Equilibrium) -> bool:
    """Whether nobody gets less and somebody more, up to rounding where payoffs are not exact."""
    if e.exact_payoffs is not None and other.exact_payoffs is not None:
        pairs = list(zip(e.exact_payoffs, other.exact_payoffs, strict=True))
        return all(u >= v for u, v in pairs) and any(u > v for u, v in pairs)
    sizes = np.abs(e.game.payoffs).reshape(e.game.num_players, -1)
    slack = 1e-9 * sizes.max(axis=1)
    never_less = (e.payoffs >= other.payoffs - slack).all()
    sometimes_more = (e.payoffs > other.payoffs + slack).any()
    return bool(never_less and sometimes_more)


def risk_dominant(game: GameLike) -> tuple[int, int] | None:
    """Find the strict pure equilibrium that risk-dominates all others.

    Returns None if there is none or nothing to compare.

    One is risk dominant when the product of what players lose by leaving it alone is larger
    (Harsanyi and Selten 1988).

    Two equilibria of a larger game are compared in the 2x2 game of their own actions. Two players
    only.

    >>> risk_dominant(NormalForm.bimatrix([[4, 1], [3, 3]], [[4, 3], [1, 3]]))
    (1, 1)
    """
    game = as_normal_form(game)
    require_two_players(game, "risk_dominant")
    strict = [(cell[0], cell[1]) for cell in pure_nash(game, strict=True)]
    for cell in strict:
        others = [other for other in strict if other != cell]
        if others and all(_is_safer(game, cell, other) for other in others):
            return cell
    return None


def _is_safer(game: NormalForm, here: tuple[int, int], there: tuple[int, int]) -> bool:
    """Whether leaving `here` alone costs the larger product.

    This is up to rounding if payoffs are not exact.
    """
    mine = _find_losses(game, here, there)
    other = _find_losses(game, there, here)
    total = sum(mine) + sum(other)
    slack = 0 if game.units is not None else _TIED * total
    return mine[0] * mine[1] - other[0] * other[1] > slack


def _find_losses(
    game: NormalForm,
    here: tuple[int, int],
    there: tuple[int, int],
) -> tuple[float, float]:
    """What each player loses who moves alone from `here` to its action in `there`.

    Whole units where they are exact.
    """
    if game.units is None:
        row, col = (table / (_largest(table) or 1.0) for table in game.payoffs)
    else:
        row, col = game.units
    of_row = row.item(here) - row.item(there[0], here[1])
    of_col = col.item(here) - col.item(here[0], there[1])
    return of_row, of_col
