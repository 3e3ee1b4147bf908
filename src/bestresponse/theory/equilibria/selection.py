"""Choose among the equilibria of a two-player game by a rule that does not know the order of rows.

Rule: the highest joint payoff (the sum of what both earn); among equals the risk-dominant one, that
is the one with the largest product of what the two lose by deviating alone. A mixed equilibrium has
the product 0: whoever mixes loses nothing by playing another action of its support. In 2x2 games
with two strict equilibria this product is that of Harsanyi & Selten (1988, section 3.9).

Symmetric games such as battle of the sexes leave several: no rule that treats actions and players
alike can choose one of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bestresponse.theory.equilibria.result import Equilibrium
from bestresponse.theory.games.normal_form import Array

_TIE = 1e-9
"""Of the largest payoff: sums that differ by less are equal."""


def select_equilibria(equilibria: Sequence[Equilibrium]) -> tuple[Equilibrium, ...]:
    """Return the equilibria that the rule leaves: one, or several that it cannot tell apart.

    >>> from bestresponse.theory.equilibria.solve import nash
    >>> stag_hunt = nash([[1, 3], [0, 4]], [[1, 0], [3, 4]])
    >>> [e.supports for e in select_equilibria(stag_hunt.equilibria)]
    [((1,), (1,))]
    """
    payoffs = equilibria[0].game.payoffs
    largest = float(np.abs(payoffs).max()) or 1.0
    joint = np.array([float(sum(e.payoffs)) for e in equilibria])
    best = [
        e for e, total in zip(equilibria, joint, strict=True) if _is_near(total, joint, largest)
    ]
    if len(best) == 1:
        return (best[0],)
    safety = np.array(list(map(_measure_safety, best)))
    kept = zip(best, safety, strict=True)
    return tuple(e for e, product in kept if _is_near(product, safety, largest**2))


def _is_near(value: float, values: Array, scale: float) -> bool:
    return bool(value >= values.max() - _TIE * scale)


def _measure_safety(equilibrium: Equilibrium) -> float:
    """Multiply what each player loses at least by another action; 0 where one of them mixes."""
    first, second = equilibrium.strategies
    row, col = equilibrium.game.payoffs
    product = 1.0
    for mix, earned in ((first, row @ second), (second, first @ col)):
        played = int(np.argmax(mix))
        others = np.delete(earned, played)
        if len(others):
            product *= max(float(earned[played] - others.max()), 0.0)
    return product
