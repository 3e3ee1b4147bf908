"""Trembling-hand perfect and proper equilibria of two-player games in normal form."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import factorial, inf

import numpy as np

from bestresponse.core.errors import NotCertified, TooLarge
from bestresponse.theory.arrays import Rationals, as_fractions, find_denominator, find_range
from bestresponse.theory.deadline import Deadline
from bestresponse.theory.equilibria.extremes import require_two_players
from bestresponse.theory.equilibria.integer import maximize
from bestresponse.theory.equilibria.lemke_howson import follow_exactly
from bestresponse.theory.equilibria.result import Equilibrium, Fractions
from bestresponse.theory.equilibria.solve import solve_bimatrix
from bestresponse.theory.games.dominance import find_weak_mixture
from bestresponse.theory.games.normal_form import GameLike, NormalForm, as_meant, as_normal_form


@dataclass(frozen=True, slots=True, eq=False)
class PerfectEquilibria:
    """The extreme Nash equilibria of a game, and which of them are perfect.

    `complete` as for `nash`.
    """

    equilibria: tuple[Equilibrium, ...]
    perfect: tuple[bool, ...]
    method: str
    complete: bool


def find_perfect(game: GameLike, *, seconds: float = inf) -> PerfectEquilibria:
    """Find the extreme Nash equilibria of a game and say which are perfect.

    The game has two players. Trembling-hand perfect equilibria are limits of equilibria of games in
    which every action is played with some small probability (Selten 1975).

    With two players an equilibrium is perfect exactly when neither strategy is weakly dominated
    (van Damme 1991, Theorem 3.2.2); that is a linear program, solved in whole numbers where the
    equilibrium is known in fractions. NotCertified where all of it takes longer than `seconds`.

    >>> chain_store = NormalForm.bimatrix([[0, 0], [-1, 1]], [[2, 2], [-1, 1]])
    >>> refined = find_perfect(chain_store)
    >>> [(e.supports, p) for e, p in zip(refined.equilibria, refined.perfect)]
    [(((0,), (0,)), False), (((1,), (1,)), True), (((0,), (0, 1)), False)]
    """
    form = as_normal_form(game)
    require_two_players(form, "perfect equilibria")
    deadline = Deadline.after(seconds)
    nash = solve_bimatrix(form, deadline=deadline)
    all_exact = all(e.exact is not None for e in nash.equilibria)
    perfect = []
    for equilibrium in nash.equilibria:
        deadline.check("all perfect equilibria")
        perfect.append(is_perfect(form, equilibrium))
    how = "exact" if all_exact else "to 1e-9"
    return PerfectEquilibria(
        equilibria=nash.equilibria,
        perfect=tuple(perfect),
        method=f"{nash.method}; undominated strategies, {how}",
        complete=nash.complete,
    )


def is_perfect(game: NormalForm, equilibrium: Equilibrium) -> bool:
    """Say whether an equilibrium of two players is trembling-hand perfect."""
    return not any(_is_dominated(game, equilibrium, player) for player in (0, 1))


def _is_dominated(game: NormalForm, equilibrium: Equilibrium, player: int) -> bool:
    """Say whether some mixture never earns less than the player's strategy and sometimes more."""
    if equilibrium.exact is None or not game.is_exact:
        own = np.moveaxis(game.payoffs[player], player, 0)
        lead = own - equilibrium.strategies[player] @ own
        spread = find_range(own)
        return find_weak_mixture(lead / spread) is not None
    exact = as_fractions(np.moveaxis(game.given[player], player, 0))
    earned = np.array(equilibrium.exact[player]) @ exact
    lead = exact - earned
    multiples = lead * find_denominator(lead)
    whole = np.asarray(np.frompyfunc(int, 1, 1)(multiples))
    worth = whole.sum(axis=1)
    best = np.array(maximize((-whole.T).tolist(), worth.tolist()), dtype=object)
    return bool(worth @ best > 0)


_MISTAKE = Fraction(1, 10**9)
_MOST_ACTIONS = 10  # of which there are 10! orders
# Of the rarest mistake, times orders squared: a proof that takes longer than seconds is not tried.
_MOST_BITS = 200_000
_SIMPLE = 1000  # largest denominator of a limit that is guessed from small mistakes
_NEAR = 1e-6  # a thousand mistakes: what is played with less is one, and the limit is no farther


@dataclass(frozen=True, slots=True, eq=False)
class ProperEquilibrium:
    """The equilibrium, and the eps-proper one next to it, for eps = `mistakes`, that shows it.

    `proved` says that there is one for every smaller eps too, and that the equilibrium is exactly
    their limit.
    """

    equilibrium: Equilibrium
    trembling: Fractions
    mistakes: float
    distance: float
    proved: bool


def find_proper(game: GameLike, *, seconds: float = inf) -> ProperEquilibrium:
    """Find one proper equilibrium, as the limit of orderly mistakes.

    TooLarge past 10 actions, NotCertified where no equilibrium lies at the limit or the search
    takes longer than `seconds`.

    Definition: an eps-proper equilibrium plays every action, and what earns less than another
    action with at most eps times its probability; a limit of such for eps -> 0 is proper (R. B.
    Myerson, "Refinements of the Nash equilibrium concept", International Journal of Game Theory 7,
    1978).

    >>> payoffs = [[1, 0, -9], [0, 0, -7], [-9, -7, -7]]  # Myerson's game, the same for both
    >>> find_proper(NormalForm.bimatrix(payoffs, payoffs)).equilibrium.supports
    ((0,), (0,))
    """
    form = as_normal_form(game)
    require_two_players(form, "proper equilibria")
    if max(form.shape) > _MOST_ACTIONS:
        raise TooLarge(
            f"a {form.shape[0]}x{form.shape[1]} game has too many orders; expected {_MOST_ACTIONS}"
            " actions"
        )
    row = as_meant(form.given[0])
    turned = as_meant(form.given[1].T)
    deadline = Deadline.after(seconds)
    mistake = _MISTAKE
    trembling, orders = _solve_orders(row, turned, mistake, deadline)
    proof = _prove(row, turned, orders, deadline)
    if proof is not None:
        mistake, trembling, limit = proof
    else:
        limit = _guess_limit(row, turned, trembling)

    strategies = tuple(np.array(mix, dtype=np.float64) for mix in limit)
    exact = form.is_exact and _is_equilibrium(row, turned, limit)
    equilibrium = Equilibrium.at(form, strategies, limit if exact else None)
    distance = 0.0
    for mix, played in zip(limit, trembling, strict=True):
        differences = [abs(float(a - b)) for a, b in zip(mix, played, strict=True)]
        distance = max(distance, *differences)
    spread = find_range(form.payoffs)
    if distance > _NEAR or equilibrium.regret > _NEAR * spread:
        raise NotCertified(
            f"no proper equilibrium could be certified: regret {equilibrium.regret:.3g} at the"
            " limit"
        )
    return ProperEquilibrium(
        equilibrium=equilibrium,
        trembling=trembling,
        mistakes=float(mistake),
        distance=distance,
        proved=proof is not None,
    )


def _guess_limit(own: Rationals, other: Rationals, trembling: Fractions) -> Fractions:
    """Return the simple fractions next to what is played with small mistakes.

    If those fractions are no equilibrium, returns what is left of it without the mistakes.
    """
    simple = []
    without_mistakes = []
    for mix in trembling:
        near = [p.limit_denominator(_SIMPLE) for p in mix]
        simple.append(_normalise(near))
        played = [p if p > _NEAR else Fraction(0) for p in mix]
        without_mistakes.append(_normalise(played))
    limit = tuple(simple)
    return limit if _is_equilibrium(own, other, limit) else tuple(without_mistakes)


def _prove(
    own: Rationals,
    other: Rationals,
    orders: int,
    deadline: Deadline,
) -> tuple[Fraction, Fractions, Fractions] | None:
    """Find mistakes so small that none smaller changes anything, what they lead to, and its limit.

    What is compared are determinants, polynomials in eps with whole coefficients of at most some B
    together. Such a polynomial has no root between 0 and 1 / (1 + B) (Cauchy), so where eps is
    smaller, the same orders are in equilibrium for every smaller eps. Below 1 / (8 B^4) the limit
    is the one fraction next to it with a denominator of at most B.

    None where their probabilities would be too long to compute with.
    """
    for _ in range(3):
        bound = _bound_coefficients(own, other, orders)
        mistake = Fraction(1, 8 * bound**4 + 1)
        bits = mistake.denominator.bit_length() * max(len(own), len(other))
        if bits * orders**2 > _MOST_BITS:
            return None
        trembling, needed = _solve_orders(own, other, mistake, deadline)
        if needed <= orders:
            simple = []
            for mix in trembling:
                simple.append(tuple([p.limit_denominator(bound) for p in mix]))
            limit = tuple(simple)
            return (mistake, trembling, limit) if _is_equilibrium(own, other, limit) else None
        orders = needed
    return None


def _bound_coefficients(own: Rationals, other: Rationals, orders: int) -> int:
    """Bound the coefficients of every determinant that decides an equilibrium.

    The bound is on their sum, over that many orders.
    """
    largest = 1
    for table in (own, other):
        spread = table.max() - table.min()
        units = spread * find_denominator(table)
        largest = max(largest, int(units))
    cells = len(own) * len(other)
    entry = 2 * cells * (largest + 1)
    bound: int = cells * factorial(orders + 2) * entry ** (orders + 2)
    return bound


def _solve_orders(
    own: Rationals,
    other: Rationals,
    mistake: Fraction,
    deadline: Deadline,
) -> tuple[Fractions, int]:
    """An equilibrium over orders of actions, and how many orders a player needed at most.

    `own` is by the first player's actions, `other` by the second's. A player chooses an order of
    its actions and plays them with weights 1, eps, eps^2, ...: equilibria of the game over orders
    are eps-proper (the orders are the corners of the permutahedron of T. B. Sorensen, "Computing a
    proper equilibrium of a bimatrix game", ACM EC 2012). Orders enter only where they are best
    replies, which sorting finds, until none earns more; the games between are solved by Lemke and
    Howson's path in whole numbers.
    """
    orders = [[_weigh(range(len(table)), mistake)] for table in (own, other)]
    while True:
        first, second = (np.array(some) for some in orders)
        over_orders = NormalForm.bimatrix(first @ own @ second.T, first @ other.T @ second.T)
        mixes = follow_exactly(over_orders, deadline=deadline)
        x = np.array(mixes[0]) @ first
        y = np.array(mixes[1]) @ second
        is_settled = True
        for some, values, played in zip(
            orders,
            (own @ y, other @ x),
            (x, y),
            strict=True,
        ):
            # The best order: the more an action earns, the sooner it comes.
            best_order = np.argsort(-values, kind="stable").tolist()
            better = _weigh(best_order, mistake)
            gain = better @ values - played @ values
            if gain:
                is_settled = False
            if gain > 0:
                some.append(better)
        if is_settled:
            return (tuple(x), tuple(y)), max(map(len, orders))


def _weigh(order: Sequence[int], mistake: Fraction) -> Rationals:
    """The probabilities of the actions when they are played in this order of likelihood."""
    weights = np.empty(len(order), dtype=object)
    weights[list(order)] = [mistake**rank for rank in range(len(order))]
    return np.asarray(weights / weights.sum())


def _is_equilibrium(own: Rationals, other: Rationals, mixes: Fractions) -> bool:
    """Say whether neither player gains by deviating, in exact arithmetic."""
    x, y = (np.array(mix) for mix in mixes)
    are_mixes = sum(x) == sum(y) == 1
    first_is_best = max(own @ y) == x @ own @ y
    second_is_best = max(other @ x) == y @ other @ x
    return bool(are_mixes and first_is_best and second_is_best)


def _normalise(mix: list[Fraction]) -> tuple[Fraction, ...]:
    total = sum(mix)
    return tuple(p / total for p in mix)
