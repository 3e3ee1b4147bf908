"""What the payoff rules of tables pay, in exact numbers.

Games that state such a rule compute their payoffs here, and `check_game` holds other games to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from bestresponse.core.told import (
    LowerClaim,
    LowestEffort,
    NearestWins,
    PayoffRule,
)

Numbers = Sequence[Fraction]


def pay(rule: PayoffRule, chosen: Numbers) -> tuple[Fraction, ...]:
    """Return what everybody gets who chose these numbers at the same time.

    >>> contest = NearestWins(Fraction(2, 3), Fraction(1))
    >>> [str(paid) for paid in pay(contest, [Fraction(0), Fraction(9)])]
    ['1', '0']
    """
    match rule:
        case NearestWins():
            return _pay_nearest(rule, chosen)
        case LowerClaim(bonus):
            first, second = chosen
            gain = bonus * ((second > first) - (first > second))
            return min(chosen) + gain, min(chosen) - gain
        case LowestEffort(gain, cost, base):
            common = base + gain * min(chosen)
            return tuple(common - cost * own for own in chosen)


def find_target(rule: NearestWins, chosen: Numbers) -> Fraction:
    """Return the number that was to be guessed."""
    return rule.factor * sum(chosen) / len(chosen)


def _pay_nearest(rule: NearestWins, chosen: Numbers) -> tuple[Fraction, ...]:
    target = find_target(rule, chosen)
    misses = [abs(number - target) for number in chosen]
    least = min(misses)
    share = rule.prize / misses.count(least)
    return tuple(share if miss == least else Fraction(0) for miss in misses)
