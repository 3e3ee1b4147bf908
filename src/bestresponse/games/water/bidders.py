"""Bidders without a model for the Water Allocation Challenge, to say how good a model's play is.

Each is a formula over many games at once (see `games.water.batch`); `BidderPlayer` puts the same formula into a seat of
one game. All see only what is public.

    random      a share of the balance, uniform from 0 to 1
    share:X     always the share X of the balance (0.5 where none is given)
    need        the share of the balance that today's thirst would take of the health; all of it where that is death
    myopic      best response to yesterday's bids: a cent more than it takes, 0 where that is too dear
    no-regret   multiplicative weights over shares of the balance, on what each share would have brought on every day
                so far (Freund & Schapire 1997; Cesa-Bianchi & Lugosi 2006, ch. 2)
    solver      an approximate best response found by simulation, see `games.water.solver`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bestresponse.core.ask import PASS, Amount, Ask
from bestresponse.core.errors import UsageError
from bestresponse.core.game import View
from bestresponse.core.json import JsonMapping
from bestresponse.core.player import Decision
from bestresponse.core.registry import did_you_mean
from bestresponse.core.seeds import split
from bestresponse.games.water.batch import Floats, Morning, PriceBook, Trace, draw_supplies, prices_to_win, run_many
from bestresponse.games.water.rules import WaterRules

__all__ = ["BIDDERS", "Bidder", "BidderPlayer", "bidder", "is_bidder", "play_many", "seat_seed", "whole_cents"]

Seeds = NDArray[np.uint64]
Bidder = Callable[[Morning, int, Seeds], Floats]
"""The bids of one seat in every game; the seeds tell the games apart."""

SHARES = np.linspace(0.0, 1.0, 11)


def seat_seed(seed: int, role: str) -> int:
    """The seed of one seat of the game with that seed."""
    return split(seed, "seat", role)


def uniform(seeds: Seeds, day: int) -> Floats:
    """A number from 0 to 1 for each seed and day (SplitMix64: Steele, Lea & Flood 2014)."""
    mixed = seeds + np.uint64((day * 0x9E3779B97F4A7C15) % 2**64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    drawn: Floats = ((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(11)) / float(2**53)
    return drawn


def whole_cents(bids: Floats, balance: Floats) -> Floats:
    """Bids cut to whole cents, none above the balance."""
    cut: Floats = np.clip(np.floor(bids * 100 + 1e-6) / 100, 0.0, balance)
    return cut


def _random(morning: Morning, seat: int, seeds: Seeds) -> Floats:
    balance = morning.balance[:, seat]
    return whole_cents(uniform(seeds, morning.day) * balance, balance)


def _share(share: float, morning: Morning, seat: int, seeds: Seeds) -> Floats:
    balance = morning.balance[:, seat]
    return whole_cents(share * balance, balance)


def _need(morning: Morning, seat: int, seeds: Seeds) -> Floats:
    balance = morning.balance[:, seat]
    at_stake = (morning.dry[:, seat] + 1) * morning.rules.thirst / np.maximum(morning.health[:, seat], 1e-9)
    return whole_cents(np.minimum(1.0, at_stake) * balance, balance)


def _myopic(morning: Morning, seat: int, seeds: Seeds) -> Floats:
    balance = morning.balance[:, seat]
    if morning.day == 1:
        return whole_cents(0.5 * balance, balance)
    price = price_today(morning, seat)
    return np.where(price <= balance, whole_cents(price, balance), 0.0)


def price_today(morning: Morning, seat: int) -> Floats:
    """What being served would take if the living repeated their bids of yesterday; from the second day on."""
    repeated = np.where(morning.alive, morning.bids[:, -1], np.nan)
    prices: Floats = prices_to_win(morning.rules, repeated, morning.supply)[:, seat]
    return prices


def _no_regret(morning: Morning, seat: int, seeds: Seeds) -> Floats:
    """Being served is worth 1, and the share of the balance that it takes is paid out of it."""
    offers = morning.balances[:, :-1, seat, None] * SHARES
    gains = ((offers >= morning.prices[:, :, seat, None]) * (1.0 - SHARES)).sum(axis=1)
    rate = np.sqrt(8 * np.log(len(SHARES)) / morning.rules.days)
    weights = np.exp(rate * (gains - gains.max(axis=1, keepdims=True)))
    reached = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
    drawn = (uniform(seeds, morning.day)[:, None] > reached).sum(axis=1)
    balance = morning.balance[:, seat]
    return whole_cents(SHARES[np.minimum(drawn, len(SHARES) - 1)] * balance, balance)


def _solver(morning: Morning, seat: int, seeds: Seeds) -> Floats:
    from bestresponse.games.water.solver import solver_bid

    return solver_bid(morning, seat, seeds)


BIDDERS: dict[str, Bidder] = {
    "random": _random,
    "share": partial(_share, 0.5),
    "need": _need,
    "myopic": _myopic,
    "no-regret": _no_regret,
    "solver": _solver,
}


def bidder(name: str) -> Bidder:
    """The bidder of that name; `share:0.3` bids three tenths of the balance."""
    plain, colon, parameter = name.partition(":")
    if plain not in BIDDERS or (colon and plain != "share"):
        known = ", ".join(BIDDERS)
        raise UsageError(f"there is no bidder named {name!r}; known: {known}.{did_you_mean(plain, list(BIDDERS))}")
    if not colon:
        return BIDDERS[plain]
    try:
        share = float(parameter)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise UsageError(f"{name!r}: expected a share from 0 to 1 after the colon, such as share:0.3")
    return partial(_share, share)


def is_bidder(name: str) -> bool:
    """Say whether a bidder has that name; UsageError where its parameter is wrong."""
    if name.partition(":")[0] not in BIDDERS:
        return False
    bidder(name)
    return True


@dataclass(frozen=True, slots=True)
class BidderPlayer:
    """A bidder in a seat of one game."""

    name: str
    seed: int = 0

    def decide(self, view: View, ask: Ask) -> Decision:
        """Answer `ask`, knowing what `view` tells."""
        if not isinstance(ask, Amount) or "standings" not in view.facts:
            raise UsageError(f"the bidder {self.name} plays the water game only")
        morning = _morning_of(view.facts)
        seeds = np.asarray([self.seed % 2**64], dtype=np.uint64)
        bid = float(bidder(self.name)(morning, view.facts["seat"], seeds)[0])
        return Decision(PASS if np.isnan(bid) else bid)


def _morning_of(facts: JsonMapping) -> Morning:
    """The public facts of one game as a batch of one."""
    rules = WaterRules.from_json(facts["rules"])
    standings = np.asarray(facts["standings"], dtype=np.float64)
    days = facts["days"]
    seats = len(rules.residents)
    salaries = np.asarray([r.salary for r in rules.residents], dtype=np.float64)
    evenings = np.asarray([day["after"] for day in days], dtype=np.float64).reshape(len(days), seats, 3)
    mornings = np.where(evenings[:, :, 1] > 0, evenings[:, :, 0] + salaries, evenings[:, :, 0])
    bids = np.asarray([day["bids"] for day in days], dtype=np.float64).reshape(1, len(days), seats)
    return Morning(
        rules,
        np.asarray([facts["supply"]], dtype=np.float64),
        standings[None, :, 1],
        standings[None, :, 2],
        np.concatenate([salaries[None], mornings])[None],
        np.asarray([[day["supply"] for day in days]], dtype=np.float64),
        bids,
        PriceBook(rules),
    )


def play_many(rules: WaterRules, bidders: Sequence[str], seeds: Sequence[int]) -> Trace:
    """The games with these seeds, a named bidder in each seat: the same games as one by one, many times faster."""
    if len(bidders) != len(rules.residents):
        raise UsageError(f"{len(rules.residents)} residents need as many bidders, got {len(bidders)}")
    table = [bidder(name) for name in bidders]
    own = [
        np.asarray([seat_seed(seed, resident.name) for seed in seeds], dtype=np.uint64) for resident in rules.residents
    ]

    def bid(morning: Morning) -> Floats:
        return np.stack([table[seat](morning, seat, own[seat]) for seat in range(len(table))], axis=1)

    return run_many(rules, draw_supplies(rules, seeds), bid)
