"""The Water Allocation Challenge as tables for people: the days gone by, and how everybody stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bestresponse.core.capabilities import Figure, PlayedRounds
from bestresponse.core.game import Role
from bestresponse.games.water.rules import WaterRules
from bestresponse.games.water.wording import money

if TYPE_CHECKING:
    from bestresponse.games.water.game import Day, Drought

__all__ = ["tabulate_days"]

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
            (day.number, _bid(day, own), _health(day, own), day.supply, *(_bid(day, seat) for seat in others))
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


def _health(day: Day, seat: int) -> Figure:
    if not day.present[seat]:
        return ""
    return day.after[seat].health if day.after[seat].alive else _OUT
