"""Security levels as fractions, where they can be proved."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.zero_sum.solve import solve_zero_sum_game

__all__ = ["ExactSecurity", "exact_security"]

_SIMPLE = 1_000
_CELLS = 2_000


@dataclass(frozen=True, slots=True)
class ExactSecurity:
    """What a player can make sure of, and the strategy that does it."""

    value: Fraction
    strategy: tuple[Fraction, ...]


def exact_security(game: NormalForm, player: int) -> ExactSecurity | None:
    """The maximin of `player` as fractions; None unless payoffs are exact and simple fractions prove it.

    Both sides of the zero-sum game against all others together are read as fractions; where what one guarantees is
    what the other concedes, both are optimal.

    >>> battle = NormalForm.bimatrix([[2, 0], [0, 1]], [[1, 0], [0, 2]])
    >>> level = exact_security(battle, 0)
    >>> str(level.value), [str(p) for p in level.strategy]
    ('2/3', ['1/3', '2/3'])
    """
    own = np.moveaxis(game.given[player], player, 0).reshape(game.shape[player], -1)
    if not game.is_exact or own.size > _CELLS:
        return None
    solved = solve_zero_sum_game(own.astype(np.float64))
    rows = [[Fraction(u) for u in row] for row in own.tolist()]
    mix, against = _simple(solved.row), _simple(solved.col)
    guaranteed = min(
        sum((p * u for p, u in zip(mix, col, strict=True)), Fraction(0)) for col in zip(*rows, strict=True)
    )
    conceded = max(sum((q * u for q, u in zip(against, row, strict=True)), Fraction(0)) for row in rows)
    proved = guaranteed == conceded and min(*mix, *against) >= 0
    return ExactSecurity(guaranteed, mix) if proved else None


def _simple(mix: tuple[float, ...]) -> tuple[Fraction, ...]:
    """The nearest simple fractions; the largest takes what is missing to 1."""
    near = [Fraction(p).limit_denominator(_SIMPLE) for p in mix]
    largest = near.index(max(near))
    near[largest] += 1 - sum(near)
    return tuple(near)
