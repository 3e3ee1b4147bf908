"""A game table as plain JSON data, and back; payoffs stay exact (whole numbers, or fractions as text)."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

from bestresponse.core.errors import InvalidGame
from bestresponse.logic.programs.table import GameTable, Row

__all__ = ["simultaneous", "table_to_data"]


def table_to_data(table: GameTable) -> dict[str, Any]:
    """Return players, moves and ends as plain data.

    `blocks` tells how many moves of an end were made at the same time. In games with chance, `chances` has the
    probability of each move of nature (None for others); in games with hidden moves, `percepts` has what was seen of
    each move, as (player, percept).
    """
    return {
        "players": list(table.players),
        "moves": [list(moves) for moves in table.moves],
        "ends": [
            {
                "moves": [list(made) for made in row.moves],
                "payoffs": [_plain(u) for u in row.payoffs],
                "blocks": list(row.blocks),
                **({"chances": [None if p is None else _plain(p) for p in row.chances]} if row.chances else {}),
                **({"percepts": [[list(one) for one in seen] for seen in row.percepts]} if row.percepts else {}),
            }
            for row in table.rows
        ],
    }


def simultaneous(
    players: tuple[str, ...], moves: tuple[tuple[str, ...], ...], payoffs: tuple[tuple[Fraction, ...], ...]
) -> GameTable:
    """The table of a game where everybody moves once and at the same time; the last player's move changes fastest."""
    profiles = list(product(*moves))
    if len(profiles) != len(payoffs):
        raise InvalidGame(f"{len(profiles)} combinations of moves need as many payoffs, got {len(payoffs)}")
    rows = tuple(
        Row(tuple(zip(players, profile, strict=True)), earned, (len(players),))
        for profile, earned in zip(profiles, payoffs, strict=True)
    )
    return GameTable(players, moves, rows)


def _plain(payoff: Fraction) -> int | str:
    return payoff.numerator if payoff.denominator == 1 else str(payoff)
