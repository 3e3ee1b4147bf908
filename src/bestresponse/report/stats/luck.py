"""Control variates: payoffs without the luck whose mean is known to be 0.

What a draw paid beside its expectation is luck. Taking it out of a payoff changes no mean, whatever
the weight, as long as the weight does not depend on the same play: here it is fitted by least
squares on the other half of the plays, as luck says nothing about a weak player's payoffs. With
weight 1 this would be AIVAT (Burch, Schmid, Moravcik, Morrill & Bowling, AAAI 2018), which makes
such payoffs less certain than they were. Luck that explains no more of the other half than chance
would is left in. `benchmarks/luck.py` measures it.
"""

import numpy as np

from bestresponse.report.stats.statistics import Floats

LEAST_PLAYS = 20
"""Weights fitted on fewer than half of these plays are themselves luck."""
_BY_CHANCE = 4.0
"""A kind of luck explains 1 / n of the variance of n plays by chance; this many times is more."""


def take_out_luck(payoffs: Floats, luck: Floats) -> Floats:
    """Return the payoffs of plays without their luck, a row of `luck` for each of its kinds.

    >>> coins = np.tile([1.0, -1.0, -1.0, 1.0], 5)
    >>> bool(np.allclose(take_out_luck(3 + coins, coins[None]), 3.0))
    True
    """
    without = payoffs.copy()
    half = np.arange(len(payoffs)) % 2 == 0
    if len(payoffs) < LEAST_PLAYS:
        return without
    for own in (half, ~half):
        kinds = luck[:, ~own]
        apart = kinds - kinds.mean(axis=1, keepdims=True)
        paid = payoffs[~own] - payoffs[~own].mean()
        weights, *_ = np.linalg.lstsq(apart.T, paid, rcond=None)
        left = paid - weights @ apart
        by_chance = _BY_CHANCE * len(luck) / len(paid)
        if left @ left < (1 - by_chance) * (paid @ paid):
            without[own] -= weights @ luck[:, own]
    return without
