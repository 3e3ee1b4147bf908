"""Trembling-hand perfect and proper equilibria of two-player games in normal form.

Trembling-hand perfect equilibria of two-player games in normal form.

Definition (Selten 1975): the limit of equilibria of games in which every action is played with some
small probability. With two players an equilibrium is perfect exactly when neither strategy is
weakly dominated (van Damme 1991, Theorem 3.2.2); that is a linear program, solved in whole numbers
where the equilibrium is known in fractions.

A proper equilibrium of a two-player game in normal form, as the limit of orderly mistakes.

Definition (Myerson 1978): an eps-proper equilibrium plays every action, and what earns less than
another action with at most eps times its probability; a limit of such for eps -> 0 is proper. Let a
player choose an order of its actions and play them with weights 1, eps, eps^2, ...: equilibria of
the game over orders are eps-proper (the orders are the corners of the permutahedron of Sorensen
2012). Orders enter only where they are best replies, which sorting finds, until none earns more;
the games between are solved by Lemke and Howson's path in whole numbers.

Proof: what is compared are determinants, polynomials in eps with whole coefficients of at most some
B together. Such a polynomial has no root between 0 and 1 / (1 + B) (Cauchy), so where eps is
smaller, the same orders are in equilibrium for every smaller eps. Below 1 / (8 B^4) the limit is
the one fraction next to it with a denominator of at most B.

R. B. Myerson, "Refinements of the Nash equilibrium concept", International Journal of Game Theory
7, 1978. T. B. Sorensen, "Computing a proper equilibrium of a bimatrix game", ACM EC 2012.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import factorial, lcm

import numpy as np

from bestresponse.core.errors import NotCertified, TooLarge, UsageError
from bestresponse.theory.arrays import Rationals, as_fractions
from bestresponse.theory.equilibria.integer import maximize
from bestresponse.theory.equilibria.lemke_howson import follow_exactly
from bestresponse.theory.equilibria.result import Equilibrium, Fractions
from bestresponse.theory.equilibria.solve import solve_bimatrix
from bestresponse.theory.games.dominance import find_weak_mixture
from bestresponse.theory.games.normal_form import GameLike, NormalForm, as_meant, as_normal_form


@dataclass(frozen=True, slots=True, eq=False)
class PerfectEquilibria:
    """The extreme Nash equilibria of a game, and which of them are perfect; `complete` as for
    `nash`."""

    equilibria: tuple[Equilibrium, ...]
    perfect: tuple[bool, ...]
    method: str
    complete: bool


def find_perfect(game: GameLike) -> PerfectEquilibria:
    """Find the extreme Nash equilibria of a two-player game and say which are trembling-hand
    perfect.

    >>> chain_store = NormalForm.bimatrix([[0, 0], [-1, 1]], [[2, 2], [-1, 1]])
    >>> refined = find_perfect(chain_store)
    >>> [(e.supports, p) for e, p in zip(refined.equilibria, refined.perfect)]
    [(((0,), (0,)), False), (((1,), (1,)), True), (((0,), (0, 1)), False)]
    """
    form = as_normal_form(game)
    if form.num_players != 2:
        raise UsageError(
            f"perfect equilibria are computed for two players; this game has {form.num_players}"
        )
    nash = solve_bimatrix(form)
    kept = tuple(is_perfect(form, e) for e in nash.equilibria)
    how = "exact" if all(e.exact is not None for e in nash.equilibria) else "to 1e-9"
    return PerfectEquilibria(
        nash.equilibria, kept, f"{nash.method}; undominated strategies, {how}", nash.complete
    )


def is_perfect(game: NormalForm, equilibrium: Equilibrium) -> bool:
    """Say whether an equilibrium of two players is trembling-hand perfect."""
    return not any(_is_dominated(game, equilibrium, player) for player in (0, 1))


def _is_dominated(game: NormalForm, equilibrium: Equilibrium, player: int) -> bool:
    """Say whether some mixture never earns less than the player's strategy and sometimes more."""
    if equilibrium.exact is None or not game.is_exact:
        own = np.moveaxis(game.payoffs[player], player, 0)
        return (
            find_weak_mixture(
                (own - equilibrium.strategies[player] @ own) / (float(np.ptp(own)) or 1.0)
            )
            is not None
        )
    exact = as_fractions(np.moveaxis(game.given[player], player, 0))
    lead = exact - np.array(equilibrium.exact[player]) @ exact
    whole = np.asarray(
        np.frompyfunc(int, 1, 1)(lead * lcm(*(u.denominator for u in lead.ravel().tolist())))
    )
    worth = whole.sum(axis=1)
    return bool(worth @ np.array(maximize((-whole.T).tolist(), worth.tolist()), dtype=object) > 0)


_MISTAKE = Fraction(1, 10**9)
_MOST_ACTIONS = 10  # of which there are 10! orders
# of the rarest mistake, times orders squared: a proof that takes longer than seconds is not tried
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


def find_proper(game: GameLike) -> ProperEquilibrium:
    """Find one proper equilibrium; TooLarge past 10 actions, NotCertified where no equilibrium lies
    at the limit.

    >>> myerson = NormalForm.bimatrix([[1, 0, -9], [0, 0, -7], [-9, -7, -7]], [[1, 0, -9], [0, 0, -7], [-9, -7, -7]])
    >>> find_proper(myerson).equilibrium.supports
    ((0,), (0,))
    """  # noqa: E501
    form = as_normal_form(game)
    if form.num_players != 2:
        raise UsageError(
            f"proper equilibria are computed for two players; this game has {form.num_players}"
        )
    if max(form.shape) > _MOST_ACTIONS:
        raise TooLarge(
            f"a {form.shape[0]}x{form.shape[1]} game has too many orders; expected {_MOST_ACTIONS}"
            " actions"
        )
    row = as_meant(form.given[0])
    turned = as_meant(form.given[1].T)
    mistake = _MISTAKE
    trembling, orders = _solve_orders(row, turned, mistake)
    proof = _prove(row, turned, orders)
    if proof is not None:
        mistake, trembling, limit = proof
    else:
        limit = tuple(_normalise([p.limit_denominator(_SIMPLE) for p in mix]) for mix in trembling)
        if not _is_equilibrium(row, turned, limit):
            limit = tuple(
                _normalise([p if p > _NEAR else Fraction(0) for p in mix]) for mix in trembling
            )
    strategies = tuple(np.array([float(p) for p in mix]) for mix in limit)
    exact = form.is_exact and _is_equilibrium(row, turned, limit)
    equilibrium = Equilibrium.at(form, strategies, limit if exact else None)
    distance = max(
        abs(float(a - b))
        for x, y in zip(limit, trembling, strict=True)
        for a, b in zip(x, y, strict=True)
    )
    if distance > _NEAR or equilibrium.regret > _NEAR * (float(np.ptp(form.payoffs)) or 1.0):
        raise NotCertified(
            f"no proper equilibrium could be certified: regret {equilibrium.regret:.3g} at the"
            " limit"
        )
    return ProperEquilibrium(equilibrium, trembling, float(mistake), distance, proof is not None)


def _prove(
    own: Rationals, other: Rationals, orders: int
) -> tuple[Fraction, Fractions, Fractions] | None:
    """Find mistakes so small that none smaller changes anything, what they lead to, and its limit.

    None where their probabilities would be too long to compute with.
    """
    for _ in range(3):
        bound = _bound_coefficients(own, other, orders)
        mistake = Fraction(1, 8 * bound**4 + 1)
        if mistake.denominator.bit_length() * max(len(own), len(other)) * orders**2 > _MOST_BITS:
            return None
        trembling, needed = _solve_orders(own, other, mistake)
        if needed <= orders:
            limit = tuple(tuple(p.limit_denominator(bound) for p in mix) for mix in trembling)
            return (mistake, trembling, limit) if _is_equilibrium(own, other, limit) else None
        orders = needed
    return None


def _bound_coefficients(own: Rationals, other: Rationals, orders: int) -> int:
    """Bound the sum of the coefficients of every determinant that decides an equilibrium over that
    many orders."""
    largest = 1
    for table in (own, other):
        largest = max(
            largest,
            int(
                (table.max() - table.min()) * lcm(*(u.denominator for u in table.ravel().tolist()))
            ),
        )
    entry = 2 * len(own) * len(other) * (largest + 1)
    bound: int = len(own) * len(other) * factorial(orders + 2) * entry ** (orders + 2)
    return bound


def _solve_orders(own: Rationals, other: Rationals, mistake: Fraction) -> tuple[Fractions, int]:
    """An equilibrium over orders of actions, and how many orders a player needed at most.

    `own` is by the first player's actions, `other` by the second's.
    """
    orders = [[_weigh(range(len(table)), mistake)] for table in (own, other)]
    while True:
        first, second = (np.array(some) for some in orders)
        mixes = follow_exactly(
            NormalForm.bimatrix(first @ own @ second.T, first @ other.T @ second.T)
        )
        x = np.array(mixes[0]) @ first
        y = np.array(mixes[1]) @ second
        earned = own @ y, other @ x
        # The best order: the more an action earns, the sooner it comes.
        better = [
            _weigh(sorted(range(len(u)), key=lambda action: -u[action]), mistake) for u in earned
        ]
        gains = [new @ u - play @ u for new, u, play in zip(better, earned, (x, y), strict=True)]
        if not any(gains):
            return (tuple(x), tuple(y)), max(map(len, orders))
        for some, new, gain in zip(orders, better, gains, strict=True):
            if gain > 0:
                some.append(new)


def _weigh(order: Sequence[int], mistake: Fraction) -> Rationals:
    """The probabilities of the actions when they are played in this order of likelihood."""
    weights = np.empty(len(order), dtype=object)
    weights[list(order)] = [mistake**rank for rank in range(len(order))]
    return np.asarray(weights / weights.sum())


def _is_equilibrium(own: Rationals, other: Rationals, mixes: Fractions) -> bool:
    """Say whether neither player gains by deviating, in exact arithmetic."""
    x, y = (np.array(mix) for mix in mixes)
    return bool(
        sum(x) == sum(y) == 1 and max(own @ y) == x @ own @ y and max(other @ x) == y @ other @ x
    )


def _normalise(mix: list[Fraction]) -> tuple[Fraction, ...]:
    return tuple(p / sum(mix) for p in mix)
