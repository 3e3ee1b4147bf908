"""A proper equilibrium of a two-player game in normal form, as the limit of orderly mistakes.

Definition (Myerson 1978): an eps-proper equilibrium plays every action, and what earns less than another action with at
most eps times its probability; a limit of such for eps -> 0 is proper. Let a player choose an order of its actions and
play them with weights 1, eps, eps^2, ...: equilibria of the game over orders are eps-proper (the orders are the corners
of the permutahedron of Sorensen 2012). Orders enter only where they are best replies, which sorting finds, until none
earns more; the games between are solved by Lemke and Howson's path in whole numbers.

R. B. Myerson, "Refinements of the Nash equilibrium concept", International Journal of Game Theory 7, 1978.
T. B. Sorensen, "Computing a proper equilibrium of a bimatrix game", ACM EC 2012.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from bestresponse.core.errors import NotCertified, TooLarge, UsageError
from bestresponse.theory.equilibria.lemke_howson import follow_exactly
from bestresponse.theory.equilibria.result import Equilibrium, Fractions
from bestresponse.theory.games.normal_form import GameLike, NormalForm, as_normal_form
from bestresponse.theory.games.rationals import read_simplest

__all__ = ["ProperEquilibrium", "find_proper"]

_MISTAKE = Fraction(1, 10**9)
_MOST_ACTIONS = 10
_SIMPLE = 1000
_NEAR = 1e-6

Matrix = list[list[Fraction]]
Mix = list[Fraction]


@dataclass(frozen=True, slots=True, eq=False)
class ProperEquilibrium:
    """The equilibrium, and the eps-proper one next to it, for eps = `mistakes`, that shows it."""

    equilibrium: Equilibrium
    trembling: Fractions
    mistakes: float
    distance: float


def find_proper(game: GameLike) -> ProperEquilibrium:
    """Find one proper equilibrium; TooLarge past 10 actions, NotCertified where no equilibrium lies at the limit.

    >>> myerson = NormalForm.bimatrix([[1, 0, -9], [0, 0, -7], [-9, -7, -7]], [[1, 0, -9], [0, 0, -7], [-9, -7, -7]])
    >>> find_proper(myerson).equilibrium.supports
    ((0,), (0,))
    """
    form = as_normal_form(game)
    if form.num_players != 2:
        raise UsageError(f"proper equilibria are computed for two players; this game has {form.num_players}")
    if max(form.shape) > _MOST_ACTIONS:
        raise TooLarge(f"a {form.shape[0]}x{form.shape[1]} game has too many orders; expected {_MOST_ACTIONS} actions")
    row, col = (_read(form, player) for player in (0, 1))
    trembling = _solve_orders(row, [list(line) for line in zip(*col, strict=True)])
    limit, exact = _find_limit(form, row, col, trembling)
    strategies = tuple(np.array([float(p) for p in mix]) for mix in limit)
    found = Equilibrium.at(form, strategies, limit if exact and form.is_exact else None)
    distance = max(abs(float(a - b)) for x, y in zip(limit, trembling, strict=True) for a, b in zip(x, y, strict=True))
    if distance > _NEAR or found.regret > _NEAR * (float(np.ptp(form.payoffs)) or 1.0):
        raise NotCertified(f"no proper equilibrium could be certified: regret {found.regret:.3g} at the limit")
    return ProperEquilibrium(found, trembling, float(_MISTAKE), distance)


def _read(game: NormalForm, player: int) -> Matrix:
    rows = game.given[player].tolist()
    return [[read_simplest(u) if isinstance(u, float) else Fraction(u) for u in row] for row in rows]


def _solve_orders(own: Matrix, other: Matrix) -> Fractions:
    """An equilibrium over orders of actions: `own` by the first player's actions, `other` by the second's."""
    sizes = len(own), len(other)
    orders = [[_weigh(range(size))] for size in sizes]
    while True:
        first = np.array([[_earn(own, x, y) for y in orders[1]] for x in orders[0]], dtype=object)
        second = np.array([[_earn(other, y, x) for y in orders[1]] for x in orders[0]], dtype=object)
        mixes = follow_exactly(NormalForm.bimatrix(first, second))
        plays = [_blend(mix, some) for mix, some in zip(mixes, orders, strict=True)]
        better = [_reply(own, plays[1]), _reply(other, plays[0])]
        earned = _earn(own, plays[0], plays[1]), _earn(other, plays[1], plays[0])
        best = _earn(own, better[0], plays[1]), _earn(other, better[1], plays[0])
        if best == earned:
            return tuple(plays[0]), tuple(plays[1])
        for some, new, most, now in zip(orders, better, best, earned, strict=True):
            if most > now:
                some.append(new)


def _weigh(order: Sequence[int]) -> Mix:
    """The probabilities of the actions when they are played in this order of likelihood."""
    weights = [_MISTAKE**place for place in range(len(order))]
    found = [Fraction(0)] * len(order)
    for action, weight in zip(order, weights, strict=True):
        found[action] = weight / sum(weights)
    return found


def _reply(own: Matrix, against: Mix) -> Mix:
    """The best order: the more an action earns, the sooner it comes."""
    earned = [sum((u * p for u, p in zip(line, against, strict=True)), Fraction(0)) for line in own]
    return _weigh(sorted(range(len(own)), key=lambda action: -earned[action]))


def _earn(own: Matrix, mix: Mix, against: Mix) -> Fraction:
    rows = zip(mix, own, strict=True)
    return sum((p * sum(u * q for u, q in zip(line, against, strict=True)) for p, line in rows), Fraction(0))


def _blend(mix: Sequence[Fraction], orders: Sequence[Mix]) -> Mix:
    return [sum((p * x for p, x in zip(mix, column, strict=True)), Fraction(0)) for column in zip(*orders, strict=True)]


def _find_limit(form: NormalForm, row: Matrix, col: Matrix, trembling: Fractions) -> tuple[Fractions, bool]:
    """The equilibrium that the mistakes lead to, and whether it is one in exact arithmetic."""
    simple = tuple(_normalise([p.limit_denominator(_SIMPLE) for p in mix]) for mix in trembling)
    x, y = map(list, simple)
    turned = [list(line) for line in zip(*col, strict=True)]
    best = [max(_earn([line], [Fraction(1)], mix) for line in table) for table, mix in ((row, y), (turned, x))]
    if best == [_earn(row, x, y), _earn(turned, y, x)]:
        return simple, True
    return tuple(_normalise([p if p > _NEAR else Fraction(0) for p in mix]) for mix in trembling), False


def _normalise(mix: list[Fraction]) -> tuple[Fraction, ...]:
    return tuple(p / sum(mix) for p in mix)
