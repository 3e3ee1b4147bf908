"""Say what changed from one game table to the next: players, moves, chances, what is known, and payoffs."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from bestresponse.games.logic.words import describe_end, describe_turns, format_payoffs
from bestresponse.logic.programs.game_table import GameTable

__all__ = ["describe_changes"]

_MOST = 30


def describe_changes(before: GameTable, after: GameTable) -> tuple[str, ...]:
    """Return one sentence for each difference in the rules; empty where both are the same game under the same names."""
    lines: list[str] = []
    if before.players != after.players:
        lines.append(f"The players were {', '.join(before.players)} and are now {', '.join(after.players)}.")
    old, new = describe_turns(before), describe_turns(after)
    lines += [f"No more: {line}" for line in old if line not in new]
    lines += [f"New: {line}" for line in new if line not in old]
    lines += _compare_ends(_list_ends(before), _list_ends(after))
    more = len(lines) - _MOST
    return (*lines[:_MOST], *([f"and {more} more changes"] if more > 0 else []))


def _list_ends(table: GameTable) -> dict[str, dict[str, Fraction]]:
    """Return what everybody earns, by the words for what happened."""
    return {describe_end(row): dict(zip(table.players, row.payoffs, strict=True)) for row in table.rows}


def _compare_ends(
    before: Mapping[str, Mapping[str, Fraction]], after: Mapping[str, Mapping[str, Fraction]]
) -> list[str]:
    lines = [f"No more: {end}." for end in before if end not in after]
    for end, earned in after.items():
        if end not in before:
            lines.append(f"New: {end}: {format_payoffs(earned, earned.values())}.")
        elif before[end] != earned:
            told = ", ".join(
                f"{who} gets {u}{f' (before: {before[end][who]})' if before[end].get(who, u) != u else ''}"
                for who, u in earned.items()
            )
            lines.append(f"{end}: {told}.")
    return lines
