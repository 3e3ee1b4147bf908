"""A game as JSON under a schema: for models whose decoding can be constrained, and for those too small for programs.

The model fills in players, moves and ends; the program is then written by rule. Nothing it says is run.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any, Final

from bestresponse.core.errors import InvalidGame
from bestresponse.core.json import canonical
from bestresponse.formal.table_data import simultaneous
from bestresponse.logic.table import GameTable, Row

__all__ = ["NO_PLAYERS", "TABLE_SCHEMA", "read_table"]

_TEXTS: Final = {"type": "array", "items": {"type": "string"}}
_END: Final = {
    "type": "object",
    "properties": {"moves": _TEXTS, "payoffs": {"type": "array", "items": {"type": "number"}}},
    "required": ["moves", "payoffs"],
    "additionalProperties": False,
}
TABLE_SCHEMA: Final = canonical(
    {
        "type": "object",
        "properties": {
            "players": _TEXTS,
            "timing": {"type": "string", "enum": ["at the same time", "in turn"]},
            "moves": {"type": "array", "items": _TEXTS},
            "ends": {"type": "array", "items": _END},
        },
        "required": ["players", "timing", "moves", "ends"],
        "additionalProperties": False,
    }
)
"""What a model is held to, as canonical JSON text."""

MOST_ENDS = 2_000
NO_PLAYERS: Final = "the game has no players"


def read_table(answer: str) -> GameTable:
    """The table in an answer; InvalidGame says what is wrong with it."""
    data = _object(answer)
    players, moves, ends = data["players"], data["moves"], data["ends"]
    if not players:
        raise InvalidGame(NO_PLAYERS)
    if len(set(players)) != len(players):
        raise InvalidGame(f"two players have the same name: {', '.join(players)}")
    if len(moves) != len(players):
        raise InvalidGame(f"there are {len(players)} players but moves for {len(moves)}")
    for who, own in zip(players, moves, strict=True):
        if not own or len(set(own)) != len(own):
            raise InvalidGame(f"{who} needs different moves, at least one; got {', '.join(own) or 'none'}")
    if not 0 < len(ends) <= MOST_ENDS:
        raise InvalidGame(f"there are {len(ends)} ends; expected 1 to {MOST_ENDS}")
    earned = [_payoffs(players, end) for end in ends]
    if data["timing"] == "in turn":
        return _in_turn(players, moves, ends, earned)
    return _at_once(players, moves, ends, earned)


def _object(answer: str) -> dict[str, Any]:
    start, stop = answer.find("{"), answer.rfind("}")
    try:
        data = json.loads(answer[start : stop + 1])
    except (ValueError, RecursionError):
        raise InvalidGame("the answer is no JSON object") from None
    if not isinstance(data, dict) or data.get("timing") not in ("at the same time", "in turn"):
        raise InvalidGame('timing must be "at the same time" or "in turn"')
    lists = _texts(data.get("players")) and all(_texts(one) for one in _list(data.get("moves")))
    if not lists or not all(isinstance(e, dict) and _texts(e.get("moves")) for e in _list(data.get("ends"))):
        raise InvalidGame("players, moves and ends must be lists of names as in the example")
    return data


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidGame("players, moves and ends must be lists")
    return value


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) and 0 < len(one) <= 200 for one in value)


def _payoffs(players: Sequence[str], end: dict[str, Any]) -> tuple[Fraction, ...]:
    given = end.get("payoffs")
    told = ", ".join(end["moves"])
    if not isinstance(given, list) or len(given) != len(players):
        raise InvalidGame(f"the end {told} needs {len(players)} payoffs, one for each player")
    if not all(isinstance(u, int | float) and not isinstance(u, bool) and math.isfinite(u) for u in given):
        raise InvalidGame(f"the payoffs of the end {told} must be numbers")
    return tuple(Fraction(repr(u)) for u in given)


def _at_once(
    players: list[str], moves: list[list[str]], ends: list[dict[str, Any]], earned: list[tuple[Fraction, ...]]
) -> GameTable:
    found: dict[tuple[str, ...], tuple[Fraction, ...]] = {}
    for end, payoffs in zip(ends, earned, strict=True):
        profile = tuple(end["moves"])
        if profile in found:
            raise InvalidGame(f"the end {', '.join(profile)} stands there twice")
        found[profile] = payoffs
    profiles = list(product(*moves))
    for profile in profiles:
        if profile not in found:
            raise InvalidGame(f"the end {', '.join(profile)} is missing")
    unknown = next((profile for profile in found if profile not in set(profiles)), None)
    if unknown is not None:
        raise InvalidGame(f"the end {', '.join(unknown)} is no combination of one move of each player")
    own = tuple(tuple(one) for one in moves)
    return simultaneous(tuple(players), own, tuple(found[profile] for profile in profiles))


def _in_turn(
    players: list[str], moves: list[list[str]], ends: list[dict[str, Any]], earned: list[tuple[Fraction, ...]]
) -> GameTable:
    rows: dict[tuple[str, ...], Row] = {}
    for end, payoffs in zip(ends, earned, strict=True):
        made = tuple(end["moves"])
        wrong = next((k for k, move in enumerate(made) if k >= len(moves) or move not in moves[k]), None)
        if not made or wrong is not None:
            raise InvalidGame(f"the end {', '.join(made) or '(no move)'} has a move that is not the next player's")
        if any(made[: len(other)] == other or other[: len(made)] == made for other in rows):
            raise InvalidGame(f"the end {', '.join(made)} stands there twice, or the game goes on after another end")
        rows[made] = Row(tuple(zip(players, made, strict=False)), payoffs, (1,) * len(made))
    missing = _missing_turn(list(rows), moves)
    if missing:
        raise InvalidGame(f"it is not said what happens after {missing}")
    return GameTable(tuple(players), tuple(tuple(one) for one in moves), tuple(rows.values()))


def _missing_turn(ends: list[tuple[str, ...]], moves: list[list[str]]) -> str:
    """A choice that a player has at the first turn but that leads nowhere; empty if there is none."""
    starts = {end[0] for end in ends}
    return next((move for move in moves[0] if move not in starts), "")
