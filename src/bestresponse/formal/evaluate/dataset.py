"""The project's own stories with their true games: what autoformalization is measured on.

Five games, each told with numbers and without, in the usual costume and in disguise; and games beyond two moves at
once: rock-paper-scissors, the dilemma in turn, ultimatum, public goods for three, first-price auctions, entry
deterrence, traffic. All were written for this project. Where a story gives no numbers, the true payoffs are ranks and
only the order counts.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.core.registry import did_you_mean
from bestresponse.formal.evaluate.named_games import Named, named_games
from bestresponse.games.logic.tables import table_from_cells
from bestresponse.logic.programs.table import GameTable, Row

__all__ = ["Story", "choose", "read_stories", "stories"]


@dataclass(frozen=True, slots=True)
class Story:
    """A story, what kind of game it is, and its true table. `mentions` are the numbers the text may contain."""

    id: str
    game: str
    numeric: bool
    canonical: bool
    text: str
    table: GameTable
    mentions: frozenset[Fraction]

    @property
    def named(self) -> Named | None:
        """The constraints of its name, where there are any."""
        return named_games().get(self.game)


@cache
def stories() -> tuple[Story, ...]:
    """All stories that come along, in the order of their files and of the stories in them."""
    folder = files(f"{__package__}.stories")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".toml"))
    return tuple(story for name in names for story in _parse(folder.joinpath(name).read_text("utf-8"), name))


def read_stories(path: Path) -> tuple[Story, ...]:
    """Further stories from a TOML file of the same form."""
    return tuple(_parse(path.read_text("utf-8"), str(path)))


def choose(known: Iterable[Story], games: Iterable[str] = (), ids: Iterable[str] = ()) -> tuple[Story, ...]:
    """The stories of certain games or ids, all if neither is named; UsageError for a name nobody knows."""
    found = tuple(known)
    kinds, names = set(games), set(ids)
    for what, given, have in (("game", kinds, {s.game for s in found}), ("story", names, {s.id for s in found})):
        for name in sorted(given - have):
            raise UsageError(f"there is no {what} {name!r} in these stories.{did_you_mean(name, sorted(have))}")
    return tuple(s for s in found if (not kinds or s.game in kinds) and (not names or s.id in names))


def _parse(text: str, where: str) -> Iterable[Story]:
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidGame(f"{where}: not a TOML file: {error}") from None
    for number, entry in enumerate(data.get("story", ())):
        try:
            yield _story({"game": data.get("game"), **entry})
        except (KeyError, TypeError, ValueError) as error:
            name = entry.get("id", f"number {number + 1}") if isinstance(entry, dict) else f"number {number + 1}"
            raise InvalidGame(f"{where}: story {name} is incomplete or wrong: {error}") from None


def _story(entry: Mapping[str, Any]) -> Story:
    players = tuple(entry["players"])
    table = _ends(players, entry["ends"]) if "ends" in entry else _cells(players, entry["moves"], entry["payoffs"])
    payoffs = {abs(u) for row in table.rows for u in row.payoffs}
    mentions = frozenset(Fraction(n) for n in entry["mentions"]) if "mentions" in entry else frozenset(payoffs)
    return Story(
        entry["id"],
        entry["game"],
        entry["numeric"],
        entry["canonical"],
        entry["text"].strip(),
        table,
        mentions if entry["numeric"] else frozenset(),
    )


def _cells(players: tuple[str, ...], moves: list[Any], payoffs: str) -> GameTable:
    """`moves` is one list for all or one for each player; `payoffs` as in `3,3 0,5 5,0 1,1`."""
    shared = all(isinstance(move, str) for move in moves)
    own = (tuple(moves),) * len(players) if shared else tuple(tuple(one) for one in moves)
    return table_from_cells(players, own, tuple(_numbers(cell) for cell in payoffs.split()))


def _ends(players: tuple[str, ...], ends: list[str]) -> GameTable:
    """Players move in the order they are listed: `enter > fight : -3,1`."""
    rows: list[Row] = []
    for end in ends:
        made, _, earned = end.rpartition(":")
        moves = tuple(zip(players, (move.strip() for move in made.split(">")), strict=False))
        rows.append(Row(moves, _numbers(earned), (1,) * len(moves)))
    own = tuple(tuple(dict.fromkeys(m for row in rows for who, m in row.moves if who == player)) for player in players)
    return GameTable(players, own, tuple(rows))


def _numbers(text: str) -> tuple[Fraction, ...]:
    return tuple(Fraction(part.strip()) for part in text.split(","))
