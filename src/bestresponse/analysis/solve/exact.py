"""Fractions where they are known: payoffs of exact equilibria, and security levels that can be proved."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from bestresponse.theory.equilibria.result import Equilibrium
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.zero_sum.solve import solve_zero_sum_game

__all__ = ["ExactSecurity", "exact_payoffs", "exact_security"]

_SIMPLE = 1_000
_CELLS = 2_000


@dataclass(frozen=True, slots=True)
class ExactSecurity:
    """What a player can make sure of, and the strategy that does it."""

    value: Fraction
    strategy: tuple[Fraction, ...]


def exact_payoffs(game: NormalForm, equilibrium: Equilibrium) -> tuple[Fraction, ...] | None:
    """Every player's payoff as a fraction; None unless all payoffs are whole and the strategies exact.

    >>> from bestresponse.theory.equilibria.solve import nash
    >>> game = NormalForm.zero_sum([[3, -1], [-2, 1]])
    >>> [str(payoff) for payoff in exact_payoffs(game, nash(game).equilibria[0])]
    ['1/7', '-1/7']
    """
    if equilibrium.exact is None or not _whole(game):
        return None
    totals = [Fraction(0)] * game.num_players
    for cell in product(*equilibrium.supports):
        weight = math.prod(mix[a] for mix, a in zip(equilibrium.exact, cell, strict=True))
        for player in range(game.num_players):
            totals[player] += weight * Fraction(int(game.payoffs[(player, *cell)]))
    return tuple(totals)


def exact_security(game: NormalForm, player: int) -> ExactSecurity | None:
    """The maximin of `player` as fractions; None unless payoffs are whole and simple fractions prove it.

    Both sides of the zero-sum game against all others together are read as fractions; where what one guarantees is
    what the other concedes, both are optimal.

    >>> battle = NormalForm.bimatrix([[2, 0], [0, 1]], [[1, 0], [0, 2]])
    >>> level = exact_security(battle, 0)
    >>> str(level.value), [str(p) for p in level.strategy]
    ('2/3', ['1/3', '2/3'])
    """
    own = np.moveaxis(game.payoffs[player], player, 0).reshape(game.shape[player], -1)
    if not _whole(game) or own.size > _CELLS:
        return None
    solved = solve_zero_sum_game(own)
    rows = [[int(u) for u in row] for row in own.tolist()]
    mix, against = _simple(solved.row), _simple(solved.col)
    guaranteed = min(
        sum((p * u for p, u in zip(mix, col, strict=True)), Fraction(0)) for col in zip(*rows, strict=True)
    )
    conceded = max(sum((q * u for q, u in zip(against, row, strict=True)), Fraction(0)) for row in rows)
    proved = guaranteed == conceded and min(*mix, *against) >= 0
    return ExactSecurity(guaranteed, mix) if proved else None


def _expected(mix: tuple[Fraction, ...], payoffs: Iterable[int]) -> Fraction:
    return sum((p * u for p, u in zip(mix, payoffs, strict=True)), Fraction(0))


def _whole(game: NormalForm) -> bool:
    return bool((game.payoffs == np.rint(game.payoffs)).all())


def _simple(mix: tuple[float, ...]) -> tuple[Fraction, ...]:
    """The nearest simple fractions; the largest takes what is missing to 1."""
    near = [Fraction(p).limit_denominator(_SIMPLE) for p in mix]
    largest = near.index(max(near))
    near[largest] += 1 - sum(near)
    return tuple(near)
