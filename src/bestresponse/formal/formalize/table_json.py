"""A game as JSON under a schema: for models whose decoding can be constrained, and for those too small for programs.

The model fills in players, moves and ends; the program is then written by rule. Nothing it says is run. The order is
that of thinking: who plays, what each can do, and only then what comes of it: for every end first the words of the
story about it, then everybody's payoff beside the move that earns it. Small models read numbers off words that they
have just quoted far better than off a story they were told long before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Final

from bestresponse.core.errors import InvalidGame
from bestresponse.core.json import JsonObject
from bestresponse.formal.formalize.json_answer import (
    TEXT,
    asides_schema,
    list_schema,
    object_schema,
    read_name,
    read_numbers,
    read_object,
    read_payoffs,
    sheet_schema,
)
from bestresponse.games.logic.tables import table_from_cells
from bestresponse.logic.programs.table import GameTable, Row
from bestresponse.models.schema import schema_text

AT_ONCE: Final = "at the same time"
IN_TURN: Final = "in turn"
MOST_ENDS = 2_000
MOST_TO_FILL_IN = 64
NO_PLAYERS: Final = "the game has no players"

_End = tuple[tuple[str, ...], tuple[Fraction, ...]]
"""The moves made, in the order of the players, and everybody's payoff."""


_SEAT: Final = object_schema(player=TEXT, move={"type": ["string", "null"]}, payoff={"type": "number"})
TABLE_SCHEMA: Final = schema_text(
    object_schema(
        asides_schema(),
        players=list_schema(object_schema(name=TEXT, moves=list_schema(TEXT))),
        timing={"type": "string", "enum": [AT_ONCE, IN_TURN]},
        ends=list_schema(object_schema(story=TEXT, result=list_schema(_SEAT))),
    )
)
"""What a model is held to."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """What is missing in a game of simultaneous moves, as a sheet to fill in: no end can be forgotten or told twice.

    `known` are the ends of an earlier answer that can stay as they are.
    """

    players: tuple[str, ...]
    moves: tuple[tuple[str, ...], ...]
    known: Mapping[tuple[str, ...], tuple[Fraction, ...]]

    def missing(self) -> tuple[tuple[str, ...], ...]:
        """Return the combinations of moves without payoffs."""
        return tuple(profile for profile in product(*self.moves) if profile not in self.known)

    def named(self, profile: Sequence[str]) -> str:
        """Return the words for a combination of moves: `Ann: share, Bob: grab`."""
        return ", ".join(f"{who}: {move}" for who, move in zip(self.players, profile, strict=True))

    def describe_known(self) -> str:
        """Describe the known ends, a line each."""
        lines = []
        for profile, payoffs in self.known.items():
            earned = ", ".join(f"{who} gets {float(u):g}" for who, u in zip(self.players, payoffs, strict=True))
            lines.append(f"{self.named(profile)}: {earned}")
        return "\n".join(lines) or "none yet"

    def schema(self) -> str:
        """Return the schema of the sheet."""
        return sheet_schema(self.players, [self.named(profile) for profile in self.missing()])

    def read(self, answer: str) -> GameTable:
        """The table that an answer completes; InvalidGame says what is wrong with it."""
        missing = self.missing()
        payoffs = read_payoffs(read_object(answer), self.players, [self.named(profile) for profile in missing])
        found = {**self.known, **dict(zip(missing, payoffs, strict=True))}
        return table_from_cells(self.players, self.moves, tuple(found[profile] for profile in product(*self.moves)))


def read_sheet(answer: str) -> Sheet | None:
    """A sheet for what is missing or contradictory in an answer; None where that is no help."""
    try:
        data = read_object(answer)
        players, moves = _cast(data)
    except InvalidGame:
        return None
    if math.prod(map(len, moves)) > MOST_TO_FILL_IN or data.get("timing") != AT_ONCE:
        return None
    told: dict[tuple[str, ...], set[tuple[Fraction, ...]]] = {}
    for end in data["ends"] if isinstance(data.get("ends"), list) else ():
        with suppress(InvalidGame):
            profile, payoffs = _end(players, end)
            told.setdefault(profile, set()).add(payoffs)
    known = {p: next(iter(told[p])) for p in product(*moves) if len(told.get(p, ())) == 1}
    sheet = Sheet(tuple(players), tuple(map(tuple, moves)), known)
    return sheet if sheet.missing() else None


def read_table(answer: str) -> GameTable:
    """The table in an answer; InvalidGame says what is wrong with it."""
    data = read_object(answer)
    players, moves = _cast(data)
    ends = data.get("ends")
    if not isinstance(ends, list) or not 0 < len(ends) <= MOST_ENDS:
        raise InvalidGame(f"expected a list of 1 to {MOST_ENDS} ends")
    if data.get("timing") not in (AT_ONCE, IN_TURN):
        raise InvalidGame(f'timing must be "{AT_ONCE}" or "{IN_TURN}"')
    read = [_end(players, end) for end in ends]
    return _at_once(players, moves, read) if data["timing"] == AT_ONCE else _in_turn(players, moves, read)


def _cast(data: JsonObject) -> tuple[list[str], list[list[str]]]:
    """Who plays, and everybody's moves."""
    players = [read_name(one.get("name")) for one in _objects(data, "players")]
    if not players:
        raise InvalidGame(NO_PLAYERS)
    if len(set(players)) != len(players):
        raise InvalidGame(f"two players have the same name: {', '.join(players)}")
    return players, [_moves(who, one.get("moves")) for who, one in zip(players, data["players"], strict=True)]


def _objects(data: JsonObject, key: str) -> list[JsonObject]:
    found = data.get(key)
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise InvalidGame(f"{key} must be a list of objects as in the example")
    return found


def _moves(who: str, given: object) -> list[str]:
    moves = [read_name(one) for one in given] if isinstance(given, list) else []
    if not moves or len(set(moves)) != len(moves):
        raise InvalidGame(f"{who} needs different moves, at least one; got {', '.join(moves) or 'none'}")
    return moves


def _end(players: Sequence[str], end: object) -> _End:
    """One end: every player once, in any order, with a move (none where it was over before) and a number."""
    result = _objects(end, "result") if isinstance(end, dict) else []
    seats = {str(seat.get("player")).strip(): seat for seat in result}
    if len(result) != len(players) or seats.keys() != set(players):
        told = ", ".join(who[:40] for who in seats) or "nobody"
        raise InvalidGame(f"each end must tell of {', '.join(players)}, once each; one tells of {told}")
    made = [seats[who].get("move") for who in players]
    moved = [read_name(move) for move in made if move is not None]
    if made[len(moved) :] != [None] * (len(made) - len(moved)):
        raise InvalidGame(f"in the end {_told(moved)} a player without a move comes before one who moves")
    return tuple(moved), read_numbers([seats[who].get("payoff") for who in players], _told(moved))


def _told(moves: Sequence[str]) -> str:
    return ", ".join(moves) or "(no move)"


def _at_once(players: list[str], moves: list[list[str]], ends: list[_End]) -> GameTable:
    found: dict[tuple[str, ...], tuple[Fraction, ...]] = {}
    profiles = list(product(*moves))
    for profile, payoffs in ends:
        if found.get(profile, payoffs) != payoffs:
            raise InvalidGame(f"the end {_told(profile)} stands there twice, with different payoffs")
        if profile not in profiles:
            raise InvalidGame(f"the end {_told(profile)} is no combination of one move of each player")
        found[profile] = payoffs
    missing = [profile for profile in profiles if profile not in found]
    if missing:
        raise InvalidGame(f"the end {_told(missing[0])} is missing")
    own = tuple(tuple(one) for one in moves)
    return table_from_cells(tuple(players), own, tuple(found[profile] for profile in profiles))


def _in_turn(players: list[str], moves: list[list[str]], ends: list[_End]) -> GameTable:
    rows: dict[tuple[str, ...], Row] = {}
    for made, payoffs in ends:
        if not made or any(move not in own for move, own in zip(made, moves, strict=False)):
            raise InvalidGame(f"the end {_told(made)} has a move that is not the next player's")
        if made in rows and rows[made].payoffs == payoffs:
            continue
        if any(made[: len(other)] == other or other[: len(made)] == made for other in rows):
            raise InvalidGame(f"the end {_told(made)} stands there twice, or the game goes on after another end")
        rows[made] = Row(tuple(zip(players, made, strict=False)), payoffs, (1,) * len(made))
    starts = {made[0] for made in rows}
    missing = next((move for move in moves[0] if move not in starts), "")
    if missing:
        raise InvalidGame(f"it is not said what happens after {missing}")
    return GameTable(tuple(players), tuple(tuple(one) for one in moves), tuple(rows.values()))
