"""What the payoff rules of statements pay.

Games that state a rule compute their payoffs here, and `check_game` holds other games to it. All
numbers are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from bestresponse.core.special import (
    FirstPriceRule,
    LowestEffort,
    PoolRule,
    ProjectRule,
    SecondPriceRule,
    SharedProject,
)
from bestresponse.core.told import LowerClaim, NearestWins, NumberRule

Numbers = Sequence[Fraction]


def pay(rule: NumberRule, chosen: Numbers) -> tuple[Fraction, ...]:
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
        case SharedProject(base, share):
            common = base + share * sum(chosen)
            return tuple(common - own for own in chosen)
        case ProjectRule(endowment, factor):
            share = factor * sum(chosen) / len(chosen)
            return tuple(endowment - own + share for own in chosen)
        case PoolRule(endowment, outside, slope, bend):
            each = slope - bend * sum(chosen)
            return tuple(outside * (endowment - own) + own * each for own in chosen)


def find_target(rule: NearestWins, chosen: Numbers) -> Fraction:
    """Return the number that was to be guessed."""
    return rule.factor * sum(chosen) / len(chosen)


def _pay_nearest(rule: NearestWins, chosen: Numbers) -> tuple[Fraction, ...]:
    target = find_target(rule, chosen)
    misses = [abs(number - target) for number in chosen]
    least = min(misses)
    share = rule.prize / misses.count(least)
    return tuple(share if miss == least else Fraction(0) for miss in misses)


def pay_bids(
    rule: FirstPriceRule | SecondPriceRule,
    values: Numbers,
    bids: Numbers,
) -> tuple[Fraction, ...]:
    """Return what everybody gets in an auction; among equal bids the first bidder wins.

    >>> bids = [Fraction(40), Fraction(45)]
    >>> [str(paid) for paid in pay_bids(SecondPriceRule(100), [Fraction(80), Fraction(50)], bids)]
    ['0', '10']
    """
    order = sorted(range(len(bids)), key=lambda seat: -bids[seat])
    winner = order[0]
    payer = winner if isinstance(rule, FirstPriceRule) else order[1]
    paid = [Fraction(0)] * len(bids)
    paid[winner] = values[winner] - bids[payer]
    return tuple(paid)
