"""Many games of the Water Allocation Challenge at once, for players that are formulas.

Arrays have one row a game, then (where they have them) one column a day and one a seat. The steps are those of
`games.water`, number by number: the same supplies from the same seeds, the same order of service, the same sums. A bid
that is not made is NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bestresponse.core.game import NATURE, View
from bestresponse.core.seeds import generator
from bestresponse.games.water.rules import WaterRules

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

CENT = 0.01


class PriceBook:
    """The prices of days gone by (see `prices_to_win`), each day worked out once."""

    def __init__(self, rules: WaterRules) -> None:
        self._rules = rules
        self._known: Floats | None = None

    def upto(self, bids: Floats, supplies: Floats) -> Floats:
        """Games x days x seats, for all days of `bids`."""
        known = np.empty((len(bids), 0, bids.shape[2])) if self._known is None else self._known
        new = bids[:, known.shape[1] :]
        if new.shape[1]:
            flat = new.reshape(-1, bids.shape[2])
            priced = prices_to_win(self._rules, flat, supplies[:, known.shape[1] :].reshape(-1))
            known = np.concatenate([known, priced.reshape(new.shape)], axis=1)
        self._known = known
        return known


@dataclass(frozen=True)
class Morning:
    """What is public when the bids of a day are made. `balances` holds the mornings' balances, today's last."""

    rules: WaterRules
    supply: Floats
    health: Floats
    dry: Floats
    balances: Floats
    supplies: Floats
    bids: Floats
    book: PriceBook

    @property
    def day(self) -> int:
        """The number of the day, from 1."""
        return int(self.balances.shape[1])

    @property
    def balance(self) -> Floats:
        """Today's balances, games x seats."""
        today: Floats = self.balances[:, -1]
        return today

    @property
    def alive(self) -> Booleans:
        """Which residents are alive."""
        return self.health > 0

    @property
    def prices(self) -> Floats:
        """What it would have taken each seat to be served on each day gone by, given the bids of the others."""
        return self.book.upto(self.bids, self.supplies)


@dataclass(frozen=True)
class Trace:
    """Whole games: `balance`, `health` and `dry` as they stand in the evening of each day."""

    rules: WaterRules
    supply: Floats
    bids: Floats
    served: Booleans
    balance: Floats
    health: Floats
    dry: Floats

    @property
    def present(self) -> Booleans:
        """Who was in the game in the morning of each day."""
        return np.concatenate([np.ones_like(self.health[:, :1], dtype=np.bool_), self.health[:, :-1] > 0], axis=1)

    @property
    def survived(self) -> Booleans:
        """Who is alive after the last day, games x seats."""
        return self.health[:, -1] > 0


def draw_supplies(rules: WaterRules, seeds: Sequence[int]) -> Floats:
    """The supplies that nature draws with these seeds, games x days."""
    keys = [View(NATURE, "", facts={"day": day}).key for day in range(1, rules.days + 1)]
    outcomes = rules.supplies
    weights = [1 / len(outcomes)] * len(outcomes)
    drawn = [[generator(seed, key).choices(outcomes, weights)[0] for key in keys] for seed in seeds]
    return np.asarray(drawn, dtype=np.float64).reshape(len(seeds), rules.days)


def serve_many(rules: WaterRules, bids: Floats, supply: Floats) -> Booleans:
    """Who is served in each game: the highest bid first, on equal bids the lower need."""
    seats = np.asarray(rules.by_need)
    needs = np.asarray([r.need for r in rules.residents], dtype=np.float64)[seats]
    offered = np.where(np.isnan(bids), -1.0, bids)[:, seats]
    order = np.argsort(-offered, axis=1, kind="stable")
    left = supply.astype(np.float64)
    served = np.zeros(bids.shape, dtype=np.bool_)
    rows = np.arange(len(bids))
    for place in order.T:
        need = needs[place]
        wins = (offered[rows, place] >= 0) & (need <= left)
        left -= np.where(wins, need, 0.0)
        served[rows, seats[place]] = wins
    return served


def prices_to_win(rules: WaterRules, bids: Floats, supply: Floats) -> Floats:
    """The smallest bid with which each seat would be served, the other bids given; infinite where none would do.

    Going down the others' bids, a seat is served just above the last one at which its need still fits.
    """
    prices = np.full(bids.shape, np.inf)
    needs = np.asarray([r.need for r in rules.residents], dtype=np.float64)
    rows = np.arange(len(bids))
    for rank, seat in enumerate(rules.by_need):
        others = np.asarray([other for other in rules.by_need if other != seat], dtype=np.intp)
        offered = np.where(np.isnan(bids), -1.0, bids)[:, others]
        left, price = supply.astype(np.float64), prices[:, seat]
        for place in np.argsort(-offered, axis=1, kind="stable").T:
            offer, need = offered[rows, place], needs[others[place]]
            above = np.where(place >= rank, offer, offer + CENT)
            price = np.where((left >= needs[seat]) & (offer >= 0), above, price)
            left -= np.where((offer >= 0) & (need <= left), need, 0.0)
        prices[:, seat] = np.where(left >= needs[seat], 0.0, price)
    return prices


def run_many(rules: WaterRules, supplies: Floats, bid: Callable[[Morning], Floats]) -> Trace:
    """Play all games; `bid` gives the bids of every seat (games x seats), which count where a seat is alive."""
    games, days, seats = len(supplies), rules.days, len(rules.residents)
    salaries = np.asarray([r.salary for r in rules.residents], dtype=np.float64)
    mornings, bids, balances, healths, drys = (np.full((games, days, seats), np.nan) for _ in range(5))
    served = np.zeros((games, days, seats), dtype=np.bool_)
    balance = np.zeros((games, seats)) + salaries
    health, dry = np.full((games, seats), float(rules.health)), np.zeros((games, seats))
    book = PriceBook(rules)
    for day in range(days):
        mornings[:, day] = balance
        supply = supplies[:, day]
        seen = Morning(rules, supply, health, dry, mornings[:, : day + 1], supplies[:, :day], bids[:, :day], book)
        alive = health > 0
        offers = np.where(alive, bid(seen), np.nan)
        wins = serve_many(rules, offers, supply)
        parched = alive & ~wins
        dry = np.where(wins, 0.0, dry + parched)
        watered = np.minimum(rules.most_health, health + rules.gain)
        health = np.where(wins, watered, np.where(parched, health - dry * rules.thirst, health))
        balance = np.where(wins, balance - np.nan_to_num(offers), balance)
        bids[:, day], served[:, day] = offers, wins
        balances[:, day], healths[:, day], drys[:, day] = balance, health, dry
        balance = np.where(health > 0, balance + salaries, balance)
    return Trace(rules, supplies, bids, served, balances, healths, drys)
