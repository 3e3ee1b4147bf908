"""A game table as plain JSON data; payoffs stay exact (whole numbers, or fractions as text)."""

from __future__ import annotations

from fractions import Fraction

from bestresponse.core.json import JsonObject
from bestresponse.logic.programs.table import GameTable


def table_to_data(table: GameTable) -> JsonObject:
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


def _plain(payoff: Fraction) -> int | str:
    return payoff.numerator if payoff.denominator == 1 else str(payoff)
