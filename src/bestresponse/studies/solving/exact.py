"""Fractions where they are known: payoffs of equilibria whose strategies and payoffs are rational numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np

from bestresponse.theory.equilibrium import Equilibrium
from bestresponse.theory.normal_form import NormalForm

__all__ = ["exact_payoffs"]


def exact_payoffs(game: NormalForm, equilibrium: Equilibrium) -> tuple[Fraction, ...] | None:
    """Every player's payoff as a fraction; None unless all payoffs are whole and the strategies exact.

    >>> from bestresponse.theory.equilibria import nash
    >>> game = NormalForm.zero_sum([[3, -1], [-2, 1]])
    >>> [str(payoff) for payoff in exact_payoffs(game, nash(game).equilibria[0])]
    ['1/7', '-1/7']
    """
    if equilibrium.exact is None or not bool((game.payoffs == np.rint(game.payoffs)).all()):
        return None
    totals = [Fraction(0)] * game.num_players
    for cell in product(*equilibrium.supports):
        weight = math.prod(mix[a] for mix, a in zip(equilibrium.exact, cell, strict=True))
        for player in range(game.num_players):
            totals[player] += weight * Fraction(int(game.payoffs[(player, *cell)]))
    return tuple(totals)
