"""Bidders without a model for the Water Allocation Challenge, to say how good a model's play is.

Each is a formula over many games at once; `BidderPlayer` puts the same formula into a seat of one
game. All see only what is public. Arrays have one row per game, then (where they have them) one
column per day and one per seat. The steps are those of `games.water.game`, number by number: the
same supplies from the same seeds, the same order of service, the same sums. A bid that is not
made is NaN.

    random      a share of the balance, uniform from 0 to 1
    share:X     always the share X of the balance (0.5 where none is given)
    need        the share of the balance that today's thirst would take of the health; all of it
                where that is death
    myopic      best response to yesterday's bids: a cent more than it takes, 0 where that is too
                dear
    solver      an approximate best response found by simulation (`search_bidder`)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product

import numpy as np

from bestresponse.core.ask import PASS, Amount, Ask
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE, View
from bestresponse.core.json import JsonMapping
from bestresponse.core.player import Decision
from bestresponse.core.registry import find_by_name
from bestresponse.core.seeds import split
from bestresponse.games.water.rules import WaterRules, with_abundance
from bestresponse.theory.arrays import Bools, Floats, Words

CENT = 0.01


@dataclass(frozen=True)
class Morning:
    """What is public when the bids of a day are made: today's balances, and all bids before."""

    rules: WaterRules
    supply: Floats
    health: Floats
    dry: Floats
    balance: Floats
    bids: Floats

    @property
    def day(self) -> int:
        """The number of the day, from 1."""
        return int(self.bids.shape[1]) + 1

    @property
    def alive(self) -> Bools:
        """Which residents are alive."""
        return self.health > 0


@dataclass(frozen=True)
class Trace:
    """Whole games: `balance`, `health` and `dry` as they are in the evening of each day."""

    rules: WaterRules
    supply: Floats
    bids: Floats
    served: Bools
    balance: Floats
    health: Floats
    dry: Floats

    @property
    def present(self) -> Bools:
        """Who was in the game in the morning of each day."""
        first = np.ones_like(self.health[:, :1], dtype=np.bool_)
        alive_before = self.health[:, :-1] > 0
        return np.concatenate([first, alive_before], axis=1)

    @property
    def survived(self) -> Bools:
        """Who is alive after the last day, games x seats."""
        return self.health[:, -1] > 0


def draw_supplies(rules: WaterRules, seeds: Sequence[int]) -> Floats:
    """The supplies that nature draws with these seeds, games x days."""
    mornings = [View(NATURE, facts={"day": day + 1}, moves=day) for day in range(rules.days)]
    outcomes = rules.supplies
    weights = [1 / len(outcomes)] * len(outcomes)
    drawn: list[int] = []
    for seed, morning in product(seeds, mornings):
        drawn += morning.draw(seed).choices(outcomes, weights)
    return np.asarray(drawn, dtype=np.float64).reshape(len(seeds), rules.days)


def serve_many(rules: WaterRules, bids: Floats, supply: Floats) -> Bools:
    """Who is served in each game: the highest bid first, on equal bids the lower need."""
    seats = np.asarray(rules.by_need)
    needs = np.asarray([r.need for r in rules.residents], dtype=np.float64)[seats]
    offered = np.where(np.isnan(bids), -1.0, bids)[:, seats]
    order = np.argsort(-offered, axis=1, kind="stable")
    left = supply.astype(np.float64)
    served = np.zeros(bids.shape, dtype=np.bool_)
    rows = np.arange(len(bids))
    for column in order.T:
        need = needs[column]
        wins = (offered[rows, column] >= 0) & (need <= left)
        left -= np.where(wins, need, 0.0)
        served[rows, seats[column]] = wins
    return served


def prices_to_win(rules: WaterRules, bids: Floats, supply: Floats) -> Floats:
    """The smallest bid with which each seat would be served, the other bids given.

    Infinite where none would do.

    Going down the others' bids, a seat is served just above the last one at which its need still
    fits.
    """
    prices = np.full(bids.shape, np.inf)
    needs = np.asarray([r.need for r in rules.residents], dtype=np.float64)
    rows = np.arange(len(bids))
    for rank, seat in enumerate(rules.by_need):
        others = np.asarray([other for other in rules.by_need if other != seat], dtype=np.intp)
        offered = np.where(np.isnan(bids), -1.0, bids)[:, others]
        left = supply.astype(np.float64)
        price = prices[:, seat]
        for column in np.argsort(-offered, axis=1, kind="stable").T:
            offer = offered[rows, column]
            need = needs[others[column]]
            above = np.where(column >= rank, offer, offer + CENT)
            is_made = offer >= 0
            price = np.where(is_made & (left >= needs[seat]), above, price)
            left -= np.where(is_made & (need <= left), need, 0.0)
        prices[:, seat] = np.where(left >= needs[seat], 0.0, price)
    return prices


def run_many(rules: WaterRules, supplies: Floats, bid: Callable[[Morning], Floats]) -> Trace:
    """Play all games with the bids that `bid` gives for every seat.

    Bids are games x seats and count only if a seat is alive.
    """
    games = len(supplies)
    days = rules.days
    seats = len(rules.residents)
    salaries = np.asarray([r.salary for r in rules.residents], dtype=np.float64)
    bids = np.full((games, days, seats), np.nan)
    balances = np.full((games, days, seats), np.nan)
    healths = np.full((games, days, seats), np.nan)
    drys = np.full((games, days, seats), np.nan)
    served = np.zeros((games, days, seats), dtype=np.bool_)
    balance = np.zeros((games, seats)) + salaries
    health = np.full((games, seats), float(rules.health))
    dry = np.zeros((games, seats))
    for day in range(days):
        supply = supplies[:, day]
        seen = Morning(
            rules,
            supply,
            health=health,
            dry=dry,
            balance=balance,
            bids=bids[:, :day],
        )
        alive = health > 0
        offers = np.where(alive, bid(seen), np.nan)
        wins = serve_many(rules, offers, supply)
        parched = alive & ~wins
        dry = np.where(wins, 0.0, dry + parched)
        watered = np.minimum(rules.most_health, health + rules.gain)
        thirsty = np.where(parched, health - dry * rules.thirst, health)
        health = np.where(wins, watered, thirsty)
        balance = np.where(wins, balance - np.nan_to_num(offers), balance)
        bids[:, day] = offers
        served[:, day] = wins
        balances[:, day] = balance
        healths[:, day] = health
        drys[:, day] = dry
        balance = np.where(health > 0, balance + salaries, balance)
    return Trace(
        rules,
        supplies,
        bids=bids,
        served=served,
        balance=balances,
        health=healths,
        dry=drys,
    )


Seeds = Words
Bidder = Callable[[Morning, int, Seeds], Floats]
"""The bids of one seat in every game; the seeds tell the games apart."""

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
        (0.9891, 0.8481, 0.6059, 0.79, 0.8026),
        (0.9977, 0.8479, 0.8434, 0.9805, 0.8617),
        (0.8708, 0.9326, 0.5393, 0.6883, 0.8886),
        (0.8073, 0.6573, 0.6224, 0.6734, 0.7703),
        (0.9474, 0.8226, 0.8839, 0.5989, 0.9311),
    ),
    "medium": (
        (0.9748, 0.8149, 0.7627, 0.8798, 0.8865),
        (0.986, 0.938, 0.8198, 0.7547, 0.7066),
        (0.9951, 0.739, 0.6334, 0.2947, 0.6817),
        (0.7609, 0.6448, 0.5732, 0.4234, 0.6361),
        (0.9343, 0.6826, 0.7938, 0.5345, 0.5899),
    ),
    "high": (
        (0.8552, 0.8667, 0.5008, 0.3115, 0.3902),
        (0.781, 0.9084, 0.9048, 0.2262, 0.8955),
        (0.8002, 0.6396, 0.4403, 0.7566, 0.5595),
        (0.7218, 0.5307, 0.534, 0.3396, 0.7352),
        (0.988, 0.6177, 0.5387, 0.6538, 0.3987),
    ),
}
"""What `solve` gives for the five seats of the published rules."""


def seat_seed(seed: int, role: str) -> int:
    """The seed of one seat of the game with that seed."""
    return split(seed, "seat", role)


def draw_uniform(seeds: Seeds, day: int) -> Floats:
    """A number from 0 to 1 for each seed and day (SplitMix64: Steele, Lea & Flood 2014)."""
    step = (day * 0x9E3779B97F4A7C15) % 2**64
    mixed = seeds + np.uint64(step)
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    drawn: Floats = (mixed >> np.uint64(11)) / float(2**53)
    return drawn


def whole_cents(bids: Floats, balance: Floats) -> Floats:
    """Bids cut to whole cents, none above the balance."""
    cents = np.floor(bids * 100 + 1e-6)
    cut: Floats = np.clip(cents / 100, 0.0, balance)
    return cut


def _random(morning: Morning, seat: int, seeds: Seeds) -> Floats:
    balance = morning.balance[:, seat]
    return whole_cents(draw_uniform(seeds, morning.day) * balance, balance)


def _share(share: float, morning: Morning, seat: int, seeds: Seeds) -> Floats:
    balance = morning.balance[:, seat]
    return whole_cents(share * balance, balance)


def _need(morning: Morning, seat: int, seeds: Seeds) -> Floats:
    balance = morning.balance[:, seat]
    dry_days = morning.dry[:, seat] + 1
    health = np.maximum(morning.health[:, seat], 1e-9)
    at_stake = dry_days * morning.rules.thirst / health
    return whole_cents(np.minimum(1.0, at_stake) * balance, balance)


def _myopic(morning: Morning, seat: int, seeds: Seeds) -> Floats:
    balance = morning.balance[:, seat]
    if morning.day == 1:
        return whole_cents(0.5 * balance, balance)
    price = price_today(morning, seat)
    return np.where(price <= balance, whole_cents(price, balance), 0.0)


def price_today(morning: Morning, seat: int) -> Floats:
    """What being served would take if the living repeated their bids of yesterday.

    From the second day on.
    """
    repeated = np.where(morning.alive, morning.bids[:, -1], np.nan)
    prices: Floats = prices_to_win(morning.rules, repeated, morning.supply)[:, seat]
    return prices


def _solver(morning: Morning, seat: int, seeds: Seeds) -> Floats:
    return policy_bid(policy_of(morning.rules, seat)[None], morning, seat)


def policy_bid(policy: Floats, morning: Morning, seat: int) -> Floats:
    """Return the bids of one policy per game, or of one for all.

    A policy has five numbers: the share of the balance it bids when the next dry day would kill,
    when the one after that would, when it could stand two or more, and at full health; and how far
    above yesterday's price it goes at most.
    """
    balance = morning.balance[:, seat]
    health = morning.health[:, seat]
    thirst = morning.rules.thirst
    dry = morning.dry[:, seat]
    deadly = health <= (dry + 1) * thirst
    tight = health <= (2 * dry + 3) * thirst
    at_ease = health < morning.rules.most_health
    shares = [policy[:, 0], policy[:, 1], policy[:, 2]]
    offer = np.select([deadly, tight, at_ease], shares, policy[:, 3]) * balance
    if morning.day > 1:
        margin = 1 + _FARTHEST * policy[:, 4]
        dearest = price_today(morning, seat) * margin + CENT
        offer = np.minimum(offer, np.where(deadly, np.inf, dearest))
    return whole_cents(offer, balance)


BIDDERS: dict[str, Bidder] = {
    "random": _random,
    "share": partial(_share, 0.5),
    "need": _need,
    "myopic": _myopic,
    "solver": _solver,
}


def bidder(name: str) -> Bidder:
    """The bidder of that name; `share:0.3` bids three tenths of the balance."""
    plain, colon, parameter = name.partition(":")
    if plain != "share" or not colon:
        return find_by_name(BIDDERS, name, "bidder")
    try:
        share = float(parameter)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise UsageError(
            f"{name!r}: expected a share from 0 to 1 after the colon, such as share:0.3"
        )
    return partial(_share, share)


def is_bidder(name: str) -> bool:
    """Say whether a bidder has that name; UsageError where its parameter is wrong."""
    plain, _, _ = name.partition(":")
    return plain in BIDDERS and bool(bidder(name))


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
        make_bids = bidder(self.name)
        bid = float(make_bids(morning, view.facts["seat"], seeds)[0])
        return Decision(PASS if np.isnan(bid) else bid)


def _morning_of(facts: JsonMapping) -> Morning:
    """The public facts of one game as a batch of one."""
    rules = WaterRules.from_json(facts["rules"])
    standings = np.asarray(facts["standings"], dtype=np.float64)
    bids = np.asarray([day["bids"] for day in facts["days"]], dtype=np.float64)
    return Morning(
        rules,
        np.asarray([facts["supply"]], dtype=np.float64),
        health=standings[None, :, 1],
        dry=standings[None, :, 2],
        balance=standings[None, :, 0],
        bids=bids.reshape(1, len(facts["days"]), len(rules.residents)),
    )


def play_many(rules: WaterRules, bidders: Sequence[str], seeds: Sequence[int]) -> Trace:
    """The games with these seeds and a named bidder in each seat.

    They are the same games as one by one, many times faster.
    """
    if len(bidders) != len(rules.residents):
        raise UsageError(
            f"{len(rules.residents)} residents need as many bidders, got {len(bidders)}"
        )
    table = [bidder(name) for name in bidders]
    seat_seeds = []
    for resident in rules.residents:
        own = [seat_seed(seed, resident.name) for seed in seeds]
        seat_seeds.append(np.asarray(own, dtype=np.uint64))

    def bid(morning: Morning) -> Floats:
        bids = [make_bids(morning, seat, seat_seeds[seat]) for seat, make_bids in enumerate(table)]
        return np.stack(bids, axis=1)

    return run_many(rules, draw_supplies(rules, seeds), bid)


def kept_for(rules: WaterRules) -> tuple[tuple[float, ...], ...] | None:
    """The kept numbers of all seats, where the rules are the published ones."""
    for abundance, kept in SOLVED.items():
        if rules == with_abundance(WaterRules(), abundance):
            return kept
    return None


@lru_cache(maxsize=256)
def policy_of(rules: WaterRules, seat: int) -> Floats:
    """The five numbers for this seat.

    They are kept ones for the published rules and solved ones for all others.
    """
    kept = kept_for(rules)
    return search_bidder(rules, seat) if kept is None else np.asarray(kept[seat])


def search_bidder(rules: WaterRules, seat: int) -> Floats:
    """Find the five numbers for this seat by simulation; the same rules give the same numbers.

    They are improved by the cross-entropy method (Rubinstein & Kroese 2004): draw candidates, play
    each on the same games against rivals that bid at random, by share, by need or myopically, keep
    the best, draw closer to them. What is maximised is the number of days lived, survival counting
    as one more drought. It is a best response within this family of policies and to this field,
    not an equilibrium.
    """
    rng = np.random.default_rng(split(0, "water solver", seat))
    seeds = [split(0, "water solver game", game) for game in range(_GAMES)]
    supplies = draw_supplies(rules, seeds)
    mean = _START.copy()
    spread = _SPREAD.copy()
    for _ in range(_ROUNDS):
        drawn = rng.normal(mean, spread, (_CANDIDATES, 5))
        drawn[0] = mean
        candidates = np.clip(drawn, 0.0, 1.0)
        trace = _play_against_field(rules, seat, candidates, supplies)
        lived = trace.present[:, :, seat].sum(axis=1) + rules.days * trace.survived[:, seat]
        scores = lived.reshape(_CANDIDATES, _GAMES).mean(axis=1)
        best_first = np.argsort(-scores, kind="stable")
        elite = candidates[best_first[:_ELITE]]
        mean = elite.mean(axis=0)
        spread = elite.std(axis=0) + 0.02
    best: Floats = np.round(np.clip(mean, 0.0, 1.0), 4)
    return best


def _play_against_field(
    rules: WaterRules,
    seat: int,
    candidates: Floats,
    supplies: Floats,
) -> Trace:
    """Play every candidate in `seat` on the same games.

    In each game, one kind of rival is in all other seats.
    """
    policies = np.repeat(candidates, _GAMES, axis=0)
    field = [bidder(name) for name in _FIELD]
    games = np.arange(len(policies)) % _GAMES
    kind = games % len(field)
    first_seeds = games.astype(np.uint64) * np.uint64(1000)

    def bid(morning: Morning) -> Floats:
        offers = []
        for other in range(len(rules.residents)):
            if other == seat:
                offers.append(policy_bid(policies, morning, seat))
                continue
            seeds = first_seeds + np.uint64(other)
            by_kind = [rival(morning, other, seeds) for rival in field]
            offers.append(np.choose(kind, by_kind))
        return np.stack(offers, axis=1)

    return run_many(rules, np.tile(supplies, (len(candidates), 1)), bid)
