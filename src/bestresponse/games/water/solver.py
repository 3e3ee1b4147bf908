"""A policy for the water game found by simulation: an approximate best response to a mixed field of other bidders.

The policy has five numbers: the share of the balance it bids when the next dry day would kill, when the one after that
would, when it could stand two or more, and at full health; and how far above yesterday's price it goes at most.
They are improved by the cross-entropy method (Rubinstein & Kroese 2004): draw candidates, play each on the same games
against rivals that bid at random, by share, by need or myopically, keep the best, draw closer to them. What is
maximised is the number of days lived, survival counting as one more drought. It is a best response within this family
of policies and to this field, not an equilibrium.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bestresponse.core.seeds import split
from bestresponse.games.water.batch import CENT, Floats, Morning, Trace, draw_supplies, run_many
from bestresponse.games.water.rules import WaterRules, with_abundance

__all__ = ["SOLVED", "kept_for", "policy_bid", "policy_of", "solve", "solver_bid"]

_FIELD = ("random", "share:0.3", "need", "myopic")
_CANDIDATES = 24
_ELITE = 5
_GAMES = 48
_ROUNDS = 8
_START = np.array([0.9, 0.6, 0.5, 0.4, 0.8])
_SPREAD = np.array([0.15, 0.2, 0.2, 0.2, 0.3])
_FARTHEST = 5.0

SOLVED: dict[str, tuple[tuple[float, ...], ...]] = {
    "low": (
        (0.8147, 0.8938, 0.7808, 0.9333, 0.8921),
        (0.9097, 0.845, 0.8152, 0.234, 0.6727),
        (0.8873, 0.8474, 0.5833, 0.5246, 0.9637),
        (0.7908, 0.8311, 0.5891, 0.7013, 0.9252),
        (0.9877, 0.7915, 0.5554, 0.4089, 0.6801),
    ),
    "medium": (
        (0.8021, 0.7529, 0.6543, 0.3575, 0.66),
        (0.9909, 0.8991, 0.8209, 0.6997, 0.8381),
        (0.9324, 0.8301, 0.4369, 0.2187, 0.7945),
        (0.7044, 0.6439, 0.5695, 0.4475, 0.6341),
        (0.9463, 0.7495, 0.5734, 0.6165, 0.53),
    ),
    "high": (
        (0.7313, 0.6455, 0.8034, 0.4315, 0.6326),
        (0.7653, 0.8612, 0.8112, 0.4597, 0.6201),
        (0.7888, 0.5886, 0.4922, 0.6252, 0.8131),
        (0.691, 0.5371, 0.545, 0.3278, 0.7344),
        (0.988, 0.6177, 0.5387, 0.6538, 0.3987),
    ),
}
"""What `solve` gives for the five seats of the published rules."""


def solver_bid(morning: Morning, seat: int, seeds: NDArray[np.uint64]) -> Floats:
    """The bids of the solved policy for these rules and this seat."""
    return policy_bid(policy_of(morning.rules, seat)[None], morning, seat)


def policy_bid(policy: Floats, morning: Morning, seat: int) -> Floats:
    """The bids of one policy a game, or of one for all: shares when deadly, tight, at ease, at full health; margin."""
    from bestresponse.games.water.bidders import price_today, whole_cents

    balance, health = morning.balance[:, seat], morning.health[:, seat]
    thirst, dry = morning.rules.thirst, morning.dry[:, seat]
    states = (health <= (dry + 1) * thirst, health <= (2 * dry + 3) * thirst, health < morning.rules.most_health)
    offer = np.select(states, [policy[:, 0], policy[:, 1], policy[:, 2]], policy[:, 3]) * balance
    if morning.day > 1:
        dearest = price_today(morning, seat) * (1 + _FARTHEST * policy[:, 4]) + CENT
        offer = np.minimum(offer, np.where(states[0], np.inf, dearest))
    return whole_cents(offer, balance)


def kept_for(rules: WaterRules) -> tuple[tuple[float, ...], ...] | None:
    """The kept numbers of all seats, where the rules are the published ones."""
    for abundance, kept in SOLVED.items():
        if rules == with_abundance(WaterRules(), abundance):
            return kept
    return None


@lru_cache(maxsize=256)
def policy_of(rules: WaterRules, seat: int) -> Floats:
    """The five numbers for this seat: kept ones for the published rules, solved ones for all others."""
    kept = kept_for(rules)
    return solve(rules, seat) if kept is None else np.asarray(kept[seat])


def solve(rules: WaterRules, seat: int) -> Floats:
    """The five numbers for this seat, found by simulation; the same rules give the same numbers."""
    rng = np.random.default_rng(split(0, "water solver", seat))
    supplies = draw_supplies(rules, [split(0, "water solver game", game) for game in range(_GAMES)])
    mean, spread = _START.copy(), _SPREAD.copy()
    for _ in range(_ROUNDS):
        candidates = np.clip(rng.normal(mean, spread, (_CANDIDATES, 5)), 0.0, 1.0)
        candidates[0] = np.clip(mean, 0.0, 1.0)
        scores = _scores(rules, seat, candidates, supplies)
        elite = candidates[np.argsort(-scores, kind="stable")[:_ELITE]]
        mean, spread = elite.mean(axis=0), elite.std(axis=0) + 0.02
    best: Floats = np.round(np.clip(mean, 0.0, 1.0), 4)
    return best


def _scores(rules: WaterRules, seat: int, candidates: Floats, supplies: Floats) -> Floats:
    """The mean worth of every candidate on the same games."""
    policies = np.repeat(candidates, _GAMES, axis=0)
    trace = _against_field(rules, seat, policies, np.tile(supplies, (len(candidates), 1)))
    lived = trace.present[:, :, seat].sum(axis=1) + rules.days * trace.survived[:, seat]
    means: Floats = lived.reshape(len(candidates), _GAMES).mean(axis=1)
    return means


def _against_field(rules: WaterRules, seat: int, policies: Floats, supplies: Floats) -> Trace:
    """The policies in `seat`, in each game one kind of rival in all other seats."""
    from bestresponse.games.water.bidders import bidder

    field = [bidder(name) for name in _FIELD]
    games = np.arange(len(supplies)) % _GAMES
    kind = games % len(field)
    seeds = [games.astype(np.uint64) * np.uint64(1000) + np.uint64(other) for other in range(len(rules.residents))]

    def bid(morning: Morning) -> Floats:
        offers = [
            policy_bid(policies, morning, seat)
            if other == seat
            else np.choose(kind, [rival(morning, other, seeds[other]) for rival in field])
            for other in range(len(rules.residents))
        ]
        return np.stack(offers, axis=1)

    return run_many(rules, supplies, bid)
