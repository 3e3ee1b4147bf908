"""Recorded games of the published study: reading them, and playing their bids again by our rules.

A folder of recorded games holds `rounds.jsonl`, one line a day (`persona`, `low`, `high`, `number`, `day`, `supply`,
`bids`, `winners`, `after` with `balance`, `hp` and `dry_days_plus_one`), and `replies.jsonl`, one line a bid (`who`,
`day`, `reply`, `bid`). A bid above the balance was void there; a replay takes it for no bid. In a few rounds the
record serves one of two tied bidders twice and leaves the other out: those are told apart from true differences.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bestresponse.core.errors import UsageError
from bestresponse.core.game import NATURE
from bestresponse.core.json import JsonMapping
from bestresponse.games.water.game import Water
from bestresponse.games.water.rules import Drought, WaterRules, allocate
from bestresponse.runs.store.lines import read_lines


@dataclass(frozen=True, slots=True)
class RecordedGame:
    """One game: its setting and its days as they stand in the file."""

    persona: bool
    low: int
    high: int
    number: int
    days: tuple[JsonMapping, ...]

    @property
    def label(self) -> str:
        """The name of the game in reports."""
        return f"{'with' if self.persona else 'without'} persona, {self.low}-{self.high}, game {self.number}"


@dataclass(frozen=True, slots=True)
class Replayed:
    """A game played again: the state it ends in, rounds with a tied bidder left out, and true differences."""

    game: RecordedGame
    end: Drought
    ties: tuple[int, ...]
    differences: tuple[str, ...]


def read_games(folder: Path) -> tuple[RecordedGame, ...]:
    """The games of `folder`, days in order."""
    games: dict[tuple[bool, int, int, int], list[JsonMapping]] = {}
    for row in _rows(folder / "rounds.jsonl", ("persona", "low", "high", "number", "day", "supply", "bids", "winners")):
        games.setdefault((row["persona"], row["low"], row["high"], row["number"]), []).append(row)
    return tuple(
        RecordedGame(*key, tuple(sorted(rows, key=lambda row: int(row["day"])))) for key, rows in games.items()
    )


def read_replies(folder: Path) -> Iterator[JsonMapping]:
    """The replies of `folder`, each with the bid that was taken from it."""
    return _rows(folder / "replies.jsonl", ("who", "reply", "bid"))


def _rows(path: Path, fields: tuple[str, ...]) -> Iterator[JsonMapping]:
    if not path.exists():
        raise UsageError(f"{path.parent} holds no {path.name}; expected the folder of the recorded water games")
    for number, row in enumerate(read_lines(path), 1):
        missing = [name for name in fields if name not in row]
        if missing:
            raise UsageError(f"{path}, line {number}: the field {missing[0]!r} is missing")
        yield row


def replay(recorded: RecordedGame, rules: WaterRules | None = None) -> Replayed:
    """Play the recorded bids on the recorded supplies and compare every day with the record."""
    base = rules or WaterRules()
    game = Water(WaterRules(base.residents, recorded.low, recorded.high, len(recorded.days)))
    state, ties, differences = game.start(), [], []
    for row in recorded.days:
        state = game.apply(state, {NATURE: row["supply"]})
        bids = _bids(game, state, row["bids"])
        winners = allocate(game.rules.residents, bids, row["supply"])
        announced = tuple(role in row["winners"] for role in game.roles)
        if winners != announced and _tied_bidder_left_out(bids, winners, announced):
            ties.append(row["day"])
            winners = announced
        state = game.settle(state, bids, winners)
        differences += [f"day {row['day']}: {what}" for what in _compare(game, state, row)]
    return Replayed(recorded, state, tuple(ties), tuple(differences))


def _bids(game: Water, state: Drought, given: Mapping[str, float]) -> tuple[float | None, ...]:
    """The recorded bids that count."""
    return tuple(
        float(given[role]) if role in given and standing.alive and 0 <= given[role] <= standing.balance else None
        for role, standing in zip(game.roles, state.standings, strict=True)
    )


def _tied_bidder_left_out(
    bids: tuple[float | None, ...], winners: tuple[bool, ...], announced: tuple[bool, ...]
) -> bool:
    """Whether all that the record lacks are winners who bid exactly what an announced winner bid."""
    served = {bid for bid, named in zip(bids, announced, strict=True) if named}
    lacking = [bid for bid, won, named in zip(bids, winners, announced, strict=True) if won and not named]
    added = any(named and not won for won, named in zip(winners, announced, strict=True))
    return bool(lacking) and not added and all(bid in served for bid in lacking)


def _compare(game: Water, state: Drought, row: JsonMapping) -> Iterable[str]:
    day = state.past[-1]
    won = sorted(role for role, served in zip(game.roles, day.winners, strict=True) if served)
    if won != sorted(set(row["winners"])):
        yield f"served were {', '.join(won) or 'none'}, not {', '.join(row['winners']) or 'none'}"
    living = {role for role, present in zip(game.roles, day.present, strict=True) if present}
    if living != set(row["bids"]):
        yield f"in the game were {', '.join(sorted(living))}, not {', '.join(sorted(row['bids']))}"
    for role, after in zip(game.roles, day.after, strict=True):
        told = row.get("after", {}).get(role)
        if told is None:
            continue
        found = (after.balance, after.health, after.dry_days + 1)
        expected = (told["balance"], told["hp"], told["dry_days_plus_one"])
        if not all(math.isclose(a, b, abs_tol=1e-6) for a, b in zip(found, expected, strict=True)):
            yield f"{role} has balance, health, dry days + 1 of {found}, not {expected}"
