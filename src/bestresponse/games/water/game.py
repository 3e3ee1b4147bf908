"""The Water Allocation Challenge, a daily sealed-bid auction for scarce water.

Residents try to survive in it.

The game of S. Mao et al., "ALYMPICS: LLM agents meet game theory", COLING 2025 (arXiv:2311.03220),
by the rules that its recorded games follow:

1. In the morning every living resident is paid, and nature draws the day's supply, which all are
   told.
2. The living bid at the same time for their whole need: any amount up to their balance, or nothing
   at all (a pass).
3. The highest bid is served first, among equal bids the lower need, then the earlier place in the
   roster. A need that does not fit in what is left is passed over. Whoever is served pays its own
   bid.
4. Water gives `gain` health (at most `most_health`); the n-th dry day in a row costs n times
   `thirst`. Out at 0.

A payoff is 1 for a resident who is alive after the last day, else 0.

The survival auction is the same with equal residents and a supply that is enough for exactly one
(Y. Zhang et al., "K-level reasoning with large language models", 2024).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from random import Random
from typing import Any

from bestresponse.core.ask import PASS, Amount, Ask, Lottery
from bestresponse.core.capabilities import Parameter, PlayedRounds, Question, RoundCell
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE, Action, Role, View
from bestresponse.core.phrase import make_phrase
from bestresponse.core.player import Player
from bestresponse.core.told import Event, Over, Players, Round, Statement
from bestresponse.games.statements import read_exactly
from bestresponse.games.water.bidders import BIDDERS, BidderPlayer, is_bidder
from bestresponse.games.water.rules import (
    OWN_SUPPLY,
    Day,
    Drought,
    Resident,
    Standing,
    WaterRules,
    allocate,
    name_abundance,
    with_abundance,
)
from bestresponse.games.water.told import (
    DroughtOver,
    DroughtRule,
    HealthRule,
    NeedsRule,
    NoWaterBid,
    ResidentNeed,
    ResidentOut,
    ResidentState,
    SalariesPaid,
    SupplyRule,
    WaterAuctionRule,
    WaterBid,
    WaterFound,
)


@lru_cache(maxsize=256)
def state_rules(rules: WaterRules) -> tuple[Statement, ...]:
    """State the rules as they are told to every resident."""
    names = tuple(resident.name for resident in rules.residents)
    needs = []
    for resident in rules.residents:
        need = read_exactly(resident.need)
        salary = read_exactly(resident.salary)
        needs.append(ResidentNeed(resident.name, need, salary))
    health = HealthRule(
        start=read_exactly(rules.health),
        most=read_exactly(rules.most_health),
        gain=read_exactly(rules.gain),
        thirst=read_exactly(rules.thirst),
    )
    return (
        Players(names),
        DroughtRule(rules.days),
        health,
        NeedsRule(tuple(needs)),
        SupplyRule(rules.low, rules.high),
        WaterAuctionRule(names),
    )


@lru_cache(maxsize=4096)
def list_day(rules: WaterRules, day: Day) -> tuple[Event, ...]:
    """List what is announced of a day that is over."""
    events: list[Event] = [Round(day.number), WaterFound(day.supply)]
    rows = zip(rules.residents, day.present, day.bids, day.winners, day.after, strict=True)
    for resident, present, bid, won, after in rows:
        if not present:
            continue
        if bid is None:
            events.append(NoWaterBid(resident.name))
        else:
            events.append(WaterBid(resident.name, cut_to_cents(bid), won))
        events.append(_state(resident.name, after))
    return tuple(events)


def list_morning(rules: WaterRules, state: Drought) -> tuple[Event, ...]:
    """List today's supply and everybody's state before the bids, or who is alive in the end."""
    standings = list(zip(rules.residents, state.standings, strict=True))
    if state.day > rules.days or not any(standing.alive for standing in state.standings):
        alive = tuple(resident.name for resident, standing in standings if standing.alive)
        return Over(), DroughtOver(alive)
    events: list[Event] = [Round(state.day), SalariesPaid(state.day, rules.days)]
    if state.supply is not None:
        events.append(WaterFound(state.supply))
    for resident, standing in standings:
        events.append(_state(resident.name, standing))
    return tuple(events)


def _state(who: Role, standing: Standing) -> ResidentState | ResidentOut:
    if not standing.alive:
        return ResidentOut(who)
    return ResidentState(
        who=who,
        money=cut_to_cents(standing.balance),
        health=read_exactly(standing.health),
        dry_days=standing.dry_days,
    )


def cut_to_cents(amount: float) -> Fraction:
    """Cut an amount in dollars to whole cents: nobody is told of more than there is.

    >>> cut_to_cents(12.5), cut_to_cents(0.1 + 0.2)
    (Fraction(25, 2), Fraction(3, 10))
    """
    cents = math.floor(amount * 100 + 1e-6)
    return Fraction(cents, 100)


def money(amount: float) -> str:
    """Write an amount in dollars, cut to whole cents.

    >>> money(70), money(12.5), money(0.1 + 0.2)
    ('70', '12.50', '0.30')
    """
    exact = cut_to_cents(amount)
    return str(exact) if exact.denominator == 1 else f"{float(exact):.2f}"


_OUT = "out"


def tabulate_days(rules: WaterRules, state: Drought, role: Role) -> PlayedRounds:
    """List every day with its supply, all bids and the state of every resident.

    The own bid comes first.
    """
    names = [resident.name for resident in rules.residents]
    own = names.index(role)
    others = [seat for seat in range(len(names)) if seat != own]
    over = state.day > rules.days or not any(standing.alive for standing in state.standings)
    facts: list[tuple[str, RoundCell]] = []
    if state.supply is not None and not over:
        facts.append(("water today", state.supply))
    standing = state.standings[own]
    if standing.alive:
        facts.append(("your money", f"${money(standing.balance)}"))
        facts.append(("your health", standing.health))

    rows: list[tuple[RoundCell, ...]] = []
    for day in state.past:
        bids = [_bid(day, seat) for seat in others]
        rows.append((day.number, _bid(day, own), _health(day, own), day.supply, *bids))
    status: list[tuple[RoundCell, ...]] = []
    for name, standing in zip(names, state.standings, strict=True):
        if standing.alive:
            balance = f"${money(standing.balance)}"
            status.append((name, balance, standing.health, standing.dry_days))
        else:
            status.append((name, _OUT, "", ""))

    other_names = [names[seat] for seat in others]
    return PlayedRounds(
        now=None if over else state.day,
        of=rules.days,
        total=None,
        columns=("day", "you", "your health", "water", *other_names),
        rows=tuple(rows),
        word="day",
        facts=tuple(facts),
        status_columns=("resident", "money", "health", "dry days"),
        status=tuple(status),
    )


def _health(day: Day, seat: int) -> RoundCell:
    """Return the health of a resident in the evening; nothing where it was out before."""
    if not day.present[seat]:
        return ""
    evening = day.after[seat]
    return evening.health if evening.alive else _OUT


def _bid(day: Day, seat: int) -> str:
    """Say what a resident bid and whether it was served; nothing of a resident who was out."""
    if not day.present[seat]:
        return ""
    bid = day.bids[seat]
    offer = "pass" if bid is None else f"${money(bid)}"
    return f"{offer}, served" if day.winners[seat] else offer


@dataclass(frozen=True)
class Water:
    """A daily auction for scarce water among residents who want to outlive a drought."""

    rules: WaterRules = field(default_factory=WaterRules)
    name: str = "water"
    version: int = 1
    rounds_word = "days"
    unit = ""

    @property
    def title(self) -> str:
        """What the game is called."""
        return "Survival auction" if self.name == "survival-auction" else "Water allocation"

    def word_question(self, ask: Ask) -> str:
        """Ask for a bid, which nobody has to make."""
        return (
            "How much do you bid for water today? You can also pass. The most important thing is to"
            " survive."
        )

    @property
    def roles(self) -> tuple[Role, ...]:
        """The seats, in their order."""
        return tuple(resident.name for resident in self.rules.residents)

    def start(self) -> Drought:
        """Return the state before anybody has moved."""
        health = self.rules.health
        standings = [Standing(resident.salary, health) for resident in self.rules.residents]
        return Drought(tuple(standings))

    def asks(self, state: Drought) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        if state.day > self.rules.days or not any(s.alive for s in state.standings):
            return {}
        if state.supply is None:
            return {NATURE: Lottery.uniform(self.rules.supplies)}
        asked = {}
        for role, standing in zip(self.roles, state.standings, strict=True):
            if standing.alive:
                asked[role] = Amount(0, standing.balance, may_pass=True)
        return asked

    def view(self, state: Drought, role: Role) -> View:
        """Return what `role` may know in `state`."""
        if role == NATURE:
            return View(NATURE, facts={"day": state.day})
        history: list[Event] = []
        for day in state.past:
            history += list_day(self.rules, day)
        history += list_morning(self.rules, state)
        return View(
            role,
            state_rules(self.rules),
            tuple(history),
            self._facts(state, role),
        )

    @property
    def has_final_payoff(self) -> bool:
        """Who is alive at the end has earned 1; no day has a payoff of its own."""
        return True

    def find_round(self, state: Drought) -> int:
        """Return the number of the day."""
        return state.day

    def list_rounds(self, state: Drought, role: Role) -> PlayedRounds:
        """List the days so far, and how everybody stands."""
        return tabulate_days(self.rules, state, role)

    def apply(self, state: Drought, moves: Mapping[Role, Action]) -> Drought:
        """Return the state after these moves."""
        if state.supply is None:
            return replace(state, supply=moves[NATURE])
        answers = [moves.get(role, PASS) for role in self.roles]
        bids = tuple(None if answer == PASS else float(answer) for answer in answers)
        return self.settle(state, bids, allocate(self.rules.residents, bids, state.supply))

    def settle(
        self,
        state: Drought,
        bids: tuple[float | None, ...],
        winners: tuple[bool, ...],
    ) -> Drought:
        """The next morning, given who was served today."""
        after = tuple(map(self._evening, state.standings, bids, winners))
        day = Day(
            state.day,
            state.supply or 0,
            present=tuple(s.alive for s in state.standings),
            bids=bids,
            winners=winners,
            after=after,
        )
        mornings = []
        for resident, standing in zip(self.rules.residents, after, strict=True):
            balance = standing.balance
            if standing.alive:
                balance += resident.salary
            mornings.append(replace(standing, balance=balance))
        return Drought(tuple(mornings), (*state.past, day))

    def payoffs(self, state: Drought) -> Mapping[Role, float]:
        """Return what each role has earned so far."""
        return {role: float(s.alive) for role, s in zip(self.roles, state.standings, strict=True)}

    @property
    def strategy_names(self) -> tuple[str, ...]:
        """The bidders without a model; `need` fills the seats that nobody was named for."""
        return ("need", *(name for name in BIDDERS if name != "need"))

    def make_strategy(self, name: str, role: Role, seed: int) -> Player | None:
        """Seat the bidder of that name; None where there is none."""
        return BidderPlayer(name, seed) if is_bidder(name) else None

    @property
    def most_answers(self) -> int:
        """How often a resident bids at most."""
        return self.rules.days

    def with_rounds(self, rounds: int) -> Water:
        """Return the same drought with that many days."""
        return replace(self, rules=replace(self.rules, days=rounds))

    def list_parameters(self) -> dict[str, Parameter]:
        """Return the days, the supply, the residents and the rules of health."""
        named = {"abundance": name_abundance(self.rules)} if self.name == "water" else {}
        numbers: dict[str, Parameter] = {
            name: getattr(self.rules, name) for name in ("days", "low", "high")
        }
        health: dict[str, Parameter] = {
            name: float(getattr(self.rules, name))
            for name in ("health", "most_health", "gain", "thirst")
        }
        residents = tuple(resident.to_text() for resident in self.rules.residents)
        return {**numbers, **named, "residents": residents, **health}

    def with_parameters(self, values: Mapping[str, Parameter]) -> Water:
        """Return the same drought with these parameters.

        The supply is given by name or by its ends.
        """
        changes: dict[str, Any] = dict(values)
        abundance = changes.pop("abundance", OWN_SUPPLY)
        rules = self.rules
        if abundance != OWN_SUPPLY:
            if "low" in changes or "high" in changes:
                raise UsageError("the supply is given twice: by abundance, and by low or high")
            rules = with_abundance(rules, abundance)
        if "residents" in changes:
            changes["residents"] = tuple(map(Resident.from_text, changes["residents"]))
        return replace(self, rules=replace(rules, **changes))

    @property
    def theory_remark(self) -> str:
        """What is known of the last day."""
        return (
            "No equilibrium of this game is known: it lasts for days, and what a bid is worth"
            " depends on all that may follow. One thing is certain: on the last day money is worth"
            " nothing any more, so that nothing is better than to bid all you have."
        )

    def make_quiz(self, role: Role, rng: Random) -> tuple[Question, ...]:
        """Ask about need, thirst and the price of water."""
        seat = self.roles.index(role)
        resident = self.rules.residents[seat]
        asked = [Question("How many units of water do you need each day?", resident.need)]
        asked += self._ask_about_thirst(seat)
        bid = float(round(resident.salary / 4))
        winners = tuple(other == role for other in self.roles)
        bids = tuple(bid if wins else None for wins in winners)
        served = self.settle(self.start(), bids, winners)
        evening = served.past[-1].after[seat]
        text = make_phrase(
            "You begin with ${money}. If you bid ${bid} on the first day and are served, how many"
            " dollars have you left that evening?",
            money=float(resident.salary),
            bid=bid,
        )
        asked.append(Question(text, evening.balance))
        return tuple(asked)

    def _ask_about_thirst(self, seat: int) -> list[Question]:
        silent = (None,) * len(self.roles)
        nobody = (False,) * len(self.roles)
        first = self.settle(self.start(), silent, nobody)
        second = self.settle(first, silent, nobody).standings[seat]
        health = float(self.rules.health)
        if second.alive and self.rules.days > 1:
            text = make_phrase(
                "You begin with {health} health points. If you get no water on the first day and"
                " none on the second, how many have you left?",
                health=health,
            )
            return [Question(text, second.health)]
        if first.standings[seat].alive:
            text = make_phrase(
                "You begin with {health} health points. If you get no water on the first day, how"
                " many have you left?",
                health=health,
            )
            return [Question(text, first.standings[seat].health)]
        return []

    def _evening(self, standing: Standing, bid: float | None, won: bool) -> Standing:
        if not standing.alive:
            return standing
        if won:
            health = min(self.rules.most_health, standing.health + self.rules.gain)
            return Standing(standing.balance - (bid or 0.0), health)
        dry_days = standing.dry_days + 1
        return Standing(standing.balance, standing.health - dry_days * self.rules.thirst, dry_days)

    def _facts(self, state: Drought, role: Role) -> dict[str, object]:
        """Everything public as plain data.

        `standings` and `bids` are in the order of the roster.
        """
        rivals = []
        for other, standing in zip(self.roles, state.standings, strict=True):
            if standing.alive and other != role:
                rivals.append(other)
        return {
            "seat": self.roles.index(role),
            "rivals": rivals,
            "day": state.day,
            "supply": state.supply,
            "rules": self.rules.to_json(),
            "standings": _plain(state.standings),
            "days": [_day_facts(day) for day in state.past],
        }


def _day_facts(day: Day) -> dict[str, object]:
    return {
        "supply": day.supply,
        "bids": list(day.bids),
        "winners": list(day.winners),
        "after": _plain(day.after),
    }


def _plain(standings: Sequence[Standing]) -> list[list[float]]:
    return [[s.balance, s.health, s.dry_days] for s in standings]


def water(abundance: str = "medium") -> Water:
    """A daily auction for scarce water among five residents who want to outlive a drought."""
    return Water(with_abundance(WaterRules(), abundance))


def survival(players: int = 5, days: int = 10, salary: float = 100) -> Water:
    """One ration of water a day for a whole town: who bids when?"""
    if players < 1:
        raise UsageError(f"the survival auction needs players, got {players}")
    names = [f"player {number}" for number in range(1, players + 1)]
    residents = tuple(Resident(name, 1, salary) for name in names)
    return Water(WaterRules(residents, 1, 1, days), name="survival-auction")
