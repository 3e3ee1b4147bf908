"""The Water Allocation Challenge in words, and as tables for people: rules, days gone by, the morning of a new one."""

from __future__ import annotations

import math
from functools import lru_cache

from bestresponse.core.capabilities import Figure, PlayedRounds
from bestresponse.core.game import Role
from bestresponse.games.texts import TEXTS
from bestresponse.games.water.rules import Day, Drought, Standing, WaterRules


@lru_cache(maxsize=256)
def rules_in_words(rules: WaterRules, role: Role) -> str:
    """The rules as they are told to one resident."""
    needs = "\n".join(
        f"- {r.name}: needs {_counted(r.need, 'unit')} a day, salary ${r.salary:g} a day" for r in rules.residents
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
            offer = "made no bid" if bid is None else f"bid ${money(bid)} and {'got water' if won else 'got none'}"
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
    own = state.standings[[r.name for r in rules.residents].index(role)]
    lines.append(f"You, {role}: {_status(own)}.")
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
    """List every day with its supply and all bids, the own one first, and the state of every resident."""
    names = [resident.name for resident in rules.residents]
    own = names.index(role)
    others = [seat for seat in range(len(names)) if seat != own]
    over = state.day > rules.days or not any(standing.alive for standing in state.standings)
    facts: list[tuple[str, Figure]] = [] if over or state.supply is None else [("water today", state.supply)]
    standing = state.standings[own]
    if standing.alive:
        facts += [("your money", f"${money(standing.balance)}"), ("your health", standing.health)]
    status = tuple(
        (names[seat], f"${money(one.balance)}", one.health, one.dry_days) if one.alive else (names[seat], _OUT, "", "")
        for seat, one in enumerate(state.standings)
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
                "" if not day.present[own] else day.after[own].health if day.after[own].alive else _OUT,
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
