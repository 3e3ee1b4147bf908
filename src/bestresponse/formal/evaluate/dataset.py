"""The project's own stories with their true games: what autoformalization is measured on.

Five games, each told with numbers and without, in the usual costume and in disguise; games beyond two moves at once:
rock-paper-scissors, the dilemma in turn, ultimatum, public goods for three, first-price auctions, entry deterrence,
traffic; and games with chance, secrets, signals, auctions, bargaining, repetition, many players, some of them in other
languages. All were written for this project. Where a story gives no numbers, the true payoffs are ranks and only the
order counts, or where `orders` say so only what the story tells of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from bestresponse.core.errors import InvalidGame, UsageError
from bestresponse.core.files import parse_toml, read_text_file
from bestresponse.core.json import JsonMapping
from bestresponse.core.registry import did_you_mean
from bestresponse.formal.evaluate.named_games import Named, named_games
from bestresponse.formal.evaluate.tree_notation import read_lines
from bestresponse.games.logic.tables import format_game, table_from_cells
from bestresponse.games.lookup import find_game
from bestresponse.logic.embedded.engine import EmbeddedEngine
from bestresponse.logic.engine import open_engine
from bestresponse.logic.programs.table import GameTable, Row
from bestresponse.logic.programs.validate import validate
from bestresponse.theory.games.normal_form import NormalForm
from bestresponse.theory.trees.tree import Tree


@dataclass(frozen=True, slots=True)
class Story:
    """A story, what kind of game it is, and its true table.

    `mentions` are the numbers the text may contain, None where payoffs must be worked out; `orders` say which ends a
    player prefers, as in `Ann: 2 > 1 = 3`, where the story tells no more.
    """

    id: str
    game: str
    numeric: bool
    canonical: bool
    text: str
    table: GameTable
    mentions: frozenset[Fraction] | None
    language: str = "en"
    orders: tuple[str, ...] = ()

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
    """Read further stories: a TOML file of the same form, or a folder with a game `NAME.efg`, `.nfg` or `.pl` beside
    every text `NAME.txt`."""
    if not path.is_dir():
        return tuple(_parse(read_text_file(path), str(path)))
    texts = sorted(path.glob("*.txt"))
    if not texts:
        raise UsageError(f"{path} holds no stories; expected texts NAME.txt with games NAME.efg, NAME.nfg or NAME.pl")
    return tuple(
        make_story(text.stem, read_text_file(text), format_game(read_reference(text), ".pl")) for text in texts
    )


def read_reference(text: Path) -> NormalForm | Tree:
    """Return the true game of a story in a folder; UsageError where there is none beside it."""
    for ending in (".efg", ".nfg", ".pl"):
        if text.with_suffix(ending).exists():
            return find_game(text.with_suffix(ending)).solvable()
    raise UsageError(f"{text} has no game beside it; expected {text.stem}.efg, {text.stem}.nfg or {text.stem}.pl")


def make_story(name: str, text: str, program: str) -> Story:
    """Return a story of one's own with its true game as a program."""
    table = validate(program, open_engine()).table
    if table is None:
        raise InvalidGame(f"the game of the story {name} is none")
    return Story(name, name, True, False, text.strip(), table, None)


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
        data = parse_toml(text)
    except ValueError as error:
        raise InvalidGame(f"{where}: not a TOML file: {error}") from None
    entries = data.get("story", [])
    if not isinstance(entries, list):
        raise InvalidGame(f"{where}: expected stories as [[story]]")
    for number, entry in enumerate(entries):
        try:
            yield _story({"game": data.get("game"), **entry})
        except (KeyError, TypeError, ValueError) as error:
            name = entry.get("id", f"number {number + 1}") if isinstance(entry, dict) else f"number {number + 1}"
            raise InvalidGame(f"{where}: story {name} is incomplete or wrong: {error}") from None


def _story(entry: JsonMapping) -> Story:
    numeric = entry.get("numeric", True)
    return Story(
        entry["id"],
        entry["game"],
        numeric,
        entry.get("canonical", False),
        entry["text"].strip(),
        table := _read_table(entry),
        _read_mentions(entry, table) if numeric else frozenset(),
        entry.get("language", "en"),
        tuple(entry.get("orders", ())),
    )


def _read_mentions(entry: JsonMapping, table: GameTable) -> frozenset[Fraction] | None:
    """Return the numbers of the text: those listed, or the payoffs where it is said how the story is told."""
    if "mentions" in entry:
        return frozenset(Fraction(n) for n in entry["mentions"])
    return frozenset(abs(u) for row in table.rows for u in row.payoffs) if "canonical" in entry else None


def _read_table(entry: JsonMapping) -> GameTable:
    players = tuple(entry["players"])
    if "program" in entry:
        table = validate(entry["program"], EmbeddedEngine()).table
        if table is None:
            raise ValueError("its program is no game")
        return table
    if "ends" not in entry:
        return _cells(players, entry["moves"], entry["payoffs"])
    ends = entry["ends"]
    return read_lines(players, ends) if isinstance(ends, str) else _ends(players, ends)


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
