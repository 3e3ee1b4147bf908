"""The Water Allocation Challenge: a daily sealed-bid auction for scarce water, in which residents
try to survive.

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
from functools import lru_cache
from random import Random
from typing import Any

from bestresponse.core.ask import PASS, Amount, Ask, Lottery
from bestresponse.core.capabilities import Figure, Parameter, PlayedRounds, Question
from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE, Action, Role, View
from bestresponse.core.player import Player
from bestresponse.core.told import prose
from bestresponse.games.texts import TEXTS
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


@lru_cache(maxsize=256)
def rules_in_words(rules: WaterRules, role: Role) -> str:
    """The rules as they are told to one resident."""
    needs = "\n".join(
        f"- {r.name}: needs {_counted(r.need, 'unit')} a day, salary ${r.salary:g} a day"
        for r in rules.residents
    )
    drawn = f"between {rules.low} and {rules.high} units, each amount equally likely"
    return TEXTS.fill(
        "water_rules",
        me=role,
        everybody=", ".join(r.name for r in rules.residents),
        days=_counted(rules.days, "day"),
        health=f"{rules.health:g}",
        most_health=f"{rules.most_health:g}",
        gain=f"{rules.gain:g}",
        thirst=f"{rules.thirst:g}",
        thirst_twice=f"{2 * rules.thirst:g}",
        needs=needs,
        supply=drawn if rules.low < rules.high else f"always {_counted(rules.low, 'unit')}",
    )


def _counted(number: float, thing: str) -> str:
    return f"{number:g} {thing}" if number == 1 else f"{number:g} {thing}s"


@lru_cache(maxsize=4096)
def day_in_words(rules: WaterRules, day: Day) -> str:
    """A day that is over, as it is announced to all."""
    rows = zip(rules.residents, day.present, day.bids, day.winners, day.after, strict=True)
    lines = [f"Day {day.number}: {day.supply} units of water."]
    for resident, present, bid, won, after in rows:
        if present:
            offer = (
                "made no bid"
                if bid is None
                else f"bid ${money(bid)} and {'got water' if won else 'got none'}"
            )
            lines.append(f"- {resident.name} {offer}; now {_status(after)}")
    return "\n".join(lines)


def morning_in_words(rules: WaterRules, state: Drought, role: Role) -> str:
    """Today's supply and everybody's state before the bids, the reader's own last."""
    if state.day > rules.days or not any(standing.alive for standing in state.standings):
        left = [r.name for r, s in zip(rules.residents, state.standings, strict=True) if s.alive]
        return f"The drought is over. Alive: {', '.join(left) or 'nobody'}."
    water = "" if state.supply is None else f" There are {state.supply} units of water today."
    lines = [f"Day {state.day} of {rules.days}. Salaries are paid.{water}"]
    for resident, standing in zip(rules.residents, state.standings, strict=True):
        if resident.name != role:
            lines.append(f"- {resident.name}: {_status(standing)}")
    yours = state.standings[[r.name for r in rules.residents].index(role)]
    lines.append(f"You, {role}: {_status(yours)}.")
    return "\n".join(lines)


def money(amount: float) -> str:
    """An amount in dollars, cut to whole cents: nobody is told of more than there is.

    >>> money(70), money(12.5), money(0.1 + 0.2)
    ('70', '12.50', '0.30')
    """
    cents = math.floor(amount * 100 + 1e-6)
    return f"{cents // 100}" if cents % 100 == 0 else f"{cents / 100:.2f}"


def _status(standing: Standing) -> str:
    if not standing.alive:
        return "out of the game"
    dry = "1 dry day" if standing.dry_days == 1 else f"{standing.dry_days} dry days in a row"
    return f"${money(standing.balance)}, health {standing.health:g}, {dry}"


_OUT = "out"


def tabulate_days(rules: WaterRules, state: Drought, role: Role) -> PlayedRounds:
    """List every day with its supply and all bids, the own one first, and the state of every
    resident."""
    names = [resident.name for resident in rules.residents]
    own = names.index(role)
    others = [seat for seat in range(len(names)) if seat != own]
    over = state.day > rules.days or not any(standing.alive for standing in state.standings)
    facts: list[tuple[str, Figure]] = (
        [] if over or state.supply is None else [("water today", state.supply)]
    )
    standing = state.standings[own]
    if standing.alive:
        facts += [("your money", f"${money(standing.balance)}"), ("your health", standing.health)]
    status = tuple(
        (
            (names[seat], f"${money(s.balance)}", s.health, s.dry_days)
            if s.alive
            else (names[seat], _OUT, "", "")
        )
        for seat, s in enumerate(state.standings)
    )
    return PlayedRounds(
        None if over else state.day,
        rules.days,
        None,
        ("day", "you", "your health", "water", *(names[seat] for seat in others)),
        tuple(
            (
                day.number,
                _bid(day, own),
                (
                    ""
                    if not day.present[own]
                    else day.after[own].health
                    if day.after[own].alive
                    else _OUT
                ),
                day.supply,
                *(_bid(day, seat) for seat in others),
            )
            for day in state.past
        ),
        "day",
        tuple(facts),
        ("resident", "money", "health", "dry days"),
        status,
    )


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
        return Drought(tuple(Standing(r.salary, self.rules.health) for r in self.rules.residents))

    def asks(self, state: Drought) -> Mapping[Role, Ask]:
        """Say who is asked in `state`, and for what."""
        if state.day > self.rules.days or not any(s.alive for s in state.standings):
            return {}
        if state.supply is None:
            return {NATURE: Lottery.uniform(self.rules.supplies)}
        return {
            role: Amount(0, standing.balance, may_pass=True)
            for role, standing in zip(self.roles, state.standings, strict=True)
            if standing.alive
        }

    def view(self, state: Drought, role: Role) -> View:
        """Return what `role` may know in `state`."""
        if role == NATURE:
            return View(NATURE, facts={"day": state.day})
        past = [day_in_words(self.rules, day) for day in state.past]
        now = morning_in_words(self.rules, state, role)
        facts = self._facts(state, role) | {"past": past, "now": now}
        return View(
            role, prose(rules_in_words(self.rules, role)), prose("\n\n".join((*past, now))), facts
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
        bids = tuple(
            None if moves.get(role, PASS) == PASS else float(moves[role]) for role in self.roles
        )
        return self.settle(state, bids, allocate(self.rules.residents, bids, state.supply))

    def settle(
        self, state: Drought, bids: tuple[float | None, ...], winners: tuple[bool, ...]
    ) -> Drought:
        """The next morning, given who was served today."""
        after = tuple(map(self._evening, state.standings, bids, winners))
        day = Day(
            state.day,
            state.supply or 0,
            tuple(s.alive for s in state.standings),
            bids,
            winners,
            after,
        )
        paid = zip(self.rules.residents, after, strict=True)
        mornings = tuple(
            replace(s, balance=s.balance + r.salary) if s.alive else s for r, s in paid
        )
        return Drought(mornings, (*state.past, day))

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
        """Return the same drought with these parameters; the supply is given by name or by its
        ends."""
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
        bids = tuple(bid if k == seat else None for k in range(len(self.roles)))
        served = self.settle(self.start(), bids, tuple(k == seat for k in range(len(self.roles))))
        money = (
            f"You begin with ${resident.salary:g}. If you bid ${bid:g} on the first day and are"
            " served, how many "
        )
        asked.append(
            Question(
                f"{money}dollars have you left that evening?", served.past[-1].after[seat].balance
            )
        )
        return tuple(asked)

    def _ask_about_thirst(self, seat: int) -> list[Question]:
        silent, nobody = (None,) * len(self.roles), (False,) * len(self.roles)
        first = self.settle(self.start(), silent, nobody)
        second = self.settle(first, silent, nobody).standings[seat]
        text = (
            f"You begin with {self.rules.health:g} health points. If you get no water on the"
            " first day"
        )
        if second.alive and self.rules.days > 1:
            return [
                Question(f"{text} and none on the second, how many have you left?", second.health)
            ]
        if first.standings[seat].alive:
            return [Question(f"{text}, how many have you left?", first.standings[seat].health)]
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
        """Everything public as plain data; `standings` and `bids` are in the order of the
        roster."""
        return {
            "seat": self.roles.index(role),
            "rivals": [
                r for r, s in zip(self.roles, state.standings, strict=True) if s.alive and r != role
            ],
            "day": state.day,
            "supply": state.supply,
            "rules": self.rules.to_json(),
            "standings": _plain(state.standings),
            "days": [
                {
                    "supply": d.supply,
                    "bids": list(d.bids),
                    "winners": list(d.winners),
                    "after": _plain(d.after),
                }
                for d in state.past
            ],
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
    residents = tuple(Resident(f"player {number}", 1, salary) for number in range(1, players + 1))
    return Water(WaterRules(residents, 1, 1, days), name="survival-auction")
